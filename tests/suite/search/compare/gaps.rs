//! Random sides of which something cannot be read, or changes during the run, against comparing every pair.
//!
//! After each yes to a one-way question the first side is really removed.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::common::limits::{rounds, seed};
use crate::common::rng::Rng;
use crate::common::{Tree, seekless};

use super::oracle::{Entry, Walked, holds, random_sides, walked_one};

const SIDES: [&str; 3] = ["a", "b", "c"];

/// True if something of a side is on none of the others.
fn is_missing(side: usize, sides: &[Walked]) -> bool {
    let others = || sides.iter().enumerate().filter(|&(other, _)| other != side);
    sides[side].iter().any(|(path, entry)| {
        match entry {
        Entry::Folder => false,
        Entry::File(_, content) if !content.is_empty() => {
            !others().any(|(_, other)| holds(other, content))
        }
        Entry::EmptyFolder => !others().any(|(_, other)| {
            matches!(other.get(path), Some(Entry::EmptyFolder | Entry::Folder))
        }),
        Entry::File(..) => !others().any(|(_, other)| {
            matches!(other.get(path), Some(Entry::File(_, content)) if content.is_empty())
        }),
        entry => !others().any(|(_, other)| other.get(path) == Some(entry)),
    }
    })
}

fn has_files(side: &Walked) -> bool {
    let mut entries = side.values();
    entries.any(|entry| matches!(entry, Entry::File(..)))
}

fn question(count: usize, one_way: bool) -> String {
    let one_way = if one_way { "--one-way " } else { "" };
    format!("compare {one_way}{}", SIDES[..count].join(" "))
}

/// Takes the permission to read away from some files and folders; returns the sides that have one.
fn lock_some(rng: &mut Rng, tree: &Tree, sides: &[Walked]) -> BTreeSet<usize> {
    let mut locked = BTreeSet::new();
    for (side, walked) in sides.iter().enumerate() {
        // What is in a folder comes before it: then it can be reached.
        for (path, entry) in walked.iter().rev() {
            let has_content = match entry {
                Entry::File(_, content) => !content.is_empty(),
                Entry::Folder => true,
                _ => false,
            };
            if !has_content || !rng.percent(8) {
                continue;
            }
            let path = [SIDES[side].as_bytes(), b"/", path].concat();
            let is_file = matches!(entry, Entry::File(..));
            if is_file && fs::metadata(tree.path(&path)).expect("is there").nlink() > 1 {
                continue;
            }
            tree.set_mode(&path, 0);
            locked.insert(side);
        }
    }
    locked
}

fn unlock(tree: &Tree) {
    let sh = format!("chmod -R u+rwX {}", tree.root().display());
    crate::common::volume::sh(&sh);
}

fn one_round(rng: &mut Rng) -> i32 {
    let count = 2 + rng.below(2);
    let tree = random_sides(rng, &SIDES[..count]);
    let sides: Vec<Walked> = SIDES[..count]
        .iter()
        .map(|side| walked_one(&tree, side))
        .collect();
    let one_way = rng.percent(60);
    let locked = lock_some(rng, &tree, &sides);
    let asked = if one_way { 1 } else { count };
    let run = seekless(tree.root(), &question(count, one_way));
    let run = run.without_privileges().run();
    unlock(&tree);
    let code = run.code();
    let is_missing = (0..asked).any(|side| is_missing(side, &sides));
    let is_gap = (0..asked).any(|side| locked.contains(&side));
    if is_missing || is_gap || !sides.iter().all(has_files) {
        assert!([1, 2].contains(&code), "{run} {sides:?} {locked:?}");
    } else if locked.is_empty() {
        assert_eq!(code, 0, "{run} {sides:?}");
    }
    if locked.is_empty() && sides.iter().all(has_files) {
        assert_eq!(code, i32::from(is_missing), "{run} {sides:?}");
    }
    if code == 0 && one_way {
        fs::remove_dir_all(tree.path("a")).expect("removed");
        let left: Vec<Walked> = SIDES[1..count]
            .iter()
            .map(|side| walked_one(&tree, side))
            .collect();
        for (path, entry) in &sides[0] {
            if let Entry::File(_, content) = entry {
                let is_there = left.iter().any(|side| holds(side, content));
                assert!(is_there, "{} is lost", path.escape_ascii());
            }
        }
    }
    code
}

fn play(count: usize) {
    let mut rng = Rng::new(seed());
    let mut codes = BTreeSet::new();
    for _ in 0..count {
        codes.insert(one_round(&mut rng));
    }
    assert_eq!(codes, BTreeSet::from([0, 1, 2]), "each answer comes up");
}

#[test]
fn a_yes_holds_also_where_something_cannot_be_read() {
    play(rounds(60));
}

#[test]
#[ignore = "takes minutes; the short form is a_yes_holds_also_where_something_cannot_be_read"]
fn in_full_a_yes_holds_also_where_something_cannot_be_read() {
    play(rounds(3000));
}

/// Changes something of a side, in a way that shows.
#[cfg(debug_assertions)]
fn change_some(rng: &mut Rng, tree: &Tree, sides: &[Walked]) -> String {
    let side = rng.below(sides.len());
    let entries: Vec<(&Vec<u8>, &Entry)> = sides[side].iter().collect();
    let whole = |path: &[u8]| tree.path([SIDES[side].as_bytes(), b"/", path].concat());
    let files: Vec<&Vec<u8>> = entries
        .iter()
        .filter(|(_, entry)| matches!(entry, Entry::File(..)))
        .map(|&(path, _)| path)
        .collect();
    match rng.below(4) {
        0 if !files.is_empty() => {
            let file = rng.pick(&files);
            let path = whole(file);
            let mut content = fs::read(&path).expect("a file");
            match content.first_mut() {
                Some(first) => *first ^= 1,
                None => content.push(1),
            }
            fs::write(&path, content).expect("written");
            format!("{} was written", path.display())
        }
        1 if !entries.is_empty() => {
            let path = whole(rng.pick(&entries).0);
            fs::rename(&path, tree.path("moved")).expect("moved");
            format!("{} was moved", path.display())
        }
        _ => {
            let folders = entries
                .iter()
                .filter(|(_, entry)| matches!(entry, Entry::Folder | Entry::EmptyFolder));
            let mut folders: Vec<Vec<u8>> = folders.map(|&(path, _)| path.clone()).collect();
            folders.push(Vec::new());
            let folder = rng.pick(&folders);
            let path = whole(folder).join("new");
            fs::write(&path, "new").expect("written");
            format!("{} came", path.display())
        }
    }
}

#[cfg(debug_assertions)]
#[test]
fn whatever_changes_between_the_last_read_and_the_answer_there_is_no_answer() {
    use crate::common::stopped::Stopped;

    let mut rng = Rng::new(seed());
    for _ in 0..rounds(40) {
        let count = 2 + rng.below(2);
        let tree = random_sides(&mut rng, &SIDES[..count]);
        let sides: Vec<Walked> = SIDES[..count]
            .iter()
            .map(|side| walked_one(&tree, side))
            .collect();
        // A change of the same moment would leave the same times.
        tree.tick();
        let run = seekless(tree.root(), &question(count, rng.percent(50)));
        let stopped = Stopped::start(run, 1);
        let changed = change_some(&mut rng, &tree, &sides);
        let run = stopped.ends();
        assert_eq!(run.code(), 2, "{changed}: {run} {sides:?}");
    }
}
