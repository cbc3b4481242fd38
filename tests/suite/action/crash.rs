//! Killed between any two system calls of a step, nothing is lost, and undo or a second run ends it.
//!
//! Builds without debug assertions have nothing to be killed by (`sys::fault`).
#![cfg(debug_assertions)]

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::noise;
use crate::common::scene::{Perform, Picture, Scene, kind, old_or_new, picture, step};
use crate::common::volume::Volume;
use seekless::action::{ActionKind, Outcome, UndoTally, runs};

/// True if the process was killed; else it must have come to its end.
#[track_caller]
fn was_killed(output: &Output, end: &str) -> bool {
    if output.status.signal() == Some(9) {
        return true;
    }
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(end), "{output:?}");
    false
}

/// Far more calls than any step makes: a test that gets there counts nothing.
const MANY: usize = 500;

fn context(action: &str, at: usize) -> String {
    format!("{action}, killed before call {at}")
}

/// Undoes the last run, if it came so far as to write a journal.
fn undo(scene: &Scene) -> Option<UndoTally> {
    let runs = runs(&scene.journals()).expect("a list");
    runs.iter().any(|run| run.steps > 0).then(|| scene.undo())
}

/// After undo everything is as before, but for what was removed; nothing lies about.
#[track_caller]
fn all_as_before(scene: &Scene, action: &str, before: &Picture, at: usize) -> Option<UndoTally> {
    let context = context(action, at);
    let tally = undo(scene);
    assert_eq!(
        tally.as_ref().map_or(0, |tally| tally.refused),
        0,
        "{context}: {tally:?}"
    );
    let mut wanted = before.clone();
    if tally.as_ref().is_some_and(|tally| tally.impossible == 1) {
        assert_eq!(action, "remove");
        wanted.remove(Path::new("dup/v"));
    }
    assert!(picture(&scene.tree()) == wanted, "{context}: not as before");
    let is_new = !scene.destination().exists();
    assert!(is_new, "{context}: the destination folder is left");
    for folder in [scene.top.join("Trash")] {
        if folder.exists() {
            assert_eq!(
                picture(&folder).keys().next(),
                None,
                "{context}: something is left"
            );
        }
    }
    tally
}

/// Makes a scene.
type Make = fn() -> Scene;

/// Kills the step before each of its calls; calls `then` after each death.
fn each_death(action: &str, make: Make, then: impl Fn(&Scene, &Picture, usize)) {
    for at in 1..MANY {
        let scene = make();
        let before = picture(&scene.tree());
        let output = scene.child(action, &format!("kill@{at}"));
        if !was_killed(&output, "step 0: done") {
            assert!(at > 16, "{action}: only {} calls", at - 1);
            return;
        }
        old_or_new(&scene, action, &before, &context(action, at));
        then(&scene, &before, at);
    }
    panic!("{action} never ends");
}

/// What comes after a death: undo, or a second run. The short form takes one of them in turns, the full one both.
fn undo_or_a_second_run_ends_it(action: &str, make: Make, all: bool) {
    for first in 0..if all { 2 } else { 1 } {
        each_death(action, make, |scene, before, at| match (at + first) % 2 {
            0 => undo_ends_it(scene, action, before, at),
            _ => a_second_run_ends_it(scene, action, before, at),
        });
    }
}

fn undo_ends_it(scene: &Scene, action: &str, before: &Picture, at: usize) {
    let first = all_as_before(scene, action, before, at);
    // What is as before was not reached, and is not taken for restored.
    let untouched = first.map(|tally| (tally.as_before, tally.never_changed));
    let context = context(action, at);
    assert!(
        untouched.is_none_or(|(all, never)| all == never),
        "{context}: {untouched:?}"
    );
    all_as_before(scene, action, before, at);
}

fn a_second_run_ends_it(scene: &Scene, action: &str, before: &Picture, at: usize) {
    let context = context(action, at);
    let was_copied = action == "move" && scene.destination().join("sub/v").exists();
    match scene.perform(kind(action)) {
        Outcome::Done(_) | Outcome::Already | Outcome::Skipped(_) => {}
        Outcome::Failed(failure) => {
            // Nothing is overwritten, not even a copy that is whole.
            assert!(was_copied, "{context}: {failure}");
        }
    }
    old_or_new(scene, action, before, &context);
    let names: Vec<_> = runs(&scene.journals()).expect("a list");
    for run in names.iter().rev().filter(|run| run.steps > 0) {
        let tally = scene.undo_run(Some(&run.name));
        assert_eq!(tally.refused, 0, "{context}: {tally:?}");
    }
    let mut wanted = before.clone();
    if action == "remove" && !scene.victim().exists() {
        wanted.remove(Path::new("dup/v"));
    }
    assert!(picture(&scene.tree()) == wanted, "{context}: not as before");
    assert_eq!(scene.temporaries().first(), None, "{context}");
}

fn undo_may_be_killed_too(action: &str, make: Make) {
    for at in 1..MANY {
        let scene = make();
        let before = picture(&scene.tree());
        assert!(matches!(scene.perform(kind(action)), Outcome::Done(_)));
        let output = scene.child("undo", &format!("kill@{at}"));
        let killed = was_killed(&output, "undone: ");
        old_or_new(&scene, action, &before, &context(action, at));
        all_as_before(&scene, action, &before, at);
        if !killed {
            assert!(at > 5, "{action}: only {} calls", at - 1);
            return;
        }
    }
    panic!("undo of {action} never ends");
}

macro_rules! crashes {
    ($($name:ident: $action:literal, $make:path;)*) => {$(
        mod $name {
            use super::Scene;

            #[test]
            fn undo_or_a_second_run_ends_it() {
                super::undo_or_a_second_run_ends_it($action, $make, false);
            }

            #[test]
            #[ignore = "takes longer"]
            fn in_full_undo_or_a_second_run_ends_it() {
                super::undo_or_a_second_run_ends_it($action, $make, true);
            }

            #[test]
            fn undo_may_be_killed_too() {
                super::undo_may_be_killed_too($action, $make);
            }
        }
    )*};
}

crashes! {
    remove: "remove", Scene::new;
    trash: "trash", Scene::new;
    hardlink: "hardlink", Scene::new;
    symlink: "symlink", Scene::new;
    moving: "move", Scene::new;
    moving_to_another_file_system: "move", Scene::with_another_file_system;
    remove_a_further_name: "remove", Scene::with_one_file;
    trash_a_further_name: "trash", Scene::with_one_file;
    symlink_a_further_name: "symlink", Scene::with_one_file;
    move_a_further_name: "move", Scene::with_one_file;
}

/// Two sets, one so large that it takes several calls to share its blocks; killed before each of them, or some.
fn killed_while_sharing(every: usize, volume: &Volume) {
    let large = noise(4, 40 << 20);
    let mut deaths = 0;
    for at in (1..MANY).step_by(every) {
        let context = context("reflink", at);
        let scene = Scene::below(&volume.path());
        scene.file("tree/keep/k2", &large, 0o644, 1_000_000_000);
        scene.file("tree/dup/v2", &large, 0o744, 1_100_000_000);
        let before = picture(&scene.tree());
        let output = scene.child("reflink", &format!("kill@{at}"));
        let killed = was_killed(&output, "step 1: done");
        deaths += usize::from(killed);
        assert!(picture(&scene.tree()) == before, "{context}: changed");
        all_as_before(&scene, "reflink", &before, at);
        // What a second run says is shared is shared: a third one finds nothing to do.
        let files = |name: &str| {
            let tree = scene.tree();
            (
                tree.join("keep").join(format!("k{name}")),
                tree.join("dup").join(format!("v{name}")),
            )
        };
        for round in ["second", "third"] {
            for (keeper, victim) in ["", "2"].map(files) {
                let outcome = scene
                    .actor()
                    .perform(&step(ActionKind::Reflink, &keeper, &victim));
                let fine = match round {
                    "second" => matches!(outcome, Outcome::Done(_) | Outcome::Already),
                    _ => matches!(outcome, Outcome::Already),
                };
                assert!(fine, "{context}, {round} run: {outcome:?}");
            }
        }
        assert!(
            picture(&scene.tree()) == before,
            "{context}: changed by a second run"
        );
        if !killed {
            // One set takes one range, the other three, and each its place in the journal.
            assert!(deaths > 8 / every, "killed {deaths} times only");
            return;
        }
    }
    panic!("reflink never ends");
}

/// File systems where blocks can be shared.
fn sharing() -> [Volume; 2] {
    [
        Volume::on_loop("btrfs", 512, ""),
        Volume::on_loop("xfs", 512, "-m reflink=1"),
    ]
}

#[test]
#[ignore = "mounts file systems: root only"]
fn killed_while_sharing_nothing_is_lost() {
    for volume in sharing() {
        killed_while_sharing(5, &volume);
    }
}

#[test]
#[ignore = "takes minutes, mounts file systems: root only"]
fn in_full_killed_while_sharing_nothing_is_lost() {
    for volume in sharing() {
        killed_while_sharing(1, &volume);
    }
}

/// The calls before which strace kills the program: first those that change something.
const CALLS: [&str; 23] = [
    "renameat2",
    "renameat",
    "linkat",
    "symlinkat",
    "unlinkat",
    "mkdirat",
    "copy_file_range",
    "ioctl",
    "fsync",
    "syncfs",
    "write",
    "pwrite64",
    "pread64",
    "openat",
    "openat2",
    "statx",
    "fchmod",
    "fchown",
    "utimensat",
    "fcntl",
    "flock",
    "fallocate",
    "ftruncate",
];

/// The same from outside, with nothing of ours built in: strace kills the program before its calls, each or some of them.
///
/// `prepare` is what was done before, `arguments` what is killed.
fn killed_from_outside(
    every: usize,
    action: &str,
    prepare: Option<&str>,
    arguments: &str,
    make: impl Fn() -> Scene,
) {
    let mut deaths = 0;
    let mut calls = 0;
    let (all, least, kinds) = match every {
        1 => (CALLS.len(), 20, 5),
        _ => (CHANGING, 1, 1),
    };
    for call in &CALLS[..all] {
        for at in (1..).step_by(every) {
            assert!(at < MANY, "{action}: {call} never ends");
            let scene = make();
            let before = picture(&scene.tree());
            let context = format!("{action}, {arguments} killed before {call} {at}");
            if let Some(prepare) = prepare {
                let done = outside(&scene, prepare).output().expect("it starts");
                assert_eq!(done.status.code(), Some(0), "{context}: {done:?}");
            }
            let output = traced(&scene, arguments, call, at);
            hand_over_journals(&scene);
            old_or_new(&scene, action, &before, &context);
            match output.status.code() {
                None | Some(137) => {}
                ended => {
                    // Not killed: it did what it is about.
                    assert_eq!(ended, Some(0), "{context}: {output:?}");
                    let is_before = picture(&scene.tree()) == before;
                    let leaves_no_trace = prepare.is_some() || action == "reflink";
                    assert_eq!(is_before, leaves_no_trace, "{context}: {output:?}");
                    break;
                }
            }
            all_as_before(&scene, action, &before, at);
            deaths += 1;
            calls += usize::from(at == 1);
        }
    }
    assert!(
        deaths > least && calls > kinds,
        "{action}: killed {deaths} times at {calls} calls only"
    );
}

/// So many of them the short forms take.
const CHANGING: usize = 12;

/// Of these calls the short forms take one in so many, the first among them.
const SOME: usize = 6;

#[test]
#[ignore = "needs strace"]
fn killed_from_outside_nothing_is_lost() {
    actions_killed_from_outside(SOME);
}

#[test]
#[ignore = "needs strace, and takes minutes"]
fn in_full_killed_from_outside_nothing_is_lost() {
    actions_killed_from_outside(1);
}

fn actions_killed_from_outside(every: usize) {
    for (action, arguments) in [
        ("remove", "remove"),
        ("hardlink", "hardlink"),
        ("symlink", "symlink"),
        ("trash", "remove --trash"),
        ("move", "move"),
    ] {
        killed_from_outside(every, action, None, arguments, Scene::new);
        if action != "remove" {
            killed_from_outside(every, action, Some(arguments), "undo", Scene::new);
        }
    }
    let make = Scene::with_another_file_system;
    killed_from_outside(every, "move", None, "move", make);
    killed_from_outside(every, "move", Some("move"), "undo", make);
}

#[test]
#[ignore = "needs strace and mounts file systems: root only"]
fn killed_from_outside_while_sharing_nothing_is_lost() {
    sharing_killed_from_outside(SOME);
}

#[test]
#[ignore = "takes minutes, needs strace and mounts file systems: root only"]
fn in_full_killed_from_outside_while_sharing_nothing_is_lost() {
    sharing_killed_from_outside(1);
}

fn sharing_killed_from_outside(every: usize) {
    for volume in sharing() {
        let make = || Scene::below(&volume.path());
        killed_from_outside(every, "reflink", None, "reflink", make);
        killed_from_outside(every, "reflink", Some("reflink"), "undo", make);
        // Copies are clones there, and names are exchanged as on any other.
        killed_from_outside(every, "hardlink", Some("hardlink"), "undo", make);
    }
}

/// A call of the program on the scene's two files.
fn outside(scene: &Scene, arguments: &str) -> Command {
    through(
        Command::new(env!("CARGO_BIN_EXE_seekless")),
        scene,
        arguments,
    )
}

fn through(mut command: Command, scene: &Scene, arguments: &str) -> Command {
    command
        .args(arguments.split(' '))
        .current_dir(&scene.top)
        .env("XDG_STATE_HOME", scene.top.join("xdg"))
        .env("XDG_DATA_HOME", &scene.top);
    if arguments == "move" {
        command.arg("--to").arg(scene.destination());
    }
    if arguments != "undo" {
        command.args(["--yes", "--keep", "under tree/keep", "tree"]);
    }
    command
}

/// The same, killed before one of its calls if it makes as many.
fn traced(scene: &Scene, arguments: &str, call: &str, at: usize) -> Output {
    let mut strace = Command::new("strace");
    strace
        // Not with --seccomp-bpf, where calls that this strace does not know count as the one that is asked for.
        .args(["-f", "-qq", "-o", "/dev/null", "-e"])
        .arg(format!("trace={call}"))
        .args(["-e", &format!("inject={call}:signal=KILL:when={at}")])
        .arg(env!("CARGO_BIN_EXE_seekless"));
    let output = through(strace, scene, arguments).output();
    output.expect("strace is there")
}

/// What follows looks where the library's tests have their journals.
fn hand_over_journals(scene: &Scene) {
    let journals = scene.top.join("xdg/seekless/journals");
    if journals.exists() {
        std::fs::create_dir_all(scene.top.join("state")).expect("a folder");
        std::fs::rename(journals, scene.journals()).expect("renamed");
    }
}
