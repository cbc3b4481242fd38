//! Sides that somebody changes during the run: never a yes that was not true at any moment.
//!
//! Each change keeps a fact true at every moment, so the answer that the fact excludes is wrong however the run and the
//! changes fall together.

use crate::common;

use std::fs;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use common::limits::{rounds, seed};
use common::rng::Rng;
use common::{Run, Tree, noise, seekless};

const FOLDERS: usize = 8;
const LENGTH: usize = 20_000;

/// Two sides with the same files in some folders.
fn sides() -> Tree {
    let mut tree = Tree::new().folder("made");
    for folder in 0..FOLDERS {
        for file in 0..5 {
            let content = noise((folder * 5 + file) as u64, LENGTH);
            let names = ["a", "b"].map(|side| format!("{side}/{folder}/{file}"));
            tree = tree.copies(names.each_ref().map(String::as_str), content);
        }
    }
    tree
}

/// Compares again and again while `change` goes on.
fn runs_while(tree: &Tree, mut change: impl FnMut(&mut Rng) + Send) -> Vec<Run> {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut rng = Rng::new(seed());
            while !stop.load(Ordering::Relaxed) {
                change(&mut rng);
                (0..rng.below(200_000)).for_each(|_| spin_loop());
            }
        });
        let compare = |_| seekless(tree.root(), "compare --one-way a b").run();
        let runs = (0..rounds(12)).map(compare).collect();
        stop.store(true, Ordering::Relaxed);
        runs
    })
}

/// Moves a file of a side to other folders of it.
fn moves<'t>(tree: &'t Tree, side: &'static str) -> impl FnMut(&mut Rng) + Send + 't {
    let mut at = 0;
    move |rng| {
        let to = rng.below(FOLDERS);
        let path = |folder| tree.path(format!("{side}/{folder}/restless"));
        fs::rename(path(at), path(to)).expect("moved");
        at = to;
    }
}

#[test]
fn a_file_that_is_moved_and_has_no_copy_is_not_passed_over() {
    let tree = sides().file("a/0/restless", noise(100, LENGTH));
    for run in runs_while(&tree, moves(&tree, "a")) {
        assert!([1, 2].contains(&run.code()), "{run}");
    }
}

#[test]
fn a_copy_that_is_moved_is_not_called_missing() {
    let tree = sides().copies(["a/0/still", "b/0/restless"], noise(100, LENGTH));
    for run in runs_while(&tree, moves(&tree, "b")) {
        assert!([0, 2].contains(&run.code()), "{run}");
    }
}

#[test]
fn contents_that_the_other_side_has_by_turns_are_not_both_there() {
    let contents = [100, 101].map(|seed| noise(seed, LENGTH));
    let tree = sides()
        .file("a/1/first", &contents[0])
        .file("a/2/second", &contents[1])
        .file("b/0/restless", &contents[0]);
    let mut at = 0;
    let change = |rng: &mut Rng| {
        let path = |folder| tree.path(format!("b/{folder}/restless"));
        let content = rng.pick(&contents);
        match rng.below(3) {
            0 => {
                let made = tree.path("made/next");
                fs::write(&made, content).expect("written");
                fs::rename(&made, path(at)).expect("replaced");
            }
            1 => {
                fs::remove_file(path(at)).expect("removed");
                at = rng.below(FOLDERS);
                fs::write(path(at), content).expect("written");
            }
            _ => {
                let to = rng.below(FOLDERS);
                fs::rename(path(at), path(to)).expect("moved");
                at = to;
            }
        }
    };
    for run in runs_while(&tree, change) {
        assert!([1, 2].contains(&run.code()), "{run}");
    }
}
