//! A run that makes, empties and removes folders, killed before any of its calls, or its undo: another undo brings back each
//! file and folder, with modes and times, and leaves nothing else.
//!
//! Builds without debug assertions have nothing to be killed by (`sys::fault`).
#![cfg(debug_assertions)]

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::common::stage::Stage;
use crate::common::{Tree, noise};

/// Copies in `x`, of files in `keep`, beside noise in a folder that is empty otherwise.
fn stage() -> Stage {
    let tree = Tree::new()
        .copies(["keep/one", "x/p/q/one", "x/r/one"], noise(1, 5000))
        .copies(["keep/two", "x/p/two"], noise(2, 7000))
        .file("x/p/q/.DS_Store", "noise")
        .file("x/stays", "only here")
        .folder("x/empty")
        .mode("x/p", 0o750)
        .mode("x/p/q", 0o705)
        .mode("x/r", 0o711);
    let stage = Stage::new(tree);
    for (seconds, name) in (1_000..).zip(["x/p/q", "x/p", "x/r", "x"]) {
        let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, 5);
        let folder = File::open(stage.tree.path(name)).expect("a folder");
        let times = FileTimes::new().set_accessed(time).set_modified(time);
        folder.set_times(times).expect("times can be set");
    }
    stage
}

/// Every entry of the tree: its mode, its time of modification, and the bytes of a file.
type Entries = BTreeMap<PathBuf, (u32, (i64, i64), Vec<u8>)>;

fn entries(stage: &Stage) -> Entries {
    let entries = walkdir::WalkDir::new(stage.tree.root()).min_depth(1);
    let entries = entries.into_iter().map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| {
            let now = entry.metadata().expect("metadata");
            let content = if now.is_dir() {
                Vec::new()
            } else {
                fs::read(entry.path()).expect("a file")
            };
            // A folder that lost and got a name has another time.
            let time = if now.is_dir() {
                (0, 0)
            } else {
                (now.mtime(), now.mtime_nsec())
            };
            (entry.into_path(), (now.mode(), time, content))
        })
        .collect()
}

/// The empty folders below the destination.
fn empty_folders(stage: &Stage) -> usize {
    let entries = walkdir::WalkDir::new(stage.tree.path("new")).into_iter();
    let folders = entries.filter_map(|entry| fs::read_dir(entry.ok()?.path()).ok());
    folders
        .filter_map(|mut all| all.next().is_none().then_some(()))
        .count()
}

/// True if the run was killed before so many calls.
pub fn killed(stage: &Stage, words: &str, at: usize) -> bool {
    let fault = format!("kill@{at}");
    let child = stage.seekless(words).env("SEEKLESS_FAULT", &fault);
    let output = child.spawn().wait_with_output().expect("it ends");
    let code = output.status.code();
    assert!(code.is_none_or(|code| code == 0), "{output:?}");
    output.status.signal() == Some(9)
}

/// Far more calls than any of these runs makes.
const MANY: usize = 2000;

const COMMANDS: [&str; 2] = ["move --to new/deep", "remove --trash"];

const ALL: &str = "--yes --remove-empty-folders --with-noise --reference keep x";

/// Kills a run, or its undo, before one of so many calls. What comes next is undo, or a sweep and then undo, in turns.
fn killed_at_each_call(every: usize) {
    for (command, is_undo) in COMMANDS.into_iter().flat_map(|c| [(c, false), (c, true)]) {
        let words = format!("{command} {ALL}");
        let mut deaths = 0;
        loop {
            let at = 1 + deaths * every;
            assert!(at < MANY, "{words}: it never ends");
            let context = format!("{words}, undo: {is_undo}, killed before call {at}");
            let stage = stage();
            let before = entries(&stage);
            let was_killed = if is_undo {
                stage.run(&words).exits(0);
                killed(&stage, "undo --yes", at)
            } else {
                killed(&stage, &words, at)
            };
            if !is_undo && empty_folders(&stage) > 0 {
                let seen = stage.run(".").exits(0);
                let said = seen.stderr_text();
                assert!(said.contains("unfinished file"), "{context}: {seen}");
            }
            if deaths % 2 == 0 {
                stage.run("undo --sweep --yes");
                assert!(is_undo || empty_folders(&stage) == 0, "{context}");
            }
            // Without a journal nothing was done.
            let undone = stage.run("undo --yes");
            let now = entries(&stage);
            let differs: Vec<_> = now
                .iter()
                .filter(|(path, was)| before.get(*path) != Some(was))
                .map(|(path, _)| path)
                .collect();
            assert!(now == before, "{context}: {differs:?}\n{undone}");
            if !was_killed {
                break;
            }
            deaths += 1;
        }
        assert!(deaths * every > 40, "{words}, undo: {is_undo}: {deaths}");
    }
}

#[test]
fn everything_comes_back() {
    killed_at_each_call(17);
}

#[test]
#[ignore = "takes minutes"]
fn in_full_everything_comes_back() {
    killed_at_each_call(1);
}
