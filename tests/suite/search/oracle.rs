//! The binary on random trees, with random options, against comparing every pair.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::common::oracle::{Identity, Question};
use crate::common::run::Seekless;
use crate::common::volume::{SpinningDisk, Volume};
use crate::common::{Run, Tree, noise, rounds, seekless};
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

/// Sizes at which something changes: blocks, samples, buffers.
const SIZES: [usize; 14] = [
    0, 1, 2, 4095, 4096, 4097, 8192, 16_384, 65_535, 65_536, 65_537, 131_072, 262_145, 1_048_576,
];

const FOLDERS: [&str; 9] = [
    "r0", "r0/a", "r0/a/b", "r0/.h", "r1", "r1/a", "r1/.h/c", "r2", "r2/a/b/c",
];

/// Trees of each of the short forms.
const FEW: u32 = 100;

/// Trees of each of the long forms.
const MANY: u32 = 2000;

#[derive(Clone, Debug)]
struct Entry {
    folder: usize,
    hidden: bool,
    odd_name: bool,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// A size out of [`SIZES`], and where the content differs from others of this size.
    File { size: usize, differs: u8 },
    /// A further name of an earlier file.
    HardLink(Index),
    /// A symbolic link to an earlier entry.
    LinkToEntry(Index),
    /// A symbolic link to a folder, perhaps to one above.
    LinkToFolder(usize),
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    // Few sizes in one tree, so that many files share one; few differences, so that some are equal.
    let differs = prop_oneof![4 => Just(0_u8), 3 => 1..8_u8];
    let sizes = subsequence((0..SIZES.len()).collect::<Vec<_>>(), 1..4);
    (sizes, prop::collection::vec(any::<Index>(), 0..30)).prop_flat_map(move |(sizes, picks)| {
        let kind = prop_oneof![
            8 => (select(sizes), differs.clone()).prop_map(|(size, differs)| Kind::File { size, differs }),
            2 => any::<Index>().prop_map(Kind::HardLink),
            1 => any::<Index>().prop_map(Kind::LinkToEntry),
            1 => (0..FOLDERS.len()).prop_map(Kind::LinkToFolder),
        ];
        let entry = (0..FOLDERS.len(), prop::bool::weighted(0.15), prop::bool::weighted(0.1), kind);
        let entry = entry.prop_map(|(folder, hidden, odd_name, kind)| Entry {
            folder,
            hidden,
            odd_name,
            kind,
        });
        prop::collection::vec(entry, picks.len()..=picks.len())
    })
}

fn build(mut tree: Tree, entries: &[Entry]) -> Tree {
    for folder in FOLDERS {
        tree = tree.folder(folder);
    }
    let mut files: Vec<Vec<u8>> = Vec::new();
    let mut all: Vec<Vec<u8>> = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let dot = if entry.hidden { "." } else { "" };
        let mut name = format!("{}/{dot}e{number}", FOLDERS[entry.folder]).into_bytes();
        if entry.odd_name {
            name.extend_from_slice(b"\xff\n\xc3");
        }
        tree = match &entry.kind {
            Kind::File { size, differs } => {
                files.push(name.clone());
                tree.file(&name, content(SIZES[*size], *differs))
            }
            Kind::HardLink(which) if !files.is_empty() => tree.hard_link(&name, which.get(&files)),
            Kind::LinkToEntry(which) if !all.is_empty() => {
                let target = tree.path(which.get(&all));
                tree.symlink(&name, target.as_os_str().as_bytes())
            }
            Kind::LinkToFolder(folder) => {
                let target = tree.path(FOLDERS[*folder]);
                tree.symlink(&name, target.as_os_str().as_bytes())
            }
            Kind::HardLink(_) | Kind::LinkToEntry(_) => continue,
        };
        all.push(name);
    }
    tree
}

/// Content of this size that differs from its like at head, middle or tail, as three bits say.
fn content(size: usize, differs: u8) -> Vec<u8> {
    let mut content = noise(size as u64 + 1, size);
    let places = [0, size / 2, size.saturating_sub(1)];
    for (bit, place) in places.into_iter().enumerate() {
        if differs & (1 << bit) != 0 && place < size {
            content[place] ^= 1 << (4 + bit);
        }
    }
    content
}

fn neutral_options() -> impl Strategy<Value = Vec<String>> {
    let one_of = |options: &[&str]| {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        prop::option::weighted(0.3, select(options))
    };
    let choices = (
        one_of(&["--threads=1", "--threads=default:16,8", "--threads=hdd"]),
        one_of(&["--depth-random=1", "--depth-random=64"]),
        one_of(&[
            "--verify",
            "--page-cache=keep",
            "-v",
            "-x",
            "--digest=when-needed",
            "--without=read-on",
            "--io-idle",
            "--bwlimit=1G",
        ]),
    );
    choices.prop_map(|(threads, depth, other)| {
        let chosen = [threads, depth, other].into_iter().flatten();
        chosen.collect()
    })
}

/// Options whose meaning does not depend on which of several ways leads to a file.
fn questions() -> impl Strategy<Value = Question> {
    let roots = ["r0", "r1", "r2", "r0/a", "r1/.h", "."];
    let roots = subsequence(roots.to_vec(), 1..4).prop_shuffle();
    let copies = ["1..", "3..", "4..", "1", "..2", "..3", "3", "2..3"];
    let copies = prop::option::weighted(0.5, select(copies.to_vec()));
    let size = prop::option::weighted(0.2, select(SIZES.map(|size| size as u64).to_vec()));
    let flags = (
        prop::bool::weighted(0.25),
        any::<bool>(),
        prop::bool::weighted(0.3),
        prop::option::weighted(0.2, 1..5_usize),
    );
    (roots, copies, size.clone(), size, flags, neutral_options()).prop_map(
        |(roots, copies, min_size, max_size, flags, neutral)| {
            let (no_hidden, empty, hard_links, max_depth) = flags;
            // Limits between which nothing fits are refused.
            let max_size = max_size.filter(|max| *max >= min_size.unwrap_or(0).max(1));
            let empty = empty && min_size.is_none_or(|min| min == 0);
            Question {
                roots: roots.into_iter().map(String::from).collect(),
                no_hidden,
                empty,
                hard_links,
                copies,
                min_size,
                max_size,
                max_depth,
                neutral,
                ..Question::default()
            }
        },
    )
}

fn check_names(entries: &[Entry], question: &Question) -> TestCaseResult {
    check_names_in(Tree::new(), entries, question, |run| run)
}

/// Builds into an empty tree and runs the program prepared in some way.
fn check_names_in(
    empty: Tree,
    entries: &[Entry],
    question: &Question,
    prepare: impl Fn(Seekless) -> Seekless,
) -> TestCaseResult {
    let tree = build(empty, entries);
    let arguments = question.arguments();
    let run = prepare(seekless(tree.root(), &format!("{arguments} -f json"))).run();
    prop_assert_eq!(run.code(), 0, "{}\n{}", arguments, run);
    let expected = question.answer(tree.root());
    prop_assert_eq!(run.file_sets(), expected, "{}\n{}", arguments, run);
    Ok(())
}

/// The files that are meant, whatever they are called.
fn identities(run: &Run, folder: &Path) -> BTreeSet<BTreeSet<Identity>> {
    let mut seen = BTreeSet::new();
    let mut identity = |names: &BTreeSet<Vec<u8>>| {
        let of = |name: &Vec<u8>| {
            let path = folder.join(OsStr::from_bytes(name));
            let metadata = fs::metadata(path).expect("a member is there");
            (metadata.dev(), metadata.ino())
        };
        let of_names: BTreeSet<Identity> = names.iter().map(of).collect();
        assert_eq!(
            of_names.len(),
            1,
            "names of several files: {names:?}\n{run}"
        );
        let only = of_names.into_iter().next().expect("one");
        assert!(seen.insert(only), "a file is there twice: {names:?}\n{run}");
        only
    };
    let sets = run.file_sets();
    sets.iter()
        .map(|set| set.iter().map(&mut identity).collect())
        .collect()
}

fn check_identities(entries: &[Entry], question: &Question) -> TestCaseResult {
    let tree = build(Tree::new(), entries);
    let arguments = question.arguments();
    let run = seekless(tree.root(), &format!("{arguments} -f json")).run();
    let expected: BTreeSet<_> = question
        .answer_by_identity(tree.root())
        .into_keys()
        .collect();
    let found = identities(&run, tree.root());
    prop_assert_eq!(found, expected, "{}\n{}", arguments, run);
    Ok(())
}

/// Tries so many random cases.
fn search<T: std::fmt::Debug>(
    count: u32,
    cases: impl Strategy<Value = T>,
    check: impl Fn(&T) -> TestCaseResult,
) {
    let config = Config {
        cases: rounds(count),
        max_shrink_iters: 400,
        source_file: Some(file!()),
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&cases, |case| check(&case));
    if let Err(error) = result {
        panic!("{error}");
    }
}

fn give_the_sets_of_comparing(trees: u32) {
    search(trees, (entries(), questions()), |(entries, question)| {
        check_names(entries, question)
    });
}

fn give_the_same_without_io_uring(trees: u32) {
    search(trees, (entries(), questions()), |(entries, question)| {
        check_names_in(Tree::new(), entries, question, Seekless::without_io_uring)
    });
}

fn isolated_give_the_sets_that_span(trees: u32) {
    let roots = subsequence(vec!["r0", "r1", "r2"], 2..=3).prop_shuffle();
    let questions = (roots, questions()).prop_map(|(roots, question)| Question {
        roots: roots.into_iter().map(String::from).collect(),
        isolate: true,
        ..question
    });
    // A file with names below several roots: see `the_order_of_the_roots_changes_no_isolated_set`.
    let entries = entries().prop_map(|mut entries| {
        entries.retain(|entry| !matches!(entry.kind, Kind::HardLink(_)));
        entries
    });
    search(trees, (entries, questions), |(entries, question)| {
        check_names(entries, question)
    });
}

fn followed_links_lead_once(trees: u32) {
    let questions = questions().prop_map(|question| Question {
        follow_links: true,
        hard_links: false,
        ..question
    });
    search(trees, (entries(), questions), |(entries, question)| {
        check_identities(entries, question)
    });
}

#[test]
fn random_trees_give_the_sets_that_comparing_every_pair_gives() {
    give_the_sets_of_comparing(FEW);
}

#[test]
fn random_trees_give_the_same_sets_where_io_uring_is_forbidden() {
    give_the_same_without_io_uring(FEW);
}

#[test]
fn isolated_random_trees_give_the_sets_that_span_them() {
    isolated_give_the_sets_that_span(FEW);
}

#[test]
fn followed_links_lead_to_each_file_once() {
    followed_links_lead_once(FEW);
}

#[test]
#[ignore = "takes minutes: thousands of trees"]
fn in_full_random_trees_give_the_sets_that_comparing_every_pair_gives() {
    give_the_sets_of_comparing(MANY);
    give_the_same_without_io_uring(MANY);
    isolated_give_the_sets_that_span(MANY);
    followed_links_lead_once(MANY);
}

#[test]
#[ignore = "needs root: mounts a loop device"]
fn random_trees_on_a_spinning_disk_give_the_same_sets() {
    let volume = Volume::on_loop("ext4", 400, "");
    let disk = SpinningDisk::under(&volume.path());
    search(FEW, (entries(), questions()), |(entries, question)| {
        let empty = Tree::inside(&volume.path());
        check_names_in(empty, entries, question, |run| run.before(disk.show()))
    });
}
