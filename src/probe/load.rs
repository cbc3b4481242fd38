//! Reads places of the test data with the readers of the search, so many at a time for so long, and counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::device::Policy;
use crate::file::{FileIndex, Numbering};
use crate::hash::Fold;
use crate::heartbeat::Watchlist;
use crate::read::{
    Access, Ask, Batch, Device, Failure, Job, Lane, Outcome, ReadSettings, Recalls, Scheduler,
    ShownResults, Span, Task, Ticket, has_rings,
};

use super::findings::{Chart, Series};
use super::sweep::Control;
use super::test_data::{DEVICE, TestData, TestSpan};

/// How often the reads are looked at while the time lasts, and when it is nearly over.
const LOOK_UP: Duration = Duration::from_millis(20);
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

/// Folders that each thread keeps open.
const OPEN_FOLDERS: usize = 64;

/// How places are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Short reads by all threads; so many are in flight.
    Scattered,
    /// The same by one thread, so that their order stays what it is.
    InOrder,
    /// Long reads; each of so many threads reads one at a time.
    Streams,
}

impl Manner {
    /// The results of an experiment as a chart.
    pub fn chart(self, series: Vec<Series>, notes: Vec<String>) -> Chart {
        let (axis, unit) = match self {
            Self::Scattered | Self::InOrder => ("in flight", "reads/s"),
            Self::Streams => ("streams", "MB/s"),
        };
        Chart {
            axis,
            unit,
            series,
            notes,
        }
    }

    /// The policy of the readers for so many places at a time.
    fn policy(self, at_a_time: usize, cores: usize) -> Policy {
        if self == Self::Streams {
            return Policy {
                sequential_threads: at_a_time,
                ..Policy::NOTHING
            };
        }
        // Each thread has as many in flight as any other; without a ring it has one.
        let most = match self {
            _ if !has_rings() => at_a_time,
            Self::InOrder => 1,
            _ => cores.clamp(1, at_a_time),
        };
        let threads = (1..=most).rfind(|threads| at_a_time.is_multiple_of(*threads));
        let random_threads = threads.unwrap_or(1);
        Policy {
            random_threads,
            depth: at_a_time / random_threads,
            ..Policy::NOTHING
        }
    }
}

/// What was read in a while.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    /// Reads a second, or millions of bytes a second of streams; 0 if nothing was read.
    pub rate: f64,
    /// Reads that ended.
    pub done: u64,
    /// Reads of places that stayed in the page cache.
    pub cached: u64,
    /// Reads that the system refused.
    pub failed: u64,
    /// The first file, by its place in the test data, of which a read failed.
    pub failed_file: Option<usize>,
}

impl TestData {
    /// Reads places for a while: so many at a time, by threads on so many processors. What is under way when the time
    /// is over is cut off, unless nothing was read by then.
    pub fn load(
        &self,
        mut places: impl Iterator<Item = TestSpan>,
        (manner, at_a_time, cores): (Manner, usize, usize),
        window: Duration,
        control: &Control,
    ) -> Load {
        let start = Instant::now();
        let stop = Arc::new(AtomicBool::new(false));
        let bytes = Arc::new(AtomicU64::new(0));
        let fold = Fold {
            counted: Some(Arc::clone(&bytes)),
        };
        let mut scheduler = Scheduler::new(self.settings(&stop), fold);
        let policy = manner.policy(at_a_time, cores);
        let volume = scheduler.add_volume(&DEVICE.into(), Lane::Pools, policy);
        let mut describe =
            |job: &mut Job<TestSpan>, _: bool, batch: &mut Batch| self.task(job.want, batch);
        let completions = scheduler.completions().clone();
        let mut load = Load::default();
        let mut meter = Meter::new(
            start,
            if manner == Manner::Streams {
                0
            } else {
                at_a_time as u64
            },
        );
        let mut is_over = false;
        loop {
            if !is_over && (start.elapsed() >= window || control.is_cancelled()) {
                is_over = true;
                scheduler.forget_waiting();
            }
            if is_over && (meter.last.0 > 0 || control.is_cancelled()) {
                stop.store(true, Ordering::Relaxed);
            }
            // No reader is to wait for the next.
            while !is_over && scheduler.outstanding() < 4 * at_a_time {
                let Some(part) = places.next() else { break };
                scheduler.push(Job {
                    file: FileIndex(part.file as u32),
                    volume,
                    want: part,
                    bulk: manner == Manner::Streams,
                });
            }
            scheduler.dispatch(&mut describe);
            if scheduler.outstanding() == 0 {
                break;
            }
            let left = window.saturating_sub(start.elapsed());
            let wait = left.clamp(SHORTEST_WAIT, LOOK_UP);
            for completion in completions.recv_timeout(wait).unwrap_or_default() {
                let Some(finished) = scheduler.completed(completion) else {
                    continue;
                };
                match finished.outcome {
                    Outcome::Read { .. } => load.done += 1,
                    Outcome::StaysCached => load.cached += 1,
                    Outcome::Failed(Failure::Refused(Errno::CANCELED)) => {}
                    _ => {
                        load.failed += 1;
                        load.failed_file.get_or_insert(finished.job.want.file);
                    }
                }
            }
            if !is_over || meter.last.0 == 0 {
                meter.look(match manner {
                    Manner::Streams => bytes.load(Ordering::Relaxed),
                    Manner::Scattered | Manner::InOrder => load.done,
                });
            }
        }
        scheduler.join();
        self.bytes_read
            .fetch_add(bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        load.rate = meter.rate() / if manner == Manner::Streams { 1e6 } else { 1.0 };
        load
    }

    fn settings(&self, stop: &Arc<AtomicBool>) -> ReadSettings {
        ReadSettings {
            dirs: Arc::clone(&self.folders),
            // A file without a name is found by a link.
            follow: true,
            open_folders: OPEN_FOLDERS,
            read_ahead: true,
            passes_holes: false,
            access: Access {
                stop: Arc::clone(stop),
                ..self.access.clone()
            },
            watchlist: Watchlist::new(Duration::MAX),
            recalls: Recalls::default(),
            shown: ShownResults::default(),
        }
    }

    fn task(&self, part: TestSpan, batch: &mut Batch) -> Task {
        let file = &self.files[part.file];
        let TestSpan { offset, len, .. } = part;
        Task {
            ticket: Ticket::default(),
            file: FileIndex(part.file as u32),
            device: Device::default(),
            dir: file.dir,
            name: batch.add_name(file.name()),
            expect: file.expect,
            numbering: Numbering::default(),
            spans: [Span { offset, len }, Span { offset, len: 0 }],
            ask: Ask::BytesFromDisk,
            only_cached: false,
            is_stored: false,
            may_be_dirty: false,
            position: 0,
            go_on_with: None,
        }
    }
}

/// Measures a rate from the moment when each of those in flight has ended once.
struct Meter {
    in_flight: u64,
    start: Instant,
    /// What was done when all were under way, and when that was.
    first: Option<(u64, Instant)>,
    /// What was done at last, and when that was first seen.
    last: (u64, Instant),
}

impl Meter {
    fn new(start: Instant, in_flight: u64) -> Self {
        Self {
            in_flight,
            start,
            first: None,
            last: (0, start),
        }
    }

    /// Takes what was done so far.
    fn look(&mut self, done: u64) {
        if done > self.last.0 {
            self.last = (done, Instant::now());
            if done >= self.in_flight && self.in_flight > 0 {
                self.first.get_or_insert(self.last);
            }
        }
    }

    /// What was done a second; of all if too little was for leaving anything out.
    fn rate(&self) -> f64 {
        let begun = (0, self.start);
        let first = self.first.filter(|_| self.last.0 > 2 * self.in_flight);
        let (done, since) = first.unwrap_or(begun);
        match (self.last.1 - since).as_secs_f64() {
            0.0 => 0.0,
            seconds => (self.last.0 - done) as f64 / seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_time_when_all_were_under_way() {
        let start = Instant::now();
        let after = |micros| start + Duration::from_micros(micros);
        let rate = |first: Option<(u64, u64)>, (done, at): (u64, u64)| {
            let meter = Meter {
                in_flight: 2,
                start,
                first: first.map(|(done, at)| (done, after(at))),
                last: (done, after(at)),
            };
            meter.rate()
        };
        assert!((rate(Some((2, 500)), (7, 1000)) - 5.0 * 1e6 / 500.0).abs() < 1e-6);
        // Too few to leave any out.
        assert!((rate(Some((2, 500)), (4, 1000)) - 4.0 * 1e6 / 1000.0).abs() < 1e-6);
        assert_eq!(rate(None, (0, 0)), 0.0);
    }
}
