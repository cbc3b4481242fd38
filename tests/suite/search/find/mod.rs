//! What `seekless find` does, as its users may rely on it.

mod filters;
mod holes;
mod links;
mod lists_on_stdin;
mod output;
mod replication;
mod roots;

use std::fs;

use crate::common::{Run, Tree, noise, seekless, sets_of, shown};

/// Two pairs of duplicates and two files that resemble nothing.
fn photos() -> Tree {
    Tree::new()
        .copies(["photos/a.jpg", "photos/2024/a again.jpg"], "sunset")
        .copies(["photos/b.jpg", "backup/b.jpg"], "mountain")
        .file("photos/c.jpg", "lake")
        .file("backup/d.jpg", "forest at night")
}

/// Runs `find` with NUL-separated output and insists that all went well.
#[track_caller]
fn find(tree: &Tree, arguments: &str) -> Run {
    seekless(tree.root(), &format!("find -f nul {arguments}"))
        .run()
        .exits(0)
}

/// Searches with these arguments find these sets.
#[track_caller]
fn rows(tree: &Tree, rows: &[(&str, &[&str])]) {
    for (arguments, expected) in rows {
        let run = find(tree, arguments);
        let found = shown(&run.sets());
        assert_eq!(found, shown(&sets_of(expected)), "{arguments}\n{run}");
    }
}

/// What the benches leave out to see what it is good for.
#[test]
fn no_mechanism_that_is_left_out_changes_the_answer() {
    let mut tree = Tree::new();
    for length in [10, 5000, 20_000, 100_000, 1_000_000] {
        let content = noise(length as u64, length);
        let mut near = content.clone();
        near[length / 2] ^= 1;
        tree = tree
            .file(format!("x/{length}"), &content)
            .file(format!("y/z/{length}"), &content)
            .file(format!("near/{length}"), near);
    }
    let expected = seekless(tree.root(), "find -f nul .").run().exits(0).sets();
    assert_eq!(expected.len(), 5);
    for (_, mechanism) in seekless::engine::MECHANISMS {
        let run = seekless(tree.root(), "find -f nul .").arg("--without");
        let run = run.arg(mechanism).run().exits(0);
        assert_eq!(run.sets(), expected, "{mechanism}\n{run}");
    }
}
