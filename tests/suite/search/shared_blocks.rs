//! Files that lie in the same blocks are equal without being read; files that do not are read.
//!
//! `cargo test --test suite -- --ignored shared_blocks::` as root, with btrfs-progs and xfsprogs.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use crate::common::oracle::Question;
use crate::common::run::Seekless;
use crate::common::volume::{Volume, forget_what_was_read, sh, write_back};
use crate::common::{Run, Tree, noise, seekless};

const LENGTH: usize = 8 << 20;

/// Samples of a few files and no more, bytes.
const SAMPLES: u64 = 200_000;

fn btrfs() -> Volume {
    Volume::on_loop("btrfs", 600, "")
}

fn xfs() -> Volume {
    Volume::on_loop("xfs", 600, "-m reflink=1")
}

fn clone(tree: &Tree, from: &str, to: &str) {
    let (from, to) = (tree.path(from), tree.path(to));
    fs::create_dir_all(to.parent().expect("a folder")).expect("made");
    sh(&format!(
        "cp --reflink=always {} {}",
        from.display(),
        to.display()
    ));
}

/// Writes into a file that is there; nothing waits until it is on the disk.
fn patch(tree: &Tree, name: &str, at: u64, bytes: &[u8]) {
    let file = File::options().write(true).open(tree.path(name));
    let file = file.expect("writable");
    file.write_all_at(bytes, at).expect("written");
}

fn cool_down(folder: &Path) {
    write_back(folder);
    forget_what_was_read("3").expect("caches can be dropped");
}

fn number(run: &Run, name: &str) -> u64 {
    let json = run.json();
    let number = json["summary"].pointer(name);
    let number = number.and_then(serde_json::Value::as_u64);
    number.unwrap_or_else(|| panic!("{name}\n{run}"))
}

fn bytes_read(run: &Run) -> u64 {
    let summary = &run.json()["summary"];
    let stages = summary["stages"].as_array().expect("stages");
    let read = stages.iter().map(|stage| stage["bytes_read"].as_u64());
    read.map(|bytes| bytes.expect("a number")).sum()
}

fn find(tree: &Tree, options: &str) -> Seekless {
    seekless(tree.root(), &format!("find -f json {options} ."))
}

/// The right answer under all options that bear on it, with a cold and with a warm cache.
#[track_caller]
fn answers_are_right(tree: &Tree) {
    for options in [
        "",
        "--digest when-needed",
        "--without=shared-blocks",
        "--verify",
        "--threads 1,1 --digest when-needed",
    ] {
        let question = Question {
            roots: vec![".".to_owned()],
            neutral: options.split_whitespace().map(str::to_owned).collect(),
            ..Question::default()
        };
        let expected = question.answer(tree.root());
        for cold in [true, false] {
            if cold {
                cool_down(tree.root());
            }
            let run = find(tree, options).run().exits(0);
            assert_eq!(run.file_sets(), expected, "{options} cold: {cold}\n{run}");
        }
    }
}

mod clones {
    use super::*;

    fn are_found_without_reading_them(volume: &Volume) {
        let tree = Tree::inside(&volume.path())
            .file("one", noise(1, LENGTH))
            .file("other", noise(2, LENGTH));
        for i in 0..5 {
            clone(&tree, "one", &format!("copies/{i}"));
        }
        let copies = "one copies/0 copies/1 copies/2 copies/3 copies/4";
        for cold in [true, false] {
            let find = |options| {
                if cold {
                    cool_down(tree.root());
                }
                let run = find(&tree, options).run().exits(0).finds_files([copies]);
                (bytes_read(&run), number(&run, "/unread/files"))
            };
            let (read, unread) = find("--digest when-needed");
            assert!(read < SAMPLES, "{read}");
            assert_eq!(unread, 5);
            let (read, unread) = find("--digest always");
            assert!(read < LENGTH as u64 + SAMPLES, "one for the digest: {read}");
            assert!(read > LENGTH as u64);
            assert_eq!(unread, 5);
            let (read, unread) = find("--without=shared-blocks --digest when-needed");
            assert!(read >= 6 * LENGTH as u64, "{read}");
            assert_eq!(unread, 0);
        }
        let says = seekless(tree.root(), "find -v .").run().exits(0);
        says.says("Skipped reading 5 files (41.9 MB) that share their blocks with others.");
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn on_btrfs_and_xfs_are_found_without_reading_them() {
        are_found_without_reading_them(&btrfs());
        are_found_without_reading_them(&xfs());
    }

    /// Snapshots have device numbers of their own.
    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn in_snapshots_are_known_across_subvolumes() {
        let volume = btrfs();
        let path = volume.path().display().to_string();
        sh(&format!("btrfs -q subvolume create {path}/now"));
        for i in 0..4 {
            let name = volume.path().join(format!("now/{i}"));
            fs::write(name, noise(i, LENGTH)).expect("written");
        }
        write_back(&volume.path());
        for then in ["t1", "t2", "t3"] {
            sh(&format!(
                "btrfs -q subvolume snapshot {path}/now {path}/{then}"
            ));
        }
        let file = File::options().write(true).open(volume.path().join("t2/3"));
        let file = file.expect("writable");
        file.write_all_at(b"changed", 5_000_000).expect("written");
        cool_down(&volume.path());
        let run = seekless(&volume.path(), "find -f json --digest when-needed .");
        let run = run.run().exits(0).finds_files([
            "now/0 t1/0 t2/0 t3/0",
            "now/1 t1/1 t2/1 t3/1",
            "now/2 t1/2 t2/2 t3/2",
            "now/3 t1/3 t3/3",
        ]);
        // The changed file and one of those that it may be equal to.
        assert!(bytes_read(&run) < 2 * LENGTH as u64 + SAMPLES, "{run}");
    }
}

mod what_is_not_the_same {
    use super::*;

    /// A write that is still in memory only: the blocks on the disk are the same as before.
    fn is_seen_before_it_is_on_the_disk(volume: &Volume) {
        let tree = Tree::inside(&volume.path()).file("one", noise(1, LENGTH));
        write_back(&volume.path());
        for round in 0..10 {
            let name = format!("{round}");
            clone(&tree, "one", &name);
            // Not where samples are taken.
            patch(&tree, &name, 4_000_000 + round, b"changed");
            for options in ["--digest when-needed", "--digest always"] {
                find(&tree, options).run().exits(0).finds_files([]);
            }
            answer_when_patched_back(&tree, &name, round);
        }
    }

    /// Equal again, in blocks of its own.
    fn answer_when_patched_back(tree: &Tree, name: &str, round: u64) {
        let content = noise(1, LENGTH);
        let at = 4_000_000 + round as usize;
        patch(tree, name, at as u64, &content[at..at + 7]);
        let both = format!("one {name}");
        let run = find(tree, "--digest when-needed").run().exits(0);
        let run = run.finds_files([&both]);
        assert_eq!(number(&run, "/unread/files"), 0, "{run}");
        fs::remove_file(tree.path(name)).expect("removed");
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn on_btrfs_and_xfs_is_seen_before_it_is_on_the_disk() {
        is_seen_before_it_is_on_the_disk(&btrfs());
        is_seen_before_it_is_on_the_disk(&xfs());
    }

    /// Holes, reserved room and zeros in all places, partly shared, and everything the other way round.
    fn zoo(volume: &Volume) -> Tree {
        let content = noise(7, 1 << 20);
        let mut with_zeros = content.clone();
        with_zeros[200_000..600_000].fill(0);
        let (low, high) = (&with_zeros[..200_000], &with_zeros[600_000..]);
        let tree = Tree::inside(&volume.path())
            .file("whole", &content)
            .file("zeros", &with_zeros)
            .sparse("hole", 1 << 20, &[(0, low), (600_000, high)])
            .sparse(
                "elsewhere",
                1 << 20,
                &[(0, high), (800_000, &low[..100_000])],
            )
            .sparse("empty", 1 << 20, &[])
            .sparse("another", 1 << 20, &[])
            .file("small", noise(9, 3000))
            .file("odd", noise(9, 300_001));
        sh(&format!(
            "cd {} && fallocate -l 1048576 reserved && fallocate -l 1048576 reserved2 \
             && fallocate -l 5000000 long && truncate -s 1048576 long \
             && fallocate -n -l 4000000 odd",
            tree.root().display()
        ));
        for name in [
            "whole",
            "zeros",
            "hole",
            "elsewhere",
            "empty",
            "reserved",
            "small",
            "odd",
        ] {
            clone(&tree, name, &format!("clones/{name}"));
            clone(&tree, name, &format!("changed/{name}"));
        }
        for name in ["whole", "hole", "zeros", "empty", "reserved"] {
            patch(&tree, &format!("changed/{name}"), 400_000, b"island");
        }
        clone(&tree, "whole", "partly");
        patch(&tree, "partly", 500_000, &content[500_000..700_000]);
        clone(&tree, "whole", "punched");
        sh(&format!(
            "cd {} && fallocate -p -o 300000 -l 100000 punched && fallocate -z -o 0 -l 300000 changed/odd",
            tree.root().display()
        ));
        tree
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn is_told_apart_on_btrfs() {
        answers_are_right(&zoo(&btrfs()));
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn is_told_apart_on_btrfs_that_compresses() {
        let volume = btrfs();
        sh(&format!(
            "mount -o remount,compress-force=zstd {}",
            volume.path().display()
        ));
        let tree = zoo(&volume);
        let text = "what is written here compresses well. ".repeat(40_000);
        let tree = tree.file("text", &text);
        clone(&tree, "text", "text2");
        clone(&tree, "text", "text3");
        patch(&tree, "text3", 700_000, b"WHAT");
        answers_are_right(&tree);
    }

    /// Of compressed bytes the file system names the same position, whatever part of them is meant.
    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn is_told_apart_where_parts_of_compressed_blocks_are_cloned() {
        const HALF: usize = 64 << 10;
        let volume = btrfs();
        sh(&format!(
            "mount -o remount,compress-force=zstd {}",
            volume.path().display()
        ));
        let half = "what is written here compresses well. ".repeat(HALF / 38 + 1);
        let half = &half.as_bytes()[..HALF];
        let mut other = half.to_vec();
        other[30_000] = b'!';
        let whole: Vec<u8> = (0..4).flat_map(|_| [half, &other].concat()).collect();
        let tree = Tree::inside(&volume.path()).file("whole", whole);
        write_back(&volume.path());
        for (part, name) in ["one", "two"].into_iter().enumerate() {
            for i in 0..4 {
                sh(&format!(
                    "cd {} && xfs_io -fc 'reflink whole {} {} {HALF}' {name}",
                    tree.root().display(),
                    (2 * i + part) * HALF,
                    i * HALF,
                ));
            }
        }
        write_back(&volume.path());
        answers_are_right(&tree);
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn is_told_apart_on_xfs() {
        answers_are_right(&zoo(&xfs()));
    }

    /// The same positions on two file systems are two places.
    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn is_told_apart_on_two_file_systems_with_the_same_positions() {
        let one = xfs();
        let tree = Tree::inside(&one.path()).file("x/1", noise(1, LENGTH));
        clone(&tree, "x/1", "x/2");
        one.unmount();
        let folder = tempfile::tempdir().expect("a folder");
        let image = folder.path().join("image");
        fs::copy(one.image(), &image).expect("copied");
        one.mount();
        let other = folder.path().join("other");
        fs::create_dir(&other).expect("made");
        sh(&format!(
            "mount -o loop,nouuid {} {}",
            image.display(),
            other.display()
        ));
        let name = tree.root().strip_prefix(one.path()).expect("inside");
        let twin = other.join(name);
        let (first, second) = (twin.join("x/1"), twin.join("x/2"));
        fs::remove_file(&second).expect("removed");
        // Nobody else's any more, so this is written in place.
        let changed = File::options().write(true).open(&first);
        let changed = changed.expect("writable");
        changed
            .write_all_at(b"changed", 4_000_000)
            .expect("written");
        sh(&format!(
            "cp --reflink=always {} {}",
            first.display(),
            second.display()
        ));
        let run = seekless(tree.root(), "find -f json x").arg(twin.join("x"));
        let run = run.run();
        sh(&format!("umount -l {}", other.display()));
        let sets = run.exits(0).file_sets();
        let sizes: Vec<usize> = sets.iter().map(|set| set.len()).collect();
        assert_eq!(sizes, [2, 2], "each has its own content: {sets:?}");
    }
}

mod in_motion {
    use super::*;

    /// Moves all data of a btrfs to other places, again and again, until it is dropped.
    struct Moving(std::process::Child);

    impl Moving {
        fn all_of(volume: &Volume) -> Self {
            let path = volume.path().display().to_string();
            let line = format!("while btrfs balance start --full-balance {path}; do :; done");
            let child = Command::new("sh").args(["-c", &line]).spawn();
            Self(child.expect("sh is there"))
        }
    }

    impl Drop for Moving {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn what_lies_elsewhere_from_moment_to_moment_is_right_all_the_same() {
        let volume = btrfs();
        let mut tree = Tree::inside(&volume.path());
        for i in 0..20 {
            let mut content = noise(1, 1 << 20);
            content[500_000] = i / 4;
            tree = tree.file(format!("{i}"), content);
        }
        for i in 0..20 {
            clone(&tree, &format!("{i}"), &format!("clones/{i}"));
        }
        let expected = Question {
            roots: vec![".".to_owned()],
            ..Question::default()
        };
        let expected = expected.answer(tree.root());
        let moving = Moving::all_of(&volume);
        for round in 0..24 {
            let options = ["--digest when-needed", "--digest always"][round % 2];
            if round % 3 == 0 {
                cool_down(tree.root());
            }
            let run = find(&tree, options).run().exits(0);
            assert_eq!(run.file_sets(), expected, "{run}");
        }
        drop(moving);
        let path = volume.path().display().to_string();
        let _ = Command::new("btrfs")
            .args(["balance", "cancel", &path])
            .output();
    }

    /// A clone that is written to during runs is reported as it was, or as changed, or not at all.
    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn a_clone_that_is_written_to_is_never_taken_for_what_it_was() {
        for volume in [btrfs(), xfs()] {
            let tree = Tree::inside(&volume.path()).file("one", noise(1, LENGTH));
            for round in 0..12 {
                let name = format!("{round}");
                clone(&tree, "one", &name);
                tree.tick();
                let run = find(&tree, "--digest when-needed");
                let run = thread::scope(|scope| {
                    let run = scope.spawn(|| run.run());
                    thread::sleep(std::time::Duration::from_millis(round));
                    patch(&tree, &name, 4_000_000, b"changed");
                    run.join().expect("it ran")
                });
                let sets = run.json()["sets"].clone();
                match run.code() {
                    0 => {}
                    _ => assert!(sets.as_array().is_some_and(Vec::is_empty), "{run}"),
                }
                // From now on it is another one.
                find(&tree, "").run().exits(0).finds_files([]);
                fs::remove_file(tree.path(&name)).expect("removed");
            }
        }
    }
}
