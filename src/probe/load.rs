//! Keeps a disk busy in a given way for a given time, and counts.

use std::time::Duration;

use rustix::io::Errno;

use crate::read::{Failure, Limits, Outcome, has_rings};
use crate::units::{counted, plural};

use super::control::Control;
use super::jobs::{Read, TestSpan};
use super::test_data::TestData;

/// Scattered reads that came to an end.
#[derive(Debug, Default)]
pub struct Scattered {
    /// Reads a second once all were under way.
    pub rate: f64,
    /// How long each took, microseconds.
    pub latencies_us: Vec<u32>,
    /// Reads that the system refused.
    pub failed: u64,
}

/// A note about reads that the system refused, if there were any.
pub fn failed_note(reads: u64) -> Option<String> {
    let does = plural(reads, "does", "do");
    let reads = (reads > 0).then(|| counted(reads, "read", "reads"))?;
    Some(format!("{reads} failed and {does} not count"))
}

/// Reads places for a while, so many at a time from so many threads at most. All reads that were begun are waited for.
pub fn scattered(
    test_data: &TestData,
    places: impl Iterator<Item = TestSpan>,
    in_flight: usize,
    threads: usize,
    window: Duration,
    control: &Control,
) -> Scattered {
    let in_flight = in_flight.max(1);
    // Without a ring a thread has one read in flight.
    let threads = match has_rings() {
        true => threads.clamp(1, in_flight),
        false => in_flight,
    };
    // Each has as many in flight.
    let threads = (1..=threads).rfind(|threads| in_flight.is_multiple_of(*threads));
    let threads = threads.unwrap_or(1);
    let limits = Limits {
        random_threads: threads,
        depth: in_flight / threads,
        ..Limits::NOTHING
    };
    let (mut done, mut failed) = (Vec::new(), 0);
    let reads = test_data.reads(limits, false);
    reads.run(places, window, false, control, |finished| {
        match finished.outcome {
            Outcome::Read { digests, .. } => done.extend(digests[0]),
            Outcome::Failed(_) => failed += 1,
            _ => {}
        }
    });
    Scattered {
        rate: rate(&mut done, in_flight, window),
        latencies_us: done.iter().map(|done| done.took).collect(),
        failed,
    }
}

/// Reads a second between the moment when each of those in flight had ended once and the end of
/// the window; over all of them if there were too few for that.
fn rate(done: &mut [Read], in_flight: usize, window: Duration) -> f64 {
    done.sort_unstable_by_key(|done| done.at);
    let within = done.partition_point(|done| u128::from(done.at) <= window.as_micros());
    let (count, span) = match within > 2 * in_flight {
        true => {
            let first = done[in_flight - 1].at;
            (within - in_flight, done[within - 1].at - first)
        }
        false => (done.len(), done.last().map_or(0, |last| last.at)),
    };
    match span {
        0 => 0.0,
        span => count as f64 * 1e6 / span as f64,
    }
}

/// The result of a stream load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Streamed {
    /// Bytes.
    pub bytes: u64,
    /// In how many seconds.
    pub seconds: f64,
    /// Runs that were in the page cache and would not leave it.
    pub cached: u64,
    /// Runs that the system refused to read.
    pub failed: u64,
}

impl Streamed {
    /// Millions of bytes a second.
    pub fn megabytes(&self) -> f64 {
        match self.seconds > 0.0 {
            true => self.bytes as f64 / 1e6 / self.seconds,
            false => 0.0,
        }
    }
}

/// Lets each of several streams read its parts one after the other, for a while. A part that was begun is read to its
/// end, also when the time is over, if `whole`.
pub fn streams(
    test_data: &TestData,
    parts: Vec<impl Iterator<Item = TestSpan>>,
    whole: bool,
    window: Duration,
    control: &Control,
) -> Streamed {
    let limits = Limits {
        sequential_threads: parts.len(),
        ..Limits::NOTHING
    };
    let (mut cached, mut failed) = (0, 0);
    let reads = test_data.reads(limits, true);
    let counted = reads.run(
        in_turns(parts),
        window,
        !whole,
        control,
        |finished| match finished.outcome {
            Outcome::StaysCached => cached += 1,
            Outcome::Failed(Failure::Refused(Errno::CANCELED)) => {}
            Outcome::Failed(_) => failed += 1,
            _ => {}
        },
    );
    Streamed {
        bytes: counted.bytes,
        seconds: counted.seconds,
        cached,
        failed,
    }
}

/// The first of each, then the second of each.
fn in_turns(mut parts: Vec<impl Iterator<Item = TestSpan>>) -> impl Iterator<Item = TestSpan> {
    let turns = (0..parts.len()).cycle();
    turns.map_while(move |turn| parts[turn].next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(times: &[u64]) -> Vec<Read> {
        times.iter().map(|&at| Read { at, took: 1 }).collect()
    }

    #[test]
    fn the_rate_is_that_of_the_time_when_all_were_under_way() {
        let window = Duration::from_micros(1000);
        // Two in flight: the first two ends do not count, nor what ended after the window.
        let mut times = reads(&[400, 500, 600, 700, 800, 900, 1000, 5000]);
        assert!((rate(&mut times, 2, window) - 5.0 * 1e6 / 500.0).abs() < 1e-6);
        // Too few to leave any out.
        let mut times = reads(&[1000, 500]);
        assert!((rate(&mut times, 2, window) - 2.0 * 1e6 / 1000.0).abs() < 1e-6);
        assert_eq!(rate(&mut [], 2, window), 0.0);
    }
}
