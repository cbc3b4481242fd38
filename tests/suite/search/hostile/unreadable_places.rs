//! Folders and files that may not be read.

use super::*;

#[test]
fn an_unreadable_folder_is_named_and_the_rest_is_searched() {
    let tree = Tree::new()
        .copies(["x/1", "x/locked/2", "x/3"], "same")
        .mode("x/locked", 0);
    find_without_privileges(&tree, "x")
        .exits(1)
        .says("x/locked")
        .finds(["x/1 x/3"]);
}

#[test]
fn a_folder_that_lists_but_cannot_be_entered_is_named() {
    let tree = Tree::new()
        .copies(["x/1", "x/locked/2", "x/3"], "same")
        .mode("x/locked", 0o600);
    find_without_privileges(&tree, "x")
        .exits(1)
        .says("x/locked")
        .finds(["x/1 x/3"]);
}

#[test]
fn an_unreadable_file_that_could_match_nothing_needs_no_reading() {
    let tree = Tree::new()
        .copies(["1", "2"], "same")
        .file("locked", "the only one of this size")
        .mode("locked", 0);
    find_without_privileges(&tree, ".").finds(["1 2"]);
}

#[test]
fn the_summary_counts_what_could_not_be_read() {
    let tree = Tree::new()
        .copies(["1", "2", "x/3", "locked"], "same")
        .mode("locked", 0)
        .mode("x", 0);
    let run = seekless(tree.root(), "find -f json .")
        .without_privileges()
        .run()
        .exits(1);
    assert_eq!(run.json()["summary"]["left_out"]["unreadable"], 2, "{run}");
}

#[test]
fn an_unreadable_name_does_not_spoil_another_of_the_same_file() {
    let tree = Tree::new()
        .file("x/1", "same")
        .hard_link("y/1", "x/1")
        .file("y/2", "same")
        .mode("x", 0o444);
    let run = find_without_privileges(&tree, "x y").exits(1).says("x");
    assert_eq!(run.sets(), crate::common::sets(["y/1 y/2"]), "{run}");
}

#[test]
#[ignore = "needs root: gives files to another user"]
fn files_of_others_can_be_read_although_their_access_time_may_not_be_spared() {
    let tree = Tree::new().copies(["1", "2", "3"], noise(1, 100_000));
    for name in ["1", "2", "3"] {
        std::os::unix::fs::chown(tree.path(name), Some(1234), Some(1234)).expect("root may");
    }
    find_without_privileges(&tree, ".")
        .exits(0)
        .finds(["1 2 3"]);
}

/// Thirty folders that may not be listed, two files that may not be read, and two copies that may.
fn many_locked() -> Tree {
    let mut tree = Tree::new().copies(["x/1", "x/2", "x/locked 1", "x/locked 2"], "same");
    for i in 0..30 {
        tree = tree
            .folder(format!("x/{i:02}"))
            .mode(format!("x/{i:02}"), 0);
    }
    tree.mode("x/locked 1", 0).mode("x/locked 2", 0)
}

#[test]
fn problems_of_one_kind_are_named_until_there_are_many() {
    let tree = many_locked();
    for (options, listed) in [("-q", 20), ("", 20), ("-q -v", 30)] {
        let run = seekless(tree.root(), &format!("find -f nul {options} x"))
            .without_privileges()
            .run()
            .exits(1)
            .finds(["x/1 x/2"]);
        let text = run.stderr_text();
        let named = |what: &str| {
            text.lines()
                .filter(|line| line.starts_with("seekless: x/") && line.contains(what))
                .count()
        };
        assert_eq!(
            named(": cannot list this folder: Permission denied"),
            listed,
            "{run}"
        );
        assert_eq!(
            named("x/locked "),
            2,
            "another kind is named all the same: {run}"
        );
        let rest = "seekless: 10 more: cannot list this folder: Permission denied (os error 13) (-v names all)";
        assert_eq!(
            text.lines().filter(|line| *line == rest).count(),
            usize::from(listed < 30),
            "{run}"
        );
    }
}

#[test]
fn a_plan_groups_problems_as_well() {
    let tree = many_locked();
    let run = seekless(tree.root(), "remove --dry-run x")
        .without_privileges()
        .run()
        .says("seekless: 10 more: cannot list this folder");
    assert_eq!(run.stderr_text().matches("x/").count(), 22, "{run}");
}
