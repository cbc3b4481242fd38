//! The tree that `classify` hands out. Its classes and entries are held against every pair in `compare::oracle`.

use crate::common;

use std::path::Path;

use common::Tree;
use seekless::engine::{Config, Control, Root, classify};
use seekless::event::Deaf;
use seekless::scan::FilterSpec;
use seekless::tree::{Class, EntryKind, RootPlace, Scope, Unseen};

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
