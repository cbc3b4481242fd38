//! Little memory.

use super::*;

/// So many reads in flight as these options ask for would take 170 MB.
#[test]
#[ignore = "needs root: limits memory"]
fn is_enough_for_a_run_that_is_told_so() {
    let parent = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let mut tree = Tree::inside(parent.path());
    for i in 0..2000 {
        tree = tree.file(
            format!("small/{}", i % 1000 * 2 + i / 1000),
            noise(i % 1000, 20_000),
        );
    }
    for i in 0..24 {
        tree = tree.file(format!("large/{i}"), noise(i % 12, 8 << 20));
    }
    rustix::fs::sync();
    for memory in ["8MiB", "32MiB"] {
        let _ = fs::write("/proc/sys/vm/drop_caches", "3");
        // What is in flight, the program and its tables.
        let limit = ControlGroup::with_memory(if memory == "8MiB" { 28 << 20 } else { 52 << 20 });
        let run = seekless(
            tree.root(),
            &format!("find -f nul --threads 16,8 --depth-random 256 --memory {memory} ."),
        )
        .before(limit.enter())
        .run()
        .exits(0);
        assert_eq!(run.sets().len(), 1012, "{memory}");
    }
}

#[test]
fn is_said_by_explain_and_too_little_is_refused() {
    let tree = Tree::new().file("x", "1");
    let explained = |options: &str| {
        let run = seekless(tree.root(), &format!("find --explain {options} ."));
        run.run().exits(0).stdout_text()
    };
    let told = explained("--memory 8MiB --threads 4,4 --depth-random 64");
    assert!(told.contains("at most 8.4 MB (set by --memory)"), "{told}");
    assert!(told.contains("reduced to fit into memory"), "{told}");
    let not_told = explained("");
    assert!(not_told.contains("1/32 of the memory"), "{not_told}");
    let run = seekless(tree.root(), "find --memory 1M .").run().exits(2);
    run.says("--memory 1.0 MB is too little");
}
