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
    assert_eq!(run.sets(), common::sets(["y/1 y/2"]), "{run}");
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
