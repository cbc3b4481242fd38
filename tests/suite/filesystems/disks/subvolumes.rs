//! Subvolumes and snapshots of btrfs: one file system, many device numbers.

use std::fs;
use std::path::Path;

use super::run_at;
use crate::common::noise;
use crate::common::volume::{Mounted, Volume, sh};

/// A btrfs with files in its top, in two subvolumes, and in a snapshot of one.
fn with_subvolumes() -> Volume {
    let volume = Volume::on_loop("btrfs", 256, "");
    let top = volume.path();
    for name in ["one", "two"] {
        sh(&format!(
            "btrfs -q subvolume create {}/{name}",
            top.display()
        ));
        crate::common::write(top.join(name).join("a"), noise(1, 300_000)).expect("written");
    }
    volume
}

#[test]
#[ignore = "mounts a file system: root only"]
fn subvolumes_are_on_the_file_system_and_other_mounts_are_not() {
    let volume = with_subvolumes();
    let top = volume.path();
    fs::create_dir(top.join("two/memory")).expect("a folder");
    let memory = Mounted::new("-t tmpfs tmpfs", top.join("two/memory"));
    crate::common::write(memory.path().join("a"), noise(1, 300_000)).expect("written");
    let home = tempfile::tempdir().expect("a folder");
    for options in ["-x", "-x -L"] {
        run_at(&top, home.path(), &format!("find -f nul {options} ."))
            .finds(["one/a two/a"])
            .says("1 on other file systems");
        run_at(&top, home.path(), &format!("find -f nul {options} one two")).finds(["one/a two/a"]);
    }
    run_at(&top, home.path(), "find -f nul .").finds(["one/a two/a two/memory/a"]);
}

/// What `df` says is free, bytes.
fn free(top: &Path) -> u64 {
    sh(&format!("btrfs filesystem sync {}", top.display()));
    let now = rustix::fs::statvfs(top).expect("a file system");
    now.f_bfree * now.f_frsize
}

#[test]
#[ignore = "mounts a file system: root only"]
fn a_plan_says_what_snapshots_keep() {
    const SIZE: usize = 8 << 20;
    let volume = Volume::on_loop("btrfs", 256, "");
    let top = volume.path();
    let live = top.join("live");
    sh(&format!("btrfs -q subvolume create {}", live.display()));
    for name in ["kept", "copy"] {
        crate::common::write(live.join(name), noise(1, SIZE)).expect("written");
    }
    // Two files in the same blocks, which a snapshot has as well.
    sh(&format!(
        "cd {} && cp --reflink=always copy twin && sync",
        live.display()
    ));
    let home = tempfile::tempdir().expect("a folder");
    let plan = |arguments: &str| run_at(&live, home.path(), arguments);
    let keep = "--keep name=kept";
    plan(&format!("reflink --dry-run {keep} ."))
        .says("frees 0 B of disk space")
        .says("16.8 MB more do not count, because other files or snapshots share these blocks");
    sh(&format!(
        "btrfs -q subvolume snapshot -r {} {}/snapshot",
        live.display(),
        top.display()
    ));
    // One file of the set in the blocks of a snapshot: known.
    fs::remove_file(live.join("twin")).expect("removed");
    let before = free(&top);
    plan(&format!("reflink --dry-run {keep} ."))
        .says("frees 0 B of disk space")
        .says("8.4 MB more do not count, because other files or snapshots share these blocks");
    plan(&format!("reflink --yes {keep} ."))
        .exits(0)
        .says("shared the blocks of 1 file, 0 B");
    assert!(free(&top).abs_diff(before) < SIZE as u64 / 8);
}
