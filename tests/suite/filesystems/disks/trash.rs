//! The trash of disks whose owners and modes a mount option says.

use std::fs::{self};
use std::os::unix::fs::MetadataExt;

use super::Disk;
use crate::common::mounts::Shown;
use crate::common::noise;
use crate::common::scene::picture;

const NTFS: [Shown; 2] = [Shown::Ntfs3g, Shown::Lowntfs3g];

/// Mode 777 for all, of root or of somebody; closed, of somebody.
const OPTIONS: [&str; 4] = [
    "",
    "-o umask=000",
    "-o uid=1000,gid=1000,umask=000",
    "-o uid=1000,gid=1000,umask=077",
];

#[test]
#[ignore = "mounts file systems: root only"]
fn the_trash_is_ours_where_the_mount_makes_up_owners_and_modes() {
    for what in NTFS {
        for options in OPTIONS {
            let disk = Disk::new(what, options);
            let mode = fs::metadata(disk.top()).expect("metadata").mode();
            assert!(options.contains("077") || mode & 0o777 == 0o777, "{mode:o}");
            for round in ["one", "two"] {
                for side in ["a", "b"] {
                    disk.write(&format!("{round}/{side}"), noise(1, 50_000));
                }
                let before = picture(&disk.top());
                let run = disk.run(&format!("remove --trash --yes {round}")).exits(0);
                assert!(
                    !disk.has(&format!("{round}/b")),
                    "{what:?} {options}\n{run}"
                );
                let trashed = fs::read_dir(disk.top().join(".Trash-0/files"));
                assert_eq!(trashed.expect("the trash").count(), 1, "{what:?} {options}");
                disk.run("undo").exits(0);
                assert!(before == picture(&disk.top()), "{what:?} {options}");
            }
        }
    }
}
