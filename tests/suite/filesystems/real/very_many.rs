//! Very many files, and very long ones.

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
    assert_eq!(run.sets(), crate::common::sets(["1 2 3"]), "{run}");
}
