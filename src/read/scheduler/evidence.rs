//! Evidence about the class of a device from its response times.

use std::time::Duration;

/// Evidence about the class of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The device has a head, or certainly has none.
    pub has_head: bool,
    /// Number of reads that show it.
    pub reads: u32,
    /// Duration of each read.
    pub each: Duration,
}

/// Positions at this distance, bytes, are never in a drive's cache together: the drive reads ahead less.
pub const FAR: u64 = 64 << 20;

/// The largest number of reads for a verdict: this many quick ones, and one fewer slow ones than end it.
pub const TRIALS: usize = QUICK as usize + SLOW as usize - 1;

/// Number of quick answers that show that there is no head. On a disk with a head, at most one read in ten is quick,
/// because its sector arrives just when the head does. The chance that twelve are quick before four are slow is one in
/// 10^9.
const QUICK: u32 = 12;

/// Number of slow answers that end the search for evidence: a disk with a head loses no more time than they take.
const SLOW: u32 = 4;

/// No head reaches a distant position, and no platter turns to it, within this time: a seek over one track takes 0.5 to
/// 1 ms, half a turn 2 ms at 15,000 rpm and 4 ms at 7,200.
const SOONEST: Duration = Duration::from_millis(1);

/// Lone reads from far places, one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trial {
    quick: u32,
    slow: u32,
    spent: Duration,
}

impl Trial {
    /// Records the duration of a single read; returns the evidence when there is enough.
    pub fn read(&mut self, took: Duration) -> Option<Evidence> {
        match took < SOONEST {
            true => self.quick += 1,
            false => self.slow += 1,
        }
        self.spent += took;
        let reads = self.quick + self.slow;
        (self.quick >= QUICK || self.slow >= SLOW).then(|| Evidence {
            has_head: self.quick < QUICK,
            reads,
            each: self.spent / reads,
        })
    }
}

/// Number of reads after which the pace of a busy device is judged.
const PACE: u32 = 16;

/// The number of consecutive answers that are judged together, without the slowest: after a single delay of the device,
/// all waiting answers arrive at once. (Answers are not judged one by one: a busy machine notices them in bunches.)
const PACES: usize = 4;

/// Number of reads after which the scheduler no longer waits for a verdict: too few are in flight at a time for one.
const PATIENCE: u32 = 256;

/// Minimum number of reads in flight that counts, so that the device is the bottleneck.
const LEAST_IN_FLIGHT: usize = 16;

/// A device that needs longer than this for each of many scattered reads has a head: with 32 or more at a time, a
/// spinning disk serves about 170 a second, 400 if they lie close together; the slowest flash serves some thousand.
const SLOWEST: Duration = Duration::from_micros(2_500);

/// An upper limit for a read from the page cache. Where the page cache answers most reads, these reads take most of the
/// time.
const CACHED: Duration = Duration::from_micros(100);

/// Bytes per second of the slowest bus.
const BUS: f64 = 30e6;

/// Scattered reads from a device without order, many at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    since: Option<Duration>,
    reads: u32,
    bytes: u64,
    /// Number of reads in the same time that the page cache answered.
    cached: u32,
    /// Durations of the last reads, without the time for their bytes.
    last: [Duration; PACES],
    /// Number of consecutive reads.
    paces: usize,
    /// A verdict was given.
    is_judged: bool,
    /// All reads so far.
    seen: u32,
}

impl Pace {
    /// True if a verdict is near but not yet given, with this many reads in flight. Other reads would disturb it, and
    /// would be read in the wrong way if there is a head.
    pub fn is_awaited(&self, in_flight: usize) -> bool {
        !self.is_judged && self.seen < PATIENCE && in_flight >= LEAST_IN_FLIGHT
    }

    /// Records a read that the page cache answered.
    pub fn answered_from_memory(&mut self) {
        self.cached = self.cached.saturating_add(1);
    }

    /// Records a read from the device that ended at this time, with this many others in flight; returns the evidence
    /// for a head, if there is any.
    pub fn read(&mut self, bytes: u64, now: Duration, in_flight: usize) -> Option<Evidence> {
        self.seen = self.seen.saturating_add(1);
        if in_flight < LEAST_IN_FLIGHT {
            *self = Self {
                is_judged: self.is_judged,
                seen: self.seen,
                ..Self::default()
            };
            return None;
        }
        let Some(since) = self.since else {
            (self.since, self.cached) = (Some(now), 0);
            return None;
        };
        self.reads += 1;
        self.bytes += bytes;
        if self.reads < PACE {
            return None;
        }
        let brought = Duration::from_secs_f64(self.bytes as f64 / BUS);
        let waited = now.saturating_sub(since).saturating_sub(brought);
        self.last[self.paces % PACES] = waited.saturating_sub(CACHED * self.cached);
        self.paces += 1;
        (self.since, self.reads, self.bytes, self.cached) = (Some(now), 0, 0, 0);
        if self.paces < PACES {
            return None;
        }
        self.is_judged = true;
        let slowest = self.last.iter().max().copied().unwrap_or_default();
        let all: Duration = self.last.iter().sum();
        let reads = PACE * PACES as u32;
        (all - slowest > SLOWEST * (reads - PACE)).then(|| Evidence {
            has_head: true,
            reads,
            each: all / reads,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A computed disk: milliseconds of a read at this distance, given how far the platter is.
    struct Platter {
        turn: f64,
        rng: u64,
    }

    impl Platter {
        fn read(&mut self, share_of_stroke: f64) -> Duration {
            self.rng ^= self.rng << 13;
            self.rng ^= self.rng >> 7;
            self.rng ^= self.rng << 17;
            let angle = (self.rng >> 11) as f64 / (1_u64 << 53) as f64;
            let seek = 0.0005 + 0.0107 * share_of_stroke.sqrt();
            Duration::from_secs_f64(seek + angle * self.turn)
        }
    }

    fn trial(mut read: impl FnMut() -> Duration) -> Evidence {
        let mut trial = Trial::default();
        let mut reads = 0;
        loop {
            reads += 1;
            assert!(reads <= TRIALS, "it must come to an end");
            if let Some(evidence) = trial.read(read()) {
                return evidence;
            }
        }
    }

    #[test]
    fn no_spinning_disk_passes_for_solid_state() {
        for turns_a_minute in [5_400.0, 7_200.0, 15_000.0] {
            for seed in 1..2000_u64 {
                let turn = 60.0 / turns_a_minute;
                let rng = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
                let mut platter = Platter { turn, rng };
                let evidence = trial(|| platter.read(0.01));
                assert!(evidence.has_head, "{turns_a_minute} {seed}");
            }
        }
    }

    #[test]
    fn solid_state_is_recognized_even_if_some_reads_are_held_up() {
        for latency in [80, 300, 800] {
            let mut reads = 0;
            let evidence = trial(|| {
                reads += 1;
                let held_up = u64::from(reads % 6 == 0) * 5_000;
                Duration::from_micros(latency + held_up)
            });
            assert!(!evidence.has_head, "{latency} µs");
            assert!(evidence.reads >= QUICK);
        }
    }

    #[test]
    fn a_disk_with_a_head_is_tried_four_times_only() {
        let evidence = trial(|| Duration::from_millis(9));
        assert_eq!((evidence.has_head, evidence.reads), (true, 4));
        assert_eq!(evidence.each, Duration::from_millis(9));
    }

    /// Reads a second of a busy device; what is concluded after a thousand of them.
    fn pace(rate: f64, bytes: u64, in_flight: usize) -> Option<Evidence> {
        let mut pace = Pace::default();
        let times = (1..1000).map(|i| Duration::from_secs_f64(f64::from(i) / rate));
        times
            .filter_map(|now| pace.read(bytes, now, in_flight))
            .next()
    }

    #[test]
    fn a_busy_device_that_is_as_slow_as_a_disk_is_one() {
        assert!(pace(170.0, 4096, 64).is_some_and(|seen| seen.has_head));
        assert!(pace(300.0, 4096, 64).is_some());
        for rate in [1_000.0, 5_000.0, 200_000.0] {
            assert_eq!(pace(rate, 4096, 64), None, "{rate} a second");
        }
    }

    #[test]
    fn a_disk_with_a_head_is_known_before_it_has_lost_a_second() {
        let mut pace = Pace::default();
        let mut times = (1..).map(|i| Duration::from_millis(6 * i));
        let known = times.find(|&now| pace.read(4096, now, 64).is_some());
        assert!(known < Some(Duration::from_secs(1)), "{known:?}");
    }

    #[test]
    fn a_disk_with_a_head_is_known_if_its_answers_are_noticed_in_bunches() {
        let mut pace = Pace::default();
        let noticed = (1..300).map(|i| Duration::from_millis(6 * (i / 30 * 30)));
        let known = noticed
            .map(|now| pace.read(4096, now, 64))
            .find(Option::is_some);
        assert!(known.is_some());
    }

    #[test]
    fn a_verdict_is_awaited_only_while_it_can_come() {
        let mut pace = Pace::default();
        assert!(pace.is_awaited(64) && !pace.is_awaited(3));
        let times = (0..1000).map(|i| Duration::from_micros(100 * i));
        let reads = times.take_while(|&now| {
            pace.read(4096, now, 64);
            pace.is_awaited(64)
        });
        assert!(reads.count() < 100, "it never comes");
        pace.read(4096, Duration::from_secs(1), 3);
        assert!(!pace.is_awaited(64), "it is asked for once");
    }

    #[test]
    fn nothing_is_concluded_from_a_few_reads_among_many_cached_ones() {
        for (each_ms, cached, is_known) in [(15, 1000, false), (15, 150, false), (6, 10, true)] {
            let mut pace = Pace::default();
            let times = (1..1000).map(|i| Duration::from_millis(each_ms * i));
            let known = times.filter_map(|now| {
                (0..cached).for_each(|_| pace.answered_from_memory());
                pace.read(4096, now, 64)
            });
            assert_eq!(known.count() > 0, is_known, "{each_ms} ms, {cached} cached");
        }
    }

    #[test]
    fn nothing_is_concluded_from_a_device_that_stops_now_and_then() {
        let mut pace = Pace::default();
        for i in 0..10_000 {
            // Half a second without any answer, then those to all that was asked.
            let now = Duration::from_micros(200 * i) + Duration::from_millis(500 * (i / 64));
            assert_eq!(pace.read(4096, now, 64), None, "{i}");
        }
    }

    #[test]
    fn nothing_is_concluded_from_a_device_that_waits_for_us_or_for_its_bus() {
        assert_eq!(pace(100.0, 4096, 3), None, "nobody asked for more");
        assert_eq!(pace(300.0, 100_000, 64), None, "30 MB a second is its bus");
    }
}
