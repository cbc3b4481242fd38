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
