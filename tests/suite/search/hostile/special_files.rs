//! Pipes, sockets and devices are never opened.

use rustix::fs::inotify;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;

#[test]
fn fifos_sockets_and_devices_are_never_opened() {
    let tree = Tree::new()
        .copies(["1", "2"], "same")
        .fifo("fifo")
        .fifo("another fifo")
        .socket("socket");
    let mut special = vec!["fifo", "another fifo", "socket"];
    if crate::common::is_root() {
        let mode = Mode::from_raw_mode(0o600);
        let null = rustix::fs::makedev(1, 3);
        let made = mknodat(
            CWD,
            tree.path("device"),
            FileType::CharacterDevice,
            mode,
            null,
        );
        if made.is_ok() {
            special.push("device");
        }
    }
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).expect("inotify is there");
    for name in &special {
        inotify::add_watch(&watch, tree.path(name), inotify::WatchFlags::OPEN)
            .expect("files can be watched");
    }
    let run = seekless(tree.root(), "find -f json --empty -L .")
        .run()
        .exits(0);
    assert_eq!(
        run.json()["summary"]["left_out"]["special"],
        special.len(),
        "{run}"
    );
    assert_eq!(run.json()["summary"]["sets"], 1, "{run}");
    let events = rustix::io::read(&watch, &mut [0_u8; 4096]);
    assert_eq!(
        events,
        Err(rustix::io::Errno::AGAIN),
        "something was opened"
    );
}

#[test]
fn pseudo_file_systems_are_not_entered_through_links() {
    let tree = Tree::new()
        .copies(["x/1", "x/2"], "same")
        .symlink("x/proc", "/proc")
        .symlink("x/sys", "/sys");
    seekless(tree.root(), "find -f nul -L x")
        .patience(Duration::from_secs(20))
        .run()
        .finds(["x/1 x/2"]);
}

#[test]
fn devices_and_fifos_behind_links_are_not_opened() {
    let tree = Tree::new()
        .copies(["x/1", "x/2"], "same")
        .fifo("fifo")
        .symlink("x/fifo", "../fifo")
        .symlink("x/zero", "/dev/zero")
        .symlink("x/null", "/dev/null");
    seekless(tree.root(), "find -f nul -L --empty x")
        .patience(Duration::from_secs(20))
        .run()
        .exits(0)
        .finds(["x/1 x/2"]);
}
