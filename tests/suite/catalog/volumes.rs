//! A disk is known again by its UUID, wherever it is mounted.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::entries;
use crate::common::volume::{Volume, sh};
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

#[test]
#[ignore = "needs root and loop devices"]
fn two_of_three_disks_are_in_a_drawer_and_the_answers_stay_the_same() {
    let kinds = ["ext4", "xfs", "btrfs"];
    let volumes = kinds.map(|kind| Volume::on_loop(kind, 320, ""));
    let tree = Tree::new();
    for (disk, volume) in volumes.iter().enumerate() {
        symlink(volume.path(), tree.path(kinds[disk])).expect("linked");
        fill(disk, &volume.path());
    }
    let disk = str::to_owned;
    let catalog = |kind: &str| format!("{kind}.parquet");
    let answers = |paths: [String; 3]| {
        let [one, two, three] = &paths;
        let plain = |text: String| text.replace(".parquet", "");
        let run = |line: String| {
            let run = seekless(tree.root(), &line).run();
            (run.code(), plain(run.stdout_text()))
        };
        let mut found: Vec<String> = {
            let run = seekless(
                tree.root(),
                &format!("find --cache off -f json {}", paths.join(" ")),
            );
            let sets = run.run().exits(0).json()["sets"]
                .as_array()
                .cloned()
                .expect("sets");
            let path = |member: &serde_json::Value| plain(member["path"]["text"].to_string());
            let files = |set: serde_json::Value| {
                let members = set["members"].as_array().cloned().expect("members");
                let mut files: Vec<String> = members.iter().map(path).collect();
                files.sort();
                files.join(" ")
            };
            sets.into_iter().map(files).collect()
        };
        found.sort();
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
    let plugged = answers(kinds.map(disk));
    assert_eq!(plugged.0.len(), 13, "{plugged:#?}");
    for kind in kinds {
        let line = format!("catalog create --full --cache off -o {kind}.parquet {kind}/");
        seekless(tree.root(), &line).run().exits(0);
    }
    for here in kinds {
        for (kind, volume) in kinds
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
            answers(kinds.map(path)),
            plugged,
            "only {here} is plugged in"
        );
        for (kind, volume) in kinds
            .iter()
            .zip(&volumes)
            .filter(|(kind, _)| **kind != here)
        {
            volume.mount();
            symlink(volume.path(), tree.path(kind)).expect("linked");
        }
    }
}

fn catalog_of(tree: &Tree, disk: &Path) -> std::collections::BTreeMap<Vec<u8>, super::Entry> {
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
