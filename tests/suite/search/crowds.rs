//! Many long files that are equal at both ends are told apart without reading all of them.

use std::collections::BTreeSet;

use crate::common::{Run, Sets, Tree, noise, seekless};

const LENGTH: usize = 2_000_001;

/// Files of the crowd; four of them are copies of each other.
const FILES: usize = 40;

/// A crowd whose files differ in one byte, from this place on.
fn crowd(from: usize) -> Tree {
    let mut tree = Tree::new();
    for file in 0..FILES {
        let mut content = noise(1, LENGTH);
        content[from + 997 * file.max(3)] ^= 1;
        tree = tree.file(format!("{file}"), content);
    }
    tree
}

fn copies() -> Sets {
    let set = (0..4).map(|file| file.to_string().into_bytes());
    BTreeSet::from([set.collect()])
}

fn bytes_of(run: &Run, name: &str) -> u64 {
    let summary = &run.json()["summary"];
    let stages = summary["stages"].as_array().expect("stages");
    let stage = stages.iter().find(|stage| stage["name"] == name);
    stage.map_or(0, |stage| stage["bytes_read"].as_u64().expect("a number"))
}

#[test]
fn of_a_crowd_that_differs_in_its_middle_or_early_a_part_is_read() {
    for from in [LENGTH / 2 + 20_000, 5000] {
        let tree = crowd(from);
        let options = "-f json --digest always --threads ssd .";
        let run = seekless(tree.root(), options).run().exits(0);
        let sets = run.file_sets().into_iter();
        let sets: Sets = sets
            .map(|set| set.into_iter().flatten().collect())
            .collect();
        assert_eq!(sets, copies(), "{from}\n{run}");
        let read = bytes_of(&run, "stretches") + bytes_of(&run, "content");
        assert!(bytes_of(&run, "stretches") > 0, "{run}");
        assert!(
            read < (FILES * LENGTH) as u64 * 3 / 5,
            "{from}: {read}\n{run}"
        );
        // Compared with each other, from the middle and from the beginning on, if they are cached.
        seekless(tree.root(), "-f nul .").run().exits(0);
        let compared = seekless(tree.root(), "-f nul .").run().exits(0);
        assert_eq!(compared.sets(), copies(), "{from}\n{compared}");
    }
}

#[test]
fn copies_are_read_whole_after_one_look() {
    let content = noise(1, 1 << 20);
    let mut tree = Tree::new();
    for file in 0..20 {
        tree = tree.file(format!("{file}"), &content);
    }
    let options = "-f json --digest always --threads ssd .";
    let run = seekless(tree.root(), options).run().exits(0);
    assert_eq!(bytes_of(&run, "stretches"), 20 * (64 << 10), "{run}");
    assert_eq!(bytes_of(&run, "content"), 20 << 20, "{run}");
}

#[test]
fn a_spinning_disk_is_spared_the_seeks() {
    let tree = crowd(LENGTH / 2);
    let options = "-f json --digest always --threads hdd .";
    let run = seekless(tree.root(), options).run().exits(0);
    assert_eq!(bytes_of(&run, "stretches"), 0, "{run}");
    assert_eq!(run.file_sets().len(), 1, "{run}");
}
