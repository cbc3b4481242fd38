//! Killed, damaged, full or shared with another run: the answer is right all the same, and one line says what is not used.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use seekless::engine::{CacheChoice, CacheUse, Trust};

use super::{Answer, Runs, ext4, search};
use crate::common::children::own_process;
use crate::common::limits::{rounds, seed};
use crate::common::rng::Rng;
use crate::common::volume::Volume;
use crate::common::{Tree, noise};

/// A tree of which some sets are decided by each stage.
fn tree(volume: &Volume) -> Tree {
    let tree = Tree::inside(&volume.path());
    for nth in 0..40 {
        let length = [900, 5000, 20_000, 140_000][nth % 4];
        for copy in ["a", "b"] {
            tree.write(format!("{nth} {copy}"), noise(nth as u64, length));
        }
        let mut other = noise(nth as u64, length);
        other[length / 2] ^= 1;
        tree.write(format!("{nth} other"), other);
    }
    tree
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).expect("is there");
    let mut files: Vec<_> = listed
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

fn assert_right(answer: &Answer, right: &Answer, what: &str) {
    assert_eq!(answer.sets, right.sets, "{what}");
    assert!(answer.problems.len() <= 1, "{what}: {:?}", answer.problems);
}

fn damaged(tries: usize) {
    let volume = ext4();
    let tree = tree(&volume);
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("cache"));
    let roots = [tree.root().to_owned()];
    let right = search(&roots, Some(runs.later()));
    // Closed by its last user, a file of rows has no log beside it.
    let [file] = &files_in(&away.path().join("cache"))[..] else {
        panic!("one file of rows");
    };
    let whole = fs::read(file).expect("is read");
    assert_eq!(search(&roots, Some(runs.later())).bytes_read(), 0);
    let mut rng = Rng::new(seed());
    for attempt in 0..tries {
        let mut bytes = whole.clone();
        let what = match attempt % 8 {
            0 => {
                let length = rng.below(bytes.len());
                bytes.truncate(length);
                format!("cut to {length}")
            }
            // The head of the file says what the rest is.
            kind => {
                let at = rng.below(if kind == 1 { 100 } else { bytes.len() });
                bytes[at] ^= 1 << rng.below(8);
                format!("byte {at}")
            }
        };
        for beside in files_in(&away.path().join("cache")) {
            fs::remove_file(beside).expect("is removed");
        }
        runs.folder = away.path().join("cache");
        fs::write(file, &bytes).expect("is written");
        assert_right(&search(&roots, Some(runs.later())), &right, &what);
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_cache_that_is_damaged_anywhere_gives_right_answers() {
    damaged(60);
}

#[test]
#[ignore = "needs root, loop devices and minutes"]
fn in_full_a_cache_that_is_damaged_anywhere_gives_right_answers() {
    damaged(rounds(20_000));
}

#[test]
#[ignore = "needs root and loop devices"]
fn two_runs_at_once_share_a_cache() {
    let volume = ext4();
    let tree = tree(&volume);
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("cache"));
    let roots = [tree.root().to_owned()];
    let right = search(&roots, None);
    let together = runs.later();
    thread::scope(|scope| {
        let run = || search(&roots, Some(together.clone()));
        let all: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        for one in all {
            let answer = one.join().expect("no panic");
            assert_eq!((answer.sets, answer.problems), (right.sets.clone(), vec![]));
        }
    });
    let after = search(&roots, Some(runs.later()));
    assert_eq!((after.sets, after.problems), (right.sets, vec![]));
}

/// What a child gets: the folder to search and that of the cache, and how far its clock is ahead.
const FOLDERS: &str = "SEEKLESS_TEST_CACHE_FOLDERS";
const AHEAD: &str = "SEEKLESS_TEST_CACHE_AHEAD";

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The search of [`killed`], which starts this test with folders.
#[test]
fn a_search_in_a_process_of_its_own_writes_rows() {
    let (Ok(folders), Ok(ahead)) = (env::var(FOLDERS), env::var(AHEAD)) else {
        let tree = Tree::new().copies(["a", "b"], noise(1, 3000));
        let away = tempfile::tempdir().expect("a folder");
        let now = Runs::new(away.path().join("cache")).later();
        let ended = searching(tree.root(), &now).status().expect("runs");
        let rows = fs::read_dir(&now.folder).expect("a cache").count();
        assert!(ended.success() && rows > 0, "{ended}: {rows} files of rows");
        return;
    };
    let (tree, cache) = folders.split_once(':').expect("two folders");
    let cache = CacheUse {
        folder: PathBuf::from(cache),
        answers: true,
        trust: Trust::Change,
        choice: CacheChoice::Named,
        ahead: Duration::from_secs(ahead.parse().expect("a number")),
    };
    search(&[PathBuf::from(tree)], Some(cache));
}

/// This program again, to search in a process of its own, as long as it is let.
fn searching(tree: &Path, cache: &CacheUse) -> Command {
    let mut command = own_process(
        module_path!(),
        "a_search_in_a_process_of_its_own_writes_rows",
    );
    command
        .env(FOLDERS, [tree, &cache.folder].map(shown).join(":"))
        .env(AHEAD, cache.ahead.as_secs().to_string())
        .stdout(Stdio::null());
    command
}

fn killed(times: usize) {
    let volume = ext4();
    let tree = tree(&volume);
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("cache"));
    let roots = [tree.root().to_owned()];
    let right = search(&roots, None);
    let mut rng = Rng::new(seed());
    for _ in 0..times {
        let now = runs.later();
        let mut child = searching(tree.root(), &now).spawn().expect("starts");
        thread::sleep(Duration::from_micros(rng.below(60_000) as u64));
        child.kill().expect("is killed");
        child.wait().expect("ends");
        let answer = search(&roots, Some(runs.later()));
        assert_eq!((answer.sets, answer.problems), (right.sets.clone(), vec![]));
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_run_that_is_killed_leaves_a_cache_that_is_whole() {
    killed(10);
}

#[test]
#[ignore = "needs root, loop devices and minutes"]
fn in_full_a_run_that_is_killed_leaves_a_cache_that_is_whole() {
    killed(rounds(500));
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_full_disk_costs_a_line() {
    let volume = Volume::on_loop("ext4", 8, "");
    let searched = ext4();
    let tree = Tree::inside(&searched.path());
    for nth in 0..4000 {
        tree.write(nth.to_string(), noise(nth / 2, 500));
    }
    let full = noise(1, 1 << 20);
    for nth in 0.. {
        if fs::write(volume.path().join(nth.to_string()), &full).is_err() {
            break;
        }
    }
    let right = search(&[tree.root().to_owned()], None);
    let mut runs = Runs::new(volume.path().join("cache"));
    let answer = search(&[tree.root().to_owned()], Some(runs.later()));
    assert_eq!(answer.sets, right.sets);
    assert_eq!(answer.problems.len(), 1, "{:?}", answer.problems);
}
