//! Limits of the process that leave little: enough is enough, and too little is said.

use std::process::Command;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::*;
use crate::common::run::Seekless;

/// Many folders, small files and large ones, in pairs.
fn tree() -> Tree {
    let mut tree = Tree::new();
    for i in 0..300_u64 {
        let content = noise(i / 2, 3_000 + 700 * (i as usize / 2));
        tree = tree.file(format!("x/{}/{}/{i}", i % 30, i % 7), content);
    }
    tree
}

#[test]
fn twenty_descriptors_are_enough_for_a_search() {
    let tree = tree();
    for options in [
        "",
        "--verify",
        "--threads 32,32 --depth-random 256",
        "--digest always",
    ] {
        let run = seekless(tree.root(), &format!("find -f nul {options} x"));
        let run = run.descriptors(20).run().exits(0);
        assert_eq!(sizes_of_sets(&run), [2; 150], "{options}: {run}");
    }
}

#[test]
fn forty_descriptors_are_enough_for_an_action() {
    for action in [
        "remove",
        "remove --trash",
        "hardlink",
        "symlink",
        "move --to to",
    ] {
        let (mut tree, state) = (Tree::new(), tempfile::tempdir().expect("a folder"));
        for number in 0..60 {
            // Each file has a folder of its own, which is held open until it has been synced.
            let names = ["a", "b"].map(|side| format!("x/{number}/{side}/file"));
            tree = tree.copies(names.each_ref().map(String::as_str), noise(number, 3_000));
        }
        let run = seekless(tree.root(), &format!("{action} --yes x"));
        let with_few = |run: Seekless| {
            let state = state.path().to_str().expect("plain");
            let run = run.env("XDG_STATE_HOME", state).env("XDG_DATA_HOME", state);
            run.descriptors(40).run().exits(0)
        };
        with_few(run).says("60 files");
        if action != "remove" {
            let undo = with_few(seekless(tree.root(), "undo"));
            undo.says("60 files restored");
        }
    }
}

#[test]
fn too_few_descriptors_are_said_at_once() {
    const SAID: &str =
        "more files can be open at a time, and a search needs 10: raise the limit (ulimit -n 64)";
    let tree = tree();
    let run = seekless(tree.root(), "find -f nul x").descriptors(8);
    let run = run.run().exits(2).says(SAID);
    assert!(run.stdout.is_empty(), "{run}");
    // A shell inherits none of the test's own descriptors, which would leave gaps when they are closed.
    let inherit =
        r#"ulimit -n 64; for n in {3..57}; do eval "exec $n>&2"; done; exec "$0" find -f nul x"#;
    let output = Command::new("bash")
        .args(["-c", inherit, env!("CARGO_BIN_EXE_seekless")])
        .current_dir(tree.root())
        .output()
        .expect("bash runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(SAID) && output.stdout.is_empty(), "{said}");
}

/// A run of which the address space is limited.
fn limited(tree: &Tree, arguments: &str, mebibytes: u64) -> Run {
    let limit = Rlimit {
        current: Some(mebibytes << 20),
        maximum: Some(mebibytes << 20),
    };
    let lower = move || Ok(setrlimit(Resource::As, limit)?);
    seekless(tree.root(), arguments).before(lower).run()
}

#[test]
fn too_little_address_space_is_said() {
    let tree = tree();
    let run = limited(&tree, "find -f nul x", 100).exits(2);
    run.says("a search needs 4.3 GB of address space")
        .says("(ulimit -v unlimited)");
}

#[test]
fn where_io_uring_is_forbidden_the_answer_is_the_same_and_v_says_so() {
    let tree = Tree::new()
        .copies(["1", "2"], noise(1, 500_000))
        .copies(["3", "4"], "small")
        .file("5", noise(2, 500_000));
    let run = seekless(tree.root(), "find -f nul -v .")
        .without_io_uring()
        .run();
    run.exits(0).says("io_uring").finds(["1 2", "3 4"]);
    let run = seekless(tree.root(), "find -f nul .")
        .without_io_uring()
        .run();
    run.exits(0).never_says("io_uring").finds(["1 2", "3 4"]);
}

#[test]
fn little_memory_for_locked_pages_is_enough() {
    let tree = Tree::new().copies(["1", "2"], noise(1, 500_000));
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    seekless(tree.root(), "find -f nul --depth-random 256 .")
        .before(move || Ok(setrlimit(Resource::Memlock, none)?))
        .run()
        .exits(0)
        .finds(["1 2"]);
}
