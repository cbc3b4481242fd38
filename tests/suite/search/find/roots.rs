//! What is searched: the roots.

use crate::common::{Tree, seekless};

use super::{find, photos, rows};

#[test]
fn files_and_folders_are_roots_alike_and_count_once() {
    let tree = Tree::new()
        .copies(["x/1", "y/1", "z/deep/1"], "same")
        .copies(["y/2", "z/2"], "other")
        .copies(["-x/1", "-x/2"], "dash")
        .file("x/near", "sane")
        .file("alone", "lonely")
        .folder("empty")
        .symlink("link", "z");
    rows(
        &tree,
        &[
            ("x y z", &["x/1 y/1 z/deep/1", "y/2 z/2"]),
            ("x/1 y", &["x/1 y/1"]),
            ("x z/deep/1", &["x/1 z/deep/1"]),
            ("x", &[]),
            ("empty", &[]),
            ("-- -x", &["-x/1 -x/2"]),
            ("link y/2", &["link/2 y/2"]),
        ],
    );
    for roots in [
        "x x",
        "x ./x",
        "x x/",
        "x x/.",
        "x x/../x",
        "alone alone",
        "alone ./alone",
        "link z",
    ] {
        find(&tree, roots).finds([]);
    }
    let absolute = seekless(tree.root(), "find -f nul x").arg(tree.path("x"));
    absolute.run().exits(0).finds([]);
    assert_eq!(find(&tree, "x").stdout, b"");
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
        find(&tree, &format!("-I -H --copies 3.. {roots}")).finds([]);
    }
}

#[test]
fn names_are_printed_below_the_root_as_it_was_written() {
    let tree = Tree::new().copies(["x/1", "x/2"], "same");
    let absolute = tree.path("x").display().to_string();
    for (root, prefix) in [
        ("x", "x"),
        ("x/", "x"),
        ("./x", "./x"),
        (".", "./x"),
        (&*absolute, &*absolute),
    ] {
        let run = seekless(tree.root(), "find -f fdupes").arg(root);
        let text = run.run().exits(0).stdout_text();
        let mut lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
        lines.sort_unstable();
        assert_eq!(lines, [format!("{prefix}/1"), format!("{prefix}/2")]);
    }
}

#[test]
fn find_is_the_default_command_and_a_folder_may_have_its_name() {
    let tree = photos();
    let bare = seekless(tree.root(), "-f nul photos backup").run();
    assert_eq!(bare.sets(), find(&tree, "photos backup").sets());
    assert_eq!(bare.sets().len(), 2);
    let tree = Tree::new().copies(["find/1", "find/2"], "same");
    find(&tree, "find").finds(["find/1 find/2"]);
    let named = seekless(tree.root(), "-f nul ./find").run().exits(0);
    named.finds(["find/1 find/2"]);
}
