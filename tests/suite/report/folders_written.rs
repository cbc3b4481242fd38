//! How `seekless folders` writes its report: what is bounded, and where the report goes.

use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Advice, fadvise};
use rustix::process::{Pid, Signal, kill_process};

use crate::common::run::catches;
use crate::common::{Tree, noise, seekless};

/// More copies of one content than are looked at.
const COPIES: u32 = 300;

#[test]
fn what_may_be_more_is_marked() {
    let licence = noise(1, 100);
    let mut tree = Tree::new()
        .copies(["x/large", "y/large"], noise(2, 9000))
        .file("x/licence", &licence)
        .file("x/only", noise(3, 500))
        .file("y/only", noise(4, 5000));
    for number in 0..COPIES {
        tree = tree.file(format!("{number}/licence"), &licence).file(
            format!("{number}/only"),
            noise(1000 + u64::from(number), 900),
        );
    }
    let run = |line: &str| seekless(tree.root(), line).run().exits(0);
    let json = run("folders -f json --name x .").json();
    let overlap = &json["entries"][0]["folders"][0]["overlap"];
    assert_eq!(overlap["bounded"], true, "{json}");
    let text = run("folders --name x .").stdout_text();
    assert!(
        text.contains("    # another folder may have more of it\n"),
        "{text}"
    );

    let alone = Tree::new()
        .copies(["x/large", "y/large"], noise(2, 9000))
        .file("x/only", noise(3, 500))
        .file("y/only", noise(4, 5000));
    let run = seekless(alone.root(), "folders -f json --name x .").run();
    let json = run.exits(0).json();
    assert_eq!(json["entries"][0]["folders"][0]["overlap"]["shared"], 9000);
    assert!(json["entries"][0]["folders"][0]["overlap"]["bounded"].is_null());
}

#[test]
fn at_least_so_many_folders_hold_it() {
    let licence = noise(1, 100);
    let mut tree = Tree::new().file("x/licence", &licence);
    for number in 0..COPIES {
        let folder = format!("more/{number}");
        tree = tree.file(format!("{folder}/licence"), &licence).file(
            format!("{folder}/only"),
            noise(1000 + u64::from(number), 900),
        );
    }
    let run = |line: &str| seekless(tree.root(), line).run().exits(0);
    let json = run("folders -f json --name x .").json();
    let folder = &json["entries"][0]["folders"][0];
    assert_eq!(folder["verdict"], "contained");
    assert_eq!(
        (&folder["places"], &folder["at_least"]),
        (&256.into(), &true.into())
    );
    let text = run("folders --name x .").stdout_text();
    assert!(
        text.contains("contained in ./more/0\n    # and at least 255 more folders\n"),
        "{text}"
    );
}

#[test]
fn an_interrupted_run_leaves_nothing_beside_its_report() {
    for signals in [&[Signal::INT][..], &[Signal::INT, Signal::TERM]] {
        // At this rate it would take hours. Temporary files may lie in memory, which is not slowed down.
        let tree = Tree::inside(Path::new(env!("CARGO_TARGET_TMPDIR")));
        let tree = tree.copies(["x/1", "y/1"], noise(1, 4 << 20));
        for name in ["x/1", "y/1"] {
            // Nor is what lies in the page cache.
            let file = File::open(tree.path(name)).expect("there");
            file.sync_all().expect("synced");
            fadvise(&file, 0, None, Advice::DontNeed).expect("advice can be given");
        }
        let report = Tree::new().file("report", "# seekless of an earlier run");
        let out = report.path("report");
        let line = format!("folders --bwlimit 1k -o {} .", out.display());
        let child = seekless(tree.root(), &line).spawn();
        let began = Instant::now();
        while !signals.iter().all(|&signal| catches(&child, signal)) {
            assert!(began.elapsed() < Duration::from_secs(60), "it starts");
            thread::sleep(Duration::from_millis(5));
        }
        let pid = Pid::from_child(&child);
        // They arrive together.
        kill_process(pid, Signal::STOP).expect("it runs");
        for &signal in signals {
            kill_process(pid, signal).expect("it runs");
        }
        kill_process(pid, Signal::CONT).expect("it runs");
        crate::common::run::finish(child, Duration::from_secs(60)).exits(130);
        let left = fs::read_dir(report.root()).expect("listed");
        let left: Vec<_> = left
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        assert_eq!(left, ["report"], "{signals:?}");
        assert_eq!(
            fs::read(&out).expect("there"),
            b"# seekless of an earlier run"
        );
    }
}
