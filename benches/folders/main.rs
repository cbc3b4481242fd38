//! How long verdicts about folders take: 1,000,000 folders with 4,000,000 files, in memory, in generations of one tree
//! of which each differs a little. Times are processor time of the one thread that works.
//! `cargo bench --bench folders [GENERATIONS...]`.
//!
//! Each number of generations runs in a process of its own, so that its peak of memory is its own.

use std::env;
use std::fs;
use std::io;
use std::process::Command;
use std::time::Duration;

use seekless::folders::{Content, Folder, Forms, Names, Percent, Question, Tallies, Tree, entries};

const FOLDERS: usize = 1_000_000;
const FILES: usize = 4_000_000;

/// Contents that come everywhere, and one file in so many that has one of them.
const COMMON: u32 = 20;
const ONE_COMMON: u64 = 50;

/// Files in a thousand that a generation leaves out, and as many that it changes.
const CHANGED: u64 = 2;

/// Set for the process of one number of generations.
const GENERATIONS: &str = "SEEKLESS_BENCH_GENERATIONS";

fn main() -> io::Result<()> {
    if let Ok(generations) = env::var(GENERATIONS) {
        return measure(generations.parse().map_err(io::Error::other)?);
    }
    let asked = env::args().skip(1).filter_map(|arg| arg.parse().ok());
    let asked: Vec<usize> = asked.collect();
    let asked = match asked.is_empty() {
        true => vec![2, 10, 50],
        false => asked,
    };
    println!(
        "| generations | tree | only here | same | with containment | and overlaps | lines | peak |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for generations in asked {
        let ended = Command::new(env::current_exe()?)
            .env(GENERATIONS, generations.to_string())
            .status()?;
        if !ended.success() {
            return Err(io::Error::other(format!(
                "{generations} generations: {ended}"
            )));
        }
    }
    Ok(())
}

fn measure(generations: usize) -> io::Result<()> {
    let World {
        parents,
        files,
        sizes,
    } = World::new(generations);
    let (tree, build) = timed(|| Tree::new(parents, &files, &[], sizes, &[]))?;
    drop(files);
    let (tallies, only_here) = timed(|| Tallies::of(&tree))?;
    let (forms, same) = timed(|| Forms::of(&tree, &Numbers))?;
    let mut lines = 0;
    let mut verdicts = |least: u8| {
        let least = Percent(least);
        let question = Question {
            min_bytes: 0,
            min_overlap: least,
            wanted: &|_| true,
        };
        let (found, time) = timed(|| entries(&tree, &Numbers, &tallies, &forms, &question))?;
        lines += found.len();
        io::Result::Ok(time)
    };
    let contained = verdicts(100)?;
    let overlapping = verdicts(80)?;
    let before = build + only_here + same;
    println!(
        "| {generations} | {:.2} s | {:.2} s | {:.2} s | {:.2} s | {:.2} s | {lines} | {} MiB |",
        build.as_secs_f64(),
        only_here.as_secs_f64(),
        same.as_secs_f64(),
        (before + contained).as_secs_f64(),
        (before + overlapping).as_secs_f64(),
        peak_kib()? / 1024,
    );
    Ok(())
}

/// Does it, and tells the processor time that it took: there is one thread, which never waits.
fn timed<T>(work: impl FnOnce() -> T) -> io::Result<(T, Duration)> {
    let begun = processor_time()?;
    let done = work();
    Ok((done, processor_time()? - begun))
}

fn processor_time() -> io::Result<Duration> {
    let stat = fs::read_to_string("/proc/self/schedstat")?;
    let nanoseconds = stat.split_whitespace().next().unwrap_or_default();
    let nanoseconds = nanoseconds.parse().map_err(io::Error::other)?;
    Ok(Duration::from_nanos(nanoseconds))
}

fn peak_kib() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let words = line.unwrap_or_default().split_whitespace().next();
    words.unwrap_or_default().parse().map_err(io::Error::other)
}

/// All names are equal, so that places do not tell folders apart.
struct Numbers;

impl Names for Numbers {
    fn folder(&self, _: Folder) -> &[u8] {
        b"folder"
    }

    fn file(&self, _: usize) -> &[u8] {
        b"file"
    }

    fn links(&self, _: Folder, _: &mut dyn FnMut(&[u8], &[u8])) {}

    fn frees(&self, _: usize, _: Folder) -> bool {
        true
    }
}

struct World {
    parents: Vec<u32>,
    files: Vec<(Folder, Content)>,
    sizes: Vec<u64>,
}

impl World {
    fn new(generations: usize) -> Self {
        let mut chance = Chance(88_172_645_463_325_252);
        let (folders, files) = (FOLDERS / generations, FILES / generations);
        let mut base = vec![0u32];
        let mut open = vec![0u32];
        for folder in 1..folders as u32 {
            while open.len() > 1 && (chance.below(100) < 45 || open.len() > 14) {
                open.pop();
            }
            base.push(*open.last().expect("the first stays open"));
            open.push(folder);
        }
        let contents = (0..files as u32).map(|file| match chance.below(ONE_COMMON) {
            0 => chance.below(COMMON.into()) as u32,
            _ => file,
        });
        let contents: Vec<u32> = contents.collect();
        let mut places: Vec<(u32, u32)> = contents
            .into_iter()
            .map(|content| (chance.below(folders as u64) as u32, content))
            .collect();
        places.sort_unstable();
        let (mut parents, mut found) = (vec![0], Vec::with_capacity(FILES));
        let mut next = files as u32;
        for _ in 0..generations {
            let offset = parents.len() as u32;
            parents.push(0);
            parents.extend(base[1..].iter().map(|parent| parent + offset));
            for &(folder, content) in &places {
                let content = match chance.below(1000) {
                    fate if fate < CHANGED => continue,
                    fate if fate < 2 * CHANGED => {
                        next += 1;
                        next - 1
                    }
                    _ => content,
                };
                found.push((Folder(folder + offset), Content(content)));
            }
        }
        let sizes = (0..u64::from(next)).map(|number| 1000 + number % 100_000);
        Self {
            parents,
            files: found,
            sizes: sizes.collect(),
        }
    }
}

/// Numbers that look random and are always the same.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
