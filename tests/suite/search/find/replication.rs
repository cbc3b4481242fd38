//! How copies are counted, and which counts are reported. Random trees and counts are held against every pair in `oracle`.

use crate::common::{Tree, noise, seekless};

use super::{find, rows};

/// Contents called after where they are: `a` lies in `x` only, `aab` twice in `x` and once
/// in `y`, and so on.
fn two_trees() -> Tree {
    Tree::new()
        .file("x/a", "a")
        .file("y/b", "b")
        .copies(["x/ab", "y/ab"], "in both")
        .copies(["x/aa1", "x/aa2"], "twice in x")
        .copies(["x/aab1", "x/aab2", "y/aab"], "twice in x, once in y")
        .copies(["y/bbb1", "y/bbb2", "y/bbb3"], "thrice in y")
}

const AB: &str = "x/ab y/ab";
const AA: &str = "x/aa1 x/aa2";
const AAB: &str = "x/aab1 x/aab2 y/aab";
const BBB: &str = "y/bbb1 y/bbb2 y/bbb3";

#[test]
fn counts_are_those_of_files_or_of_places() {
    let tree = two_trees();
    rows(
        &tree,
        &[
            ("x y", &[AB, AA, AAB, BBB]),
            ("--copies 3.. x y", &[AAB, BBB]),
            ("--copies ..2 x y", &["x/a", "y/b", AB, AA]),
            ("--copies 3 x y", &[AAB, BBB]),
            ("--unique x y", &["x/a", "y/b"]),
            ("--unique x", &["x/a", "x/ab"]),
            ("--isolate x y", &[AB, AAB]),
            // fclones #253, #345, #360: with both options sets were printed that were not unique.
            ("--unique --isolate x y", &["x/a", "y/b", AA, BBB]),
            ("--unique --isolate y x", &["x/a", "y/b", AA, BBB]),
            ("--verify --unique --isolate x y", &["x/a", "y/b", AA, BBB]),
            ("-I x ./x y x/", &[AB, AAB]),
            // A file that is given is a place of its own.
            ("-I x/aa1 x/aa2", &[AA]),
            ("-I --unique x/aa1 x/aa2", &[]),
        ],
    );
    for roots in ["x", "x x", "x ./x", "x x/"] {
        let run = seekless(tree.root(), &format!("find -f nul -I {roots}")).run();
        run.exits(2).says("--isolate").finds([]);
    }
    for options in [
        "--copies 3.. --copies 1",
        "--copies 3..2",
        "--unique --copies 2..",
        "--unique --copies ..2",
    ] {
        let run = seekless(tree.root(), &format!("find -f nul {options} x y")).run();
        assert_eq!(run.code(), 2, "{options}\n{run}");
    }
}

#[test]
fn unique_files_are_one_path_a_line_in_text() {
    let tree = two_trees()
        .file("#x/#1", "a note")
        .hard_link("#x/#2", "#x/#1")
        .file("y/two\nlines", "lines");
    let run = seekless(tree.root(), "find --unique #x x y").run().exits(0);
    let text = run.stdout_text();
    let lines = text.lines().filter(|line| !line.starts_with("# "));
    let mut lines: Vec<&str> = lines.collect();
    lines.sort_unstable();
    assert_eq!(lines, ["./#x/#1", "x/a", "y/b", "y/two\\nlines"]);
    let run = seekless(tree.root(), "find --unique --isolate x y").run();
    let text = run.exits(0).stdout_text();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.count(), 8, "{text}");
}

#[test]
fn unique_files_are_found_among_equal_sizes_and_equal_heads() {
    let head = noise(7, 200_000);
    let with_last = |last: u8| [&head[..], &[last]].concat();
    let tree = Tree::new()
        .file("1", with_last(1))
        .file("2", with_last(2))
        .copies(["3", "4"], with_last(3));
    find(&tree, "--unique .").finds(["1", "2"]);
}

#[test]
fn a_file_belongs_to_the_innermost_root_in_every_order() {
    let tree = Tree::new().copies(["r/a", "r/s/b"], "same");
    for roots in ["r r/s/b", "r/s/b r", "r/s r", "r/a r", "r/s/b r/s r"] {
        find(&tree, &format!("-I {roots}")).finds(["r/a r/s/b"]);
        find(&tree, &format!("-I --unique {roots}")).finds([]);
    }
    let tree = tree.file("r/s/c", "same");
    for roots in ["r r/s r/s/b", "r/s/b r/s r", "r/s r/s/b r", "r/s/b r r/s"] {
        find(&tree, &format!("-I --copies 3.. {roots}")).finds(["r/a r/s/b r/s/c"]);
    }
}

#[test]
fn hard_links_are_one_copy_unless_counted() {
    let within = Tree::new()
        .file("x/1", "linked within x")
        .hard_link("x/2", "x/1")
        .folder("y");
    find(&within, "--unique x").finds_one_of(&["x/1", "x/2"]);
    rows(
        &within,
        &[
            ("--unique -H x", &[]),
            ("--copies 2.. -H x", &["x/1 x/2"]),
            ("--copies 3.. -H x", &[]),
            ("--isolate -H x y", &[]),
            ("--isolate --unique -H x y", &["x/1 x/2"]),
        ],
    );
    let across = Tree::new()
        .file("x/1", "linked across")
        .hard_link("y/2", "x/1")
        .folder("y");
    rows(
        &across,
        &[
            ("-I -H x y", &["x/1 y/2"]),
            ("-I -H --unique x y", &[]),
            // Names of one file are no copies of each other.
            ("-I --copies 2..3 x y", &[]),
        ],
    );
}

#[test]
fn the_order_of_the_roots_changes_no_isolated_set() {
    let tree = Tree::new()
        .file("x/1", "same")
        .hard_link("y/1", "x/1")
        .file("x/2", "same")
        .copies(["y/3", "y/4"], "also same");
    for options in [
        "-I",
        "-I -H",
        "-I --unique",
        "-I -H --unique",
        "-I --copies 3..",
    ] {
        let json = |roots: &str| {
            let arguments = format!("find -f json {options} {roots}");
            seekless(tree.root(), &arguments).run().exits(0).file_sets()
        };
        assert_eq!(json("x y"), json("y x"), "{options}");
    }
}

#[test]
fn filters_decide_what_is_counted() {
    let tree = Tree::new()
        .copies(["a.jpg", "a.txt"], "same")
        .copies(["b.jpg", "c.jpg"], "other")
        .file("e", "");
    rows(
        &tree,
        &[
            ("--unique --name *.jpg .", &["a.jpg"]),
            ("--unique --name *.jpg --min-size 5 .", &[]),
            ("--copies ..2 --exclude c.* .", &["a.jpg a.txt", "b.jpg"]),
            ("--unique --empty .", &["e"]),
        ],
    );
}

#[test]
fn an_unreadable_twin_makes_no_file_unique() {
    let tree = Tree::new()
        .copies(["1", "2"], "same size")
        .file("3", "other siz")
        .mode("2", 0);
    let run = seekless(tree.root(), "find -f nul --unique .")
        .without_privileges()
        .run()
        .exits(1)
        .says("2");
    assert!(!run.sets().contains(&[b"2".to_vec()].into()), "{run}");
}
