//! `--bwlimit` holds for every read: of a search, of `--verify`, of the comparison before an action, of an undo, and of
//! a probe.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use crate::common::children::all_at_once;
use crate::common::stage::Stage;
use crate::common::{Run, Tree, noise};
use rustix::fs::{Advice, fadvise};

/// Bytes of each of the two files.
const SIZE: u64 = 3_000_000;

/// Bytes a second.
const RATE: u64 = 8_000_000;

/// Two copies on a disk, none of them in memory.
fn two_copies() -> Stage {
    let content = noise(1, SIZE as usize);
    // Not where temporary files lie in memory: these have no device.
    let tree = Tree::inside(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let stage = Stage::new(tree.file("a", &content).file("b", &content));
    forget(&stage);
    stage
}

/// Takes the files out of the page cache.
fn forget(stage: &Stage) {
    for entry in fs::read_dir(stage.tree.root()).expect("a folder") {
        let file = File::open(entry.expect("an entry").path()).expect("is there");
        file.sync_all().expect("can be written out");
        fadvise(&file, 0, None, Advice::DontNeed).expect("advice can be given");
    }
}

/// Runs a command that reads so many bytes from the disk. The limit allows no more than twice its rate.
#[track_caller]
fn keeps_to_the_limit(stage: &Stage, arguments: &str, bytes: u64) -> Run {
    keeps_to(RATE, stage, arguments, bytes)
}

#[track_caller]
fn keeps_to(rate: u64, stage: &Stage, arguments: &str, bytes: u64) -> Run {
    let began = Instant::now();
    let run = stage.run(&arguments.replace("LIMIT", &format!("--bwlimit {rate}")));
    let took = began.elapsed();
    let least = Duration::from_secs_f64(bytes as f64 / rate as f64 / 2.0);
    assert!(
        took >= least,
        "{arguments}: {bytes} bytes in {took:?}\n{run}"
    );
    run.exits(0)
}

/// Bytes that a search says it read in a stage.
fn read_in(run: &Run, stage: &str) -> u64 {
    let summary = &run.json()["summary"];
    let mut stages = summary["stages"].as_array().expect("stages").iter();
    let stage = stages.find(|told| told["name"] == stage);
    stage.map_or(0, |stage| stage["bytes_read"].as_u64().expect("a number"))
}

#[test]
fn a_search_keeps_to_it() {
    let run = keeps_to_the_limit(&two_copies(), "find -f json LIMIT .", 2 * SIZE);
    assert!(read_in(&run, "content") >= 2 * SIZE, "{run}");
    run.finds_files(["a b"]);
}

/// It copies the kept file, or reads it to see that it has the bytes that were compared.
///
/// A debug build hashes slower than the other tests' limit allows to read.
#[test]
fn an_undo_keeps_to_it() {
    const RATE: u64 = 2_000_000;
    all_at_once(["undo --dry-run LIMIT", "undo --yes LIMIT"], |undo| {
        let stage = two_copies();
        stage.run("symlink --yes --allow managed .").exits(0);
        // The times no longer prove the bytes.
        let kept = File::options().append(true).open(stage.tree.path("a"));
        let kept = kept.expect("opened");
        kept.set_modified(SystemTime::UNIX_EPOCH).expect("dated");
        forget(&stage);
        let run = keeps_to(RATE, &stage, undo, SIZE);
        if undo.contains("--yes") {
            run.says("1 file restored");
            let [kept, restored] =
                ["a", "b"].map(|name| fs::read(stage.tree.path(name)).expect("read"));
            assert!(kept == restored, "other bytes came back");
        }
    });
}
