//! Ignore files that are no plain files.

use super::*;

const QUICK: Duration = Duration::from_secs(20);

fn tree() -> Tree {
    Tree::new().copies(["x/1", "x/2"], "same")
}

#[track_caller]
fn find(tree: &Tree, follow: &str) -> Run {
    seekless(
        tree.root(),
        &format!("find -f nul {follow} --ignore-file .skip x"),
    )
    .patience(QUICK)
    .without_privileges()
    .run()
}

#[test]
fn one_that_is_a_fifo_is_not_waited_for() {
    for follow in ["", "-L"] {
        find(&tree().fifo("x/.skip"), follow).finds(["x/1 x/2"]);
    }
}

#[test]
fn one_that_has_no_end_is_not_read() {
    for follow in ["", "-L"] {
        find(&tree().symlink("x/.skip", "/dev/zero"), follow).finds(["x/1 x/2"]);
    }
}

#[test]
fn one_that_cannot_be_read_is_named() {
    for follow in ["", "-L"] {
        let tree = tree().file("x/.skip", "1\n").mode("x/.skip", 0);
        find(&tree, follow).exits(1).says("x/.skip");
    }
}

#[test]
fn one_with_too_many_patterns_is_named_with_a_way_out() {
    let patterns: String = (0..20_000).map(|at| format!("*a{at}*b*\n")).collect();
    let tree = tree().file("x/.skip", patterns);
    let run = find(&tree, "").exits(1).finds(["x/1 x/2"]);
    run.says("x/.skip: continuing without this ignore file: its patterns are too many")
        .says("use fewer or shorter patterns")
        .never_says("line 0");
}
