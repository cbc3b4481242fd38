//! How copies are counted, and which counts are reported.

use super::*;

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
fn more_than_one_copy_is_a_duplicate() {
    find(&two_trees(), "x y").finds([AB, AA, AAB, BBB]);
    find(&two_trees(), "--copies 2.. x y").finds([AB, AA, AAB, BBB]);
}

#[test]
fn a_range_without_an_end_means_at_least() {
    find(&two_trees(), "--copies 3.. x y").finds([AAB, BBB]);
    find(&two_trees(), "--copies 4.. x y").finds([]);
}

#[test]
fn a_range_without_a_start_means_at_most() {
    find(&two_trees(), "--copies ..2 x y").finds(["x/a", "y/b", AB, AA]);
    find(&two_trees(), "--copies 1 x y").finds(["x/a", "y/b"]);
    find(&two_trees(), "--copies ..3 x y").finds(["x/a", "y/b", AB, AA, AAB, BBB]);
}

#[test]
fn both_ends_of_a_range_are_included() {
    let tree = two_trees().copies(["n/1", "n/2", "n/3", "n/4"], "four");
    find(&tree, "--copies 2..3 x y n").finds([AB, AA, AAB, BBB]);
    find(&tree, "--copies 3 x y n").finds([AAB, BBB]);
    find(&tree, "--copies 3..4 x y n").finds([AAB, BBB, "n/1 n/2 n/3 n/4"]);
    // Names of one file are no copies of each other.
    let linked = Tree::new().file("x/1", "once").hard_link("y/2", "x/1");
    find(&linked, "-I --copies 2..3 x y").finds([]);
    find(&linked, "-H --copies 2..3 x y").finds(["x/1 y/2"]);
}

#[test]
fn unique_is_what_there_is_once() {
    find(&two_trees(), "--unique x y").finds(["x/a", "y/b"]);
    find(&two_trees(), "--unique x").finds(["x/a", "x/ab"]);
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
fn isolated_trees_show_only_what_spans_them() {
    find(&two_trees(), "--isolate x y").finds([AB, AAB]);
}

#[test]
fn isolating_a_single_place_is_refused_with_the_reason() {
    for roots in ["x", "x x", "x ./x", "x x/"] {
        let run = seekless(two_trees().root(), &format!("find -f nul -I {roots}")).run();
        run.exits(2).says("--isolate").finds([]);
    }
}

// fclones #253, #345, #360: with both options sets were printed that were not unique.
#[test]
fn unique_to_a_tree_is_what_lies_below_one_root_only() {
    find(&two_trees(), "--unique --isolate x y").finds(["x/a", "y/b", AA, BBB]);
    find(&two_trees(), "--unique --isolate y x").finds(["x/a", "y/b", AA, BBB]);
}

#[test]
fn isolated_roots_are_counted_not_files() {
    let tree = two_trees().copies(["z/ab", "z/aab"], "in both");
    find(&tree, "-I --copies 3.. x y z").finds(["x/ab y/ab z/ab z/aab"]);
    find(&tree, "-I --copies ..2 x y z").finds(["x/a", "y/b", AA, AAB, BBB]);
    find(&tree, "-I --copies 2.. x y z").finds(["x/ab y/ab z/ab z/aab", AAB]);
}

#[test]
fn each_file_given_as_a_root_is_a_place_of_its_own() {
    find(&two_trees(), "-I x/aa1 x/aa2").finds([AA]);
    find(&two_trees(), "-I --unique x/aa1 x/aa2").finds([]);
}

#[test]
fn a_file_belongs_to_the_innermost_root_in_every_order() {
    let tree = Tree::new().copies(["r/a", "r/s/b"], "same");
    for roots in [
        "r r/s/b",
        "r/s/b r",
        "r r/s",
        "r/s r",
        "r/a r",
        "r r/s r/s/b",
        "r/s/b r/s r",
    ] {
        find(&tree, &format!("-I {roots}")).finds(["r/a r/s/b"]);
        find(&tree, &format!("-I --unique {roots}")).finds([]);
    }
    let tree = tree.file("r/s/c", "same");
    for roots in ["r r/s r/s/b", "r/s/b r/s r", "r/s r/s/b r", "r/s/b r r/s"] {
        find(&tree, &format!("-I --copies 3.. {roots}")).finds(["r/a r/s/b r/s/c"]);
    }
}

#[test]
fn the_same_root_twice_is_one_place() {
    find(&two_trees(), "-I x ./x y x/").finds([AB, AAB]);
}

#[test]
fn hard_links_are_one_copy_unless_counted() {
    let tree = Tree::new()
        .file("x/1", "linked within x")
        .hard_link("x/2", "x/1")
        .folder("y");
    find(&tree, "--unique x").finds_one_of(&["x/1", "x/2"]);
    find(&tree, "--unique -H x").finds([]);
    find(&tree, "--copies 2.. -H x").finds(["x/1 x/2"]);
    find(&tree, "--copies 3.. -H x").finds([]);
    find(&tree, "--copies ..2 -H x").finds(["x/1 x/2"]);
    find(&tree, "--isolate -H x y").finds([]);
    find(&tree, "--isolate --unique -H x y").finds(["x/1 x/2"]);
}

#[test]
fn hard_links_across_trees_are_in_both() {
    let tree = Tree::new()
        .file("x/1", "linked across")
        .hard_link("y/2", "x/1")
        .folder("y");
    find(&tree, "-I -H x y").finds(["x/1 y/2"]);
    find(&tree, "-I -H --unique x y").finds([]);
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
        .copies(["b.jpg", "c.jpg"], "other");
    find(&tree, "--unique --name *.jpg .").finds(["a.jpg"]);
    find(&tree, "--unique --name *.jpg --max-size 4 .").finds(["a.jpg"]);
    find(&tree, "--unique --name *.jpg --min-size 5 .").finds([]);
    find(&tree, "--copies ..2 --exclude c.* .").finds(["a.jpg a.txt", "b.jpg"]);
}

#[test]
fn empty_files_are_counted_like_others_when_they_take_part() {
    let one = Tree::new().file("e", "").file("f", "full");
    find(&one, "--unique .").finds(["f"]);
    find(&one, "--unique --empty .").finds(["e", "f"]);
    let two = Tree::new().copies(["e1", "e2"], "");
    find(&two, "--unique --empty .").finds([]);
    find(&two, "--copies 3.. --empty .").finds([]);
    let trees = Tree::new().copies(["x/e", "y/e"], "");
    find(&trees, "--isolate --empty x y").finds(["x/e y/e"]);
}

#[test]
fn followed_links_do_not_count_as_copies() {
    let tree = Tree::new().file("x/1", "same").symlink("x/2", "1");
    let run = find(&tree, "-L --unique x");
    let names: usize = run.sets().iter().map(|set| set.len()).sum();
    assert_eq!(names, 1, "{run}");
}

#[test]
fn overlapping_roots_do_not_make_copies() {
    let tree = Tree::new().file("x/y/1", "once");
    find(&tree, "--unique x x/y").finds_one_of(&["x/y/1"]);
    find(&tree, "-H x x/y").finds([]);
    find(&tree, "-I -H x x/y").finds([]);
}

#[test]
fn verification_keeps_single_members() {
    find(&two_trees(), "--verify --unique x y").finds(["x/a", "y/b"]);
    find(&two_trees(), "--verify --unique --isolate x y").finds(["x/a", "y/b", AA, BBB]);
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

#[test]
fn limits_that_contradict_each_other_are_refused() {
    for options in [
        "--copies 3.. --copies 1",
        "--copies 3..2",
        "--unique --copies 2..",
        "--unique --copies ..2",
    ] {
        let run = seekless(two_trees().root(), &format!("find -f nul {options} x y")).run();
        assert_eq!(run.code(), 2, "{options}\n{run}");
    }
}
