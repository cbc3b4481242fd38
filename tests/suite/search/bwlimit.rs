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

/// What was read before is not in memory any more.
#[test]
fn the_comparison_after_a_search_keeps_to_it() {
    all_at_once(["", "--threads hdd"], |rule| {
        let command = format!("find -f json --verify --page-cache drop {rule} LIMIT .");
        let run = keeps_to_the_limit(&two_copies(), &command, 4 * SIZE);
        assert_eq!(read_in(&run, "verify"), 2 * SIZE, "{run}");
        run.finds_files(["a b"]);
    });
}

#[test]
fn the_comparison_before_an_action_keeps_to_it() {
    all_at_once(["remove", "hardlink", "symlink"], |action| {
        let stage = two_copies();
        let command = format!("{action} --yes --allow managed --page-cache drop LIMIT .");
        keeps_to_the_limit(&stage, &command, 4 * SIZE);
    });
}

#[test]
fn the_comparison_of_what_a_report_says_keeps_to_it() {
    let stage = two_copies();
    let state = stage.state.path().join("report");
    fs::write(&state, stage.report("find .")).expect("written");
    forget(&stage);
    let command = format!(
        "remove --yes --allow managed LIMIT --from {}",
        state.display()
    );
    keeps_to_the_limit(&stage, &command, 2 * SIZE).says("Done: removed 1 file");
    assert!(stage.has("a") && !stage.has("b"));
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

/// It reads as much as it can in its time. The limit allows no more than twice its rate.
#[test]
fn a_probe_keeps_to_it_and_gives_no_advice() {
    let stage = two_copies();
    let began = Instant::now();
    let run = stage.run(&format!("probe --time 3s -f json --bwlimit {RATE} ."));
    let took = began.elapsed().as_secs_f64();
    let findings = run.exits(0).json();
    let read = findings["source"]["bytes_read"].as_u64().expect("a number");
    assert!(read > 0, "nothing was read: {findings}");
    assert!(
        read as f64 <= 2.0 * RATE as f64 * took,
        "{read} bytes in {took} s"
    );
    assert!(findings["advice"].is_null(), "{findings}");
}

#[test]
fn a_rate_of_nothing_is_refused_with_a_report_as_well() {
    let stage = two_copies();
    let run = stage.run("remove --yes --bwlimit 0 --from report");
    run.exits(2).says("--bwlimit 0: allows no reads");
    let run = stage.run("undo --bwlimit 0");
    run.exits(2).says("--bwlimit 0: allows no reads");
}
