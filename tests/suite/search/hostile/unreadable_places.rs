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
fn an_unreadable_file_that_could_match_nothing_needs_no_reading() {
    let tree = Tree::new()
        .copies(["1", "2"], "same")
        .file("locked", "the only one of this size")
        .mode("locked", 0);
    find_without_privileges(&tree, ".").finds(["1 2"]);
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
