//! Random sides against comparing every pair of names; after each yes the first side is really removed.

use crate::common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use common::limits::{rounds, seed};
use common::rng::Rng;
use common::{Tree, noise};
use seekless::compare::{ComparedEntry, Comparison, ComparisonAnswer, EntryPlace, Mark, Question};
use seekless::engine::{Config, Control, Root, classify};
use seekless::event::Deaf;
use seekless::scan::FilterSpec;
use seekless::tree::Scope;

const SIDES: [&str; 2] = ["a", "b"];
const FOLDERS: [&str; 5] = ["", "x/", "x/y/", "w/", "w/v/"];

/// What lies at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    File(u64, Vec<u8>),
    Link(Vec<u8>),
    Pipe,
    EmptyFolder,
    Folder,
}

/// What lies at each path of a side.
pub type Walked = BTreeMap<Vec<u8>, Entry>;

/// Sides with files that were copied, moved, renamed and changed, further names, links, and nothing in some folders.
pub fn random_sides(rng: &mut Rng, sides: &[&str]) -> Tree {
    let mut tree = Tree::new();
    for side in sides {
        tree = tree.folder(side);
    }
    let likeness = rng.below(100);
    let mut files: Vec<String> = Vec::new();
    for nth in 0..rng.below(14) {
        let place = format!("{}n{nth}", rng.pick(&FOLDERS));
        let side = rng.below(sides.len());
        let first = format!("{}/{place}", sides[side]);
        let second = match rng.below(100) {
            chance if chance < likeness => Some(place.clone()),
            chance if chance < 90 => Some(format!("{}m{nth}", rng.pick(&FOLDERS))),
            _ => None,
        };
        let other_side = sides[(side + 1 + rng.below(sides.len() - 1)) % sides.len()];
        let second = second.map(|place| format!("{other_side}/{place}"));
        let both = |mut tree: Tree, make: &dyn Fn(Tree, &str) -> Tree| {
            tree = make(tree, &first);
            match &second {
                Some(second) => make(tree, second),
                None => tree,
            }
        };
        tree = match rng.below(14) {
            0 => both(tree, &|tree, name| tree.folder(name)),
            1 => both(tree, &|tree, name| {
                tree.symlink(name, format!("to{}", name.len()))
            }),
            2 => both(tree, &|tree, name| tree.fifo(name)),
            3 => tree
                .file(&first, "")
                .folder(second.unwrap_or_else(|| "b/e".to_owned())),
            4 | 5 if !files.is_empty() => {
                let existing = rng.pick(&files).clone();
                tree.hard_link(&first, &existing)
            }
            6 => {
                let (one, another) = (content(rng), content(rng));
                let tree = tree.file(&first, one);
                match second {
                    Some(second) => tree.file(second, another),
                    None => tree,
                }
            }
            _ => {
                let content = content(rng);
                files.push(first.clone());
                both(tree, &|tree, name| tree.file(name, &content))
            }
        };
    }
    tree
}

/// One of few contents: many have the same length, and the same beginning.
fn content(rng: &mut Rng) -> Vec<u8> {
    let length = *rng.pick(&[0, 1, 3, 5000, 70_000]);
    let mut content = noise(1, length);
    if let (true, Some(last)) = (rng.percent(60), content.last_mut()) {
        *last = rng.below(3) as u8;
    }
    content
}

fn walk(top: &Path, relative: &Path, walked: &mut Walked) {
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    for entry in fs::read_dir(top.join(relative)).expect("a folder") {
        let entry = entry.expect("an entry");
        let path = relative.join(entry.file_name());
        let metadata = entry.metadata().expect("is there");
        let is = if metadata.is_dir() {
            walk(top, &path, walked);
            match fs::read_dir(entry.path()).expect("a folder").next() {
                None => Entry::EmptyFolder,
                Some(_) => Entry::Folder,
            }
        } else if metadata.is_symlink() {
            Entry::Link(bytes(&fs::read_link(entry.path()).expect("a link")))
        } else if metadata.is_file() {
            let content = fs::read(entry.path()).expect("a file");
            Entry::File(metadata.ino(), content)
        } else {
            Entry::Pipe
        };
        walked.insert(bytes(&path), is);
    }
}

fn walked(tree: &Tree) -> [Walked; 2] {
    SIDES.map(|side| walked_one(tree, side))
}

/// True if a file of a side has this content.
pub fn holds(side: &Walked, wanted: &[u8]) -> bool {
    side.values()
        .any(|entry| matches!(entry, Entry::File(_, content) if content == wanted))
}

/// The sign of an entry, by the definition.
fn sign(path: &[u8], entry: &Entry, other: &Walked, missing: char) -> Option<char> {
    let there = other.get(path);
    let is_same = match (entry, there) {
        (Entry::Folder, _) => return None,
        (Entry::File(_, content), Some(Entry::File(_, other))) => content == other,
        (Entry::EmptyFolder, Some(other)) => matches!(other, Entry::EmptyFolder | Entry::Folder),
        (entry, there) => there == Some(entry),
    };
    let is_elsewhere = match entry {
        Entry::File(_, content) => !content.is_empty() && holds(other, content),
        _ => false,
    };
    Some(match (is_same, is_elsewhere, there) {
        (true, ..) => '=',
        (false, true, _) => '>',
        (false, false, Some(_)) => '*',
        (false, false, None) => missing,
    })
}

fn path_of(tree: &seekless::tree::Tree, place: EntryPlace) -> Vec<u8> {
    let mut path = Vec::new();
    match place {
        EntryPlace::Name(name) => {
            tree.relative_path_of(tree.folder_of(name), tree.name(name), &mut path);
        }
        EntryPlace::Other(at) => {
            let other = tree.other(at);
            tree.relative_path_of(other.folder, other.name, &mut path);
        }
        EntryPlace::EmptyFolder(folder) | EntryPlace::Folder(folder, ..) => {
            tree.relative_path(folder, &mut path);
        }
    }
    path
}

/// The sign that the lines give each entry of a side, those in folders that are only there included.
fn told(comparison: &Comparison<'_>, side: u32, of: &Walked) -> BTreeMap<Vec<u8>, char> {
    let tree = comparison.tree();
    let mut told = BTreeMap::new();
    for line in comparison.lines.iter().filter(|line| line.side == side) {
        let path = path_of(tree, line.place);
        let EntryPlace::Folder(_, files, bytes) = line.place else {
            assert_eq!(told.insert(path, line.sign()), None, "one sign each");
            continue;
        };
        let is_below = |name: &[u8]| {
            path.is_empty() || name == path || name.starts_with(&[&path[..], b"/"].concat())
        };
        let (mut empty, mut inodes) = (0, BTreeMap::new());
        for (name, entry) in of.iter().filter(|(name, _)| is_below(name)) {
            if let Entry::File(ino, content) = entry {
                match content.len() as u64 {
                    0 => empty += 1,
                    length => drop(inodes.insert(ino, length)),
                }
            }
            if *entry != Entry::Folder {
                assert_eq!(
                    told.insert(name.clone(), line.sign()),
                    None,
                    "one sign each"
                );
            }
        }
        assert_eq!(files, empty + inodes.len() as u64);
        assert_eq!(bytes, inodes.values().sum::<u64>());
    }
    told
}

/// True if a line of the first side tells of this entry of the second one.
fn is_told_by_first(comparison: &Comparison<'_>, path: &[u8], sign: char) -> bool {
    let tree = comparison.tree();
    comparison
        .lines
        .iter()
        .filter(|line| line.side == 0)
        .any(|line: &ComparedEntry| {
            let at_same_path = path_of(tree, line.place) == path && line.sign() == sign;
            match (sign, line.marks[1]) {
                ('>', Mark::Moved(to)) => path_of(tree, EntryPlace::Name(to)) == path,
                ('=' | '*', _) => at_same_path,
                _ => false,
            }
        })
}

fn one_round(rng: &mut Rng) -> ComparisonAnswer {
    let tree = random_sides(rng, &SIDES);
    let walked = walked(&tree);
    let keep_empty = FilterSpec {
        keep_empty: true,
        ..FilterSpec::default()
    };
    let root = |side: &str| Root {
        path: tree.path(side),
        id: None,
    };
    let config = Config {
        roots: SIDES.iter().map(|side| root(side)).collect(),
        filter: keep_empty.build().expect("no pattern"),
        ..Config::default()
    };
    let seen = classify(&config, Scope::AcrossRoots, &Deaf, &Control::default()).expect("a run");
    let again = classify(&config, Scope::AcrossRoots, &Deaf, &Control::default()).expect("a run");
    assert_eq!(seen, again, "the same sides, the same tree");
    let both = Comparison::new(&seen, Question::default());
    let mut is_there = [true; 2];
    for (side, missing) in [(0, '-'), (1, '+')] {
        let (own, other) = (&walked[side], &walked[1 - side]);
        let told = told(&both, side as u32, own);
        for path in told.keys().filter(|path| !path.is_empty()) {
            assert!(own.contains_key(path), "{}", path.escape_ascii());
        }
        let mut only = BTreeMap::new();
        for (path, entry) in own {
            let Some(expected) = sign(path, entry, other, missing) else {
                continue;
            };
            match told.get(path) {
                Some(&sign) => assert_eq!(sign, expected, "{}", path.escape_ascii()),
                None => assert!(
                    side == 1 && is_told_by_first(&both, path, expected),
                    "{} {expected}",
                    path.escape_ascii()
                ),
            }
            if !matches!(expected, '=' | '>') {
                is_there[side] = false;
                if let Entry::File(ino, content) = entry {
                    let key = if content.is_empty() {
                        path.clone()
                    } else {
                        ino.to_ne_bytes().to_vec()
                    };
                    only.insert(key, content.len() as u64);
                }
            }
        }
        let sums = &both.sides[side];
        let sum = (sums.only.count, sums.only.bytes);
        assert_eq!(sum, (only.len() as u64, only.values().sum()), "{walked:?}");
        assert_eq!(sums.files.count, sums.elsewhere.count + sums.only.count);
        assert_eq!(sums.unanswered, 0);
    }
    let has_files = |side: &Walked| side.values().any(|entry| matches!(entry, Entry::File(..)));
    let expected = |is_there: bool| match walked.iter().all(has_files) {
        false => ComparisonAnswer::Unknown,
        true if is_there => ComparisonAnswer::Yes,
        true => ComparisonAnswer::No,
    };
    assert_eq!(
        both.answer(),
        expected(is_there[0] && is_there[1]),
        "{walked:?}"
    );
    let one_way = Question {
        one_way: true,
        ..Question::default()
    };
    let answer = Comparison::new(&seen, one_way).answer();
    assert_eq!(answer, expected(is_there[0]), "{walked:?}");
    if answer == ComparisonAnswer::Yes {
        fs::remove_dir_all(tree.path("a")).expect("removed");
        let left = walked_one(&tree, "b");
        for (path, entry) in &walked[0] {
            if let Entry::File(_, content) = entry {
                assert!(holds(&left, content), "{} is lost", path.escape_ascii());
            }
        }
    }
    answer
}

/// What lies on a side.
pub fn walked_one(tree: &Tree, side: &str) -> Walked {
    let mut walked = Walked::new();
    walk(&tree.path(side), Path::new(""), &mut walked);
    walked
}

fn play(count: usize) {
    let mut rng = Rng::new(seed());
    let mut answers = [0; 2];
    for _ in 0..count {
        match one_round(&mut rng) {
            ComparisonAnswer::Yes => answers[0] += 1,
            ComparisonAnswer::No => answers[1] += 1,
            ComparisonAnswer::Unknown => {}
        }
    }
    assert!(
        answers.iter().all(|&count| count > 0),
        "both answers come up: {answers:?}"
    );
}

#[test]
fn signs_counts_and_answers_are_those_of_comparing_every_pair() {
    play(rounds(60));
}

#[test]
#[ignore = "takes minutes; the short form is signs_counts_and_answers_are_those_of_comparing_every_pair"]
fn in_full_signs_counts_and_answers_are_those_of_comparing_every_pair() {
    play(rounds(20_000));
}
