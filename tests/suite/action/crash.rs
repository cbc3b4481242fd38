//! Killed between any two system calls of a step, nothing is lost, and undo or a second run ends it.
//!
//! Builds without debug assertions have nothing to be killed by (`sys::fault`).
#![cfg(debug_assertions)]

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Output;

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
