//! Systems that lack something: rings, memory, threads.

use super::*;

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
    let none = rustix::process::Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    seekless(tree.root(), "find -f nul --depth-random 256 .")
        .before(move || {
            Ok(rustix::process::setrlimit(
                rustix::process::Resource::Memlock,
                none,
            )?)
        })
        .run()
        .exits(0)
        .finds(["1 2"]);
}
