//! Every action and undo, while another user swaps what they work on.
//!
//! `SEEKLESS_ROUNDS=20 cargo test --test suite -- --ignored swaps::in_full_` is the long form. Not with `--release`:
//! such a build cannot be killed at a chosen call.

use std::time::Duration;

use super::ground::{Ground, Trick, open};
use super::rival::{Means, Rival};
use crate::common::rounds;
use crate::common::volume::Volume;

/// What root calls.
const ACTIONS: [&str; 6] = [
    "remove",
    "remove --trash",
    "hardlink",
    "symlink",
    "move --to to",
    "move --to home/tree/to",
];

const TRICKS: [Trick; 5] = [
    Trick::Folders,
    Trick::FurtherNames,
    Trick::Links,
    Trick::HardLinks,
    Trick::Everything,
];

/// Those that matter most where nothing gets another name.
const SHARING: [Trick; 2] = [Trick::FurtherNames, Trick::Everything];

/// How often things happened.
#[derive(Debug, Default)]
struct Count {
    runs: u64,
    swaps: u64,
    done: usize,
    undone: usize,
    swept: usize,
}

/// Rounds of one action against one trick.
fn attack(
    ground: &Ground,
    action: &str,
    trick: Trick,
    rounds: std::ops::Range<u64>,
    count: &mut Count,
) {
    let means = match trick {
        Trick::Mounts => Means::Mount,
        _ => Means::Exchange,
    };
    let mut rival = Rival::start(means);
    for round in rounds {
        ground.prepare(trick);
        let context = format!("{action}, {trick:?}, round {round}");
        // A report from before knows every file; a search sees what it gets to see.
        let has_report = round % 3 != 0;
        if has_report {
            assert_eq!(ground.run("find -q -f json -o state/report home/tree"), 0);
        }
        let source = match has_report {
            true => "--from state/report",
            false => "home/tree",
        };
        // The files below `keep` have the longest paths.
        let keep = match round % 4 {
            1 => "shortest-path",
            _ => "longest-path",
        };
        let action = format!("{action} --keep {keep} --yes -q {source}");
        let pause = [2, 50, 1000, 8000][usize::try_from(round % 4).expect("small")];
        rival.work_on(&ground.couples(trick), Duration::from_micros(pause));
        ground.run("find -q -o state/found home/tree");
        // Every fifth run is killed at some point, and swept.
        if round % 5 == 4 {
            ground.run_and_kill(&action, 20 + round * 37 % 400);
            ground.run("undo --sweep --yes -q");
            count.swept += 1;
        } else {
            ground.run(&action);
        }
        count.done += ground.journalled("done");
        ground.run("undo --yes -q");
        count.undone += ground.journalled("undone");
        count.swaps += rival.stop();
        count.runs += 3 + u64::from(round % 5 == 4);
        ground.unmount_all();
        ground.look(&context);
        // What is left is taken back, or refused, once all is quiet.
        ground.run("undo --yes -q");
        ground.look(&format!("{context}, undone at last"));
    }
}

fn holds(volume: Volume, actions: &[&str], tricks: &[Trick], rounds: u64) {
    let ground = Ground::on(open(volume));
    for action in actions {
        let mut count = Count::default();
        for (number, &trick) in (0..).zip(tricks) {
            // Other options and moments for each.
            let first = number * 7;
            attack(&ground, action, trick, first..first + rounds, &mut count);
        }
        println!("{action}, {tricks:?}: {count:?}");
        // The tricks came neither too early nor too late to matter.
        assert!(count.swaps > 20 * count.runs.min(50), "{action}: {count:?}");
        assert!(count.done > 0, "{action}: {count:?}");
    }
}

#[test]
#[ignore = "acts as two users, mounts: root only"]
fn nothing_outside_changes_while_names_are_swapped() {
    // Each action with one trick in turn, and with all of them at once.
    for (turn, action) in ACTIONS.into_iter().enumerate() {
        let tricks = [TRICKS[turn % 4], Trick::Everything];
        holds(Volume::tmpfs(""), &[action], &tricks, rounds(4));
    }
}

#[test]
#[ignore = "acts as two users, mounts: root only"]
fn nothing_outside_changes_while_folders_are_mounted_over() {
    holds(Volume::tmpfs(""), &ACTIONS, &[Trick::Mounts], rounds(5));
}

#[test]
#[ignore = "acts as two users, mounts a file system: root only"]
fn nothing_outside_changes_while_blocks_are_shared_on_btrfs() {
    let volume = Volume::on_loop("btrfs", 256, "");
    holds(volume, &["reflink"], &SHARING, rounds(3));
}

#[test]
#[ignore = "acts as two users, mounts a file system: root only"]
fn nothing_outside_changes_while_blocks_are_shared_on_xfs() {
    let volume = Volume::on_loop("xfs", 320, "-m reflink=1");
    holds(volume, &["reflink"], &SHARING, rounds(3));
}

/// Every action and trick, on file systems with a disk below them and in memory.
#[test]
#[ignore = "takes long, acts as two users, mounts file systems: root only"]
fn in_full_on_each_kind() {
    let mut tricks = TRICKS.to_vec();
    tricks.push(Trick::Mounts);
    let mut sharing = ACTIONS.to_vec();
    sharing.push("reflink");
    let rounds = rounds(200);
    holds(Volume::on_loop("ext4", 512, ""), &ACTIONS, &tricks, rounds);
    holds(Volume::tmpfs(""), &ACTIONS, &tricks, rounds);
    holds(Volume::on_loop("btrfs", 512, ""), &sharing, &tricks, rounds);
    let xfs = Volume::on_loop("xfs", 512, "-m reflink=1");
    holds(xfs, &sharing, &tricks, rounds);
}
