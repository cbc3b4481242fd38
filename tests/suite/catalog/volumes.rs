//! A disk is known again by its UUID, wherever it is mounted.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use seekless::catalog::wanted;

use super::entries;
use crate::common::volume::{Mounted, Volume, sh};
use crate::common::{Tree, noise, seekless};

#[test]
#[ignore = "needs root and loop devices"]
fn a_disk_has_one_name_and_its_files_one_path_wherever_it_is_mounted() {
    let tree = Tree::new().folder("elsewhere");
    for kind in ["ext4", "xfs", "btrfs"] {
        let volume = Volume::on_loop(kind, 320, "");
        let uuid = volume_uuid(&volume);
        fs::create_dir(volume.path().join("photos")).expect("made");
        fs::write(volume.path().join("photos/a"), "1").expect("written");
        let seen = catalog_of(&tree, &volume.path());
        volume.unmount();
        let elsewhere = tree.path("elsewhere");
        sh(&format!(
            "mount -o loop,ro {} {}",
            volume.image().display(),
            elsewhere.display()
        ));
        let again = catalog_of(&tree, &elsewhere);
        sh(&format!("umount {}", elsewhere.display()));
        assert_eq!(seen, again, "{kind}");
        let file = &seen[&b"/photos/a"[..]];
        assert_eq!(file.volume.as_deref(), Some(&uuid[..]), "{kind}");
    }
}

/// Three disks with photos in common, each with one of its own and one that differs in the middle.
fn fill(disk: usize, top: &Path) {
    let write = |name: &str, content: &[u8]| {
        let path = top.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, content).expect("written");
    };
    for number in 0..12 {
        if number % 3 != disk {
            write(
                &format!("photos/{number}.jpg"),
                &noise(number as u64, 60_000 + 1000 * number),
            );
        }
    }
    let mut almost = noise(99, 80_000);
    almost[40_000] = disk as u8;
    write("photos/almost.jpg", &almost);
    write("photos/short.txt", b"the same on all");
    write(
        &format!("own/{disk}.jpg"),
        &noise(200 + disk as u64, 70_000),
    );
    fs::hard_link(
        top.join("photos/almost.jpg"),
        top.join("own/second name.jpg"),
    )
    .expect("linked");
}

/// The file systems of the three disks, which are also their names.
const KINDS: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// Three disks, with links to them in a folder.
fn three_disks() -> (Tree, [Volume; 3]) {
    let volumes = KINDS.map(|kind| Volume::on_loop(kind, 320, ""));
    let tree = Tree::new();
    for (disk, volume) in volumes.iter().enumerate() {
        symlink(volume.path(), tree.path(KINDS[disk])).expect("linked");
        fill(disk, &volume.path());
    }
    (tree, volumes)
}

#[test]
#[ignore = "needs root and loop devices"]
fn two_of_three_disks_are_in_a_drawer_and_the_answers_stay_the_same() {
    let (tree, volumes) = three_disks();
    let disk = str::to_owned;
    let catalog = |kind: &str| format!("{kind}.parquet");
    let answers = |paths: [String; 3]| {
        let [one, two, three] = &paths;
        let plain = |text: String| text.replace(".parquet", "");
        let run = |line: String| {
            let run = seekless(tree.root(), &line).run();
            (run.code(), plain(run.stdout_text()))
        };
        let (found, _) = sets(
            &tree,
            &format!("find --cache off -f json {}", paths.join(" ")),
        );
        let pairs = [(one, two), (two, three), (three, one)];
        let mut said: Vec<(i32, String)> = pairs
            .iter()
            .flat_map(|(a, b)| {
                [
                    format!("compare --same-disk {a} {b}"),
                    format!("compare --same-disk --one-way {a} {b}"),
                ]
            })
            .map(run)
            .collect();
        said.push(run(format!("folders {}", paths.join(" "))));
        (found, said)
    };
    let plugged = answers(KINDS.map(disk));
    assert_eq!(plugged.0.len(), 13, "{plugged:#?}");
    for kind in KINDS {
        let line = format!("catalog create --full --cache off -o {kind}.parquet {kind}/");
        seekless(tree.root(), &line).run().exits(0);
    }
    for here in KINDS {
        for (kind, volume) in KINDS
            .iter()
            .zip(&volumes)
            .filter(|(kind, _)| **kind != here)
        {
            volume.unmount();
            fs::remove_file(tree.path(kind)).expect("removed");
        }
        let path = |kind| {
            if kind == here {
                disk(kind)
            } else {
                catalog(kind)
            }
        };
        assert_eq!(
            answers(KINDS.map(path)),
            plugged,
            "only {here} is plugged in"
        );
        for (kind, volume) in KINDS
            .iter()
            .zip(&volumes)
            .filter(|(kind, _)| **kind != here)
        {
            volume.mount();
            symlink(volume.path(), tree.path(kind)).expect("linked");
        }
    }
}

/// The sets of a search, each as the sorted paths of its files, with those of catalogs as on the disks.
fn sets(tree: &Tree, line: &str) -> (Vec<String>, usize) {
    let document = seekless(tree.root(), line).run().exits(0).json();
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let path =
        |member: &serde_json::Value| member["path"]["text"].to_string().replace(".parquet", "");
    let set = |set: &serde_json::Value| {
        let mut files: Vec<String> = list(&set["members"]).iter().map(path).collect();
        files.sort();
        files.join(" ")
    };
    let mut sets: Vec<String> = list(&document["sets"]).iter().map(set).collect();
    sets.sort();
    (sets, list(&document["probable"]).len())
}

#[test]
#[ignore = "needs root and loop devices"]
fn what_is_probably_equal_is_settled_by_reading_only_what_is_wanted() {
    let (tree, volumes) = three_disks();
    let find = "find --cache off -f json";
    let (plugged, _) = sets(&tree, &format!("{find} ext4 xfs btrfs"));
    for (kind, volume) in KINDS.iter().zip(&volumes).skip(1) {
        let line = format!("catalog create --cache off -o {kind}.parquet {kind}");
        seekless(tree.root(), &line).run().exits(0);
        let [own, settled] =
            [format!("{kind}.parquet"), "c.parquet".to_owned()].map(|it| tree.path(it));
        fs::rename(&own, &settled).expect("moved");
        super::update::settle(&tree);
        fs::rename(&settled, &own).expect("moved");
        volume.unmount();
        fs::remove_file(tree.path(kind)).expect("removed");
    }
    let line = format!("{find} --wanted list ext4 xfs.parquet btrfs.parquet");
    let (sure, probable) = sets(&tree, &line);
    assert!(
        sure.len() < plugged.len() && probable > 0,
        "{sure:#?} {probable}"
    );
    let list = fs::read(tree.path("list")).expect("written");
    let mut named = Vec::new();
    wanted::read(&list[..], |entry| named.push(entry)).expect("a wanted list");
    for (kind, volume) in KINDS.iter().zip(&volumes).skip(1) {
        let uuid = volume_uuid(volume).into_bytes();
        let sizes = named
            .iter()
            .filter(|entry| entry.volume == uuid)
            .map(|entry| entry.size);
        let (files, bytes) = (sizes.clone().count() as u64, sizes.sum());
        assert!(files > 0, "{named:?}");
        let folder = tree.path(format!("elsewhere/{kind}"));
        fs::create_dir_all(&folder).expect("made");
        let _mounted = Mounted::new(&format!("-o loop {}", volume.image().display()), folder);
        let line = format!("catalog update --cache off {kind}.parquet --wanted list");
        let run = seekless(tree.root(), &line).run().exits(0);
        run.says(&super::update::read((files, bytes), (0, 0)));
    }
    let (settled, probable) = sets(&tree, &format!("{find} ext4 xfs.parquet btrfs.parquet"));
    assert_eq!((settled, probable), (plugged, 0));
}

fn catalog_of(tree: &Tree, disk: &Path) -> std::collections::BTreeMap<Vec<u8>, super::Entry> {
    // The disk of an earlier one is not mounted any more.
    let _ = std::fs::remove_file(tree.path("c.parquet"));
    let run = seekless(tree.root(), "catalog create --cache off -o c.parquet").arg(disk);
    run.run().exits(0);
    entries(&tree.path("c.parquet"))
}

fn volume_uuid(volume: &Volume) -> String {
    let output = std::process::Command::new("blkid")
        .args(["-o", "value", "-s", "UUID"])
        .arg(volume.image())
        .output();
    let output = output.expect("blkid is there");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_subvolume_that_is_mounted_is_not_a_disk_in_a_drawer() {
    let tree = Tree::new().folder("mounted");
    let volume = Volume::on_loop("btrfs", 320, "");
    let (top, mounted) = (volume.path(), tree.path("mounted"));
    sh(&format!(
        "btrfs -q subvolume create {}/photos",
        top.display()
    ));
    fs::write(top.join("photos/f"), noise(1, 5000)).expect("written");
    volume.unmount();
    let image = volume.image();
    let _mounted = Mounted::new(
        &format!("-o loop,subvol=photos {}", image.display()),
        mounted,
    );
    seekless(
        tree.root(),
        "catalog create --full --cache off -o c.parquet mounted",
    )
    .run()
    .exits(0);
    let run = seekless(
        tree.root(),
        "remove --yes --allow catalog --cache off c.parquet mounted",
    )
    .run();
    run.exits(2)
        .says("its file system is mounted here: give that path instead");
    assert!(tree.path("mounted/f").exists());
}
