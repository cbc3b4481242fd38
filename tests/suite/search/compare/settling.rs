//! What changes after everything was listed and read, and before the answer: never a yes, and no verdict.
//!
//! Each run is stopped when nothing is left to read. Builds without debug assertions cannot be stopped there.
#![cfg(debug_assertions)]

use std::fs;
use std::os::unix::fs::symlink;

use crate::common::run::Seekless;
use crate::common::stage::Stopped;
use crate::common::standin::{Rules, Standin};
use crate::common::tree::contents_below;
use crate::common::{Run, Tree, seekless};

/// Two sides that are the same in every way.
fn sides() -> Tree {
    let mut tree = Tree::new().folder("aside");
    for side in ["a", "b"] {
        let at = |name: &str| format!("{side}/{name}");
        tree = tree
            .file(at("f"), "same")
            .file(at("deep/er/f"), "same below")
            .symlink(at("link"), "there")
            .fifo(at("pipe"))
            .folder(at("empty"));
    }
    tree
}

type Change = fn(&Tree);

/// Changes of the second side, each of which a yes would be wrong after.
const CHANGES: [(&str, Change); 15] = [
    ("a file comes", |tree| tree.write("b/new", "new")),
    ("a file comes far below", |tree| {
        tree.write("b/deep/er/new", "new");
    }),
    ("a folder comes", |tree| {
        fs::create_dir(tree.path("b/new")).expect("made");
    }),
    ("a file comes into an empty folder", |tree| {
        tree.write("b/empty/new", "new");
    }),
    ("a link comes", |tree| {
        symlink("x", tree.path("b/new")).expect("made");
    }),
    ("a link leads elsewhere", |tree| {
        fs::remove_file(tree.path("b/link")).expect("removed");
        symlink("other", tree.path("b/link")).expect("made");
    }),
    ("a link is removed", |tree| {
        fs::remove_file(tree.path("b/link")).expect("removed");
    }),
    ("a pipe is removed", |tree| {
        fs::remove_file(tree.path("b/pipe")).expect("removed");
    }),
    ("an empty folder is removed", |tree| {
        fs::remove_dir(tree.path("b/empty")).expect("removed");
    }),
    ("a folder is removed", |tree| {
        fs::remove_dir_all(tree.path("b/deep")).expect("removed");
    }),
    ("a folder is moved away", |tree| {
        fs::rename(tree.path("b/deep"), tree.path("aside/deep")).expect("moved");
    }),
    ("an empty folder takes the place of a side", |tree| {
        fs::rename(tree.path("b"), tree.path("aside/b")).expect("moved");
        fs::create_dir(tree.path("b")).expect("made");
    }),
    ("a file is removed", |tree| {
        fs::remove_file(tree.path("b/f")).expect("removed");
    }),
    ("a file gets another content of the same length", |tree| {
        tree.write("b/f", "SAME");
    }),
    ("a file is moved to the other side", |tree| {
        fs::rename(tree.path("b/deep/er/f"), tree.path("a/moved")).expect("moved");
    }),
];

/// Lets a change happen when everything was read.
fn run_with(change: Change, run: impl Fn(&Tree) -> Seekless) -> Run {
    let tree = sides();
    // A change of the same moment would leave the same times.
    tree.tick();
    let stopped = Stopped::start(run(&tree), 1);
    change(&tree);
    stopped.ends()
}

#[test]
fn no_change_after_the_last_read_is_passed_over() {
    for (what, change) in CHANGES {
        let run = run_with(change, |tree| seekless(tree.root(), "compare a b"));
        assert_eq!(run.code(), 2, "{what}: {run}");
        let run = run_with(change, |tree| {
            seekless(tree.root(), "compare --one-way a b")
        });
        assert_eq!(run.code(), 2, "{what}: {run}");
    }
}

#[test]
#[ignore = "needs root to mount"]
fn a_change_by_another_client_of_a_server_is_not_passed_over() {
    // Its client answers for a minute by itself.
    let one = Standin::new(Rules::NFS);
    for side in ["a", "b"] {
        fs::create_dir(one.point().join(side)).expect("made");
        fs::write(one.point().join(side).join("f"), "same").expect("written");
    }
    let two = one.again();
    let run = || seekless(one.point(), "compare a b");
    run().run().exits(0);
    let stopped = Stopped::start(run(), 1);
    fs::write(two.point().join("b/f"), "SAME").expect("written");
    stopped.ends().exits(2);
}

#[test]
fn a_run_that_nothing_disturbs_says_yes() {
    let run = run_with(|_| (), |tree| seekless(tree.root(), "compare a b"));
    run.exits(0);
}

#[test]
fn a_folder_that_changed_since_it_was_listed_gets_no_verdict() {
    let run = |tree: &Tree| {
        let tree_folders = "folders -f json -o answer.json a b";
        seekless(tree.root(), tree_folders)
    };
    let tree = sides();
    tree.tick();
    let stopped = Stopped::start(run(&tree), 1);
    tree.write("b/deep/er/new", "new");
    let ended = stopped.ends();
    ended.exits(1).says("changed after it was listed");
    let answer = fs::read_to_string(tree.path("answer.json")).expect("written");
    assert!(!answer.contains("identical"), "{answer}");
    run(&tree).run().exits(0);
}

#[test]
fn no_change_after_the_last_read_leaves_a_verdict_on_a_folder() {
    for (what, change) in CHANGES {
        let tree = sides();
        for side in ["a", "b"] {
            fs::remove_file(tree.path(side).join("pipe")).expect("removed");
        }
        // A special file is never seen as a whole.
        if what.contains("pipe") {
            continue;
        }
        tree.tick();
        let run = seekless(tree.root(), "folders -f json -o answer.json a b");
        let stopped = Stopped::start(run, 1);
        change(&tree);
        stopped.ends().exits(1);
        let answer = fs::read(tree.path("answer.json")).expect("written");
        let answer: serde_json::Value = serde_json::from_slice(&answer).expect("JSON");
        let entries = answer["entries"].as_array().expect("entries").iter();
        let folders = entries.flat_map(|entry| entry["folders"].as_array().expect("folders"));
        let folders: Vec<_> = folders.collect();
        let is_whole = |side: &str| {
            let whole = ["identical", "contained"];
            let mut of_side = folders
                .iter()
                .filter(|folder| folder["path"]["text"] == side);
            of_side.any(|folder| whole.iter().any(|verdict| folder["verdict"] == *verdict))
        };
        assert!(!is_whole("b"), "{what}: {answer}");
        // What came is no reason against the other side.
        let [a, b] = ["a", "b"].map(|side| contents_below(&tree.path(side)));
        assert!(!is_whole("a") || a.is_subset(&b), "{what}: {answer}");
    }
}
