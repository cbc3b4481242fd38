//! What is said where a mount cannot do something, and where it says something else than it means.

use std::fs;

use super::{Disk, run_at};
use crate::common::mounts::{Shown, Shows};
use crate::common::noise;
use crate::common::volume::{Mounted, sh};

fn with_copies(shows: &Shows) {
    for name in ["a", "b"] {
        fs::write(shows.point().join(name), noise(1, 50_000)).expect("written");
    }
}

/// rclone answers EIO to whoever asks for extended attributes.
#[test]
#[ignore = "mounts file systems: root only"]
fn rclone_is_no_broken_disk() {
    for what in [Shown::Rclone, Shown::RcloneCached] {
        for action in [
            "remove",
            "remove --trash",
            "hardlink",
            "symlink",
            "reflink",
            "move --to there",
        ] {
            let shows = Shows::new(what);
            let home = tempfile::tempdir().expect("a folder");
            with_copies(&shows);
            run_at(&shows.point(), home.path(), &format!("{action} --yes ."))
                .never_says("metadata")
                .never_says("the disk reports errors");
            assert!(fs::read(shows.point().join("a")).expect("read") == noise(1, 50_000));
        }
    }
}

/// A copy that is made there has no extended attributes.
#[test]
#[ignore = "mounts file systems: root only"]
fn files_are_moved_to_rclone_from_elsewhere() {
    let shows = Shows::new(Shown::RcloneCached);
    let home = tempfile::tempdir().expect("a folder");
    let tree = crate::common::Tree::new().copies(["t/a", "t/b"], noise(1, 50_000));
    let there = shows.point().join("there");
    let arguments = format!("move --yes --to {} t", there.display());
    run_at(tree.root(), home.path(), &arguments)
        .never_says("attributes")
        .never_says("the disk reports errors");
}

/// Without a cache, rclone cannot read a file back before it is closed, and stores it when it is closed, also if it was
/// removed before.
#[test]
#[ignore = "mounts file systems: root only"]
fn a_copy_that_is_given_up_leaves_nothing_on_rclone() {
    let shows = Shows::new(Shown::Rclone);
    let home = tempfile::tempdir().expect("a folder");
    let tree = crate::common::Tree::new().copies(["t/a", "t/b", "t/c"], noise(1, 3_000_000));
    let there = shows.point().join("there");
    let arguments = format!("move --yes --to {} t", there.display());
    run_at(tree.root(), home.path(), &arguments).says("cannot read the copy back");
    for name in ["t/a", "t/b", "t/c"] {
        assert!(fs::read(tree.path(name)).expect("read") == noise(1, 3_000_000));
    }
    // What is closed is stored a moment later.
    std::thread::sleep(std::time::Duration::from_secs(2));
    drop(fs::read_dir(shows.point()).expect("it answers"));
    let stored = walkdir::WalkDir::new(shows.source()).into_iter();
    let stored = stored.map(|entry| entry.expect("an entry"));
    let stored: Vec<_> = stored.filter(|entry| entry.file_type().is_file()).collect();
    assert!(stored.is_empty(), "{stored:?}");
}

#[test]
#[ignore = "mounts file systems: root only"]
fn hard_links_are_not_advised_where_there_may_be_none() {
    for what in [Shown::ExfatFuse, Shown::Fusefat, Shown::Rclone] {
        let disk = Disk::new(what, "");
        with_copies(&disk.shows);
        disk.run("reflink --yes --allow shared .")
            .never_says("elsewhere use hardlink")
            .says("cannot share blocks (btrfs, XFS and bcachefs can): use remove or move")
            .says("Nothing to reflink");
    }
}

/// Each line that names a refusal by the system says what to do about it.
#[test]
#[ignore = "mounts file systems: root only"]
fn every_refusal_is_explained() {
    let source = crate::common::Tree::new().copies(["t/a", "t/b"], noise(1, 50_000));
    let image = source.path("image");
    sh(&format!(
        "mksquashfs {} {} -quiet -no-progress >{}.log",
        source.path("t").display(),
        image.display(),
        image.display()
    ));
    let place = |name: &str| {
        let place = source.path(name);
        fs::create_dir(&place).expect("a folder");
        place
    };
    let squashed = Mounted::by(&format!("squashfuse {}", image.display()), place("fuse"));
    let kernel = Mounted::new(
        &format!("-o loop -t squashfs {}", image.display()),
        place("kernel"),
    );
    let exfat = Disk::new(Shown::ExfatFuse, "");
    with_copies(&exfat.shows);
    let rclone = Disk::new(Shown::Rclone, "");
    with_copies(&rclone.shows);
    let home = tempfile::tempdir().expect("a folder");
    let places = [squashed.path(), kernel.path(), &exfat.top(), &rclone.top()];
    for place in places {
        for action in ["symlink", "remove --trash", "remove", "move --to there"] {
            let run = run_at(place, home.path(), &format!("{action} --yes ."));
            for line in run
                .stderr_text()
                .lines()
                .filter(|line| line.contains("(os error"))
            {
                let explained = line
                    .split_once("(os error")
                    .is_some_and(|(_, rest)| rest.contains("); "));
                assert!(explained, "{} {action}\n{run}", place.display());
            }
        }
    }
}
