//! Root gives a new symbolic link to the owner of the replaced file. No other file changes its owner, even if this user
//! gives the name of the new link to that file.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, fstat, openat};

use crate::common::stage::Stage;
#[cfg(debug_assertions)]
use crate::common::stage::Stopped;
#[cfg(debug_assertions)]
use crate::common::users::nobody_does;
use crate::common::users::{give, give_all_away, open_stage};
use crate::common::{Tree, noise};

const ACT: &str = "symlink --yes --cache off --keep shortest-path up";

/// So many equal files of nobody in a folder of theirs.
fn nobodys(files: usize) -> Stage {
    let tree = (0..files).fold(Tree::new(), |tree, file| {
        tree.file(format!("up/f{file}"), noise(1, 700))
    });
    let stage = open_stage(tree);
    give_all_away(&stage.tree.path("up"));
    stage
}

/// What root owns in the folder of nobody.
#[derive(Clone, Copy, Debug)]
enum Bait {
    File,
    Link,
    Folder,
}

impl Bait {
    /// Creates it. The handle leads to it whatever its name is later, and also without a name.
    fn lay(self, path: &Path) -> OwnedFd {
        match self {
            Self::File => {
                crate::common::write(path, "root only").expect("written");
                give(path, 0, 0o600);
            }
            Self::Link => symlink("/root/x", path).expect("linked"),
            Self::Folder => {
                fs::create_dir(path).expect("made");
                give(path, 0, 0o700);
            }
        }
        openat(
            CWD,
            path,
            OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )
        .expect("there")
    }
}

/// Checks that no other user has become the owner.
#[track_caller]
fn is_roots(bait: &OwnedFd, context: &str) {
    let now = fstat(bait).expect("open");
    assert_eq!((now.st_uid, now.st_gid), (0, 0), "{context}");
}

#[test]
#[cfg(debug_assertions)]
#[ignore = "acts as two users: root only"]
fn a_file_that_takes_the_name_of_a_new_link_at_any_call_keeps_its_owner() {
    const SWAP: &str = "for new in .seekless-*; do
            if [ -L \"$new\" ]; then mv bait aside; mv \"$new\" link; mv -T aside \"$new\"; fi
        done";
    for bait in [Bait::File, Bait::Link, Bait::Folder] {
        let (mut swaps, mut refusals) = (0, 0);
        let mut came_to_its_end = false;
        for at in 1..300 {
            let stage = nobodys(2);
            let handle = bait.lay(&stage.tree.path("up/bait"));
            let stopped = Stopped::start(stage.seekless(ACT), at);
            came_to_its_end = stage.tree.path("up/f1").is_symlink();
            if !came_to_its_end {
                assert!(nobody_does(SWAP, &stage.tree.path("up")));
                swaps += u64::from(!stage.has("up/bait"));
            }
            let run = stopped.ends();
            let refusal = "another process has renamed the link";
            refusals += u64::from(run.stderr_text().contains(refusal));
            is_roots(&handle, &format!("{bait:?}, before call {at}\n{run}"));
            let kept = fs::read(stage.tree.path("up/f0")).expect("read");
            assert_eq!(kept, noise(1, 700), "{run}");
            if came_to_its_end {
                break;
            }
        }
        assert!(came_to_its_end && swaps > 3, "{bait:?}: {swaps} swaps");
        assert!(refusals > 0, "{bait:?}");
    }
}
