//! Keeps a disk busy in a given way for a given time, and counts.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::sys::memory::Aligned;
use crate::sys::page_cache::{self, Advice};
use crate::sys::pread;
use crate::sys::ring::{self, Ring};

use super::control::Control;
use super::test_data::{BLOCK, Bypass, TestData};

/// A scattered read of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file's place in the test_data.
    pub file: usize,
    /// Where in it, bytes.
    pub offset: u64,
}

/// A part of a file that is read from front to back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The file's place in the test_data.
    pub file: usize,
    /// Where it begins, bytes.
    pub offset: u64,
    /// How long it is, bytes.
    pub len: u64,
}

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

/// When a read ended and how long it had taken, both in microseconds.
#[derive(Clone, Copy)]
struct Done {
    at: u64,
    took: u32,
}

/// The places to read, handed out one by one to all threads.
type Places<'a> = Mutex<Box<dyn Iterator<Item = Spot> + Send + 'a>>;

/// Reads places for a while, so many at a time from so many threads. All reads that were begun
/// are waited for.
pub fn scattered(
    test_data: &TestData,
    places: impl Iterator<Item = Spot> + Send,
    in_flight: usize,
    threads: usize,
    window: Duration,
    control: &Control,
) -> Scattered {
    // Without a ring a thread has one read in flight.
    let threads = match ring::is_available() {
        true => threads.clamp(1, in_flight.max(1)),
        false => in_flight.max(1),
    };
    let places: Places<'_> = Mutex::new(Box::new(places));
    let start = Instant::now();
    let worker = Worker {
        test_data,
        places: &places,
        start,
        until: start + window,
        stop: &control.stop,
    };
    let (mut done, mut failed) = (Vec::new(), 0);
    thread::scope(|scope| {
        let mut running = Vec::new();
        for number in 0..threads {
            let slots = in_flight / threads + usize::from(number < in_flight % threads);
            let thread = thread::Builder::new()
                .stack_size(256 << 10)
                .spawn_scoped(scope, move || worker.work(slots));
            // With fewer threads than wished for, fewer reads are in flight; that is rare enough.
            running.extend(thread);
        }
        for thread in running {
            match thread.join() {
                Ok((some, refused)) => {
                    done.extend(some);
                    failed += refused;
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
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
fn rate(done: &mut [Done], in_flight: usize, window: Duration) -> f64 {
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

/// What each thread of a scattered load works with.
#[derive(Clone, Copy)]
struct Worker<'a, 'b> {
    test_data: &'a TestData,
    places: &'a Places<'b>,
    start: Instant,
    until: Instant,
    stop: &'a AtomicBool,
}

impl Worker<'_, '_> {
    fn work(self, slots: usize) -> (Vec<Done>, u64) {
        match Ring::new(slots, BLOCK as usize) {
            Some(ring) if slots > 1 => self.with_ring(ring, slots),
            _ => self.one_by_one(),
        }
    }

    /// The next place with its open file; `None` when the time is over.
    fn next(self, failed: &mut u64) -> Option<(Spot, Arc<OwnedFd>)> {
        loop {
            if Instant::now() >= self.until || self.stop.load(Ordering::Relaxed) {
                return None;
            }
            let spot = self
                .places
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .next()?;
            match self.test_data.handle(spot.file) {
                Ok(fd) => {
                    let cold = self.test_data.bypass != Bypass::Dropped
                        || self.test_data.forget(&fd, spot.offset, BLOCK);
                    if cold {
                        return Some((spot, fd));
                    }
                }
                Err(_) => *failed += 1,
            }
        }
    }

    fn one_by_one(self) -> (Vec<Done>, u64) {
        let mut block = Aligned::new(BLOCK as usize);
        let (mut done, mut failed) = (Vec::new(), 0);
        while let Some((spot, fd)) = self.next(&mut failed) {
            let begun = Instant::now();
            match pread::full(&fd, &mut block, spot.offset) {
                Ok(_) => done.push(self.done(begun)),
                Err(_) => failed += 1,
            }
        }
        (done, failed)
    }

    fn with_ring(self, mut ring: Ring, slots: usize) -> (Vec<Done>, u64) {
        let mut free: Vec<usize> = (0..slots).collect();
        let mut reads: Vec<Option<Instant>> = vec![None; slots];
        let (mut done, mut failed) = (Vec::new(), 0);
        loop {
            while let Some(slot) = free.pop() {
                let Some((spot, fd)) = self.next(&mut failed) else {
                    free.push(slot);
                    break;
                };
                ring.read(slot, &fd, spot.offset, 0, BLOCK as usize);
                reads[slot] = Some(Instant::now());
            }
            if ring.in_flight() == 0 || ring.wait(1).is_err() {
                return (done, failed);
            }
            while let Some((slot, result)) = ring.completed() {
                let read = reads[slot].take();
                match (read, result) {
                    (Some(begun), Ok(_)) => done.push(self.done(begun)),
                    _ => failed += 1,
                }
                free.push(slot);
            }
        }
    }

    fn done(self, begun: Instant) -> Done {
        let micros = |duration: Duration| duration.as_micros();
        Done {
            at: u64::try_from(micros(self.start.elapsed())).unwrap_or(u64::MAX),
            took: u32::try_from(micros(begun.elapsed())).unwrap_or(u32::MAX),
        }
    }
}

/// How streams read.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Bytes of each read.
    pub block: usize,
    /// Bytes from the start of one read to the start of the next.
    pub stride: usize,
    /// Past the page cache.
    pub direct: bool,
    /// `POSIX_FADV_SEQUENTIAL`.
    pub sequential: bool,
    /// A run that was begun is read to its end, also when the time is over.
    pub whole_runs: bool,
}

/// What streams read.
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

/// Lets each of several streams read its runs one after the other, for a while.
pub fn streams(
    test_data: &TestData,
    parts: Vec<impl Iterator<Item = Run> + Send>,
    manner: Manner,
    window: Duration,
    control: &Control,
) -> Streamed {
    let start = Instant::now();
    let until = start + window;
    let mut all = Streamed::default();
    thread::scope(|scope| {
        let mut running = Vec::new();
        for part in parts {
            let work = move || stream(test_data, part, manner, until, &control.stop);
            let thread = thread::Builder::new().stack_size(256 << 10);
            running.extend(thread.spawn_scoped(scope, work));
        }
        for thread in running {
            match thread.join() {
                Ok(one) => {
                    all.bytes += one.bytes;
                    all.cached += one.cached;
                    all.failed += one.failed;
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    all.seconds = start.elapsed().as_secs_f64();
    all
}

/// Reads runs until the time is over; at least one block.
fn stream(
    test_data: &TestData,
    runs: impl Iterator<Item = Run>,
    manner: Manner,
    until: Instant,
    stop: &AtomicBool,
) -> Streamed {
    let mut streamed = Streamed::default();
    let mut buffer = Aligned::new(manner.block);
    let over = || Instant::now() >= until || stop.load(Ordering::Relaxed);
    for run in runs {
        let Ok(fd) = test_data.open(run.file, manner.direct) else {
            streamed.failed += 1;
            if over() {
                break;
            }
            continue;
        };
        if !manner.direct {
            if !test_data.forget(&fd, run.offset, run.len) {
                streamed.cached += 1;
                if over() {
                    break;
                }
                continue;
            }
            if manner.sequential {
                page_cache::advise(&fd, 0, 0, Advice::Sequential);
            }
        }
        let mut at = run.offset;
        while at < run.offset + run.len {
            let left = run.offset + run.len - at;
            let want = left.next_multiple_of(BLOCK).min(manner.block as u64) as usize;
            match pread::full(&fd, &mut buffer[..want], at) {
                Ok(n) => streamed.bytes += n as u64,
                Err(_) => {
                    streamed.failed += 1;
                    break;
                }
            }
            at += manner.stride as u64;
            let enough = if manner.whole_runs {
                stop.load(Ordering::Relaxed)
            } else {
                over()
            };
            if enough {
                break;
            }
        }
        if !manner.direct {
            // With what was read ahead.
            page_cache::advise(&fd, 0, 0, Advice::DontNeed);
        }
        if over() {
            break;
        }
    }
    streamed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(times: &[u64]) -> Vec<Done> {
        times.iter().map(|&at| Done { at, took: 1 }).collect()
    }

    #[test]
    fn the_rate_is_that_of_the_time_when_all_were_under_way() {
        let window = Duration::from_micros(1000);
        // Two in flight: the first two ends do not count, nor what ended after the window.
        let mut times = done(&[400, 500, 600, 700, 800, 900, 1000, 5000]);
        assert!((rate(&mut times, 2, window) - 5.0 * 1e6 / 500.0).abs() < 1e-6);
        // Too few to leave any out.
        let mut times = done(&[1000, 500]);
        assert!((rate(&mut times, 2, window) - 2.0 * 1e6 / 1000.0).abs() < 1e-6);
        assert_eq!(rate(&mut [], 2, window), 0.0);
    }
}
