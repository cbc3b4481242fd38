//! Disks that were copied block by block, and snapshots: one UUID, the same inode numbers, and soon other contents.

use std::cell::Cell;
use std::fs::{self};

use super::Runs;
use super::soundness::{Play, levels};
use crate::common::limits::Rng;
use crate::common::limits::rounds;
use crate::common::volume::{Volume, sh};

/// Swaps the disk for a copy of it now and then, and goes on with either.
fn swapped(count: usize) {
    for (kind, mebibytes) in [("ext4", 32), ("xfs", 320), ("btrfs", 128)] {
        let away = tempfile::tempdir().expect("a folder");
        for runs in levels(away.path()) {
            let volume = Volume::on_loop(kind, mebibytes, "");
            let image = volume.image();
            let [copy, aside] = ["copy", "aside"].map(|name| image.with_file_name(name));
            let is_copied = Cell::new(false);
            let mut swap = |rng: &mut Rng| match rng.below(10) {
                0 => {
                    volume.unmount();
                    let (from, to) = (image.display(), copy.display());
                    sh(&format!("cp --sparse=always {from} {to}"));
                    is_copied.set(true);
                    volume.mount();
                }
                1..=3 if is_copied.get() => {
                    volume.unmount();
                    fs::rename(&image, &aside).expect("is moved");
                    fs::rename(&copy, &image).expect("is moved");
                    fs::rename(&aside, &copy).expect("is moved");
                    volume.mount();
                }
                _ => {}
            };
            play(&volume, runs, &mut swap, count);
        }
    }
}

fn play(volume: &Volume, runs: Runs, between: &mut dyn FnMut(&mut Rng), count: usize) {
    let answered = Play {
        tree: volume.path().join("top/tree"),
        runs,
        keeps_numbers: true,
        between,
    }
    .rounds(count);
    assert!(answered > 0, "no row answered");
}

/// Takes snapshots of a subvolume now and then, and goes back to one.
fn rolled_back(count: usize) {
    let away = tempfile::tempdir().expect("a folder");
    for runs in levels(away.path()) {
        let volume = Volume::on_loop("btrfs", 256, "");
        let [top, saved] = ["top", "saved"].map(|name| volume.path().join(name));
        let (top, saved) = (top.display(), saved.display());
        sh(&format!("btrfs -q subvolume create {top}"));
        let is_saved = Cell::new(false);
        let mut roll = |rng: &mut Rng| match rng.below(8) {
            0 if !is_saved.get() => {
                sh(&format!("btrfs -q subvolume snapshot {top} {saved}"));
                is_saved.set(true);
            }
            0 | 1 if is_saved.get() => {
                sh(&format!("btrfs -q subvolume delete {top}"));
                sh(&format!("mv {saved} {top}"));
                is_saved.set(false);
            }
            _ => {}
        };
        play(&volume, runs, &mut roll, count);
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn the_answer_is_right_after_a_disk_was_swapped_for_its_copy() {
    swapped(12);
}

#[test]
#[ignore = "needs root, loop devices and minutes"]
fn in_full_the_answer_is_right_after_a_disk_was_swapped_for_its_copy() {
    swapped(rounds(2000));
}

#[test]
#[ignore = "needs root and loop devices"]
fn the_answer_is_right_after_a_subvolume_was_rolled_back() {
    rolled_back(30);
}

#[test]
#[ignore = "needs root, loop devices and minutes"]
fn in_full_the_answer_is_right_after_a_subvolume_was_rolled_back() {
    rolled_back(rounds(2000));
}
