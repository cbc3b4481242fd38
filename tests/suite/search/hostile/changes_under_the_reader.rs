//! Files that change while they are being read: the program is held in the middle of one that is
//! large enough, mostly holes, for the time of the change.

use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::process::{Signal, kill_process};

use super::running::{finish, pid, wait_until_busy};
use super::*;

const LENGTH: u64 = 2 << 30;

/// Far behind the middle, and in no sample of the head or the tail.
const LATE: u64 = LENGTH / 8 * 7 + 12_345;

/// `moving` and `still` differ in one late byte; `change` is done while `moving` is read.
#[track_caller]
fn is_named_and_in_no_set(change: impl Fn(&Path)) {
    let tree = Tree::new()
        .sparse("moving", LENGTH, &[(LATE, b"!")])
        .sparse("still", LENGTH, &[])
        .copies(["small1", "small2"], "same");
    let child = seekless(
        tree.root(),
        "find -f nul --page-cache keep --without holes .",
    )
    .spawn();
    wait_until_busy(&child);
    kill_process(pid(&child), Signal::STOP).expect("it runs");
    change(&tree.path("moving"));
    kill_process(pid(&child), Signal::CONT).expect("it is held");
    finish(child)
        .exits(1)
        .says("moving")
        .never_says("still")
        .finds(["small1 small2"]);
}

fn write(path: &Path, at: u64, bytes: &[u8]) {
    let file = File::options().write(true).open(path);
    let file = file.expect("the file is there");
    file.write_all_at(bytes, at).expect("it can be written");
}

// Whoever saw the beginning before and the end after the change saw nothing but zeros.
#[test]
fn a_file_whose_difference_moves_to_what_was_read_already() {
    is_named_and_in_no_set(|path| {
        write(path, 5, b"!");
        write(path, LATE, b"\0");
    });
}

#[test]
fn a_file_that_is_truncated() {
    is_named_and_in_no_set(|path| {
        let file = File::options().write(true).open(path).expect("there");
        file.set_len(LENGTH / 2).expect("truncated");
    });
}

#[test]
fn a_file_that_grows() {
    is_named_and_in_no_set(|path| {
        write(path, LATE, b"\0");
        write(path, LENGTH, b"more");
    });
}

#[test]
fn a_file_that_is_replaced() {
    is_named_and_in_no_set(|path| {
        let next = path.with_file_name("next");
        fs::write(&next, "another").expect("written");
        fs::rename(&next, path).expect("replaced");
    });
}

#[test]
fn a_file_that_is_removed() {
    is_named_and_in_no_set(|path| fs::remove_file(path).expect("removed"));
}
