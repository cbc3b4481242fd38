//! The tree that `classify` hands out, against a walk and a comparison of every pair.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use common::limits::{rounds, seed};
use common::rng::Rng;
use common::{Tree, noise};
use seekless::engine::{Config, Control, Root, classify};
use seekless::event::Deaf;
use seekless::scan::FilterSpec;
use seekless::tree::{Class, EntryKind, RootPlace, Scope, Special, Unseen};

const ROOTS: [&str; 3] = ["a", "b", "c"];
const FOLDERS: [&str; 6] = ["", "x/", "x/y/", "x/y/z/", "w/", ".h/"];

fn config(top: &Path, roots: &[&str]) -> Config {
    let root = |name: &&str| Root {
        path: top.join(name),
        id: None,
    };
    let keep_empty = FilterSpec {
        keep_empty: true,
        ..FilterSpec::default()
    };
    Config {
        roots: roots.iter().map(root).collect(),
        filter: keep_empty.build().expect("no pattern"),
        ..Config::default()
    }
}

fn seen(config: &Config, scope: Scope) -> seekless::tree::Tree {
    classify(config, scope, &Deaf, &Control::default()).expect("a run")
}

/// Some folders with files of few contents, further names, links, pipes, and nothing in them.
fn random_tree(rng: &mut Rng) -> Tree {
    let mut tree = Tree::new();
    for root in ROOTS {
        tree = tree.folder(root);
    }
    let mut files: Vec<String> = Vec::new();
    for nth in 0..rng.below(30) {
        let place = format!("{}/{}", rng.pick(&ROOTS), rng.pick(&FOLDERS));
        let name = format!("{place}n{nth}");
        tree = match rng.below(12) {
            0 => tree.folder(&name),
            1 => tree.symlink(&name, format!("../{}", rng.below(2))),
            2 => tree.fifo(&name),
            3 | 4 if !files.is_empty() => {
                let existing = rng.pick(&files).clone();
                tree.hard_link(&name, &existing)
            }
            _ => {
                files.push(name.clone());
                tree.file(&name, content(rng))
            }
        };
    }
    tree
}

/// One of few contents: many have the same length, and the same beginning.
fn content(rng: &mut Rng) -> Vec<u8> {
    let length = *rng.pick(&[0, 1, 5000, 5000, 70_000]);
    let mut content = noise(1, length);
    if let (true, Some(last)) = (rng.percent(50), content.last_mut()) {
        *last = rng.below(3) as u8;
    }
    content
}

/// What a walk finds, by path relative to the top.
#[derive(Debug, Default, PartialEq, Eq)]
struct Walked {
    /// Inode and content of each name.
    files: BTreeMap<Vec<u8>, (u64, Vec<u8>)>,
    folders: BTreeSet<Vec<u8>>,
    empty_folders: BTreeSet<Vec<u8>>,
    links: BTreeMap<Vec<u8>, Vec<u8>>,
    pipes: BTreeSet<Vec<u8>>,
}

fn walk(top: &Path, relative: &Path, walked: &mut Walked) {
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    walked.folders.insert(bytes(relative));
    let entries = fs::read_dir(top.join(relative)).expect("a folder");
    let mut is_empty = true;
    for entry in entries {
        is_empty = false;
        let entry = entry.expect("an entry");
        let path = relative.join(entry.file_name());
        let metadata = entry.metadata().expect("is there");
        if metadata.is_dir() {
            walk(top, &path, walked);
        } else if metadata.is_symlink() {
            let target = fs::read_link(entry.path()).expect("a link");
            walked.links.insert(bytes(&path), bytes(&target));
        } else if metadata.file_type().is_fifo() {
            walked.pipes.insert(bytes(&path));
        } else {
            let content = fs::read(entry.path()).expect("a file");
            walked.files.insert(bytes(&path), (metadata.ino(), content));
        }
    }
    if is_empty {
        walked.empty_folders.insert(bytes(relative));
    }
}

/// The same, as the tree has it; also by path the file's number and class.
fn told(tree: &seekless::tree::Tree) -> (Walked, BTreeMap<Vec<u8>, (u32, Class)>) {
    let mut walked = Walked::default();
    let mut classes = BTreeMap::new();
    let mut path = Vec::new();
    for folder in 0..tree.folder_count() {
        let root = ROOTS[tree.root_of(folder) as usize];
        let below = |path: &[u8]| match path {
            [] => root.as_bytes().to_vec(),
            path => [root.as_bytes(), b"/", path].concat(),
        };
        tree.relative_path(folder, &mut path);
        walked.folders.insert(below(&path));
        if tree.is_empty_folder(folder) {
            walked.empty_folders.insert(below(&path));
        }
        for name in tree.names_in(folder) {
            assert_eq!(tree.folder_of(name), folder);
            let file = tree.file_of(name);
            assert!(tree.names_of(file).contains(&name));
            tree.relative_path_of(folder, tree.name(name), &mut path);
            classes.insert(below(&path), (file, tree.class(file)));
        }
        for other in tree.others_in(folder) {
            tree.relative_path_of(folder, other.name, &mut path);
            match other.kind {
                EntryKind::Link(target) => {
                    walked.links.insert(below(&path), target.to_vec());
                }
                EntryKind::Special(Special::Fifo) => {
                    walked.pipes.insert(below(&path));
                }
                kind => panic!("{kind:?} of {}", path.escape_ascii()),
            }
        }
    }
    (walked, classes)
}

fn one_round(rng: &mut Rng) {
    let tree = random_tree(rng);
    let mut walked = Walked::default();
    for root in ROOTS {
        walk(tree.root(), Path::new(root), &mut walked);
    }
    let files = std::mem::take(&mut walked.files);
    let root_of = |path: &[u8]| path[0];
    for scope in [Scope::AllFiles, Scope::AcrossRoots] {
        let seen_first = seen(&config(tree.root(), &ROOTS), scope);
        let (told, classes) = told(&seen_first);
        assert_eq!(told, walked);
        assert!(seen_first.root_gaps().is_empty());
        assert!(classes.keys().eq(files.keys()), "{classes:?}");
        for (path, (ino, content)) in &files {
            let (number, class) = classes[path];
            let mut has_equal = false;
            for (other, (other_ino, other_content)) in &files {
                let (other_number, other_class) = classes[other];
                assert_eq!(ino == other_ino, number == other_number, "{path:?}");
                let is_equal = ino != other_ino && content == other_content;
                let counts = scope == Scope::AllFiles || root_of(path) != root_of(other);
                has_equal |= is_equal && counts;
                if matches!(class, Class::Set(_)) && ino != other_ino {
                    assert_eq!(is_equal, class == other_class, "{path:?} {other:?}");
                }
            }
            if has_equal {
                assert!(matches!(class, Class::Set(_)), "{path:?} {class:?}");
            } else if scope == Scope::AllFiles {
                assert_eq!(class, Class::Alone, "{path:?}");
            }
        }
        let seen_again = seen(&config(tree.root(), &ROOTS), scope);
        assert_eq!(seen_first, seen_again, "the same folders, the same tree");
    }
}

#[test]
fn classes_and_entries_are_those_of_a_walk_that_compares_every_pair() {
    let mut rng = Rng::new(seed());
    (0..rounds(40)).for_each(|_| one_round(&mut rng));
}

#[test]
fn folders_stand_in_preorder_by_name() {
    let tree = Tree::new()
        .file("a/b/f", "1")
        .file("a/b-/f", "2")
        .folder("a/b/c")
        .folder("a/a");
    let seen = seen(&config(tree.root(), &["a"]), Scope::AllFiles);
    let names: Vec<&[u8]> = (1..seen.folder_count())
        .map(|folder| seen.folder_name(folder))
        .collect();
    assert_eq!(names, [&b"a"[..], b"b", b"c", b"b-"]);
    assert_eq!(seen.children(0).collect::<Vec<_>>(), [1, 2, 4]);
    assert_eq!(seen.below(2), 2..4);
    assert_eq!(seen.roots()[0].place, RootPlace::Folder(0));
}

#[test]
fn files_that_are_given_are_roots_of_their_own() {
    let tree = Tree::new().copies(["a", "b"], "same");
    let seen = seen(&config(tree.root(), &["a", "b", "c"]), Scope::AcrossRoots);
    let [a, b, c] = [0, 1, 2].map(|root: usize| seen.roots()[root].place);
    let (RootPlace::File(a), RootPlace::File(b)) = (a, b) else {
        panic!("{a:?} {b:?}");
    };
    assert_eq!(seen.class(seen.file_of(a)), Class::Set(0));
    assert_eq!(seen.class(seen.file_of(b)), Class::Set(0));
    assert_eq!(c, RootPlace::Nothing);
    assert_eq!(seen.root_gaps(), [(2, Unseen::NoRoot)]);
}

/// Everything in the tree that was not seen, by path.
fn unseen(tree: &seekless::tree::Tree) -> Vec<(String, Unseen)> {
    let folders = 0..tree.folder_count();
    let others = folders.flat_map(|folder| tree.others_in(folder));
    let unseen = others.filter_map(|other| match other.kind {
        EntryKind::Unseen(unseen) => {
            let mut path = Vec::new();
            tree.relative_path_of(other.folder, other.name, &mut path);
            Some((String::from_utf8_lossy(&path).into_owned(), *unseen))
        }
        _ => None,
    });
    unseen.collect()
}

#[test]
fn what_filters_leave_out_is_told_with_its_place() {
    let tree = Tree::new()
        .file("a/x/f.tmp", "1")
        .file("a/.hidden/f", "1")
        .file("a/x/deep/f", "1")
        .file("a/big", "12345");
    let filter = FilterSpec {
        excludes: vec!["*.tmp".to_owned()],
        skip_hidden: true,
        max_size: Some(seekless::units::Bytes(4)),
        ..FilterSpec::default()
    };
    let config = Config {
        filter: filter.build().expect("good patterns"),
        max_depth: Some(2),
        ..config(tree.root(), &["a"])
    };
    let expected = [
        (".hidden", Unseen::Hidden),
        ("big", Unseen::Filtered),
        ("x/deep", Unseen::Filtered),
        ("x/f.tmp", Unseen::Filtered),
    ];
    let expected = expected.map(|(path, unseen)| (path.to_owned(), unseen));
    assert_eq!(unseen(&seen(&config, Scope::AllFiles)), expected);
}

#[test]
fn a_root_inside_another_is_refused() {
    let tree = Tree::new().file("a/b/f", "1");
    let config = config(tree.root(), &["a", "a/b"]);
    let tree = classify(&config, Scope::AcrossRoots, &Deaf, &Control::default());
    let said = tree
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(said.contains("a/b: lies in"), "{said}");
}
