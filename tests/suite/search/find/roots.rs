//! What is searched: the roots.

use super::*;

#[test]
fn equal_files_below_a_folder_are_one_set() {
    let tree = Tree::new()
        .copies(["x/1", "x/2", "x/y/3"], "same")
        .file("x/4", "else");
    find(&tree, "x").finds(["x/1 x/2 x/y/3"]);
}

#[test]
fn no_duplicates_print_nothing_and_are_no_failure() {
    let tree = Tree::new().file("x/1", "one").file("x/2", "two");
    let run = find(&tree, "x");
    assert_eq!(run.stdout, b"", "{run}");
}

#[test]
fn an_empty_folder_is_no_failure() {
    find(&Tree::new().folder("x"), "x").finds([]);
}

#[test]
fn files_of_one_size_with_other_content_are_not_duplicates() {
    let tree = Tree::new().file("x/1", "abcd").file("x/2", "abce");
    find(&tree, "x").finds([]);
}

#[test]
fn sets_span_all_the_roots() {
    let tree = Tree::new()
        .copies(["x/1", "y/1", "z/deep/1"], "same")
        .copies(["y/2", "z/2"], "other");
    find(&tree, "x y z").finds(["x/1 y/1 z/deep/1", "y/2 z/2"]);
}

#[test]
fn files_and_folders_are_roots_alike() {
    let tree = Tree::new().copies(["x/1", "x/2", "y/3", "alone"], "same");
    find(&tree, "alone y").finds(["alone y/3"]);
    find(&tree, "x/1 alone").finds(["alone x/1"]);
}

#[test]
fn the_same_root_twice_counts_once() {
    let tree = Tree::new().file("x/1", "same").file("alone", "lonely");
    for roots in [
        "x x",
        "x ./x",
        "x x/",
        "x x/.",
        "x x/../x",
        "alone alone",
        "alone ./alone",
    ] {
        find(&tree, roots).finds([]);
    }
}

#[test]
fn overlapping_roots_count_each_file_once() {
    let tree = Tree::new()
        .copies(["x/1", "x/y/2"], "same")
        .file("x/y/3", "unlike");
    for roots in [
        "x x/y",
        "x/y x",
        "x x/y x/y/2",
        "x/y/2 x/y x",
        ". x/y",
        "x/y/3 x",
    ] {
        let run = find(&tree, roots);
        let sets = run.sets();
        let files: usize = sets.iter().map(|set| set.len()).sum();
        assert_eq!((sets.len(), files), (1, 2), "{roots}\n{run}");
    }
}

#[test]
fn a_relative_and_an_absolute_root_can_overlap() {
    let tree = Tree::new().file("x/1", "same");
    seekless(tree.root(), "find -f nul x")
        .arg(tree.path("x"))
        .run()
        .exits(0)
        .finds([]);
}

#[test]
fn names_are_printed_below_the_root_as_it_was_written() {
    let tree = Tree::new().copies(["x/1", "x/2"], "same");
    let printed = |root: &str| {
        let run = seekless(tree.root(), "find -f fdupes")
            .arg(root)
            .run()
            .exits(0);
        let text = run.stdout_text();
        let mut lines: Vec<_> = text
            .lines()
            .filter(|line| !line.is_empty())
            .map(String::from)
            .collect();
        lines.sort();
        lines
    };
    let absolute = tree.path("x").display().to_string();
    assert_eq!(printed("x"), ["x/1", "x/2"]);
    assert_eq!(printed("x/"), ["x/1", "x/2"]);
    assert_eq!(printed("./x"), ["./x/1", "./x/2"]);
    assert_eq!(printed("."), ["./x/1", "./x/2"]);
    assert_eq!(
        printed(&absolute),
        [format!("{absolute}/1"), format!("{absolute}/2")]
    );
}

#[test]
fn find_is_the_default_command() {
    let tree = photos();
    let named = seekless(tree.root(), "find -f nul photos backup").run();
    let bare = seekless(tree.root(), "-f nul photos backup").run();
    assert_eq!(named.sets(), bare.sets());
    assert_eq!(named.sets().len(), 2);
}

#[test]
fn a_folder_named_like_a_command_is_a_root_all_the_same() {
    let tree = Tree::new().copies(["find/1", "find/2"], "same");
    find(&tree, "find").finds(["find/1 find/2"]);
    seekless(tree.root(), "-f nul ./find")
        .run()
        .exits(0)
        .finds(["find/1 find/2"]);
}

#[test]
fn a_root_may_begin_with_a_dash() {
    let tree = Tree::new().copies(["-x/1", "-x/2"], "same");
    find(&tree, "-- -x").finds(["-x/1 -x/2"]);
}

#[test]
fn a_root_that_is_a_symbolic_link_to_a_folder_is_looked_into() {
    let tree = Tree::new()
        .copies(["real/1", "real/2"], "same")
        .symlink("link", "real");
    find(&tree, "link").finds(["link/1 link/2"]);
    let both = find(&tree, "link real");
    let files: usize = both.sets().iter().map(|set| set.len()).sum();
    assert_eq!(files, 2, "{both}");
}
