//! Two runs at once, each a process of its own: one at a time writes to a folder of journals, and with two such folders
//! each content keeps a name.
//!
//! Builds without debug assertions cannot be stopped in the middle of a step (`sys::fault`).
#![cfg(debug_assertions)]

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::scene::{Scene, picture, prepared};
use crate::common::stage::Stopped;
use crate::common::{noise, rounds};
use rustix::process::{Signal, kill_process};

/// A call in the middle of the first step, and one before anything is changed.
const MIDDLE: u64 = 40;
#[test]
fn a_second_run_with_the_same_journals_is_refused() {
    let scene = Scene::new();
    fs::create_dir(scene.top.join("other")).expect("a folder");
    let before = picture(&scene.top);
    let first = Stopped::start(prepared(&scene, "symlink --yes --keep oldest tree"), MIDDLE);
    let held = picture(&scene.tree());
    for second in [
        "symlink --yes --keep newest tree",
        "move --yes --to away tree/dup tree/keep",
        "hardlink --yes .",
        "remove --yes other",
        "undo",
    ] {
        let run = prepared(&scene, second).run();
        match second {
            // Whichever of the two is met first: the run's journal, or the folder.
            "undo" if run.stderr_text().contains("is still active") => run.exits(2),
            _ => run
                .exits(2)
                .says("another run that keeps its journal in")
                .says("wait until it ends"),
        };
        assert_eq!(picture(&scene.tree()), held, "{second}");
    }
    for second in [
        "find tree",
        "remove --dry-run tree",
        "remove --yes --journal elsewhere other",
        "undo --list",
    ] {
        prepared(&scene, second).run().exits(0);
    }
    assert_eq!(first.goes_on(), Some(0));
    prepared(&scene, "undo").run().exits(0);
    let after = picture(&scene.tree());
    assert!(
        after
            .iter()
            .all(|(path, seen)| { before.get(&Path::new("tree").join(path)) == Some(seen) })
    );
}

#[test]
fn no_run_begins_beside_an_undo() {
    let scene = Scene::new();
    prepared(&scene, "symlink --yes tree").run().exits(0);
    let undo = Stopped::start(prepared(&scene, "undo"), MIDDLE);
    prepared(&scene, "remove --yes tree")
        .run()
        .exits(2)
        .says("another run");
    assert_eq!(undo.goes_on(), Some(0));
    assert!(
        fs::symlink_metadata(scene.victim())
            .expect("there")
            .is_file()
    );
}

#[test]
fn a_run_that_died_locks_nothing() {
    let scene = Scene::new();
    let first = Stopped::start(prepared(&scene, "remove --yes tree"), 10);
    kill_process(first.pid(), Signal::KILL).expect("it is there");
    assert_eq!(first.goes_on(), None);
    prepared(&scene, "remove --yes tree").run().exits(0);
}

/// One keeps what the other would replace; each of them is right by itself.
#[test]
fn two_runs_at_once_leave_no_link_that_leads_nowhere() {
    let opponents = [
        "symlink --yes --keep", // the same, the other way round
        "move --to away --yes --keep",
        "remove --trash --yes --keep",
    ];
    let mut done = 0;
    for round in 0..rounds(6) {
        let second = opponents[usize::try_from(round).expect("small") % opponents.len()];
        let (scene, codes) = both("symlink --yes --keep", second);
        assert!(codes.contains(&Some(0)), "{second}: {codes:?}");
        assert!(
            codes.iter().all(|code| [Some(0), Some(2)].contains(code)),
            "{second}: {codes:?}"
        );
        done += codes.iter().filter(|&&code| code == Some(0)).count();
        for entry in walkdir::WalkDir::new(scene.tree()) {
            let path = entry.expect("an entry").into_path();
            let target = fs::metadata(&path);
            assert!(target.is_ok(), "{second}: {} leads nowhere", path.display());
        }
    }
    assert!(done > 0);
}

/// As two users have, or the user and root.
#[test]
fn two_runs_with_journals_of_their_own_lose_no_content() {
    let actions = ["remove --yes", "hardlink --yes", "symlink --yes"];
    for round in 0..rounds(9) {
        let nth = usize::try_from(round).expect("small");
        let (first, second) = (actions[nth % 3], actions[nth / 3 % 3]);
        both(
            &format!("{first} --keep"),
            &format!("{second} --journal elsewhere --keep"),
        );
    }
}

const PAIRS: u64 = 30;

/// Runs two commands at once over pairs, which keep the other file of each. Every content has a name afterwards.
fn both(first: &str, second: &str) -> (Scene, [Option<i32>; 2]) {
    let scene = Scene::new();
    for pair in 0..PAIRS {
        for folder in ["keep", "dup"] {
            let name = format!("tree/{folder}/pair-{pair}");
            scene.file(&name, &noise(100 + pair, 3000), 0o644, 1_000_000_000);
        }
    }
    let start = |line: &str, folder: &str| {
        let run = prepared(&scene, line).arg(format!("under tree/{folder}"));
        run.arg("tree").stdout(Stdio::null()).spawn()
    };
    let runs = [start(first, "keep"), start(second, "dup")];
    let codes = runs.map(|mut run| run.wait().expect("it ends").code());
    let contents = picture(&scene.top);
    for pair in 0..PAIRS {
        let content = noise(100 + pair, 3000);
        let is_there = contents.values().any(|seen| seen.content == content);
        assert!(is_there, "{first}, {second}: a content is lost");
    }
    (scene, codes)
}
