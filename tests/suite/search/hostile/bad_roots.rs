//! Roots that are missing, no folder, or given twice.

use super::*;

#[test]
fn a_missing_root_is_named_and_the_others_are_searched() {
    let tree = Tree::new().copies(["x/1", "x/2"], "same");
    find(&tree, "nowhere x")
        .exits(1)
        .says("nowhere")
        .finds(["x/1 x/2"]);
    find(&tree, "x x/1/below")
        .exits(1)
        .says("x/1/below")
        .finds(["x/1 x/2"]);
}

#[test]
fn a_fifo_or_socket_as_a_root_is_named_and_not_waited_for() {
    let tree = Tree::new()
        .copies(["x/1", "x/2"], "same")
        .fifo("fifo")
        .socket("socket");
    find(&tree, "fifo x")
        .exits(1)
        .says("fifo")
        .finds(["x/1 x/2"]);
    find(&tree, "socket x")
        .exits(1)
        .says("socket")
        .finds(["x/1 x/2"]);
    find(&tree, "fifo").exits(2).says("fifo");
    find(&tree, "/dev/null x")
        .exits(1)
        .says("/dev/null")
        .finds(["x/1 x/2"]);
}

#[test]
fn an_unreadable_root_is_named() {
    let tree = Tree::new()
        .copies(["x/1", "y/2", "y/3"], "same")
        .mode("x", 0);
    find_without_privileges(&tree, "x y")
        .exits(1)
        .says("x")
        .finds(["y/2 y/3"]);
    let alone = find_without_privileges(&tree, "x").exits(2).says("x");
    alone.says("cannot list this folder").finds([]);
    // The copies to keep may be there, as where a path does not exist.
    for paths in ["x y", "x/1 y", "--reference x y"] {
        let run = seekless(tree.root(), &format!("remove --dry-run {paths}"));
        let run = run.without_privileges().run().exits(2);
        run.says(
            "nothing was done, because the copies to keep may be there: check whether its disk",
        );
    }
    // A report of nothing would replace one that knows more.
    let run = seekless(tree.root(), "folders x");
    let run = run.without_privileges().run().exits(2);
    assert_eq!(run.stdout_text(), "", "{run}");
}

#[test]
fn the_current_folder_may_be_gone() {
    let tree = Tree::new().copies(["x/1", "x/2"], "same").folder("gone");
    let gone = tree.path("gone");
    let run = seekless(&gone, "find -f nul")
        .arg(tree.path("x"))
        .before(move || Ok(rustix::fs::rmdir("../gone")?))
        .run();
    assert!([0, 2].contains(&run.code()), "{run}");
    if run.code() == 0 {
        assert_eq!(sizes_of_sets(&run), [2], "{run}");
    }
}

#[test]
fn a_link_to_a_file_as_a_root_is_a_link_that_is_not_followed() {
    let tree = Tree::new()
        .copies(["x/1", "x/2"], "same")
        .symlink("link", "x/1");
    let way_out = "link: symbolic link; not followed (use --follow-links, or give its target)";
    find(&tree, "link x")
        .exits(1)
        .says(way_out)
        .says("1 symbolic link (--follow-links)")
        .finds(["x/1 x/2"]);
    let run = seekless(tree.root(), "find -f json link x").run();
    let left_out = &run.json()["summary"]["left_out"];
    assert_eq!(
        (&left_out["symlinks"], &left_out["unreadable"]),
        (&1.into(), &0.into()),
        "{run}"
    );
    find(&tree, "link").exits(2).says(way_out);
    // What a link leads to is no file: following it would not help.
    let odd = Tree::new().fifo("fifo").symlink("link", "fifo");
    find(&odd, "link")
        .exits(2)
        .says("link: neither a folder nor a regular file");
}
