//! The binary on real file systems of every kind, on broken ones, and on very large folders.
//!
//! `cargo test --test filesystems -- --ignored` as root runs all of it.

mod common;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::Command;

use common::oracle::Question;
use common::run::Seekless;
use common::volume::{ControlGroup, Mounted, SpinningDisk, Volume, sh};
use common::{Run, Tree, noise, seekless};

fn find(folder: &Path, arguments: &str) -> Run {
    seekless(folder, &format!("find -f nul {arguments}")).run()
}

fn reclaimable(folder: &Path, roots: &str) -> u64 {
    let run = seekless(folder, &format!("find -f json {roots}"))
        .run()
        .exits(0);
    let total = &run.json()["summary"]["reclaimable"];
    total
        .as_u64()
        .unwrap_or_else(|| panic!("no number: {total}\n{run}"))
}

/// A tree with files of many sizes, copies, near-copies, links and holes.
fn mixed(parent: &Path) -> Tree {
    let mut tree = Tree::inside(parent);
    for size in [1, 50, 4095, 4096, 4097, 65_536, 65_537, 1 << 20, 5_000_000] {
        let content = noise(size as u64, size);
        let mut near = content.clone();
        near[size - 1] ^= 1;
        tree = tree
            .file(format!("x/{size}"), &content)
            .file(format!("y/deep/{size}"), &content)
            .file(format!("y/near/{size}"), &near)
            .hard_link(format!("y/linked/{size}"), format!("x/{size}"));
    }
    tree.sparse("x/hole", 3_000_000, &[(1_500_000, b"island")])
        .sparse("y/hole", 3_000_000, &[(1_500_000, b"island")])
        .copies(["x/empty", "y/empty"], "")
        .symlink("y/link", "../x")
}

/// Compares with the oracle under several options, with a cold and with a warm cache.
#[track_caller]
fn compares_like_the_oracle(parent: &Path, prepare: impl Fn(Seekless) -> Seekless) {
    let tree = mixed(parent);
    rustix::fs::sync();
    for cold in [true, false] {
        for (hard_links, verify) in [(false, false), (true, false), (false, true)] {
            if cold {
                let _ = fs::write("/proc/sys/vm/drop_caches", "3");
            }
            let question = Question {
                roots: vec!["x".to_owned(), "y".to_owned()],
                hard_links,
                neutral: verify.then(|| "--verify".to_owned()).into_iter().collect(),
                ..Question::default()
            };
            let arguments = question.arguments();
            let run = seekless(tree.root(), &format!("{arguments} -f json"));
            let run = prepare(run).run().exits(0);
            let expected = question.answer(tree.root());
            assert_eq!(run.file_sets(), expected, "{arguments}\n{run}");
        }
    }
}

#[track_caller]
fn finds_what_comparing_every_pair_finds(parent: &Path) {
    compares_like_the_oracle(parent, |run| run);
}

mod kinds {
    use super::*;

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn sets_are_right_on_ext4() {
        finds_what_comparing_every_pair_finds(&Volume::on_loop("ext4", 200, "").path());
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn sets_are_right_on_ext4_with_inline_data() {
        let volume = Volume::on_loop("ext4", 200, "-O inline_data -I 1024");
        finds_what_comparing_every_pair_finds(&volume.path());
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn sets_are_right_on_xfs() {
        finds_what_comparing_every_pair_finds(&Volume::on_loop("xfs", 400, "").path());
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn sets_are_right_on_btrfs() {
        finds_what_comparing_every_pair_finds(&Volume::on_loop("btrfs", 400, "").path());
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn sets_are_right_on_compressed_btrfs() {
        let volume = Volume::on_loop("btrfs", 400, "");
        sh(&format!(
            "mount -o remount,compress-force=zstd {}",
            volume.path().display()
        ));
        let tree = Tree::inside(&volume.path())
            .copies(["1", "2"], vec![b'a'; 2_000_000])
            .file("3", vec![b'b'; 2_000_000]);
        rustix::fs::sync();
        find(tree.root(), ".").exits(0).finds(["1 2"]);
        finds_what_comparing_every_pair_finds(&volume.path());
    }

    #[test]
    #[ignore = "needs root: mounts file systems"]
    fn sets_are_right_on_tmpfs() {
        finds_what_comparing_every_pair_finds(&Volume::tmpfs("").path());
    }

    #[test]
    #[ignore = "needs root: mounts file systems"]
    fn sets_are_right_on_overlayfs() {
        let volume = Volume::tmpfs("");
        for folder in ["lower", "upper", "work", "merged"] {
            fs::create_dir(volume.path().join(folder)).expect("a folder");
        }
        let lower = Tree::inside(&volume.path().join("lower"))
            .copies(["x/1", "x/2", "x/gone"], "same")
            .file("x/changed", "same");
        let name = lower.root().file_name().expect("a name").to_owned();
        let path = |folder: &str| volume.path().join(folder).display().to_string();
        let options = format!(
            "-t overlay overlay -o lowerdir={},upperdir={},workdir={}",
            path("lower"),
            path("upper"),
            path("work")
        );
        let merged = Mounted::new(&options, volume.path().join("merged"));
        let above = volume.path().join("merged").join(name);
        fs::remove_file(above.join("x/gone")).expect("removed");
        fs::write(above.join("x/changed"), "else").expect("written");
        fs::write(above.join("x/new"), "same").expect("written");
        find(&above, "x").exits(0).finds(["x/1 x/2 x/new"]);
        finds_what_comparing_every_pair_finds(&volume.path().join("merged"));
        drop(merged);
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn sets_are_right_on_a_spinning_disk() {
        let volume = Volume::on_loop("ext4", 200, "");
        let disk = SpinningDisk::under(&volume.path());
        let explained = seekless(&volume.path(), "find --explain .")
            .before(disk.show())
            .run()
            .exits(0);
        assert!(explained.stdout_text().contains("class hdd"), "{explained}");
        compares_like_the_oracle(&volume.path(), |run| run.before(disk.show()));
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn one_run_spans_several_file_systems() {
        let volumes = [
            Volume::on_loop("ext4", 100, ""),
            Volume::on_loop("xfs", 400, ""),
            Volume::on_loop("btrfs", 200, ""),
            Volume::tmpfs(""),
        ];
        for (number, volume) in volumes.iter().enumerate() {
            let write = |name: &str, content: &[u8]| {
                fs::write(volume.path().join(name), content).expect("written");
            };
            write("everywhere", &noise(1, 300_000));
            write("once", &noise(100 + number as u64, 300_000));
        }
        let mut command = seekless(Path::new("/"), "find -f nul --isolate");
        for volume in &volumes {
            command = command.arg(volume.path());
        }
        let sets = command.run().exits(0).sets();
        let sizes: Vec<usize> = sets.iter().map(BTreeSet::len).collect();
        assert_eq!(sizes, [4]);
    }
}

mod borders {
    use super::*;

    #[test]
    #[ignore = "needs root: mounts file systems"]
    fn d11_equal_inode_numbers_on_two_file_systems_are_two_files() {
        let (x, y) = (Volume::tmpfs(""), Volume::tmpfs(""));
        for volume in [&x, &y] {
            fs::write(volume.path().join("same"), "same content").expect("written");
        }
        fs::write(x.path().join("differs"), "one content").expect("written");
        fs::write(y.path().join("differs"), "two content").expect("written");
        for name in ["same", "differs"] {
            let inode =
                |volume: &Volume| fs::metadata(volume.path().join(name)).expect("there").ino();
            assert_eq!(inode(&x), inode(&y), "the stage is set");
        }
        for options in ["", "-H", "-I"] {
            let run = seekless(Path::new("/"), &format!("find -f nul {options}"))
                .arg(x.path())
                .arg(y.path())
                .run()
                .exits(0);
            let sets = run.sets();
            let sizes: Vec<usize> = sets.iter().map(BTreeSet::len).collect();
            assert_eq!(sizes, [2], "{run}");
            assert!(
                sets.iter().flatten().all(|name| name.ends_with(b"same")),
                "{run}"
            );
        }
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn equal_inode_numbers_in_two_subvolumes_are_two_files() {
        let volume = Volume::on_loop("btrfs", 200, "");
        for name in ["x", "y"] {
            let path = volume.path().join(name);
            sh(&format!("btrfs -q subvolume create {}", path.display()));
            fs::write(path.join("same"), "same content").expect("written");
        }
        find(&volume.path(), "x y")
            .exits(0)
            .finds(["x/same y/same"]);
        find(&volume.path(), "-x .").exits(0).finds([]);
    }

    #[test]
    #[ignore = "needs root: mounts file systems"]
    fn other_file_systems_are_entered_unless_told_to_stay() {
        let tree = Tree::new()
            .copies(["x/1", "x/2"], "same")
            .folder("x/mounted");
        let mounted = Mounted::new("-t tmpfs tmpfs", tree.path("x/mounted"));
        tree.write("x/mounted/3", "same");
        find(tree.root(), "x")
            .exits(0)
            .finds(["x/1 x/2 x/mounted/3"]);
        find(tree.root(), "-x x").exits(0).finds(["x/1 x/2"]);
        find(tree.root(), "-x x x/mounted")
            .exits(0)
            .finds(["x/1 x/2 x/mounted/3"]);
        let run = seekless(tree.root(), "find -f json -x x").run().exits(0);
        assert_eq!(
            run.json()["summary"]["left_out"]["other_file_system"],
            1,
            "{run}"
        );
        drop(mounted);
    }

    #[test]
    #[ignore = "needs root: mounts file systems"]
    fn pseudo_file_systems_on_the_way_are_left_out_and_counted() {
        let tree = Tree::new()
            .copies(["x/1", "x/2"], "same")
            .folder("x/proc")
            .folder("x/sys");
        let proc = Mounted::new("-t proc proc", tree.path("x/proc"));
        let sys = Mounted::new("-t sysfs sysfs", tree.path("x/sys"));
        find(tree.root(), "x").exits(0).finds(["x/1 x/2"]);
        let run = seekless(tree.root(), "find -f json x").run().exits(0);
        assert_eq!(
            run.json()["summary"]["left_out"]["pseudo_file_system"],
            2,
            "{run}"
        );
        drop((proc, sys));
    }

    #[test]
    #[ignore = "needs root: mounts file systems"]
    fn a_folder_bound_to_a_second_place_holds_no_duplicates() {
        let tree = Tree::new()
            .file("x/1", "once")
            .file("x/deep/2", "once more")
            .folder("y");
        let bound = Mounted::new(
            &format!("--bind {}", tree.path("x").display()),
            tree.path("y"),
        );
        for options in ["", "-H", "-I", "-I -H", "-L"] {
            find(tree.root(), &format!("{options} x y"))
                .exits(0)
                .finds([]);
        }
        drop(bound);
    }

    #[test]
    #[ignore = "needs root: mounts file systems"]
    fn a_full_disk_under_a_report_is_named_and_nothing_is_left_behind() {
        let tree = (0..2000).fold(Tree::new(), |tree, i| {
            tree.copies(
                [&format!("x/{i}"), &format!("y/{i}")],
                format!("content {i}"),
            )
        });
        let full = Volume::tmpfs(",size=64k");
        let report = full.path().join("report");
        fs::write(&report, "earlier").expect("written");
        let run = seekless(tree.root(), "find -f json x y -o")
            .arg(&report)
            .run();
        assert_ne!(run.code(), 0, "{run}");
        let run = run.says("report").says("No space left");
        assert_eq!(fs::read(&report).expect("still there"), b"earlier", "{run}");
        assert_eq!(
            fs::read_dir(full.path()).expect("listable").count(),
            1,
            "{run}"
        );
    }

    #[test]
    #[ignore = "needs root: mounts file systems"]
    fn seventy_thousand_links_are_counted() {
        let volume = Volume::tmpfs("");
        let tree = Tree::inside(&volume.path()).copies(["x/0", "y"], "same");
        for i in 1..70_000 {
            fs::hard_link(tree.path("x/0"), tree.path(format!("x/{i}"))).expect("a link");
        }
        let run = seekless(tree.root(), "find -f json x y").run().exits(0);
        let links: BTreeSet<u64> = run.json()["sets"][0]["members"]
            .as_array()
            .expect("members")
            .iter()
            .map(|member| member["links"].as_u64().expect("a number"))
            .collect();
        assert_eq!(links, [1, 70_000].into());
    }
}

mod sharing {
    use super::*;

    const LENGTH: usize = 8 << 20;

    fn counts_shared_extents_once(volume: &Volume) {
        let tree = Tree::inside(&volume.path()).file("x/1", noise(1, LENGTH));
        let path = |name: &str| tree.path(name).display().to_string();
        let clone = |from: &str, to: &str| {
            fs::create_dir_all(tree.path(to).parent().expect("a folder")).expect("made");
            sh(&format!("cp --reflink=always {} {}", path(from), path(to)));
        };
        clone("x/1", "x/2");
        clone("x/1", "x/3");
        rustix::fs::sync();
        find(tree.root(), "x").exits(0).finds(["x/1 x/2 x/3"]);
        assert_eq!(reclaimable(tree.root(), "x"), 0);
        tree.write("y/4", noise(1, LENGTH));
        rustix::fs::sync();
        assert_eq!(reclaimable(tree.root(), "x y"), LENGTH as u64);
        clone("y/4", "y/5");
        rustix::fs::sync();
        // Two times two clones: one of the two contents on disk can go.
        assert_eq!(reclaimable(tree.root(), "x y"), LENGTH as u64);
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn clones_on_btrfs_free_nothing() {
        counts_shared_extents_once(&Volume::on_loop("btrfs", 400, ""));
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn clones_on_xfs_free_nothing() {
        counts_shared_extents_once(&Volume::on_loop("xfs", 400, "-m reflink=1"));
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn a_snapshot_frees_nothing() {
        let volume = Volume::on_loop("btrfs", 400, "");
        let path = volume.path().display().to_string();
        sh(&format!("btrfs -q subvolume create {path}/now"));
        for i in 0..10 {
            fs::write(volume.path().join(format!("now/{i}")), noise(i, 500_000)).expect("written");
        }
        rustix::fs::sync();
        sh(&format!(
            "btrfs -q subvolume snapshot -r {path}/now {path}/then"
        ));
        rustix::fs::sync();
        assert_eq!(find(&volume.path(), ".").exits(0).sets().len(), 10);
        assert_eq!(reclaimable(&volume.path(), "."), 0);
    }
}

mod broken_disks {
    use super::*;

    /// Changes the place of the image that holds these bytes: the file system's checksum for them
    /// does not fit any more, and reading them is an input/output error.
    fn damage(image: &Path, bytes: &[u8]) {
        let content = fs::read(image).expect("the image can be read");
        let at = content
            .windows(bytes.len())
            .position(|window| window == bytes);
        let at = at.expect("the content is in the image") as u64;
        let file = File::options().write(true).open(image).expect("writable");
        file.write_all_at(&[!bytes[0]], at).expect("written");
    }

    /// Three files of one content, of which one cannot be read at this place.
    fn one_of_three_is_damaged(length: usize, at: usize) {
        let volume = Volume::on_loop("btrfs", 256, "-d single -m single");
        let content = noise(1, length);
        for name in ["1", "2", "3"] {
            fs::write(volume.path().join(name), &content).expect("written");
        }
        fs::write(volume.path().join("other"), noise(2, length)).expect("written");
        volume.unmount();
        damage(&volume.image(), &content[at..at + 64]);
        volume.mount();
        let readable = |name: &&str| fs::read(volume.path().join(name)).is_ok();
        let (whole, broken): (Vec<_>, Vec<_>) = ["1", "2", "3"].into_iter().partition(readable);
        assert_eq!(broken.len(), 1, "the stage is set");
        for options in ["", "--verify", "--threads 1", "--threads hdd"] {
            volume.unmount();
            volume.mount();
            find(&volume.path(), &format!("{options} ."))
                .exits(1)
                .says(broken[0])
                .finds([&whole.join(" ")]);
        }
        let run = find(&volume.path(), "--unique .").exits(1).says(broken[0]);
        assert!(!run.sets().contains(&[broken[0].into()].into()), "{run}");
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn d03_an_error_in_the_middle_of_a_file_is_named_and_never_a_match() {
        one_of_three_is_damaged(8 << 20, 4 << 20);
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn an_error_at_the_beginning_of_a_file_is_named_and_never_a_match() {
        one_of_three_is_damaged(1 << 20, 0);
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn an_error_at_the_end_of_a_file_is_named_and_never_a_match() {
        one_of_three_is_damaged(1 << 20, (1 << 20) - 64);
    }

    /// Where seeks are dear, files are read on before anybody knows that they must be.
    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn an_error_where_nothing_had_to_be_read_is_none() {
        let volume = Volume::on_loop("btrfs", 256, "-d single -m single");
        for (seed, name) in [(1, "1"), (2, "2")] {
            fs::write(volume.path().join(name), noise(seed, 1 << 20)).expect("written");
        }
        volume.unmount();
        damage(&volume.image(), &noise(1, 1 << 20)[1 << 19..][..64]);
        volume.mount();
        find(&volume.path(), "--threads hdd .").exits(0).finds([]);
        let unreadable = fs::read(volume.path().join("1"));
        assert!(unreadable.is_err(), "the stage is set");
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn d01_two_damaged_files_are_not_duplicates_of_each_other() {
        let volume = Volume::on_loop("btrfs", 256, "-d single -m single");
        let contents = [noise(1, 1 << 20), noise(2, 1 << 20)];
        let mut same_head = contents[1].clone();
        same_head[..500_000].copy_from_slice(&contents[0][..500_000]);
        fs::write(volume.path().join("1"), &contents[0]).expect("written");
        fs::write(volume.path().join("2"), &same_head).expect("written");
        volume.unmount();
        damage(&volume.image(), &contents[0][700_000..700_064]);
        damage(&volume.image(), &same_head[700_000..700_064]);
        volume.mount();
        find(&volume.path(), ".").finds([]);
    }

    #[test]
    #[ignore = "needs root: mounts loop devices"]
    fn a_folder_and_a_file_with_broken_metadata_are_named() {
        let volume = Volume::on_loop("ext4", 64, "");
        for name in ["x", "broken-folder"] {
            fs::create_dir(volume.path().join(name)).expect("a folder");
        }
        for name in ["x/1", "x/2", "x/broken-file", "broken-folder/3"] {
            fs::write(volume.path().join(name), "same").expect("written");
        }
        volume.unmount();
        for name in ["/broken-folder", "/x/broken-file"] {
            sh(&format!(
                "debugfs -w -R 'clri {name}' {}",
                volume.image().display()
            ));
        }
        volume.mount();
        find(&volume.path(), ".")
            .exits(1)
            .says("broken-folder")
            .says("broken-file")
            .finds(["x/1 x/2"]);
    }
}

mod very_many {
    use super::*;

    /// Room for a million small files without a gigabyte of slack.
    fn large_volume() -> Volume {
        let options = "-b 4096 -I 256 -N 1200000 -O inline_data,^has_journal";
        Volume::on_loop("ext4", 1500, options)
    }

    #[test]
    #[ignore = "needs root: mounts loop devices, limits memory"]
    fn a_million_files_in_one_folder_fit_into_512_mebibytes() {
        const PAIRS: usize = 500_000;
        let volume = large_volume();
        let folder = volume.path().join("flat");
        fs::create_dir(&folder).expect("a folder");
        for i in 0..2 * PAIRS {
            fs::write(folder.join(i.to_string()), (i % PAIRS).to_string()).expect("a file");
        }
        let limit = ControlGroup::with_memory(512 << 20);
        let run = seekless(&volume.path(), "find -f nul flat")
            .before(limit.enter())
            .run()
            .exits(0);
        let sets = run.sets();
        assert_eq!(sets.len(), PAIRS);
        for i in 0..PAIRS {
            let pair = [i, i + PAIRS].map(|i| format!("flat/{i}").into_bytes());
            assert!(sets.contains(&pair.into()), "pair {i} is missing");
        }
    }

    #[test]
    #[ignore = "needs root: mounts loop devices, limits memory"]
    fn a_set_of_a_hundred_thousand_members_is_one_set() {
        const MEMBERS: usize = 100_000;
        let volume = Volume::on_loop("ext4", 600, "-b 1024 -N 200000 -O ^has_journal");
        let folder = volume.path().join("flat");
        fs::create_dir(&folder).expect("a folder");
        for i in 0..MEMBERS {
            fs::write(folder.join(i.to_string()), "the same everywhere").expect("a file");
        }
        let limit = ControlGroup::with_memory(512 << 20);
        for options in ["", "--verify"] {
            let run = seekless(&volume.path(), &format!("find -f nul {options} flat"))
                .before(limit.enter())
                .descriptors(64)
                .run()
                .exits(0);
            let sizes: Vec<usize> = run.sets().iter().map(BTreeSet::len).collect();
            assert_eq!(sizes, [MEMBERS], "{options}");
        }
    }

    #[test]
    #[ignore = "needs root: mounts loop devices, limits memory"]
    fn large_files_fit_into_little_memory() {
        let volume = Volume::on_loop("ext4", 2000, "");
        let content = noise(1, 1 << 20);
        for name in ["1", "2", "3"] {
            let file = File::create(volume.path().join(name)).expect("a file");
            for block in 0..400_u64 {
                file.write_all_at(&content, block << 20).expect("written");
            }
        }
        let limit = ControlGroup::with_memory(64 << 20);
        let run = seekless(&volume.path(), "find -f nul --verify .")
            .before(limit.enter())
            .run()
            .exits(0);
        assert_eq!(run.sets(), common::sets(["1 2 3"]), "{run}");
    }
}

/// A file system in the page cache of a disk that is said to spin, with files of equal content in
/// folders that lie far apart.
#[test]
#[ignore = "needs root: mounts loop devices"]
fn a_flag_that_lies_is_found_out() {
    let volume = Volume::on_loop("ext4", 4096, "-O ^flex_bg");
    for folder in 0..24 {
        let folder = volume.path().join(folder.to_string());
        fs::create_dir(&folder).expect("made");
        for file in 0..8 {
            fs::write(folder.join(file.to_string()), noise(file, 40_000)).expect("written");
        }
    }
    let expected = find(&volume.path(), ".").exits(0).sets();
    let told = "read like solid state from now on";
    let run = |options: &str| {
        volume.unmount();
        volume.mount();
        let disk = SpinningDisk::under(&volume.path());
        let run = seekless(&volume.path(), &format!("find -f nul -v {options} ."));
        let run = run.before(disk.show()).run().exits(0);
        assert_eq!(run.sets(), expected, "{run}");
        run
    };
    // Where the machine is busy with other things, even memory may take its time.
    let found_out = (0..20).any(|_| run("").stderr_text().contains(told));
    assert!(found_out, "never taken for what it is");
    run("--threads hdd").never_says(told);
}

/// Solid state that is kept busy for a second answers like a disk with a head, and is taken for one until a
/// lone read shows better.
#[test]
#[ignore = "needs root: mounts loop devices, limits reads"]
fn what_is_slow_for_a_moment_only_is_not_taken_for_a_disk_with_a_head() {
    let volume = Volume::on_loop("ext4", 4096, "-O ^flex_bg");
    for folder in 0..24 {
        let folder = volume.path().join(folder.to_string());
        fs::create_dir(&folder).expect("made");
        for file in 0..30 {
            fs::write(folder.join(file.to_string()), noise(file, 40_000)).expect("written");
        }
    }
    let expected = find(&volume.path(), ".").exits(0).sets();
    let folder = tempfile::tempdir().expect("a folder");
    let (head, none) = ("read like a spinning disk", "read like solid state");
    // Where the machine is busy with other things, even memory may take its time.
    let found_out = (0..20).any(|_| {
        volume.unmount();
        volume.mount();
        let group = ControlGroup::with_reads(120, &volume.path());
        let answer = folder.path().join("answer");
        let mut child = seekless(&volume.path(), "find -f nul -v .")
            .before(group.enter())
            .stdout(fs::File::create(&answer).expect("a file"))
            .spawn();
        let mut told = Vec::new();
        for line in BufReader::new(child.stderr.take().expect("a pipe")).lines() {
            told.push(line.expect("text"));
            if told.last().is_some_and(|line| line.contains(head)) {
                group.allow_reads(None, &volume.path());
            }
        }
        let says = |what: &str| told.iter().any(|line| line.contains(what));
        assert!(child.wait().expect("a child").success());
        let answer = fs::read(&answer).expect("an answer");
        assert_eq!(common::run::parse_bare(&answer, 0), expected);
        assert!(says(head), "never taken for a disk with a head: {told:?}");
        says(none)
    });
    assert!(found_out, "taken for a disk with a head to the end");
}

mod little_memory {
    use super::*;

    /// So many reads in flight as these options ask for would take 170 MB.
    #[test]
    #[ignore = "needs root: limits memory"]
    fn is_enough_for_a_run_that_is_told_so() {
        let parent = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let mut tree = Tree::inside(parent.path());
        for i in 0..2000 {
            tree = tree.file(
                format!("small/{}", i % 1000 * 2 + i / 1000),
                noise(i % 1000, 20_000),
            );
        }
        for i in 0..24 {
            tree = tree.file(format!("large/{i}"), noise(i % 12, 8 << 20));
        }
        rustix::fs::sync();
        for memory in ["8MiB", "32MiB"] {
            let _ = fs::write("/proc/sys/vm/drop_caches", "3");
            // What is in flight, the program and its tables.
            let limit =
                ControlGroup::with_memory(if memory == "8MiB" { 28 << 20 } else { 52 << 20 });
            let run = seekless(
                tree.root(),
                &format!("find -f nul --threads 16,8 --depth-random 256 --memory {memory} ."),
            )
            .before(limit.enter())
            .run()
            .exits(0);
            assert_eq!(run.sets().len(), 1012, "{memory}");
        }
    }

    #[test]
    fn is_said_by_explain_and_too_little_is_refused() {
        let tree = Tree::new().file("x", "1");
        let explained = |options: &str| {
            let run = seekless(tree.root(), &format!("find --explain {options} ."));
            run.run().exits(0).stdout_text()
        };
        let told = explained("--memory 8MiB --threads 4,4 --depth-random 64");
        assert!(
            told.contains("at most 8.4 MB (as told by --memory)"),
            "{told}"
        );
        assert!(
            told.contains("less, so that it fits into the memory"),
            "{told}"
        );
        let not_told = explained("");
        assert!(not_told.contains("1/32 of the memory"), "{not_told}");
        let run = seekless(tree.root(), "find --memory 1M .").run().exits(2);
        run.says("--memory 1.0 MB is too little");
    }
}

#[test]
#[ignore = "needs root, loop devices and mkfs.ext4"]
fn it_is_told_what_it_costs_that_files_lie_in_pieces() {
    let volume = Volume::on_loop("ext4", 64, "");
    let tree = Tree::inside(&volume.path());
    let piece = noise(1, 256 << 10);
    let [a, b] = ["a", "b"].map(|name| File::create(tree.path(name)).expect("a file"));
    for i in 0..8 {
        for file in [&a, &b] {
            file.write_all_at(&piece, i << 18).expect("written");
            file.sync_all().expect("written out");
        }
    }
    drop((a, b));
    let contents = piece.repeat(8);
    let tree = tree.copies(["c", "d"], &contents[1..]);
    volume.unmount();
    volume.mount();
    let ran = seekless(tree.root(), "find -v --threads hdd .").run();
    let said = ran.exits(0).stderr_text();
    let told = said.lines().find(|line| line.contains("lay in"));
    let told = told.unwrap_or_else(|| panic!("{said}"));
    let pieces = filefrag(&tree, "a") + filefrag(&tree, "b");
    let lay = format!("2 of 4 files read as a whole lay in {pieces} pieces");
    assert!(told.contains(&lay), "{told}");
    let seeks = pieces - 2;
    let cost = format!("{seeks} more seeks of 8.0 ms, {:.2} s", seeks as f64 * 8e-3);
    assert!(seeks > 0 && told.ends_with(&cost), "{told}");
}

/// Extents of a file as e2fsprogs counts them.
fn filefrag(tree: &Tree, name: &str) -> usize {
    let output = Command::new("filefrag").arg(tree.path(name)).output();
    let said = output.expect("filefrag is there").stdout;
    let said = String::from_utf8_lossy(&said);
    let words: Vec<&str> = said.split_whitespace().collect();
    let [.., number, _, "found"] = words[..] else {
        panic!("{said}");
    };
    number.parse().expect("a number")
}
