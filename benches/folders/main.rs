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

use seekless::folders::{FoldersAnswer, Forms, Percent, Seen, Tallies, Wanted};
use seekless::tree::{Class, Disks, Draft, DraftFile, Root, RootPlace};

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
    let world = World::new(generations);
    let names: Vec<String> = (0..FOLDERS.max(FILES))
        .map(|name| name.to_string())
        .collect();
    let tree = world.draft(&names).build();
    drop((world, names));
    let (seen, build) = timed(|| Seen::new(&tree, |_| false))?;
    let (_, only_here) = timed(|| Tallies::of(&seen))?;
    let (_, same) = timed(|| Forms::of(&seen))?;
    let mut lines = 0;
    let mut verdicts = |least: u8| {
        let wanted = Wanted {
            min_bytes: 0,
            min_overlap: Percent(least),
        };
        let (found, time) = timed(|| FoldersAnswer::of(&seen, &wanted))?;
        lines += found.entries.len();
        io::Result::Ok(time)
    };
    let contained = verdicts(100)?;
    let overlapping = verdicts(80)?;
    println!(
        "| {generations} | {:.2} s | {:.2} s | {:.2} s | {:.2} s | {:.2} s | {lines} | {} MiB |",
        build.as_secs_f64(),
        only_here.as_secs_f64(),
        same.as_secs_f64(),
        (build + contained).as_secs_f64(),
        (build + overlapping).as_secs_f64(),
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

/// Folders by their parents, of which the first is none: it holds the roots. Files by folder, name and content.
struct World {
    parents: Vec<u32>,
    files: Vec<(u32, u32, u32)>,
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
            for (name, &(folder, content)) in (0..).zip(&places) {
                let content = match chance.below(1000) {
                    fate if fate < CHANGED => continue,
                    fate if fate < 2 * CHANGED => {
                        next += 1;
                        next - 1
                    }
                    _ => content,
                };
                found.push((folder + offset, name, content));
            }
        }
        let sizes = (0..u64::from(next)).map(|number| 1000 + number % 100_000);
        Self {
            parents,
            files: found,
            sizes: sizes.collect(),
        }
    }

    /// Folders are named by their places among those beside them, so that generations have the same names.
    fn draft<'n>(&self, names: &'n [String]) -> Draft<'n> {
        let mut draft = Draft {
            disks: vec![Disks::Memory],
            ..Draft::default()
        };
        let mut children = vec![0; self.parents.len()];
        let mut root = 0;
        for &parent in &self.parents[1..] {
            let place: &mut usize = &mut children[parent as usize];
            let name = names[*place].as_bytes();
            *place += 1;
            if parent == 0 {
                root = draft.roots.len() as u32;
                draft.roots.push(Root {
                    path: name.to_vec(),
                    place: RootPlace::Nothing,
                    is_mount_root: false,
                });
            }
            draft.folders.push((parent.checked_sub(1), root, name));
        }
        for &(folder, name, content) in &self.files {
            let name = names[name as usize].as_bytes();
            draft
                .names
                .push((folder - 1, name, draft.files.len() as u32));
            draft.files.push(DraftFile {
                size: self.sizes[content as usize],
                class: Class::Set(content),
                volume: 0,
                links: 1,
                unidentified: false,
            });
        }
        draft
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
