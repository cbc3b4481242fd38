//! The experiments: one row each.

use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::device::{Order, Policy};
use crate::units::counted;

use super::findings::Chart;
use super::load::{Load, Manner};
use super::sweep::{Control, sweep};
use super::test_data::{BLOCK, TestData, TestSpan};

/// The lines of the charts.
pub const SCATTERED: &str = "scattered";
pub const WHOLE_FILES: &str = "whole files";
pub const FOLDERS: &str = "directory";
pub const SHUFFLED: &str = "shuffled";
pub const PHYSICAL: &str = "physical";

/// Scattered places that are chosen, at most.
const MOST_BLOCKS: u64 = 1 << 18;

/// The parts into which streams cut files: their number, if there are enough, and the length of the shortest and the
/// longest, bytes.
const RUNS: u64 = 64;
const SHORTEST_RUN: u64 = 128 << 10;
const LONGEST_RUN: u64 = 64 << 20;

/// Files that are looked up on the disk, and places in them, at most.
const MOST: usize = 20_000;

/// The longest files, if they hold this share of all bytes, are enough for streams: the rest are short files.
const ENOUGH: f64 = 0.7;

/// Files whose starts make a scattered load of their own; with fewer, one place in at least this many bytes is read.
const ENOUGH_FILES: usize = 256;
const STEP: u64 = 1 << 20;

/// Something to be measured: places, and how many of them are read at a time.
pub struct Experiment {
    /// Its name, as for `--only`.
    pub name: &'static str,
    /// The title.
    pub title: &'static str,
    /// The meaning of the result, in a sentence.
    pub about: &'static str,
    /// Its part of the time, in relation to the others'.
    pub share: u32,
    /// How its places are read.
    pub manner: Manner,
    /// Fewer places than this would be read again and again, and come out of the drive's own memory.
    fewest: usize,
    /// The number at a time with which a search reads now; 0 if it reads in another way.
    in_force: fn(&Policy) -> usize,
    lines: fn(&mut Ground<'_>) -> Result<Vec<Line>, String>,
}

/// A line of the chart.
struct Line {
    name: &'static str,
    at_a_time: &'static [u64],
    places: Vec<TestSpan>,
}

/// The experiments, in the order in which they are done and reported.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "random",
        title: "Scattered reads of 4 KiB, by number in flight",
        about: "where the line becomes flat, more threads or a deeper queue only add latency",
        share: 3,
        manner: Manner::Scattered,
        fewest: 256,
        in_force: |policy| policy.random_threads * policy.depth,
        lines: scattered,
    },
    Experiment {
        name: "streams",
        title: "Whole files read at a time",
        about: "a spinning disk slows down with each stream after the first; solid state speeds up",
        share: 3,
        manner: Manner::Streams,
        fewest: 4,
        in_force: Policy::streams,
        lines: whole_files,
    },
    Experiment {
        name: "order",
        title: "Scattered reads, in the order of the disk and in another",
        about: "what physical order gains, and how many reads in flight suit it",
        share: 5,
        manner: Manner::InOrder,
        fewest: 64,
        in_force: |policy| match policy.order {
            Order::Physical => policy.random_threads * policy.depth,
            Order::Arrival => 0,
        },
        lines: orders,
    },
];

/// An experiment by its name.
pub fn experiment(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|row| row.name == name)
}

impl std::fmt::Debug for Experiment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What an experiment works with.
pub struct Ground<'a> {
    /// The watcher.
    pub control: &'a Control,
    /// Chooses places.
    pub rng: Rng,
    /// Processors.
    pub cores: usize,
    /// How the volume is read now.
    pub policy: Policy,
    /// The data to read.
    pub test_data: TestData,
    /// When the experiment has to be over.
    pub until: Instant,
}

impl Experiment {
    /// Does it, or says why not.
    pub fn run(&self, ground: &mut Ground<'_>) -> Result<Chart, String> {
        let lines = (self.lines)(ground)?;
        let places = lines.iter().map(|line| line.places.len()).min();
        let places = places.unwrap_or(0);
        if places < self.fewest {
            return Err(format!(
                "only {}: use a larger folder or a scratch file",
                counted(places as u64, "place to read", "places to read")
            ));
        }
        // Without the number in force, nothing could be compared with it.
        let in_force = (self.in_force)(&ground.policy) as u64;
        let mut points = Vec::new();
        for line in &lines {
            let last = line.at_a_time.last().copied();
            let beyond = Some(in_force).filter(|&x| Some(x) > last);
            let numbers = line.at_a_time.iter().copied().chain(beyond);
            let enough = numbers.filter(|x| 2 * x <= places as u64);
            points.extend(enough.map(|x| (line.name, x)));
        }
        let mut rng = ground.rng.clone();
        let mut all = Load::default();
        let series = sweep(
            &points,
            ground.until,
            ground.control,
            |name, x, window, best| {
                let line = lines.iter().find(|line| line.name == name)?;
                if self.is_too_short(window, x, best) {
                    return None;
                }
                let parts = match self.manner {
                    Manner::Streams => x as usize,
                    Manner::Scattered | Manner::InOrder => 1,
                };
                let places = walk(&line.places, parts, &mut rng);
                let how = (self.manner, x as usize, ground.cores);
                let load = ground.test_data.load(places, how, window, ground.control);
                all.done += load.done;
                all.cached += load.cached;
                all.failed += load.failed;
                all.failed_file = all.failed_file.or(load.failed_file);
                (load.rate > 0.0).then_some(load.rate)
            },
        );
        ground.rng = rng;
        if series.is_empty() {
            return Err(match all {
                _ if ground.control.is_cancelled() => "interrupted".to_owned(),
                Load { cached: 1.., .. } => "all of it stays in the page cache".to_owned(),
                Load {
                    failed_file: Some(file),
                    ..
                } => format!(
                    "all reads failed, the first of {}",
                    ground.test_data.files[file].shown()
                ),
                _ => "no time was left: use more time".to_owned(),
            });
        }
        let mut notes = Vec::new();
        let is_missing = |&&(name, x): &&(&str, u64)| {
            let mut lines = series.iter().filter(|line| line.name == name);
            !lines.any(|line| line.at(x).is_some())
        };
        if let Some(least) = points.iter().filter(is_missing).map(|(_, x)| x).min() {
            notes.push(format!(
                "{least} or more at a time were skipped: the time was too short"
            ));
        }
        let times = all.done / places as u64;
        if times > 2 {
            notes.push(format!(
                "each place was read about {times} times: the cache of the disk may have answered"
            ));
        }
        let failed = all.failed_file.map(|file| {
            let file = ground.test_data.files[file].shown();
            format!("failed (the first of {file})")
        });
        for (count, what) in [
            (all.cached, "stayed in the page cache"),
            (all.failed, failed.as_deref().unwrap_or_default()),
        ] {
            if count > 0 {
                let reads = counted(count, "read", "reads");
                notes.push(format!("{reads} {what}, and were not counted"));
            }
        }
        Ok(self.manner.chart(series, notes))
    }

    /// True if not all of so many scattered reads in flight would come to their end within the time, and as many that
    /// wait for their turn. `best` is the highest rate of the line.
    fn is_too_short(&self, window: Duration, in_flight: u64, best: f64) -> bool {
        let reads = best * window.as_secs_f64();
        self.manner != Manner::Streams && best > 0.0 && reads < 2.0 * in_flight as f64
    }
}

/// The places as so many readers come to them in turn, each in a part of its own. Each begins somewhere in its part,
/// and goes on elsewhere after 64 places: the way there costs a seek, a few hundredths of what these reads take.
fn walk(places: &[TestSpan], readers: usize, rng: &mut Rng) -> impl Iterator<Item = TestSpan> {
    let mut at = vec![0; readers];
    (0..).map(move |turn: usize| {
        let (reader, step) = (turn % readers, turn / readers);
        let part = reader * places.len() / readers..(reader + 1) * places.len() / readers;
        if step.is_multiple_of(64) {
            at[reader] = rng.usize(0..part.len().max(1));
        }
        at[reader] += 1;
        places[part.start + at[reader] % part.len()]
    })
}

/// Places that are chosen blindly: each block of all files is as likely as any other.
fn scattered(ground: &mut Ground<'_>) -> Result<Vec<Line>, String> {
    let sums = ground.test_data.block_sums();
    let blocks = sums.last().copied().unwrap_or(0);
    let places = (0..blocks.min(MOST_BLOCKS)).map(|_| {
        let block = ground.rng.u64(0..blocks);
        ground.test_data.any_block(&sums, block)
    });
    Ok(vec![Line {
        name: SCATTERED,
        at_a_time: &[1, 2, 3, 5, 10, 25, 100, 250, 1000],
        places: places.collect(),
    }])
}

/// Long parts of files in the order in which they lie on the disk, the longest files first.
fn whole_files(ground: &mut Ground<'_>) -> Result<Vec<Line>, String> {
    let files = &ground.test_data.files;
    let all = ground.test_data.bytes();
    let longest = (all / RUNS / BLOCK * BLOCK).clamp(SHORTEST_RUN, LONGEST_RUN);
    let mut by_size: Vec<usize> = (0..files.len()).collect();
    by_size.sort_by_key(|&file| std::cmp::Reverse(files[file].expect.size));
    let (mut runs, mut taken) = (0, 0);
    let wanted = by_size.into_iter().take_while(|&file| {
        let size = files[file].expect.size;
        let goes_on = runs < RUNS || (taken as f64) < ENOUGH * all as f64;
        runs += size.div_ceil(longest);
        taken += size;
        goes_on
    });
    let starts = |size: u64| (0..size).step_by(longest as usize).collect();
    let mut placed = ground.placed(wanted, longest, starts);
    placed.sort_by_key(|(key, ..)| *key);
    Ok(vec![Line {
        name: WHOLE_FILES,
        at_a_time: &[1, 2, 4, 8, 16],
        places: placed.into_iter().map(|(.., span)| span).collect(),
    }])
}

/// The starts of files, as folders name them and as they lie on the disk. Of a few large files, places inside them.
fn orders(ground: &mut Ground<'_>) -> Result<Vec<Line>, String> {
    let files = ground.test_data.files.len();
    let mut rng = ground.rng.clone();
    let has_many = files >= ENOUGH_FILES;
    let step = STEP.max(ground.test_data.bytes() / MOST as u64);
    let mut placed = ground.placed(0..files, BLOCK, |size| {
        if has_many {
            return vec![0];
        }
        let starts = (0..size).step_by(step as usize);
        let place = |start| (start + rng.u64(0..step.min(size - start))) / BLOCK * BLOCK;
        starts.map(place).collect()
    });
    if !placed.is_empty() && placed.iter().all(|(_, is_known, _)| !is_known) {
        let why = "the file system does not report the positions of files on the disk (FIEMAP)";
        return Err(why.to_owned());
    }
    if !has_many {
        rng.shuffle(&mut placed);
    }
    ground.rng = rng;
    let line = |name, at_a_time| Line {
        name,
        at_a_time,
        places: placed.iter().map(|(.., span)| *span).collect(),
    };
    let other = line(if has_many { FOLDERS } else { SHUFFLED }, &[1, 8]);
    placed.sort_by_key(|(key, ..)| *key);
    let places = placed.into_iter().map(|(.., span)| span).collect();
    let physical = Line {
        name: PHYSICAL,
        at_a_time: &[1, 2, 4, 8, 16, 32],
        places,
    };
    Ok(vec![other, physical])
}

impl Ground<'_> {
    /// Spans of files, of this length at most, until a fifth of the time has passed: each with its position on the
    /// disk, or its inode number, and whether the position is known. `starts` gives the offsets in a file of this size.
    fn placed(
        &self,
        files: impl Iterator<Item = usize>,
        len: u64,
        mut starts: impl FnMut(u64) -> Vec<u64>,
    ) -> Vec<(u64, bool, TestSpan)> {
        let now = Instant::now();
        let until = now + self.until.saturating_duration_since(now) / 5;
        let mut placed = Vec::new();
        for file in files.take(MOST) {
            if self.control.is_over(until) {
                break;
            }
            let expect = &self.test_data.files[file].expect;
            let offsets = starts(expect.size);
            let positions = self.test_data.positions(file, &offsets);
            for (offset, position) in offsets.into_iter().zip(positions) {
                let len = len.min(expect.size - offset);
                let span = TestSpan { file, offset, len };
                placed.push((position.unwrap_or(expect.ino), position.is_some(), span));
            }
        }
        placed
    }
}
