//! Symbolic and hard links.

use super::*;

fn links() -> Tree {
    Tree::new()
        .copies(["real/1", "real/2"], "same")
        .symlink("real/link to file", "1")
        .symlink("x/folder", "../real")
        .file("x/3", "same")
}

#[test]
fn symbolic_links_are_neither_followed_nor_compared() {
    let tree = links();
    find(&tree, "real").finds(["real/1 real/2"]);
    find(&tree, "x").finds([]);
    let run = seekless(tree.root(), "find -f json x real").run().exits(0);
    assert_eq!(run.json()["summary"]["left_out"]["symlinks"], 2, "{run}");
}

#[test]
fn followed_links_lead_to_files_outside_the_roots() {
    let tree = Tree::new()
        .copies(["real/1", "real/2", "lonely", "x/3"], "same")
        .symlink("x/folder", "../real")
        .symlink("x/file", "../lonely");
    for option in ["-L", "--follow-links"] {
        let all = "x/3 x/file x/folder/1 x/folder/2";
        find(&tree, &format!("{option} x")).finds([all]);
    }
}

#[test]
fn a_file_and_the_links_to_it_are_one_file() {
    let tree = Tree::new()
        .file("x/1", "same")
        .symlink("x/2", "1")
        .symlink("x/3", "2")
        .symlink("y/4", "../x/1")
        .symlink("y/whole", "../x");
    find(&tree, "-L x y").finds([]);
    find(&tree, "-L y x").finds([]);
    find(&tree, "-L -H x y").finds([]);
}

#[test]
fn a_target_outside_counts_once_however_many_links_lead_there() {
    let tree = Tree::new()
        .file("outside", "same")
        .symlink("x/1", "../outside")
        .symlink("x/2", "../outside");
    find(&tree, "-L x").finds([]);
    find(&tree, "-L -H x").finds([]);
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

#[test]
fn a_link_and_its_target_as_roots_are_one_name_of_one_file() {
    let tree = Tree::new().file("x/1", "once").symlink("link", "x/1");
    for roots in ["link x", "x link", "link x/1", "x/1 link"] {
        find(&tree, &format!("-L -H {roots}")).finds([]);
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
fn links_to_nowhere_are_harmless() {
    let tree = Tree::new()
        .copies(["1", "2"], "same")
        .symlink("3", "nowhere");
    find(&tree, ".").finds(["1 2"]);
    let run = seekless(tree.root(), "find -f nul -L .").run();
    assert_eq!(run.sets(), crate::common::sets(["1 2"]), "{run}");
}

#[test]
fn names_of_one_inode_are_one_file_by_default() {
    let tree = Tree::new().file("x/1", "same").hard_link("x/2", "x/1");
    find(&tree, "x").finds([]);
    let tree = tree.file("x/3", "same");
    let run = find(&tree, "x");
    let sizes: Vec<usize> = run.sets().iter().map(|set| set.len()).collect();
    assert_eq!(sizes, [2], "one name for each file: {run}");
    seekless(tree.root(), "find -f json x")
        .run()
        .exits(0)
        .finds_files(["x/1=x/2 x/3"]);
}

#[test]
fn further_names_are_shown_in_the_text() {
    let tree = Tree::new()
        .copies(["x/1", "x/3"], "same")
        .hard_link("x/2", "x/1");
    let run = seekless(tree.root(), "find x").run().exits(0);
    for name in ["x/1", "x/2", "x/3"] {
        assert!(run.stdout_text().contains(name), "{run}");
    }
}

#[test]
fn hard_links_count_as_duplicates_when_asked() {
    let tree = Tree::new().file("x/1", "same").hard_link("y/2", "x/1");
    find(&tree, "-H x y").finds(["x/1 y/2"]);
    find(&tree, "--hard-links x").finds([]);
    let tree = tree.file("y/3", "same");
    find(&tree, "-H x y").finds(["x/1 y/2 y/3"]);
}

#[test]
fn hard_links_of_unread_files_are_duplicates_too() {
    // Nothing else has this size: no byte needs to be read.
    let tree = Tree::new().file("1", noise(1, 100_000)).hard_link("2", "1");
    find(&tree, "-H .").finds(["1 2"]);
}

#[test]
fn reclaimable_bytes_count_inodes_not_names() {
    let tree = Tree::new()
        .copies(["1", "3"], noise(1, 8192))
        .hard_link("2", "1")
        .hard_link("4", "3");
    let run = seekless(tree.root(), "find -f json .").run().exits(0);
    let set = &run.json()["sets"][0];
    assert_eq!(set["reclaimable"], 8192, "{run}");
    let only_names = Tree::new().file("1", noise(1, 8192)).hard_link("2", "1");
    let run = seekless(only_names.root(), "find -f json -H .")
        .run()
        .exits(0);
    assert_eq!(run.json()["sets"][0]["reclaimable"], 0, "{run}");
}
