//! What nobody here made up: trees of this machine, copied twice, the second copy with small damages.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use walkdir::WalkDir;

use super::hashing;
use super::rng::Rng;
use super::{Corpus, Make, Options, Totals};

pub const CORPUS: Corpus = Corpus {
    name: "real",
    summary: "this machine's package registry, toolchains and /usr, up to 150,000 files, twice, the second copy mutated",
    version: 1,
    make: Make::Found(make),
};

const FILES: u64 = 150_000;
/// Larger files are left out: they would turn a test of many files into one of few.
const LONGEST: u64 = 16 << 20;

/// A file to copy.
struct Plan {
    source: PathBuf,
    target: PathBuf,
    damage: Damage,
}

#[derive(Clone, Copy)]
enum Damage {
    None,
    Flip { place: u64 },
    Cut { place: u64 },
}

fn make(dir: &Path, header: &str, options: &Options) -> io::Result<Totals> {
    let found = find(options.scaled(FILES) as usize);
    if found.is_empty() {
        return Err(io::Error::other("found no trees to copy"));
    }
    let mut rng = Rng::new(options.seed);
    let mut plans = Vec::new();
    for (source, relative) in found {
        plans.push(Plan {
            source: source.clone(),
            target: dir.join("first").join(&relative),
            damage: Damage::None,
        });
        let mut target = dir.join("second").join(&relative);
        let damage = match rng.unit() {
            fate if fate < 0.02 => Damage::Flip { place: rng.bits() },
            fate if fate < 0.03 => Damage::Cut { place: rng.bits() },
            _ => Damage::None,
        };
        if rng.chance(0.02) {
            let mut renamed = target.into_os_string();
            renamed.push(".moved");
            target = renamed.into();
        }
        plans.push(Plan {
            source,
            target,
            damage,
        });
    }
    copy_all(&plans)?;
    hashing::write_truth(dir, header)
}

/// Up to `limit` files with their places in the corpus, the same ones in the same order every time.
fn find(limit: usize) -> Vec<(PathBuf, PathBuf)> {
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let trees = [
        (home.join(".cargo/registry/src"), "registry"),
        (home.join(".rustup/toolchains"), "toolchains"),
        ("/usr/lib".into(), "usr/lib"),
        ("/usr/include".into(), "usr/include"),
        ("/usr/share".into(), "usr/share"),
        ("/usr/bin".into(), "usr/bin"),
    ];
    let mut files = Vec::new();
    for (root, place) in trees {
        let entries = WalkDir::new(&root)
            .sort_by_file_name()
            .into_iter()
            .flatten();
        let regular = entries.filter(|entry| entry.file_type().is_file());
        let fitting = regular.filter(|entry| {
            entry
                .metadata()
                .is_ok_and(|metadata| metadata.len() <= LONGEST)
        });
        let missing = limit - files.len();
        files.extend(fitting.take(missing).map(|entry| {
            let relative = entry
                .path()
                .strip_prefix(&root)
                .expect("a walk stays below its root");
            (entry.path().to_owned(), Path::new(place).join(relative))
        }));
    }
    files
}

fn copy_all(plans: &[Plan]) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..2 * thread::available_parallelism().map_or(2, |count| count.get()) {
            scope.spawn(|| {
                while let Some(plan) = plans.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = copy(plan) {
                        let named = io::Error::new(
                            error.kind(),
                            format!("{}: {error}", plan.target.display()),
                        );
                        *failure.lock().expect("no copying thread panics") = Some(named);
                        next.store(plans.len(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    failure
        .into_inner()
        .expect("no copying thread panics")
        .map_or(Ok(()), Err)
}

/// Copies the bytes through memory: a reflink or a kept mode would make another corpus on another file system.
fn copy(plan: &Plan) -> io::Result<()> {
    let Ok(mut bytes) = fs::read(&plan.source) else {
        return Ok(());
    };
    let len = bytes.len() as u64;
    match plan.damage {
        Damage::Flip { place } if len > 0 => bytes[(place % len) as usize] ^= 1 << (place % 8),
        Damage::Cut { place } if len > 0 => bytes.truncate((place % len) as usize),
        _ => {}
    }
    if let Some(folder) = plan.target.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&plan.target, bytes)
}
