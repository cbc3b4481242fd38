//! A run that ends early leaves no half catalog, and the next one goes on from the cache.

use std::fs;
use std::path::Path;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use super::update::{create, disk};
use crate::common::run::{LONGEST, Run, finish, until};
use crate::common::volume::{forget_what_was_read, write_back};
use crate::common::{Tree, limits, noise, seekless};

fn end(run: Child, signal: Signal) -> Run {
    let pid = Pid::from_child(&run);
    kill_process(pid, signal).expect("it runs");
    finish(run, LONGEST)
}

fn has_ended(run: &Child) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", run.id()));
    stat.is_ok_and(|stat| stat.contains(") Z "))
}

/// Bytes that a run has read from disks and pipes.
fn bytes_read(run: &Child) -> u64 {
    let io = fs::read_to_string(format!("/proc/{}/io", run.id())).unwrap_or_default();
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// Bytes in the files of a folder.
fn len(folder: &Path) -> u64 {
    let files = walkdir::WalkDir::new(folder).into_iter().flatten();
    let files = files.filter_map(|file| file.metadata().ok());
    files
        .filter(|file| file.is_file())
        .map(|file| file.len())
        .sum()
}

#[test]
#[ignore = "needs root to have the kernel forget what it read"]
fn a_catalog_that_is_killed_goes_on_from_the_cache() {
    let tree = Tree::new();
    // Files that nobody has changed for a minute.
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    forget_what_was_read("3").expect("forgotten");
    let line = "catalog create --full --cache cache -o c.parquet";
    let slow = seekless(tree.root(), &format!("{line} --bwlimit 200k")).arg(&sources);
    let run = slow.spawn();
    until("rows are kept, or it has ended", || {
        len(&tree.path("cache")) > 5000 || has_ended(&run)
    });
    let is_cached = !has_ended(&run);
    end(run, Signal::KILL);
    if !is_cached {
        return limits::skipped("this file system is not cached");
    }
    assert!(!tree.path("c.parquet").exists());
    let next = seekless(tree.root(), line).arg(&sources).run().exits(0);
    let text = next.says("that an earlier run read").stderr_text();
    assert!(!text.contains("Read 0 B"), "{text}");
}

#[test]
#[ignore = "needs root and loop devices"]
fn an_update_that_ends_early_leaves_the_catalog_as_it_was() {
    let tree = Tree::new();
    let volume = disk("ext4");
    fs::write(volume.path().join("long"), noise(7, 8 << 20)).expect("written");
    write_back(&volume.path());
    create(&tree, "-o c.parquet --metadata", &[&volume.path()]);
    let before = fs::read(tree.path("c.parquet")).expect("there");
    for (signal, said) in [
        (Signal::KILL, ""),
        (Signal::INT, "the catalog stays as it was"),
    ] {
        forget_what_was_read("3").expect("forgotten");
        let line = "catalog update --full --cache off --bwlimit 500k c.parquet";
        let run = seekless(tree.root(), line).spawn();
        until("it reads", || bytes_read(&run) > 1 << 20);
        assert!(!has_ended(&run));
        end(run, signal).says(said);
        assert_eq!(fs::read(tree.path("c.parquet")).expect("there"), before);
    }
}
