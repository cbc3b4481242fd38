//! Damaged, full or shared with another run: the answer is right all the same, and one line says what is not used.

use std::fs;
use std::thread;

use super::{Runs, ext4, search};
use crate::common::volume::Volume;
use crate::common::{Tree, noise};

/// A tree of which some sets are decided by each stage.
pub fn tree(volume: &Volume) -> Tree {
    let tree = Tree::inside(&volume.path());
    for nth in 0..40 {
        let length = [900, 5000, 20_000, 140_000][nth % 4];
        for copy in ["a", "b"] {
            tree.write(format!("{nth} {copy}"), noise(nth as u64, length));
        }
        let mut other = noise(nth as u64, length);
        other[length / 2] ^= 1;
        tree.write(format!("{nth} other"), other);
    }
    tree
}

#[test]
#[ignore = "needs root and loop devices"]
fn two_runs_at_once_share_a_cache() {
    let volume = ext4();
    let tree = tree(&volume);
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("cache"));
    let roots = [tree.root().to_owned()];
    let right = search(&roots, None);
    let together = runs.later();
    thread::scope(|scope| {
        let run = || search(&roots, Some(together.clone()));
        let all: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        for one in all {
            let answer = one.join().expect("no panic");
            assert_eq!((answer.sets, answer.problems), (right.sets.clone(), vec![]));
        }
    });
    let after = search(&roots, Some(runs.later()));
    assert_eq!((after.sets, after.problems), (right.sets, vec![]));
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_full_disk_costs_a_line() {
    let volume = Volume::on_loop("ext4", 8, "");
    let searched = ext4();
    let tree = Tree::inside(&searched.path());
    for nth in 0..4000 {
        tree.write(nth.to_string(), noise(nth / 2, 500));
    }
    let full = noise(1, 1 << 20);
    for nth in 0.. {
        if fs::write(volume.path().join(nth.to_string()), &full).is_err() {
            break;
        }
    }
    let right = search(&[tree.root().to_owned()], None);
    let mut runs = Runs::new(volume.path().join("cache"));
    let answer = search(&[tree.root().to_owned()], Some(runs.later()));
    assert_eq!(answer.sets, right.sets);
    assert_eq!(answer.problems.len(), 1, "{:?}", answer.problems);
}
