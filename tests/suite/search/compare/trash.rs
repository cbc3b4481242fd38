//! A copy in a trash is no match: it does not stay when a side is wiped.

use crate::common::{Tree, noise, seekless};

/// Trees with a file in a trash of one side, with or without a copy outside of a trash on another side, and the answers
/// for `a b` and `--one-way a b`.
fn cases() -> Vec<(&'static str, Tree, [i32; 2])> {
    let content = noise(1, 5000);
    vec![
        (
            "the copy is in the trash of the other side",
            Tree::new()
                .copies(["a/x", "b/.Trash-1000/files/x"], &content)
                .copies(["a/y", "b/y"], "in use"),
            [1, 1],
        ),
        (
            "the file is in the trash of the first side and nowhere else",
            Tree::new()
                .file("a/.Trash-1000/files/x", &content)
                .copies(["a/y", "b/y"], "in use"),
            [1, 1],
        ),
        (
            "the file is in the trash of the first side and outside of the trash on the other",
            Tree::new()
                .copies(["a/.Trash-1000/files/x", "b/x"], &content)
                .copies(["a/y", "b/y"], "in use"),
            [1, 0],
        ),
        (
            "the file is in a trash on both sides, at the same path",
            Tree::new()
                .copies(["a/.Trash-1000/files/x", "b/.Trash-1000/files/x"], &content)
                .copies(["a/y", "b/y"], "in use"),
            [1, 1],
        ),
        (
            "the other side has it in the trash and outside of it",
            Tree::new().copies(["a/x", "b/x", "b/.Trash-1000/files/x"], &content),
            [0, 0],
        ),
        (
            "an empty trash has nothing to lose",
            Tree::new()
                .copies(["a/x", "b/x"], &content)
                .folder("a/.Trash-1000/files")
                .folder("b/.Trash-1000/files"),
            [0, 0],
        ),
    ]
}

#[test]
fn only_copies_outside_of_a_trash_count() {
    for (what, tree, [both, one_way]) in cases() {
        for (options, expected) in [("", both), ("--one-way", one_way)] {
            let run = seekless(tree.root(), &format!("compare {options} a b")).run();
            assert_eq!(run.code(), expected, "{what} {options}: {run}");
        }
    }
}

#[test]
fn a_trash_that_is_a_side_is_a_side_like_any_other() {
    let (_, tree, _) = cases().swap_remove(0);
    for side in ["b/.Trash-1000", "b/.Trash-1000/files"] {
        let run = seekless(tree.root(), &format!("compare --one-way {side} a")).run();
        run.exits(0);
    }
    let tree = Tree::new().copies(["a/x", "b/.Trash-1000/x"], noise(1, 5000));
    seekless(tree.root(), "compare a b/.Trash-1000")
        .run()
        .exits(0);
}

#[test]
fn a_hard_link_in_a_trash_is_no_match() {
    let tree = Tree::new()
        .file("a/x", noise(1, 5000))
        .copies(["a/y", "b/y"], "y");
    std::fs::create_dir_all(tree.path("b/.Trash-1000")).expect("made");
    std::fs::hard_link(tree.path("a/x"), tree.path("b/.Trash-1000/x")).expect("linked");
    let run = seekless(tree.root(), "compare --one-way a b").run();
    run.exits(1);
    std::fs::hard_link(tree.path("a/x"), tree.path("b/x")).expect("linked");
    seekless(tree.root(), "compare --one-way a b")
        .run()
        .exits(0);
}
