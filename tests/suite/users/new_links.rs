//! Root gives a new symbolic link to the owner of the replaced file. No other file changes its owner, even if this user
//! gives the name of the new link to that file.

use std::ffi::{CStr, OsStr};
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, fstat, openat, renameat_with};
use rustix::io::Errno;

use crate::common::rounds;
use crate::common::stage::Stage;
#[cfg(debug_assertions)]
use crate::common::stopped::Stopped;
#[cfg(debug_assertions)]
use crate::common::users::nobody_does;
use crate::common::users::{become_nobody, give, give_all_away, open_stage};
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
                fs::write(path, "root only").expect("written");
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

/// Gives the name of each new link to the next bait as soon as the name appears, and to the link again. Returns how often.
fn attack(folder: &Path, ready: &AtomicBool, stopped: &AtomicBool) -> usize {
    become_nobody().expect("root may");
    let events = inotify::init(CreateFlags::NONBLOCK).expect("a queue");
    inotify::add_watch(&events, folder, WatchFlags::CREATE).expect("watched");
    ready.store(true, Ordering::Release);
    let mut buffer = [MaybeUninit::uninit(); 8192];
    let mut events = inotify::Reader::new(&events, &mut buffer);
    let (mut swaps, mut baits) = (0, (0..BAITS).map(|bait| folder.join(bait_name(bait))));
    let mut bait = baits.next();
    while let Some(name) = &bait
        && !stopped.load(Ordering::Relaxed)
    {
        let event = match events.next() {
            Ok(event) => event,
            Err(Errno::AGAIN) => {
                thread::yield_now();
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        let new = event.file_name().map(CStr::to_bytes).unwrap_or_default();
        let is_link = new.starts_with(b".seekless-");
        let new = folder.join(OsStr::from_bytes(new));
        // A later event is of a newer name.
        if !is_link || !events.is_buffer_empty() {
            continue;
        }
        let exchange = || renameat_with(CWD, name, CWD, &new, RenameFlags::EXCHANGE);
        if exchange().is_ok() {
            swaps += 1;
            thread::yield_now();
            if exchange().is_err() {
                bait = baits.next();
            }
        }
    }
    swaps
}

const BAITS: usize = 400;

fn bait_name(number: usize) -> String {
    format!("bait{number}")
}

#[test]
#[ignore = "acts as two users: root only"]
fn a_file_that_takes_the_names_of_new_links_at_any_moment_keeps_its_owner() {
    let mut swaps = 0;
    for round in 0..rounds(10) {
        let stage = nobodys(500);
        let folder = stage.tree.path("up");
        let bait = Bait::File.lay(&stage.tree.path("bait"));
        for name in (0..BAITS).map(bait_name) {
            fs::hard_link(stage.tree.path("bait"), folder.join(name)).expect("linked");
        }
        let (ready, stopped) = (AtomicBool::new(false), AtomicBool::new(false));
        swaps += thread::scope(|scope| {
            let attacker = scope.spawn(|| attack(&folder, &ready, &stopped));
            while !ready.load(Ordering::Acquire) && !attacker.is_finished() {
                thread::yield_now();
            }
            stage.run(ACT);
            stopped.store(true, Ordering::Relaxed);
            attacker.join().expect("it exchanges names")
        });
        is_roots(&bait, &format!("round {round}, {swaps} exchanges"));
    }
    println!("{swaps} exchanges");
    assert!(swaps > 10, "{swaps} exchanges");
}
