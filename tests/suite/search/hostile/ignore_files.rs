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
        let run = find(&tree().fifo("x/.skip"), follow);
        run.finds(["x/1 x/2"])
            .exits(1)
            .says("x/.skip: cannot use this ignore file: not a regular file");
    }
}

#[test]
fn one_that_is_too_long_is_named_and_nothing_acts_without_it() {
    const LONGEST: usize = 1 << 20;
    for (length, is_used) in [(LONGEST, true), (LONGEST + 1, false)] {
        let mut patterns = vec![b'#'; length - 3];
        patterns.extend_from_slice(b"\n1\n");
        let tree = tree().file("x/.skip", patterns);
        let run = find(&tree, "");
        match is_used {
            true => run.exits(0).finds([]),
            false => run
                .exits(1)
                .finds(["x/1 x/2"])
                .says("x/.skip: cannot use this ignore file: longer than 1 MiB"),
        };
        for how in ["--dry-run", "--yes --quiet"] {
            let line = format!("remove {how} --ignore-file .skip x");
            let run = seekless(tree.root(), &line).run();
            match is_used {
                true => run.exits(0).never_says("an ignore file"),
                false => run.exits(2).says("because it cannot be used (see above)"),
            };
        }
        assert!(tree.path("x/1").exists() && tree.path("x/2").exists());
    }
}

/// The line may be the one that lists a file to keep.
#[test]
fn nothing_acts_without_a_line_that_is_no_pattern() {
    let tree = tree().file("x/.skip", b"keep\xe9\n");
    find(&tree, "").exits(1).finds(["x/1 x/2"]);
    for how in ["--dry-run", "--yes --quiet"] {
        let line = format!("remove {how} --ignore-file .skip x");
        let run = seekless(tree.root(), &line).run();
        run.exits(2).says("because it cannot be used (see above)");
    }
    assert!(tree.path("x/1").exists() && tree.path("x/2").exists());
}
