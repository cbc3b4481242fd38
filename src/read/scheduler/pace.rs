//! Evidence from its response times that a device has a head, although its flag denies it.

use std::time::Duration;

/// Number of reads after which the pace of a busy device is judged.
const PACE: u32 = 16;

/// The number of consecutive answers that are judged together, without the slowest: after a single delay of the device,
/// all waiting answers arrive at once. (Answers are not judged one by one: a busy machine notices them in bunches.)
const PACES: usize = 4;

/// Number of reads after which the scheduler no longer waits for a verdict: too few are in flight at a time for one.
const LAST_READ: u32 = 256;

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
        !self.is_judged && self.seen < LAST_READ && in_flight >= LEAST_IN_FLIGHT
    }

    /// Records a read that the page cache answered.
    pub fn answered_from_memory(&mut self) {
        self.cached = self.cached.saturating_add(1);
    }

    /// Records a read from the device that ended at this time, with this many others in flight. If the device has a
    /// head, it returns the time that each read took.
    pub fn read(&mut self, bytes: u64, now: Duration, in_flight: usize) -> Option<Duration> {
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
        (all - slowest > SLOWEST * (reads - PACE)).then(|| all / reads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a second of a busy device; what is concluded after a thousand of them.
    fn pace(rate: f64, bytes: u64, in_flight: usize) -> Option<Duration> {
        let mut pace = Pace::default();
        let times = (1..1000).map(|i| Duration::from_secs_f64(f64::from(i) / rate));
        times
            .filter_map(|now| pace.read(bytes, now, in_flight))
            .next()
    }

    #[test]
    fn a_busy_device_that_is_as_slow_as_a_disk_is_one() {
        assert!(pace(170.0, 4096, 64).is_some());
        assert!(pace(300.0, 4096, 64).is_some());
        for rate in [1_000.0, 5_000.0, 200_000.0] {
            assert_eq!(pace(rate, 4096, 64), None, "{rate} a second");
        }
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
