//! Work of the library ends when its caller leaves it: a callback that breaks or panics, or a plan without time.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::common::{Tree, noise};
use rustix::fs::{Advice, fadvise};
use seekless::{Cancel, Probe, Search, Summary};

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
fn a_search_ends_when_the_callback_for_sets_breaks() {
    let tree = short_and_long();
    let summary: Summary = ends(move || {
        let broken = slow(&tree).each(|_| ControlFlow::Break(()));
        broken.expect("searched")
    });
    assert!(summary.incomplete);
}

#[test]
fn a_search_says_that_it_is_not_complete_when_the_callback_breaks_at_the_last_set() {
    let tree = Tree::new().file("a", b"same").file("b", b"same");
    let mut seen = 0;
    let summary = Search::new([tree.root()]).each(|_| {
        seen += 1;
        ControlFlow::Break(())
    });
    assert_eq!(seen, 1);
    assert!(summary.expect("searched").incomplete);
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
            let each = |_| {
                assert_ne!(at, "set");
                ControlFlow::Continue(())
            };
            catch_unwind(AssertUnwindSafe(|| search.each(each))).is_err()
        });
        assert!(panicked, "{at}");
    }
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
