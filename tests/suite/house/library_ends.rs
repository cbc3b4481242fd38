//! Work of the library ends when its caller leaves it: a callback that breaks or panics, or a plan without time. Until
//! then, its caller hears how far it is.

use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::common::{Tree, noise};
use rustix::fs::{Advice, fadvise};
use seekless::{Cancel, Compare, Folders, Problem, Progress, Search, Summary};

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
fn a_search_ends_when_it_is_cancelled() {
    let tree = short_and_long();
    let summary: Summary = ends(move || {
        let cancel = Cancel::new();
        let search = slow(&tree).cancel(&cancel);
        search.each(|_| cancel.cancel()).expect("searched")
    });
    assert!(summary.incomplete);
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
            let each = || search.each(|_| assert_ne!(at, "set"));
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
