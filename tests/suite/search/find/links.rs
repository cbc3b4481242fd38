//! Symbolic and hard links.

use crate::common::{Tree, noise, seekless};

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

#[test]
fn links_in_a_circle_end() {
    let tree = Tree::new()
        .copies(["x/1", "x/y/2"], "same")
        .symlink("x/y/up", "../..")
        .symlink("x/self", "self")
        .symlink("x/y/z/round", "../../y");
    let run = seekless(tree.root(), "find -f nul -L x").run();
    let sets = run.sets();
    let files: Vec<usize> = sets.iter().map(|set| set.len()).collect();
    assert_eq!(files, [2], "{run}");
}

#[test]
fn a_folder_reached_too_deep_by_a_link_is_still_searched_from_where_it_is() {
    // Through p/q/link the files lie on level 4, below o on level 3.
    let tree = Tree::new()
        .copies(["o/z/sub/1", "o/z/sub/2"], "same")
        .symlink("p/q/link", "../../o/z");
    for roots in ["p o", "o p"] {
        let run = find(&tree, &format!("-L --max-depth 3 {roots}"));
        assert_eq!(run.sets().len(), 1, "{roots}\n{run}");
    }
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

#[test]
fn names_of_one_file_are_one_copy_unless_asked() {
    let tree = Tree::new()
        .copies(["x/1", "x/3"], noise(1, 8192))
        .hard_link("x/2", "x/1")
        .hard_link("x/4", "x/3");
    let run = seekless(tree.root(), "find -f json x").run().exits(0);
    let run = run.finds_files(["x/1=x/2 x/3=x/4"]);
    assert_eq!(run.json()["sets"][0]["reclaimable"], 8192, "{run}");
    let run = seekless(tree.root(), "find x").run().exits(0);
    for name in ["x/1", "x/2", "x/3", "x/4"] {
        assert!(run.stdout_text().contains(name), "{run}");
    }
    // Nothing else has this size: no byte needs to be read.
    let only_names = Tree::new().file("1", noise(1, 8192)).hard_link("2", "1");
    rows(&only_names, &[(".", &[]), ("-H .", &["1 2"])]);
    let run = seekless(only_names.root(), "find -f json -H .").run();
    assert_eq!(run.exits(0).json()["sets"][0]["reclaimable"], 0);
}
