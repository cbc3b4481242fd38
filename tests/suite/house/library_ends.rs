//! Work of the library ends when its caller leaves it: a callback that breaks or panics, or a plan without time. Until
//! then, its caller hears how far it is.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::common::{Tree, noise};
use rustix::fs::{Advice, fadvise};
use seekless::{
    Cancel, Compare, CompareAnswer, ErrorKind, Folders, Probe, Problem, Progress, Search, Summary,
};

/// The time after which work that nobody waits for counts as endless.
const ENDLESS: Duration = Duration::from_secs(120);

/// Two short copies, and two long ones that are not in memory.
fn short_and_long() -> Tree {
    let long = noise(1, 16 << 20);
    // Not where temporary files lie in memory: these have no device.
    let tree = Tree::inside(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let tree = tree.file("a", b"same").file("b", b"same");
    let tree = tree.file("long/a", &long).file("long/b", &long);
    for entry in fs::read_dir(tree.path("long")).expect("a folder") {
        let file = File::open(entry.expect("an entry").path()).expect("is there");
        file.sync_all().expect("can be written out");
        fadvise(&file, 0, None, Advice::DontNeed).expect("advice can be given");
    }
    tree
}

/// The result of work on another thread, which must end.
#[track_caller]
fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (to_here, result) = mpsc::channel();
    thread::spawn(move || to_here.send(work()));
    result.recv_timeout(ENDLESS).expect("the work ends")
}

/// Bytes a second: the heads and tails of the files are read within a second, the long files are not within `ENDLESS`.
const RATE: u64 = 64 << 10;

/// A search that takes too long.
fn slow(tree: &Tree) -> Search<'static> {
    Search::new([tree.root()]).bytes_per_second(RATE)
}

#[test]
fn a_search_ends_when_nobody_takes_its_sets() {
    let tree = short_and_long();
    let summary: Summary = ends(move || {
        let mut searching = slow(&tree).start().expect("begun");
        searching.next().expect("a set").expect("found");
        drop(slow(&tree).start());
        searching.summary()
    });
    assert!(summary.incomplete);
}

#[test]
fn a_search_says_that_it_is_not_complete_when_it_is_left_at_the_last_set() {
    let tree = Tree::new().file("a", b"same").file("b", b"same");
    let start = || Search::new([tree.root()]).start().expect("begun");
    let mut left = start();
    assert!(left.next().is_some_and(|set| set.is_ok()));
    assert!(left.summary().incomplete);
    let mut ended = start();
    assert_eq!(ended.by_ref().filter(Result::is_ok).count(), 1);
    assert!(ended.next().is_none());
    let summary = ended.summary();
    assert!(!summary.incomplete);
    assert_eq!(summary.sets, 1);
}

#[test]
fn a_search_of_nothing_ends_with_the_reason() {
    let tree = Tree::new();
    let mut searching = Search::new([tree.path("gone")]).start().expect("begun");
    let why = searching.next().expect("an error").expect_err("no path");
    assert_eq!(why.kind(), ErrorKind::Path);
    assert!(searching.next().is_none());
    assert_eq!(searching.problems().len(), 1);
}

#[test]
fn a_search_ends_when_a_callback_panics() {
    for at in ["set", "progress", "problem"] {
        let tree = short_and_long();
        let panicked = ends(move || {
            let gone = tree.path("gone");
            let search = Search::new([tree.root(), &gone]).bytes_per_second(RATE);
            let search = search.on_progress(move |_| assert_ne!(at, "progress"));
            let search = search.on_problem(move |_| assert_ne!(at, "problem"));
            let each = || {
                search
                    .start()
                    .expect("begun")
                    .for_each(|_| assert_ne!(at, "set"))
            };
            catch_unwind(AssertUnwindSafe(each)).is_err()
        });
        assert!(panicked, "{at}");
    }
}

/// A comparison, by the name of its type, that panics in a callback. It takes too long.
fn compared(tree: &Tree, of: &str, at: &str) {
    let (root, gone, long) = (tree.root(), tree.path("gone"), tree.path("long"));
    let on_progress = |_: &[Progress]| assert_ne!(at, "progress");
    let on_problem = |_: &Problem| assert_ne!(at, "problem");
    let ended = match of {
        "compare" => Compare::new([&long.join("a"), &long.join("b"), &gone])
            .bytes_per_second(RATE)
            .on_progress(on_progress)
            .on_problem(on_problem)
            .run()
            .map(drop),
        _ => Folders::new([root, &gone])
            .bytes_per_second(RATE)
            .on_progress(on_progress)
            .on_problem(on_problem)
            .run()
            .map(drop),
    };
    ended.expect("compared");
}

#[test]
fn a_comparison_ends_when_a_callback_panics() {
    for (of, at) in [
        ("compare", "progress"),
        ("compare", "problem"),
        ("folders", "progress"),
        ("folders", "problem"),
    ] {
        let tree = short_and_long();
        let panicked =
            ends(move || catch_unwind(AssertUnwindSafe(|| compared(&tree, of, at))).is_err());
        assert!(panicked, "{of}, {at}");
    }
}

/// Both hear of the progress on their own thread, and of the path that is not there.
#[test]
fn a_comparison_that_is_slow_tells_how_far_it_is_and_ends_when_it_is_cancelled() {
    let tree = short_and_long();
    let (here, gone) = (thread::current().id(), tree.path("gone"));
    let cancel = Cancel::new();
    let (mut stages, mut missed) = (BTreeSet::new(), Vec::new());
    let compared = Compare::new([&tree.path("long/a"), &tree.path("long/b"), &gone])
        .bytes_per_second(RATE)
        .cancel(&cancel)
        .on_problem(|problem| missed.push(problem.path.clone()))
        .on_progress(|lines| {
            assert_eq!(thread::current().id(), here);
            let read = lines.iter().filter(|line| line.bytes_done > 0);
            stages.extend(read.map(|line| line.stage));
            if !stages.is_empty() {
                cancel.cancel();
            }
        })
        .run()
        .expect("compared");
    assert_eq!(compared.answer, CompareAnswer::Unknown);
    assert!(
        compared.problems.is_empty() && missed.contains(&gone),
        "{missed:?}"
    );
    assert!(!stages.is_empty());

    let cancel = Cancel::new();
    let (mut told, mut missed) = (0, Vec::new());
    let found = Folders::new([tree.root(), &gone])
        .bytes_per_second(RATE)
        .cancel(&cancel)
        .on_problem(|problem| missed.push(problem.path.clone()))
        .on_progress(|lines| {
            assert_eq!(thread::current().id(), here);
            told += lines.len();
            if lines.iter().any(|line| line.bytes_done > 0) {
                cancel.cancel();
            }
        })
        .run()
        .expect("compared");
    assert!(found.entries.is_empty() && found.problems.is_empty());
    assert!(missed.contains(&gone) && told > 0, "{missed:?}");
}

#[test]
fn without_a_callback_the_problems_are_in_the_result() {
    let tree = Tree::new().file("a/f", b"same").file("b/f", b"same");
    let gone = tree.path("gone");
    let of_gone = |problems: &[Problem]| problems.iter().any(|problem| problem.path == gone);
    let compared = Compare::new([&tree.path("a"), &gone]).run();
    assert!(of_gone(&compared.expect("compared").problems));
    let found = Folders::new([&tree.path("a"), &gone]).run();
    assert!(of_gone(&found.expect("compared").problems));
}

#[test]
fn a_probe_ends_when_its_callback_panics() {
    let tree = short_and_long();
    let panicked = ends(move || {
        let probe = Probe::new(tree.root()).time(Duration::MAX);
        let probe = probe.on_progress(|_| panic!("the caller's"));
        catch_unwind(AssertUnwindSafe(|| probe.run())).is_err()
    });
    assert!(panicked);
}

#[test]
fn a_probe_may_take_as_long_as_it_likes() {
    let tree = short_and_long();
    let findings = ends(move || {
        let cancel = Cancel::new();
        let probe = Probe::new(tree.root()).time(Duration::MAX).cancel(&cancel);
        probe.on_progress(|_| cancel.cancel()).run()
    });
    assert!(findings.expect("measured").incomplete());
}
