//! Symbolic and hard links.

use crate::common::{Tree, seekless};

use super::{find, rows};

#[test]
fn symbolic_links_are_followed_only_if_asked_and_lead_to_each_file_once() {
    let tree = Tree::new()
        .copies(["real/1", "real/2", "lonely", "x/3"], "same")
        .file("once/1", "of its own")
        .symlink("once/2", "1")
        .symlink("once/3", "2")
        .symlink("y/4", "../once/1")
        .symlink("y/whole", "../once")
        .symlink("out/1", "../lonely")
        .symlink("out/2", "../lonely")
        .symlink("x/folder", "../real")
        .symlink("x/file", "../lonely")
        .symlink("link", "once/1");
    let all: &[&str] = &["x/3 x/file x/folder/1 x/folder/2"];
    rows(
        &tree,
        &[
            ("real", &["real/1 real/2"]),
            ("x", &[]),
            ("-L x", all),
            ("--follow-links x", all),
            ("-L once y", &[]),
            ("-L y once", &[]),
            ("-L -H once y", &[]),
            ("-L -H link once", &[]),
            ("-L -H once/1 link", &[]),
            // A target outside counts once, however many links lead there.
            ("-L out", &[]),
            ("-L -H out", &[]),
        ],
    );
    find(&tree, "-L --unique once").finds_one_of(&["once/1", "once/2", "once/3"]);
    let run = seekless(tree.root(), "find -f json x real").run().exits(0);
    assert_eq!(run.json()["summary"]["left_out"]["symlinks"], 2, "{run}");
    let nowhere = Tree::new().copies(["1", "2"], "same").symlink("3", "4");
    let run = seekless(nowhere.root(), "find -f nul -L .").run();
    run.finds(["1 2"]);
}

// Two links to the next level on each of thirty: a thousand million ways to the last file.
#[test]
fn links_that_double_the_ways_at_each_level_end() {
    let mut tree = Tree::new().copies(["x/1", "levels/30/2"], "same");
    for level in 0..30 {
        let next = format!("../{}", level + 1);
        tree = tree
            .symlink(format!("levels/{level}/left"), &next)
            .symlink(format!("levels/{level}/right"), &next);
    }
    let tree = tree.symlink("x/down", "../levels/0");
    let run = seekless(tree.root(), "find -f nul -L x").run();
    let sizes: Vec<usize> = run.sets().iter().map(|set| set.len()).collect();
    assert_eq!(sizes, [2], "{run}");
}
