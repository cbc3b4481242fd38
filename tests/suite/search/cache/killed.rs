//! A run that is killed at any moment leaves a cache that is whole, and costs what it read last.

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use seekless::decide::DuplicateSet;
use seekless::engine::{self, CacheChoice, CacheUse, Config, Control, Delivery, Trust};
use seekless::units::Bytes;

use super::{Heard, Runs, config, ext4, search, written_back};
use crate::common::children::own_process;
use crate::common::limits::{rounds, seed};
use crate::common::rng::Rng;
use crate::common::{Tree, noise};

/// What a child gets: the folder to search, that of the cache, and the file in which it records what it has read; how far
/// its clock is ahead; and how many bytes a second it may read, or 0.
const PATHS: &str = "SEEKLESS_TEST_CACHE_PATHS";
const AHEAD: &str = "SEEKLESS_TEST_CACHE_AHEAD";
const RATE: &str = "SEEKLESS_TEST_CACHE_RATE";

/// Time between two looks at what a child has read.
const EACH: Duration = Duration::from_millis(20);

/// The search of [`killed`], which starts this test with paths.
#[test]
fn a_search_in_a_process_of_its_own_writes_rows() {
    let said = [PATHS, AHEAD, RATE].map(|name| env::var(name).ok());
    let [Some(paths), Some(ahead), Some(rate)] = said else {
        let tree = Tree::new().copies(["a", "b"], noise(1, 3000));
        let away = tempfile::tempdir().expect("a folder");
        let now = Runs::new(away.path().join("cache")).later();
        let ended = searching(tree.root(), &now, 0).status().expect("runs");
        let rows = fs::read_dir(&now.folder).expect("a cache").count();
        assert!(ended.success() && rows > 0, "{ended}: {rows} files of rows");
        return;
    };
    let paths: Vec<_> = paths.split(':').map(PathBuf::from).collect();
    let [tree, folder, record] = <[PathBuf; 3]>::try_from(paths).expect("three paths");
    let cache = CacheUse {
        folder,
        answers: true,
        trust: Trust::Change,
        choice: CacheChoice::Named,
        ahead: Duration::from_secs(ahead.parse().expect("a number")),
    };
    let roots = [tree];
    written_back(&roots);
    let rate: u64 = rate.parse().expect("a number");
    let config = Config {
        bytes_per_second: (rate > 0).then_some(Bytes(rate)),
        ..config(&roots, Some(cache), true)
    };
    let (control, heard) = (Control::default(), Heard::default());
    let mut each = |_: &DuplicateSet| Ok(());
    thread::scope(|scope| {
        scope.spawn(|| record_reads(&control, &record));
        engine::find(&config, Delivery::AsFinal, &heard, &control, &mut each).expect("a search");
        process::exit(0);
    });
}

/// Writes a line every few milliseconds: the number of bytes that were read by then.
fn record_reads(control: &Control, record: &Path) {
    let mut record = File::create(record).expect("is made");
    loop {
        let lines = control.progress().into_iter();
        let read = lines.filter(|line| line.stage != "scan");
        let read: u64 = read.map(|line| line.bytes_done).sum();
        writeln!(record, "{read}").expect("is written");
        thread::sleep(EACH);
    }
}

/// Where a child records what it has read.
fn record(cache: &CacheUse) -> PathBuf {
    cache.folder.with_extension("read")
}

/// This program again, to search in a process of its own, as long as it is let.
fn searching(tree: &Path, cache: &CacheUse, rate: u64) -> Command {
    let name = "a_search_in_a_process_of_its_own_writes_rows";
    let mut command = own_process(module_path!(), name);
    let paths = [tree, &cache.folder, &record(cache)].map(|path| path.display().to_string());
    command
        .env(PATHS, paths.join(":"))
        .env(AHEAD, cache.ahead.as_secs().to_string())
        .env(RATE, rate.to_string())
        .stdout(Stdio::null());
    command
}

/// What a child had read when it was killed.
struct Killed {
    /// Bytes that it had read at each moment.
    read: Vec<(Duration, u64)>,
    at: Duration,
}

impl Killed {
    /// Bytes that it had read so long before it was killed.
    fn read_before(&self, ago: Duration) -> u64 {
        let until = self.at.saturating_sub(ago);
        let by_then = self.read.iter().rev().find(|(time, _)| *time <= until);
        by_then.map_or(0, |(_, read)| *read)
    }
}

/// Kills a child after this time.
fn killed(tree: &Path, cache: &CacheUse, rate: u64, after: Duration) -> Killed {
    let record = record(cache);
    let mut child = searching(tree, cache, rate).spawn().expect("starts");
    let began = Instant::now();
    let mut read = Vec::new();
    while began.elapsed() < after {
        thread::sleep(EACH.min(after.saturating_sub(began.elapsed())));
        let lines = fs::read_to_string(&record).unwrap_or_default();
        let last = lines.lines().last().and_then(|line| line.parse().ok());
        read.push((began.elapsed(), last.unwrap_or(0)));
    }
    child.kill().expect("is killed");
    child.wait().expect("ends");
    let at = began.elapsed();
    Killed { read, at }
}

/// Kills runs that need some seconds, and counts the bytes that the next run reads again.
fn read_again_after(times: usize) {
    const SIZE: usize = 50_000;
    const RATE: u64 = 4_000_000;
    /// Files that a run reads at the same time, or has read without having stored them.
    const IN_FLIGHT: usize = 64;
    /// Time between two writes, and for one.
    const LOST: Duration = Duration::from_secs(2);
    let volume = ext4();
    let tree = Tree::inside(&volume.path());
    for nth in 0..320 {
        tree.write(format!("t/{nth}"), noise(nth / 2, SIZE));
    }
    let away = tempfile::tempdir().expect("a folder");
    let roots = [tree.path("t")];
    let right = search(&roots, None);
    let all = right.bytes_read();
    let mut rng = Rng::new(seed());
    let (mut known_in_all, mut most_lost) = (0, 0);
    for round in 0..times {
        // What is in the page cache is not limited.
        volume.unmount();
        volume.mount();
        let mut runs = Runs::new(away.path().join(round.to_string()));
        let quarter = 1300;
        let after = 500 + round % 4 * quarter + rng.below(quarter);
        let after = Duration::from_millis(after as u64);
        let killed = killed(&roots[0], &runs.later(), RATE, after);
        let answer = search(&roots, Some(runs.later()));
        let known = all - answer.bytes_read();
        assert_eq!((answer.sets, answer.problems), (right.sets.clone(), vec![]));
        let (read, before) = (killed.read_before(Duration::ZERO), killed.read_before(LOST));
        let what = format!(
            "round {round}: killed after {after:?} and {read} bytes, {before} of them until 2 s before; {known} are known"
        );
        println!("{what}");
        assert!(known + (IN_FLIGHT * SIZE) as u64 >= before, "{what}");
        known_in_all += known;
        most_lost = most_lost.max(read.saturating_sub(known));
    }
    println!("{known_in_all} bytes were not read again; a kill cost {most_lost} at most");
    assert!(known_in_all > 0, "nothing was kept");
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_run_that_is_killed_costs_two_seconds_of_reading() {
    read_again_after(4);
}

#[test]
#[ignore = "needs root, loop devices and minutes"]
fn in_full_a_run_that_is_killed_costs_two_seconds_of_reading() {
    read_again_after(rounds(500));
}
