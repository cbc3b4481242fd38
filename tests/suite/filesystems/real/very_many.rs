//! Very many files, and very long ones.

use super::*;

/// Finds `pairs` pairs of equal files in one folder, within this memory.
fn flat_pairs(pairs: usize, memory: u64) {
    let inodes = 2 * pairs + 10_000;
    let options = format!("-b 4096 -I 256 -N {inodes} -O inline_data,^has_journal");
    let volume = Volume::on_loop("ext4", 100 + pairs as u64 / 350, &options);
    let folder = volume.path().join("flat");
    fs::create_dir(&folder).expect("a folder");
    for i in 0..2 * pairs {
        crate::common::write(folder.join(i.to_string()), (i % pairs).to_string()).expect("a file");
    }
    let limit = ControlGroup::with_memory(memory);
    let run = seekless(&volume.path(), "find -f nul flat")
        .before(limit.enter())
        .run()
        .exits(0);
    let sets = run.sets();
    assert_eq!(sets.len(), pairs);
    for i in 0..pairs {
        let pair = [i, i + pairs].map(|i| format!("flat/{i}").into_bytes());
        assert!(sets.contains(&pair.into()), "pair {i} is missing");
    }
}

#[test]
#[ignore = "needs root: mounts loop devices, limits memory"]
fn a_hundred_thousand_files_in_one_folder_fit_into_64_mebibytes() {
    flat_pairs(50_000, 64 << 20);
}

#[test]
#[ignore = "takes minutes, needs root: mounts loop devices, limits memory"]
fn in_full_a_million_files_in_one_folder_fit_into_512_mebibytes() {
    flat_pairs(500_000, 512 << 20);
}

/// Finds one set of so many members, with few descriptors and within 512 MiB.
fn one_set(members: usize) {
    let volume = Volume::on_loop("ext4", 600, "-b 1024 -N 200000 -O ^has_journal");
    let folder = volume.path().join("flat");
    fs::create_dir(&folder).expect("a folder");
    for i in 0..members {
        crate::common::write(folder.join(i.to_string()), "the same everywhere").expect("a file");
    }
    let limit = ControlGroup::with_memory(512 << 20);
    for options in ["", "--verify"] {
        let run = seekless(&volume.path(), &format!("find -f nul {options} flat"))
            .before(limit.enter())
            .descriptors(64)
            .run()
            .exits(0);
        let sizes: Vec<usize> = run.sets().iter().map(BTreeSet::len).collect();
        assert_eq!(sizes, [members], "{options}");
    }
}

#[test]
#[ignore = "needs root: mounts loop devices, limits memory"]
fn a_set_of_twenty_thousand_members_is_one_set() {
    one_set(20_000);
}

#[test]
#[ignore = "takes minutes, needs root: mounts loop devices, limits memory"]
fn in_full_a_set_of_a_hundred_thousand_members_is_one_set() {
    one_set(100_000);
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
    assert_eq!(run.sets(), crate::common::sets(["1 2 3"]), "{run}");
}
