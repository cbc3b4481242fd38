//! A file system that makes a change of names and whose answer gets lost: whatever the error, the journal tells undo to
//! look, and no name is lost. Root only.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::common::mirror;
use crate::common::scene::{Picture, picture};
use crate::common::stage::Stage;
use crate::common::{Tree, noise};

/// More changes of names than two steps, and the tests of the mount, need.
const MANY: i64 = 60;

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

/// Loses the answer to each change of names in turn.
fn each_lost(line: &str, undoable: bool) {
    for before in 0..MANY {
        let stage = stage();
        let was = all(&stage);
        let real = stage.tree.path("real");
        let left = Arc::new(AtomicI64::new(before));
        let daemon = mirror::losing(&real, stage.tree.path("mounted"), Arc::clone(&left));
        let run = stage.run(&format!("{line} --yes mounted/keep mounted/dup"));
        drop(daemon);
        if left.load(Ordering::SeqCst) >= 0 {
            assert!(before > 3, "{line}: {before} changes");
            return;
        }
        let context = format!("{line}, answer {before} lost: {run}");
        let now = all(&stage);
        assert!(contents(&now).is_superset(&contents(&was)), "{context}");
        let daemon = mirror::mount(&real, stage.tree.path("mounted"));
        let swept = stage.run("undo --sweep");
        let is_leftover = |path: &PathBuf| path.to_string_lossy().contains("/.seekless-");
        let left_over: Vec<PathBuf> = all(&stage).into_keys().filter(is_leftover).collect();
        let undone = stage.run("undo");
        drop(daemon);
        let context = format!("{context}\n{swept}\n{undone}\n{left_over:?}");
        assert!(left_over.is_empty(), "{context}");
        let now = all(&stage);
        if undoable {
            assert!(now == was, "{context}\n{:?}", now.keys());
        } else {
            // A name has its content, or was removed: its content stays under the other name.
            let is_as_before = |(path, seen): (&PathBuf, _)| was.get(path) == Some(seen);
            assert!(now.iter().all(is_as_before), "{context}");
            assert_eq!(contents(&now), contents(&was), "{context}");
        }
    }
    panic!("{line}: more changes than {MANY}");
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn of_remove() {
    each_lost("remove", false);
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn of_the_trash() {
    each_lost("remove --trash --remove-empty-folders", true);
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn of_hardlink() {
    each_lost("hardlink", true);
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn of_symlink() {
    each_lost("symlink", true);
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn of_a_move() {
    each_lost("move --to mounted/away --remove-empty-folders", true);
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn of_a_move_from_the_mount() {
    each_lost("move --to away", true);
}
