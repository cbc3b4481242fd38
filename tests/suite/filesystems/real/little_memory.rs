//! Little memory.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::time::Duration;

use super::*;
use crate::common::run::finish;
use crate::common::volume::remember_inodes;

/// Lists the folder with GNU find, in a group with so many megabytes. False if the kernel kills it.
fn is_enough_for_find(folder: &Path, megabytes: u64) -> bool {
    forget_inodes(folder);
    let limit = ControlGroup::with_memory(megabytes << 20);
    let mut find = Command::new("find");
    find.arg(folder).args(["-size", "+1G"]);
    // SAFETY: it only writes to an open file.
    let status = unsafe { find.pre_exec(limit.enter()) }.status();
    status.expect("GNU find").signal() != Some(libc::SIGKILL)
}

/// Has the kernel forget the inodes, and keep the blocks of the disk in which they are.
fn forget_inodes(folder: &Path) {
    drop(remember_inodes(folder));
    forget_what_was_read("2").expect("root may");
}

/// Searches so many tiny files, half of them copies, in so many megabytes: at first, again with what the cache knows by
/// then, and without a cache. The answer is complete, or says that it is not.
///
/// If `cold`, the kernel reads each inode during the search and counts it as memory of the group. ext4 allocates inodes
/// with `GFP_NOFS`: the kernel drops no others for them and kills whatever lists, also GNU find, which takes 2 MB
/// itself. A search ends like this only if find does. Otherwise the kernel knows all inodes, and no test beside this one
/// has it forget them.
fn is_complete_or_said(files: usize, limits: &[u64], cold: bool) {
    let parent = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let tree = Tree::inside(parent.path());
    for folder in 0..files / 500 {
        fs::create_dir_all(tree.path(format!("many/{folder}"))).expect("a folder");
        for i in 0..500 {
            let number = folder * 500 + i;
            tree.write(format!("many/{folder}/{i}"), (number / 2).to_string());
        }
    }
    // The cache stores no file that changed within a minute.
    std::thread::sleep(std::time::Duration::from_secs(61));
    for megabytes in limits {
        for (round, cache) in [(0, "--cache kept"), (1, "--cache kept"), (2, "--cache off")] {
            let many = tree.path("many");
            let _remembered = (!cold).then(|| remember_inodes(&many));
            if cold {
                forget_inodes(&many);
            }
            let limit = ControlGroup::with_memory(megabytes << 20);
            let line = format!("find -f json {cache} many");
            let run = finish(
                seekless(tree.root(), &line).before(limit.enter()).spawn(),
                Duration::from_secs(600),
            );
            if cold && run.status.signal() == Some(libc::SIGKILL) {
                println!("{files} files, {megabytes} MB, round {round}: killed by the kernel");
                assert!(!is_enough_for_find(&many, *megabytes));
                continue;
            }
            let summary = &run.json()["summary"];
            let (sets, left) = (&summary["sets"], &summary["left_out"]["memory_short"]);
            let case = format!(
                "{files} files, {megabytes} MB, round {round}: {sets} sets, {left} left out"
            );
            println!("{case}");
            if summary["incomplete"] == false {
                assert_eq!(sets.as_u64(), Some(files as u64 / 2), "{case}");
                run.exits(0).never_says("INCOMPLETE");
            } else {
                assert!(sets.as_u64() > Some(0) && left.as_u64() > Some(0), "{case}");
                run.exits(1)
                    .says("INCOMPLETE: memory ran short")
                    .says("for want of memory");
            }
        }
    }
}

#[test]
#[ignore = "needs root: limits memory"]
fn leaves_files_out_and_says_so() {
    is_complete_or_said(100_000, &[40], false);
}

#[test]
#[ignore = "takes minutes, needs root: limits memory"]
fn in_full_leaves_files_out_and_says_so() {
    for files in [100_000, 500_000, 1_000_000] {
        is_complete_or_said(files, &[60, 100, 200], true);
    }
}
