//! Ctrl-C, once and twice.

use rustix::process::{Signal, kill_process};

use super::running::{finish, pid, wait_until_busy};
use super::*;

/// Holes: nothing on disk, much to read.
fn much_to_read() -> Tree {
    Tree::new()
        .sparse("large1", 200 << 30, &[])
        .sparse("large2", 200 << 30, &[])
        .copies(["1", "2"], "same")
}

#[test]
fn ctrl_c_reports_what_is_known_as_incomplete() {
    let tree = much_to_read();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let child = seekless(tree.root(), "find -f json .")
            .hangups(libc::SIG_DFL)
            .spawn();
        wait_until_busy(&child);
        kill_process(pid(&child), signal).expect("it runs");
        let run = finish(child).exits(130);
        assert_eq!(run.json()["summary"]["incomplete"], true, "{run}");
        let small = crate::common::file_sets(["1 2"]);
        assert!(run.file_sets().is_subset(&small), "{run}");
    }
}

#[test]
fn an_interrupted_search_for_unique_files_calls_nothing_unique_that_was_not_compared() {
    let tree = much_to_read();
    let child = seekless(tree.root(), "find -f nul --unique .").spawn();
    wait_until_busy(&child);
    kill_process(pid(&child), Signal::INT).expect("it runs");
    finish(child).exits(130).finds([]);
}
