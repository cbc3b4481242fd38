//! `--cache mtime`: a new time of the last change alone costs no read, and everything else costs one.

use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use super::{Runs, answer, config, ext4, search, tick, written_back};
use crate::common::limits::Rng;
use crate::common::limits::{rounds, seed};
use crate::common::stage::Stage;
use crate::common::volume::Volume;
use crate::common::{Tree, noise};

const SIZE: usize = 5000;

fn tree(volume: &Volume) -> Tree {
    Tree::inside(&volume.path()).copies(["a", "b"], noise(1, SIZE))
}

/// Changes nothing but the time of the last change.
fn chmod(path: &Path) {
    let before = fs::metadata(path).expect("is there");
    tick(path.parent().expect("a folder"));
    let mode = before.permissions().mode() ^ 0o1;
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("is set");
    let after = fs::metadata(path).expect("is there");
    assert_eq!(before.modified().ok(), after.modified().ok());
    assert_ne!(
        (before.ctime(), before.ctime_nsec()),
        (after.ctime(), after.ctime_nsec())
    );
}

fn restore_mtime(path: &Path, of: &fs::Metadata) {
    let file = File::options().write(true).open(path).expect("is there");
    let times = FileTimes::new().set_modified(of.modified().expect("a time"));
    file.set_times(times).expect("is set");
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_change_of_the_mode_costs_no_read_at_this_level_only() {
    for kind in ["ext4", "xfs", "btrfs"] {
        let mebibytes = if kind == "xfs" { 320 } else { 128 };
        let volume = Volume::on_loop(kind, mebibytes, "");
        let tree = tree(&volume);
        let away = tempfile::tempdir().expect("a folder");
        let roots = [tree.root().to_owned()];
        let mut runs = Runs::by_mtime(away.path().join("cache"));
        assert_eq!(search(&roots, Some(runs.later())).bytes_read(), 10_000);
        let strictly = search(&roots, Some(runs.later())).summary;
        assert_eq!(strictly.cached.files, 2);
        chmod(&tree.path("a"));
        volume.unmount();
        volume.mount();
        let answer = search(&roots, Some(runs.later()));
        assert_eq!((answer.bytes_read(), answer.cached), (0, 1), "{kind}");
        assert_eq!(answer.summary.cached.files, 2);
        // It was believed once. A run that looks closer does not rely on that.
        runs.trust = Runs::new(runs.folder.clone()).trust;
        assert_eq!(search(&roots, Some(runs.later())).bytes_read(), 5000);
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn an_inode_number_that_was_given_away_is_another_file_whatever_its_times_are() {
    let volume = ext4();
    let tree = tree(&volume);
    let away = tempfile::tempdir().expect("a folder");
    let roots = [tree.root().to_owned()];
    let mut runs = Runs::by_mtime(away.path().join("cache"));
    search(&roots, Some(runs.later()));
    let before = fs::metadata(tree.path("b")).expect("is there");
    fs::remove_file(tree.path("b")).expect("is removed");
    // The number that came free last is given out first, but not always.
    let mut tried = 0;
    loop {
        tree.write("b", noise(2, SIZE));
        let path = tree.path("b");
        if fs::metadata(&path).expect("is there").ino() == before.ino() {
            break;
        }
        tried += 1;
        assert!(tried < 1000, "the number is not given out again");
        fs::rename(&path, volume.path().join(format!("kept {tried}"))).expect("is moved");
    }
    restore_mtime(&tree.path("b"), &before);
    let with = search(&roots, Some(runs.later()));
    assert_eq!((with.sets.len(), with.bytes_read()), (0, 5000));
}

#[test]
#[ignore = "needs root and loop devices"]
fn other_bytes_under_a_restored_time_are_what_the_option_accepts_and_no_action_does() {
    let volume = ext4();
    let stage = Stage::new(tree(&volume));
    let tree = &stage.tree;
    let away = tempfile::tempdir().expect("a folder");
    let roots = [tree.root().to_owned()];
    let folder = away.path().join("cache");
    // Older than a minute by the clock that counts, that of the runs below.
    let mut runs = Runs::by_mtime(folder.clone());
    search(&roots, Some(runs.later()));
    let before = fs::metadata(tree.path("b")).expect("is there");
    tick(&volume.path());
    fs::write(tree.path("b"), noise(2, SIZE)).expect("is written");
    restore_mtime(&tree.path("b"), &before);
    let answer = search(&roots, Some(runs.later()));
    assert_eq!((answer.sets.len(), answer.cached), (1, 1));
    assert_eq!(search(&roots, None).sets.len(), 0);
    for action in ["remove", "hardlink"] {
        let line = format!("{action} --yes --cache mtime --cache");
        stage.seekless(&line).arg(&folder).arg(".").run();
        assert_eq!(stage.names(), ["a", "b"], "{action}");
        assert_eq!(
            fs::read(tree.path("b")).expect("is read"),
            noise(2, SIZE),
            "{action}"
        );
    }
}

/// Replaces files by others in other threads while a search reads them. A new file gets the inode number and the
/// modification time of the old one, and may have both before the search asks when the file was created that it has
/// read.
fn replaced_meanwhile(count: usize) {
    const FILES: usize = 300;
    let volume = ext4();
    let tree = Tree::inside(&volume.path());
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    let put = |name: String, content: usize| {
        let mut bytes = noise(1, SIZE);
        bytes[..8].copy_from_slice(&content.to_le_bytes());
        tree.write(&name, bytes);
        let file = File::options().write(true).open(tree.path(&name));
        let times = FileTimes::new().set_modified(time);
        file.and_then(|file| file.set_times(times)).expect("is set");
    };
    (0..FILES).for_each(|nth| put(format!("copies/{nth}"), nth));
    let roots = [tree.root().to_owned()];
    let away = tempfile::tempdir().expect("a folder");
    let mut rng = Rng::new(seed());
    for round in 0..count {
        (0..FILES).for_each(|nth| put(format!("files/{nth}"), nth));
        written_back(&roots);
        tick(&volume.path());
        let mut runs = Runs::by_mtime(away.path().join(round.to_string()));
        let first = config(&roots, Some(runs.later()), true);
        let delay = Duration::from_micros(rng.below(20_000) as u64);
        thread::scope(|scope| {
            scope.spawn(|| answer(&first));
            thread::sleep(delay);
            for nth in 0..FILES {
                let name = format!("files/{nth}");
                fs::remove_file(tree.path(&name)).expect("is removed");
                put(name, FILES + nth);
            }
        });
        let without = search(&roots, None);
        let with = search(&roots, Some(runs.later()));
        assert_eq!(with.sets, without.sets, "round {round}");
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_time_of_creation_belongs_to_the_file_that_was_read() {
    replaced_meanwhile(3);
}

#[test]
#[ignore = "needs root, loop devices and minutes"]
fn in_full_a_time_of_creation_belongs_to_the_file_that_was_read() {
    replaced_meanwhile(rounds(500));
}
