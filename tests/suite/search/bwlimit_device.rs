//! What `--bwlimit` allows is what the disk delivers: the limit covers everything that a command makes the disk read,
//! with what the kernel reads ahead. Measured as the disk counts it.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::time::Instant;

use crate::common::children::all_at_once;
use crate::common::run::Seekless;
use crate::common::stage::Stage;
use crate::common::volume::Volume;
use crate::common::{Tree, noise};
use rustix::fs::{Advice, fadvise, major, minor};

/// Bytes a second. A debug build hashes faster.
const RATE: u64 = 1_000_000;

/// A tree on a disk that nothing else uses.
struct Disk {
    stage: Stage,
    // Unmounted after the tree is gone.
    _volume: Volume,
    statistics: String,
}

impl Disk {
    fn new(fill: impl FnOnce(Tree) -> Tree) -> Self {
        let volume = Volume::on_loop("ext4", 128, "");
        let number = fs::metadata(volume.path()).expect("mounted").dev();
        let disk = Self {
            stage: Stage::new(fill(Tree::inside(&volume.path()))),
            _volume: volume,
            statistics: format!("/sys/dev/block/{}:{}/stat", major(number), minor(number)),
        };
        disk.forget();
        disk
    }

    /// Takes the files out of the page cache.
    fn forget(&self) {
        for entry in walkdir::WalkDir::new(self.stage.tree.root()) {
            let entry = entry.expect("an entry");
            if entry.file_type().is_file() {
                let file = File::open(entry.path()).expect("is there");
                file.sync_all().expect("can be written out");
                fadvise(&file, 0, None, Advice::DontNeed).expect("advice can be given");
            }
        }
    }

    /// Bytes that the disk has delivered so far.
    fn delivered(&self) -> u64 {
        let statistics = fs::read_to_string(&self.statistics).expect("the disk is listed");
        let sectors = statistics
            .split_whitespace()
            .nth(2)
            .expect("a third number");
        512 * sectors.parse::<u64>().expect("a number")
    }

    /// Runs a command that needs at least this many bytes of the disk. The disk delivers no more than twice the limit.
    #[track_caller]
    fn keeps_to_the_limit(&self, arguments: &str, least: u64, how: fn(Seekless) -> Seekless) {
        let before = self.delivered();
        let began = Instant::now();
        let arguments = arguments.replace("LIMIT", &format!("--bwlimit {RATE}"));
        let run = how(self.stage.seekless(&arguments)).run();
        let allowed = (2.0 * RATE as f64 * began.elapsed().as_secs_f64()) as u64;
        let read = self.delivered() - before;
        assert!(
            (least..=allowed).contains(&read),
            "{arguments}: {read} bytes of {least} to {allowed}\n{run}"
        );
    }
}

fn plain(run: Seekless) -> Seekless {
    run
}

/// Files of one size and different beginnings, of which only the beginnings are read.
fn different_files(tree: Tree) -> Tree {
    for number in 0..300 {
        tree.write(format!("{number}"), noise(number, 100_000));
    }
    tree
}

#[test]
#[ignore = "needs root and loop devices"]
fn samples_of_files_are_not_read_ahead() {
    for how in [plain, Seekless::without_io_uring] {
        let disk = Disk::new(different_files);
        disk.keeps_to_the_limit("find LIMIT .", 300 * 4096, how);
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn short_files_are_paid_for_with_io_uring_and_without() {
    for how in [plain, Seekless::without_io_uring] {
        let disk = Disk::new(|tree| {
            for number in 0..200 {
                tree.write(format!("{number}"), noise(number / 2, 12_000));
            }
            tree
        });
        disk.keeps_to_the_limit("find LIMIT .", 200 * 12_000, how);
    }
}

/// The commands, one after the other; each begins with nothing of the files in memory.
const COMMANDS: [(&str, u64); 8] = [
    ("find LIMIT .", 2),
    ("find --verify --page-cache drop LIMIT .", 4),
    ("find --threads hdd LIMIT .", 2),
    ("compare LIMIT a b", 2),
    ("folders LIMIT .", 2),
    ("symlink --yes --page-cache drop LIMIT .", 4),
    ("undo --yes LIMIT", 1),
    ("remove --yes --page-cache drop LIMIT .", 4),
];

#[test]
#[ignore = "needs root and loop devices"]
fn each_command_keeps_to_it() {
    const SIZE: u64 = 1_500_000;
    let content = noise(1, SIZE as usize);
    all_at_once(COMMANDS, |(command, times)| {
        let disk = Disk::new(|tree| tree.copies(["a/one", "b/one"], &content));
        if command.starts_with("undo") {
            disk.stage.run("symlink --yes .").exits(0);
            disk.forget();
        }
        disk.keeps_to_the_limit(command, times * SIZE, plain);
    });
}

/// It reads parts of long files and then goes on elsewhere: as many at a time as it measures with.
#[test]
#[ignore = "needs root and loop devices"]
fn a_probe_keeps_to_it() {
    all_at_once(["", "--only streams", "--only random"], |only| {
        let disk = Disk::new(|tree| {
            for number in 0..60 {
                tree.write(format!("{number}"), noise(number, 1_000_000));
            }
            tree
        });
        let command = format!("probe --time 4s {only} LIMIT .");
        disk.keeps_to_the_limit(&command, RATE, plain);
    });
}
