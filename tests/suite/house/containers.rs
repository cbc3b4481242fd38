//! What a container forbids or hides is said, and changes no answer.

use crate::common::{Tree, seekless};

fn tree() -> Tree {
    Tree::new()
        .copies(["a", "b"], "the same")
        .file("c", "other")
}

#[test]
fn explain_says_how_it_reads_where_io_uring_is_forbidden() {
    let said = "io_uring is not available here: scattered reads 32 threads x 1 in flight";
    let line = "--explain --threads ssd:2 --threads ssd --depth-random 16 .";
    let tree = tree();
    let run = seekless(tree.root(), line).without_io_uring().run();
    let run = run.exits(0);
    assert!(run.stdout_text().contains(said), "{run}");
    let run = seekless(tree.root(), line).run().exits(0);
    assert!(!run.stdout_text().contains("io_uring"), "{run}");
}

#[test]
#[ignore = "needs root: mounts an empty folder over /sys"]
fn without_sys_nothing_is_known_of_disks_and_the_answer_is_the_same() {
    let tree = tree();
    let hide = || {
        use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
        use rustix::thread::{UnshareFlags, unshare_unsafe};
        // SAFETY: the process has one thread, between fork and exec.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS)? };
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        mount_change("/", private)?;
        Ok(mount("none", "/sys", "tmpfs", MountFlags::RDONLY, None)?)
    };
    let run = seekless(tree.root(), "--explain .")
        .before(hide)
        .run()
        .exits(0);
    assert!(
        run.stdout_text().contains("class unknown by rule unseen"),
        "{run}"
    );
    seekless(tree.root(), "-f nul .")
        .before(hide)
        .run()
        .exits(0)
        .finds(["a b"]);
    let named = seekless(tree.root(), "--threads dev:/dev/vda:2 .").before(hide);
    named.run().exits(2).says("there is no block device");
}
