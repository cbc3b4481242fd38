//! Files that change while they are being read: the program is held in the middle of one, mostly holes, for the time of
//! the change.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Child;

use rustix::process::{Signal, kill_process};

use super::running::{bytes_read, finish, hold, pid, wait_until};
use super::*;

const LENGTH: u64 = 256 << 20;

/// Bytes of both files that are read before the change: far more than samples, and far before [`LATE`].
const EARLY: u64 = 16 << 20;

/// Far behind the middle, and in no sample of the head or the tail.
const LATE: u64 = LENGTH / 8 * 7 + 12_345;

/// A run that stands still when it has read the beginning of both files, or of one.
fn held_in_the_middle(tree: &Tree) -> Child {
    let arguments = "find -f nul --page-cache keep --without holes .";
    // On a machine with other work, this process may be late.
    for _ in 0..50 {
        let child = seekless(tree.root(), arguments).spawn();
        wait_until(|| bytes_read(&child) > EARLY);
        if hold(&child) && bytes_read(&child) < LATE {
            return child;
        }
        kill_process(pid(&child), Signal::KILL).expect("a child");
        finish(child);
    }
    panic!("it always reads on before it can be held");
}

/// `moving` and `still` differ in one late byte; `change` is done while `moving` is read.
#[track_caller]
fn is_named_and_in_no_set(change: impl Fn(&Path)) {
    let tree = Tree::new()
        .sparse("moving", LENGTH, &[(LATE, b"!")])
        .sparse("still", LENGTH, &[])
        .copies(["small1", "small2"], "same");
    let child = held_in_the_middle(&tree);
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
