//! `--verify` compares sets where and when their disks are read, and waits for none of them for ever.

use crate::common::{Run, Tree, noise, seekless};

/// What the summary says of the stage.
fn verified(run: &Run) -> (u64, u64) {
    let summary = &run.json()["summary"];
    let mut stages = summary["stages"].as_array().expect("stages").iter();
    let stage = stages.find(|told| told["name"] == "verify");
    let number = |key| stage.map_or(0, |stage| stage[key].as_u64().expect("a number"));
    (number("files"), number("bytes_read"))
}

#[test]
fn every_member_of_a_set_is_compared_with_the_first_however_its_disk_is_read() {
    const SIZE: usize = 300_000;
    let mut tree = Tree::new();
    for copy in 0..5 {
        tree = tree.file(format!("a{copy}"), noise(1, SIZE));
        tree = tree.file(format!("b{copy}"), noise(2, 10));
    }
    for options in ["", "--threads ssd", "--threads hdd", "--threads 1"] {
        let run = seekless(tree.root(), &format!("find -f json --verify {options} .")).run();
        let run = run.exits(0);
        assert_eq!(
            verified(&run),
            (10, 5 * (SIZE as u64 + 10)),
            "{options}\n{run}"
        );
        run.finds_files(["a0 a1 a2 a3 a4", "b0 b1 b2 b3 b4"]);
    }
}

#[test]
fn a_large_set_is_compared_as_a_whole() {
    let mut tree = Tree::new();
    for copy in 0..200 {
        tree = tree.file(format!("{copy}"), noise(1, 1000));
    }
    let run = seekless(tree.root(), "find -f json --verify .")
        .run()
        .exits(0);
    // The first file is compared once with every seven others.
    assert_eq!(verified(&run), (200 + 28, (200 + 28) * 1000), "{run}");
    assert_eq!(run.file_sets().len(), 1, "{run}");
}
