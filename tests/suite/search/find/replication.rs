//! How copies are counted, and which counts are reported. Random trees and counts are held against every pair in `oracle`.

use crate::common::{Tree, seekless};

use super::rows;

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
