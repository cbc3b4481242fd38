//! `seekless probe`: measures whatever is there, says what it cannot, and leaves nothing behind.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::children::all_at_once;
use crate::common::limits::skipped;
use crate::common::run::catches;
use crate::common::volume::{Volume, sh};
use crate::common::{noise, seekless};

/// Why nothing was measured.
const IN_MEMORY: &str = "the build folder is in memory";

const EXPERIMENTS: [&str; 3] = ["random", "streams", "order"];

/// A folder beside the build, which is rather on a disk than the one for temporary files.
fn folder() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder can be made")
}

/// A folder with enough files for every experiment.
fn files() -> TempDir {
    let folder = folder();
    fill(folder.path(), 1200);
    folder
}

fn fill(folder: &Path, files: usize) {
    for number in 0..files {
        let inner = folder.join(format!("folder{}", number % 20));
        fs::create_dir_all(&inner).expect("made");
        let file = inner.join(format!("file{number}"));
        fs::write(file, noise(number as u64, 8192)).expect("written");
    }
    fs::write(folder.join("large"), noise(1, 8 << 20)).expect("written");
    let handle = fs::File::open(folder).expect("opened");
    rustix::fs::syncfs(handle).expect("synced");
}

/// All names below a folder, with what a change would show in.
fn state(folder: &Path) -> BTreeMap<PathBuf, (u64, i64, i64)> {
    let entries = walkdir::WalkDir::new(folder).into_iter();
    entries
        .map(|entry| {
            let entry = entry.expect("listed");
            let metadata = entry.metadata().expect("metadata");
            let changed = metadata.ctime() * 1_000_000_000 + metadata.ctime_nsec();
            let modified = metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec();
            (entry.into_path(), (metadata.len(), modified, changed))
        })
        .collect()
}

fn charts(findings: &Value) -> Vec<(&str, &Value)> {
    let experiments = findings["experiments"].as_array().expect("a list");
    let chart = |outcome: &'_ Value| outcome.get("chart").is_some();
    experiments
        .iter()
        .filter(|outcome| chart(outcome))
        .map(|outcome| (outcome["name"].as_str().expect("a name"), &outcome["chart"]))
        .collect()
}

fn points(chart: &Value) -> Vec<&Value> {
    let series = chart["series"].as_array().expect("a list");
    let points = series.iter().map(|line| line["points"].as_array());
    points.flat_map(|points| points.expect("a list")).collect()
}

#[test]
fn a_folder_is_measured_in_every_way_and_not_changed() {
    let folder = files();
    let before = state(folder.path());
    let run = seekless(folder.path(), "probe --time 4s -f json .")
        .run()
        .exits(0);
    assert_eq!(state(folder.path()), before);
    let findings = run.json();
    assert_eq!(findings["schema"], 1);
    let names: Vec<_> = findings["experiments"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|outcome| outcome["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, EXPERIMENTS);
    if findings["place"]["class"] == "memory" {
        return skipped(IN_MEMORY);
    }
    assert_eq!(findings["source"]["files"], 1201, "{run}");
    let charts = charts(&findings);
    assert_eq!(charts.len(), 3, "hardly anything was measured\n{run}");
    for (name, chart) in charts {
        let points = points(chart);
        assert!(!points.is_empty(), "{name}");
        for point in points {
            let [low, middle, high] = ["p10", "median", "p90"].map(|key| point[key].as_f64());
            assert!(
                low <= middle && middle <= high && middle > Some(0.0),
                "{name}: {point}"
            );
        }
    }
    // Whether there is advice depends on how steady the machine is.
    let (advice, why) = (&findings["advice"], &findings["no_advice"]);
    assert!(advice.is_null() != why.is_null(), "{advice} {why}");
}

#[test]
fn a_scratch_file_is_read_and_gone() {
    let folder = folder();
    let before = state(folder.path());
    let run = seekless(folder.path(), "probe --scratch 16MiB --time 2s -f json .")
        .run()
        .exits(0);
    let findings = run.json();
    if findings["place"]["class"] != "memory" {
        assert_eq!(findings["source"]["kind"], "scratch", "{run}");
        assert_eq!(findings["source"]["bytes"], 16 << 20);
        // On a busy machine, the time is over before all is measured.
        assert!(!charts(&findings).is_empty(), "{run}");
    }
    let names = |state: BTreeMap<PathBuf, _>| state.into_keys().collect::<Vec<_>>();
    assert_eq!(names(state(folder.path())), names(before));
}

/// Sends a signal some time after the start, or after it is caught; returns what was printed and the exit code.
fn struck(folder: &Path, signal: Signal, after: Duration) -> (String, Option<i32>) {
    let run = seekless(folder, "probe --scratch 64MiB --time 60s .");
    let mut child = run.spawn();
    let began = Instant::now();
    while signal != Signal::KILL && !catches(&child, signal) {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "it does not listen"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(after);
    let pid = Pid::from_child(&child);
    kill_process(pid, signal).expect("it runs");
    let mut text = String::new();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_to_string(&mut text).expect("text");
    (text, child.wait().expect("it ends").code())
}

#[test]
fn an_interruption_at_any_time_leaves_no_scratch_file() {
    let killed = [0, 20, 100, 500, 2000].map(|after| (Signal::KILL, after));
    let asked = [Signal::INT, Signal::TERM].map(|signal| [(signal, 400), (signal, 1500)]);
    let strikes = killed.into_iter().chain(asked.into_iter().flatten());
    all_at_once(strikes, |(signal, after)| {
        let folder = folder();
        let after = Duration::from_millis(after);
        let (text, code) = struck(folder.path(), signal, after);
        if signal != Signal::KILL {
            // On memory it may be done by then.
            let done = text.contains("in memory");
            assert!(
                done || code == Some(130),
                "{signal:?} after {after:?}: {code:?}\n{text}"
            );
            assert!(done || text.contains("interrupted"), "{text}");
        }
        let entries = fs::read_dir(folder.path()).expect("listed");
        let names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        assert_eq!(names, [""; 0], "{signal:?} after {after:?}");
    });
}

#[test]
#[ignore = "needs root, loop devices and mkfs.ext4"]
fn a_file_system_that_cannot_be_written_is_measured_all_the_same() {
    let volume = Volume::on_loop("ext4", 64, "");
    fill(&volume.path(), 1200);
    sh(&format!("mount -o remount,ro {}", volume.path().display()));
    let run = seekless(&volume.path(), "probe --time 2s -f json .")
        .run()
        .exits(0);
    assert_eq!(charts(&run.json()).len(), 3, "{run}");
    seekless(&volume.path(), "probe --time 1s --scratch 2MiB .")
        .run()
        .exits(2)
        .says("Read-only file system");
}
