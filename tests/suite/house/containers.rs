//! What a container forbids or hides is said, and changes no answer.

use std::ffi::CStr;
use std::io;

use crate::common::{Tree, seekless};

fn tree() -> Tree {
    Tree::new()
        .copies(["a", "b"], "the same")
        .file("c", "other")
}

#[test]
fn a_verbose_search_says_how_it_reads_where_io_uring_is_forbidden() {
    let said = "io_uring is not available here: each thread reads one file at a time";
    let line = "-v --threads ssd:2 --threads ssd --depth-random 16 .";
    let tree = tree();
    let run = seekless(tree.root(), line).without_io_uring().run();
    let run = run.exits(0);
    assert!(run.stderr_text().contains(said), "{run}");
    let run = seekless(tree.root(), line).run().exits(0);
    assert!(!run.stderr_text().contains("io_uring"), "{run}");
}

/// Mounts an empty folder over another one, for this process only.
fn hide(folder: &CStr) -> io::Result<()> {
    use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
    use rustix::thread::{UnshareFlags, unshare_unsafe};
    // SAFETY: the process has one thread, between fork and exec.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS)? };
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change(c"/", private)?;
    Ok(mount(c"none", folder, c"tmpfs", MountFlags::RDONLY, None)?)
}

/// A fresh root folder, as of `debootstrap`, may have no devices at all.
#[test]
#[ignore = "needs root: mounts an empty folder over /dev"]
fn without_dev_null_files_are_found_and_removed() {
    let tree = tree();
    let state = tree.path("state");
    let state = state.to_str().expect("text");
    seekless(tree.root(), "-f nul .")
        .before(|| hide(c"/dev"))
        .run()
        .exits(0)
        .finds(["a b"]);
    seekless(tree.root(), "remove --yes --keep first-root .")
        .env("XDG_STATE_HOME", state)
        .before(|| hide(c"/dev"))
        .run()
        .exits(0)
        .says("1 file");
    assert!(tree.path("a").exists() && !tree.path("b").exists());
}

#[test]
#[ignore = "needs root: mounts an empty folder over /sys"]
fn without_sys_nothing_is_known_of_disks_and_the_answer_is_the_same() {
    let tree = tree();
    let hide = || hide(c"/sys");
    let run = seekless(tree.root(), "devices .")
        .before(hide)
        .run()
        .exits(0);
    assert!(run.stdout_text().contains("(rule unseen)"), "{run}");
    seekless(tree.root(), "-f nul .")
        .before(hide)
        .run()
        .exits(0)
        .finds(["a b"]);
    let named = seekless(tree.root(), "-v --threads dev:/dev/vda:2 .").before(hide);
    named.run().exits(0).says("no given path is on this device");
}
