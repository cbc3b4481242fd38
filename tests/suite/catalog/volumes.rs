//! A disk is known again by its UUID, wherever it is mounted.

use std::path::Path;

use super::entries;
use crate::common::volume::{Volume, sh};
use crate::common::{Tree, seekless};

#[test]
#[ignore = "needs root and loop devices"]
fn a_disk_has_one_name_and_its_files_one_path_wherever_it_is_mounted() {
    let tree = Tree::new().folder("elsewhere");
    for kind in ["ext4", "xfs", "btrfs"] {
        let volume = Volume::on_loop(kind, 320, "");
        let uuid = volume_uuid(&volume);
        std::fs::create_dir(volume.path().join("photos")).expect("made");
        std::fs::write(volume.path().join("photos/a"), "1").expect("written");
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
