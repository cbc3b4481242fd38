//! The input of every experiment.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::device::{Class, Policy};

use super::control::Control;
use super::findings::{Axis, Chart, ExperimentResult, Series, Unit, chart};
use super::jobs::TestSpan;
use super::listing::Listing;
use super::rng::Rng;
use super::sweep::{Aim, Sample, sweep};
use super::terms::Terms;
use super::test_data::{Bypass, TestData};

/// Files whose bytes are spread over more places than this are cut no further: the list of parts
/// stays small.
const MOST_RUNS: usize = 20_000;

/// The number of parts that is enough, if their files hold this share of all bytes: the rest is small files, which no
/// stream reads.
const FEWEST_RUNS: usize = 64;
const ENOUGH: f64 = 0.7;

/// The shortest and the longest part of a file that a stream reads as one.
const SHORTEST_RUN: u64 = 128 << 10;
const LONGEST_RUN: u64 = 64 << 20;

/// The input of every experiment.
pub struct Bench<'a> {
    /// The watcher.
    pub control: &'a Control,
    /// Chooses places.
    pub rng: Rng,
    /// The words for what the user can set.
    pub terms: Terms,
    /// Processors.
    pub cores: usize,
    /// The class of the volume.
    pub class: Class,
    /// How the volume is read now.
    pub policy: Policy,
    /// Chunk of the array that the volume is on, bytes.
    pub chunk: Option<u64>,
    /// The files below the path.
    pub listing: Listing,
    /// The data to read, once it is known.
    pub test_data: Option<TestData>,
    /// When the experiment has to be over.
    pub until: Instant,
    /// The results so far.
    pub outcomes: Vec<ExperimentResult>,
}

impl Bench<'_> {
    /// The data to read.
    ///
    /// # Errors
    /// If there is none, or memory answers in the disk's place.
    pub fn test_data(&self) -> Result<&TestData, String> {
        let test_data = self.test_data.as_ref().ok_or("nothing was prepared")?;
        if test_data.files.is_empty() {
            return Err("no file with content can be read".to_owned());
        }
        match test_data.bypass {
            Bypass::Impossible => Err("all reads are answered from the page cache".to_owned()),
            _ => Ok(test_data),
        }
    }

    /// A part of the time that is left.
    pub fn part(&self, share: f64) -> Instant {
        let now = Instant::now();
        now + self.until.saturating_duration_since(now).mul_f64(share)
    }

    /// Measures all places on all lines.
    pub fn sweep(
        &self,
        axis: Axis,
        aims: &[Aim],
        sample: impl FnMut(&Aim, Duration, &[(u64, f64)]) -> Option<Sample>,
    ) -> Result<Vec<Series>, String> {
        let lines = sweep(aims, axis, self.until, self.control, sample);
        match lines.is_empty() {
            true if self.control.is_cancelled() => Err("interrupted".to_owned()),
            true => Err(format!("no time was left: use {}", self.terms.more_time)),
            false => Ok(lines),
        }
    }

    /// A chart of these lines.
    pub fn chart(axis: Axis, unit: Unit, series: Vec<Series>, notes: Vec<String>) -> Chart {
        Chart {
            axis,
            unit,
            series,
            notes,
        }
    }

    /// The chart of an earlier experiment.
    pub fn found(&self, name: &str) -> Option<&Chart> {
        chart(&self.outcomes, name)
    }

    /// Asks for the metadata of all files not asked for yet, until it is late.
    pub fn ask_all(&mut self, until: Instant) {
        let threads = match self.class {
            Class::Rotational => 1,
            _ => 16,
        };
        let control = self.control;
        let entries = &mut self.listing.entries;
        let part = entries.len().div_ceil(threads).max(1);
        thread::scope(|scope| {
            for entries in entries.chunks_mut(part) {
                let work = move || {
                    for entry in entries.iter_mut().filter(|entry| entry.stat.is_none()) {
                        if Instant::now() >= until || control.is_cancelled() {
                            break;
                        }
                        entry.stat = entry.ask();
                    }
                };
                // Without another thread its part is left out, which is no harm.
                let _ignored = thread::Builder::new().spawn_scoped(scope, work);
            }
        });
    }
}

/// Parts of files for streams, in the order in which they lie on the disk.
pub struct Runs {
    /// The parts.
    pub runs: Vec<TestSpan>,
    /// Bytes in all of them.
    pub bytes: u64,
}

impl Runs {
    /// Cuts what is there into parts, the longest files first, until it is late.
    pub fn of(test_data: &TestData, until: Instant, control: &Control) -> Self {
        let longest = (test_data.bytes() / 64 / 4096 * 4096).clamp(SHORTEST_RUN, LONGEST_RUN);
        let mut files: Vec<usize> = (0..test_data.files.len()).collect();
        files.sort_by_key(|&file| std::cmp::Reverse(test_data.files[file].size));
        let mut runs = Vec::new();
        let (all, mut taken) = (test_data.bytes() as f64, 0.0);
        for file in files {
            let enough =
                runs.len() >= MOST_RUNS || runs.len() >= FEWEST_RUNS && taken >= ENOUGH * all;
            if enough || Instant::now() >= until || control.is_cancelled() {
                break;
            }
            taken += test_data.files[file].size as f64;
            let size = test_data.files[file].size;
            let offsets: Vec<u64> = (0..size).step_by(longest as usize).collect();
            let positions = test_data.positions(file, &offsets);
            for (offset, position) in offsets.into_iter().zip(positions) {
                let len = longest.min(size - offset);
                let run = TestSpan { file, offset, len };
                runs.push((position.unwrap_or(test_data.files[file].ino), run));
            }
        }
        runs.sort_by_key(|(position, _)| *position);
        let runs: Vec<TestSpan> = runs.into_iter().map(|(_, run)| run).collect();
        Self {
            bytes: runs.iter().map(|run| run.len).sum(),
            runs,
        }
    }

    /// A part of the disk for each of so many streams, each begun somewhere within it.
    pub fn parts(
        &self,
        streams: usize,
        rng: &mut Rng,
    ) -> Vec<impl Iterator<Item = TestSpan> + Send> {
        let runs = &self.runs;
        let parts = (0..streams).map(|stream| {
            let part = &runs[stream * runs.len() / streams..(stream + 1) * runs.len() / streams];
            let start = rng.below(part.len() as u64) as usize;
            part.iter().cycle().skip(start).copied()
        });
        parts.collect()
    }
}

/// Does something for many things from several threads, in order, until it is late; what was not
/// reached is `None`.
pub fn spread<T: Send>(
    count: usize,
    threads: usize,
    until: Instant,
    control: &Control,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<Option<T>> {
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    let done = thread::scope(|scope| {
        let mut running = Vec::new();
        for _ in 0..threads.max(1) {
            let (next, work) = (&next, &work);
            let thread = move || {
                let mut done = Vec::new();
                while Instant::now() < until && !control.is_cancelled() {
                    let item = next.fetch_add(1, Ordering::Relaxed);
                    if item >= count {
                        break;
                    }
                    done.push((item, work(item)));
                }
                done
            };
            running.extend(thread::Builder::new().spawn_scoped(scope, thread));
        }
        let mut done = Vec::new();
        for thread in running {
            match thread.join() {
                Ok(some) => done.extend(some),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    for (item, result) in done {
        results[item] = Some(result);
    }
    results
}
