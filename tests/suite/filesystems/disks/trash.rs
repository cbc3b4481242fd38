//! The trash of disks whose owners and modes a mount option says.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use super::{Disk, run_at};
use crate::common::mounts::{Shown, Shows};
use crate::common::noise;
use crate::common::scene::picture;
use crate::common::users::NOBODY;

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

/// A view that shows stored owners and modes is as strict as what lies below.
#[test]
#[ignore = "mounts file systems and becomes another user: root only"]
fn the_trash_of_others_is_refused_where_modes_are_stored() {
    for what in [Shown::Bindfs, Shown::Sshfs, Shown::Mergerfs] {
        for (owner, mode) in [(NOBODY, 0o777), (NOBODY, 0o700), (0, 0o777)] {
            let shows = Shows::with_options(
                what,
                if what == Shown::Sshfs {
                    "-o idmap=none"
                } else {
                    ""
                },
            );
            let home = tempfile::tempdir().expect("a folder");
            let trash = shows.source().join(".Trash-0");
            fs::create_dir(&trash).expect("a folder");
            chown(&trash, Some(owner), Some(owner)).expect("root gives");
            fs::set_permissions(&trash, Permissions::from_mode(mode)).expect("mode");
            for name in ["a", "b"] {
                let path = shows.source().join("tree").join(name);
                fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
                fs::write(path, noise(1, 50_000)).expect("written");
            }
            // An inode that is held keeps its number.
            let names = ["tree", "tree/a", "tree/b"];
            let _held = names.map(|name| File::open(shows.point().join(name)).expect("opened"));
            let looks = |path: &Path| {
                let now = fs::metadata(path).expect("metadata");
                (now.uid(), now.mode())
            };
            let before = (picture(&shows.source()), looks(&trash));
            let run = run_at(&shows.point(), home.path(), "remove --trash --yes tree");
            let after = (picture(&shows.source()), looks(&trash));
            assert!(before == after, "{what:?} {owner} {mode:o}\n{run}");
            run.exits(2).says("use move, or remove without --trash");
        }
    }
}
