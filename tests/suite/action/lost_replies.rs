//! A file system that makes a change and whose answer gets lost: whatever the error, nothing is lost, and undo or a
//! sweep brings the name back, or the step is recorded as what it was. Root only.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::common::daemon::Daemon;
use crate::common::mirror;
use crate::common::scene::{Picture, picture};
use crate::common::stage::Stage;
use crate::common::{Run, Tree, noise};

/// More changes than two steps need.
const MANY: i64 = 90;

/// What the caller is told in place of the answer.
const ERRORS: [i32; 4] = [libc::EIO, libc::ENOTCONN, libc::EINTR, libc::ENOSPC];

/// Two pairs of files in a real folder, which a daemon shows at `mounted`, and a folder beside it.
fn stage() -> Stage {
    let mut tree = Tree::new();
    for pair in 0..2 {
        let names = ["keep", "dup"].map(|folder| format!("real/{folder}/in/{pair}"));
        tree = tree.copies([&names[0], &names[1]], noise(pair, 40_000));
    }
    let stage = Stage::new(tree);
    for folder in ["mounted", "away"] {
        fs::create_dir(stage.tree.path(folder)).expect("a folder");
    }
    stage
}

fn all(stage: &Stage) -> Picture {
    let mut all = picture(&stage.tree.path("real"));
    all.extend(picture(&stage.tree.path("away")));
    all
}

fn contents(seen: &Picture) -> BTreeSet<&[u8]> {
    seen.values().map(|seen| &seen.content[..]).collect()
}

fn shown(stage: &Stage) -> Daemon {
    mirror::mount(&stage.tree.path("real"), stage.tree.path("mounted"))
}

/// Runs a command while the answer to one change is lost; `None` if it makes fewer changes.
fn losing(stage: &Stage, line: &str, before: i64, error: i32) -> Option<Run> {
    let left = Arc::new(AtomicI64::new(before));
    let real = stage.tree.path("real");
    let daemon = mirror::losing(&real, stage.tree.path("mounted"), Arc::clone(&left), error);
    let run = stage.run(line);
    drop(daemon);
    (left.load(Ordering::SeqCst) < 0).then_some(run)
}

/// Sweeps and undoes; nothing is left of the steps.
fn taken_back(stage: &Stage, context: &str, is_of_undo: bool) -> String {
    let daemon = shown(stage);
    let leftovers = || -> Vec<PathBuf> {
        let is_leftover = |path: &PathBuf| path.to_string_lossy().contains("/.seekless-");
        all(stage).into_keys().filter(is_leftover).collect()
    };
    let swept = stage.run("undo --sweep");
    let after_sweep = leftovers();
    let undone = stage.run("undo");
    drop(daemon);
    let context = format!("{context}\n{swept}\n{undone}\n{after_sweep:?}");
    assert_eq!(leftovers(), Vec::<PathBuf>::new(), "{context}");
    // An undo that ended is no run that was cut short.
    assert!(is_of_undo || after_sweep.is_empty(), "{context}");
    context
}

/// Loses the answer to each change of an action in turn, and tells each error, or one of them.
fn each_lost(action: &str, is_undoable: bool, number_of_errors: usize) {
    let line = format!("{action} --yes mounted/keep mounted/dup");
    for before in 0..MANY {
        for error in errors(before, number_of_errors) {
            let stage = stage();
            let was = all(&stage);
            let Some(run) = losing(&stage, &line, before, error) else {
                assert!(before > 5, "{action}: {before} changes");
                return;
            };
            let context = format!("{action}, answer {before} lost as {error}: {run}");
            let now = all(&stage);
            assert!(contents(&now).is_superset(&contents(&was)), "{context}");
            let context = taken_back(&stage, &context, false);
            let now = all(&stage);
            if is_undoable {
                assert!(now == was, "{context}\n{:?}", now.keys());
            } else {
                // A name has its content, or was removed: its content stays under the other name.
                let is_as_before = |(path, seen): (&PathBuf, _)| was.get(path) == Some(seen);
                assert!(now.iter().all(is_as_before), "{context}");
                assert_eq!(contents(&now), contents(&was), "{context}");
            }
        }
    }
    panic!("{action}: more changes than {MANY}");
}

/// The same for the undo of an action.
fn each_lost_in_undo(action: &str, number_of_errors: usize) {
    let line = format!("{action} --yes mounted/keep mounted/dup");
    for before in 0..MANY {
        for error in errors(before, number_of_errors) {
            let stage = stage();
            let was = all(&stage);
            let daemon = shown(&stage);
            stage.run(&line).exits(0);
            drop(daemon);
            let Some(run) = losing(&stage, "undo", before, error) else {
                assert!(before > 1, "{action}: {before} changes");
                return;
            };
            let context = format!("undo of {action}, answer {before} lost as {error}: {run}");
            let now = all(&stage);
            assert!(contents(&now).is_superset(&contents(&was)), "{context}");
            let context = taken_back(&stage, &context, true);
            let now = all(&stage);
            assert_eq!(contents(&now), contents(&was), "{context}");
            assert_eq!(
                now.keys().collect::<Vec<_>>(),
                was.keys().collect::<Vec<_>>(),
                "{context}"
            );
        }
    }
    panic!("undo of {action}: more changes than {MANY}");
}

/// All errors, or the next one in turn.
fn errors(turn: i64, number: usize) -> impl Iterator<Item = i32> {
    let first = usize::try_from(turn).unwrap_or(0);
    (0..number).map(move |more| ERRORS[(first + more) % ERRORS.len()])
}

macro_rules! table {
    ($($name:ident, $in_full:ident: $losing:ident($($what:expr),*);)*) => {
        $(
            #[test]
            #[ignore = "mounts a file system of its own: root only"]
            fn $name() {
                $losing($($what),*, 1);
            }

            #[test]
            #[ignore = "takes minutes, mounts a file system of its own: root only"]
            fn $in_full() {
                $losing($($what),*, ERRORS.len());
            }
        )*
    };
}

const TRASH: &str = "remove --trash --remove-empty-folders";
const MOVE: &str = "move --to mounted/away --remove-empty-folders";
const MOVE_AWAY: &str = "move --to away";

table! {
    of_remove, in_full_of_remove: each_lost("remove", false);
    of_the_trash, in_full_of_the_trash: each_lost(TRASH, true);
    of_hardlink, in_full_of_hardlink: each_lost("hardlink", true);
    of_symlink, in_full_of_symlink: each_lost("symlink", true);
    of_a_move, in_full_of_a_move: each_lost(MOVE, true);
    of_a_move_from_the_mount, in_full_of_a_move_from_the_mount: each_lost(MOVE_AWAY, true);
    of_an_undone_trash, in_full_of_an_undone_trash: each_lost_in_undo(TRASH);
    of_an_undone_hardlink, in_full_of_an_undone_hardlink: each_lost_in_undo("hardlink");
    of_an_undone_symlink, in_full_of_an_undone_symlink: each_lost_in_undo("symlink");
    of_an_undone_move, in_full_of_an_undone_move: each_lost_in_undo(MOVE);
    of_an_undone_move_to_the_mount, in_full_of_an_undone_move_to_the_mount: each_lost_in_undo(MOVE_AWAY);
}
