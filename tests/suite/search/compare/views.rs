//! Random sides that show the same files twice: whatever they hold, the answer is never yes.

use std::path::Path;

use crate::common::limits::{rounds, seed};
use crate::common::rng::Rng;
use crate::common::volume::{sh, unmount};
use crate::common::{Tree, seekless};

use super::oracle::random_sides;

/// Mounts a folder at a place once more.
type View = fn(&Path, &Path);

const VIEWS: [(&str, View); 2] = [
    ("a bind mount", |source, place| {
        sh(&format!(
            "mount --bind {} {}",
            source.display(),
            place.display()
        ));
    }),
    ("a FUSE view", |source, place| {
        sh(&format!("bindfs {} {}", source.display(), place.display()));
    }),
];

/// Sides of which at least two show the files of `a`.
const QUESTIONS: [&str; 7] = [
    "a v1",
    "v1 a",
    "v1 v2",
    "a v1 v2",
    "--one-way a v1",
    "--one-way v1 a",
    "--one-way v1 v2",
];

/// Compares `a` with views of it.
fn is_never_yes(tree: Tree) {
    let tree = tree.folder("v1").folder("v2");
    for (what, view) in VIEWS {
        for place in ["v1", "v2"] {
            view(&tree.path("a"), &tree.path(place));
        }
        for question in QUESTIONS {
            let run = seekless(tree.root(), &format!("compare --same-disk {question}")).run();
            assert!([1, 2].contains(&run.code()), "{what}: {question}: {run}");
        }
        for place in ["v1", "v2"] {
            unmount(&tree.path(place));
        }
    }
}

fn play(count: usize) {
    let mut rng = Rng::new(seed());
    for _ in 0..count {
        is_never_yes(random_sides(&mut rng, &["a", "other"]));
    }
}

#[test]
#[ignore = "needs root to mount, and bindfs"]
fn a_second_view_of_empty_files_is_no_copy() {
    is_never_yes(Tree::new().file("a/1", "").file("a/in/2", ""));
}

#[test]
#[ignore = "needs root to mount, and bindfs"]
fn a_second_view_of_a_side_is_no_copy() {
    play(rounds(5));
}

#[test]
#[ignore = "takes minutes; the short form is a_second_view_of_a_side_is_no_copy"]
fn in_full_a_second_view_of_a_side_is_no_copy() {
    play(rounds(300));
}
