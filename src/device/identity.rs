//! The identity of a volume, wherever it is plugged in or mounted.

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::array::Array;
use super::filesystem::FilesystemKind;
use super::leaf::Leaf;
use super::mountinfo::Mounts;
use crate::sys::uuid;

/// The disks under a volume by their own names, and how they are joined.
///
/// Two volumes on the same disks have the same identity, unless different arrays join them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Identity(Vec<String>);

impl Identity {
    /// The identity of disks that these arrays join; none if there is none, or if one gives itself no name.
    pub(super) fn of_disks(leaves: &[Leaf], arrays: &[Array]) -> Option<Self> {
        let disks: Option<Vec<_>> = leaves.iter().map(Leaf::identity).collect();
        let mut disks = disks.filter(|disks| !disks.is_empty())?;
        disks.sort();
        let mut parts: Vec<_> = arrays.iter().map(|array| array.level.clone()).collect();
        parts.append(&mut disks);
        Some(Self(parts))
    }

    /// The identity of the disks with one file system, by its UUID.
    pub(super) fn of_uuid(uuid: &str) -> Self {
        Self(vec![format!("uuid {uuid}")])
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

/// The UUID of the file system that is mounted here and has this `st_dev`.
///
/// Only asked of file systems on disks: opening a network's or a program's may wait for ever, and
/// so may a pipe that something was mounted on.
pub(super) fn uuid_of_mounted(mount_point: &Path, filesystem: &str, st_dev: u64) -> Option<String> {
    let uuid = uuid_bytes_of_mounted(mount_point, filesystem, st_dev)?;
    uuid.try_into().ok().map(hyphenated)
}

fn uuid_bytes_of_mounted(mount_point: &Path, filesystem: &str, st_dev: u64) -> Option<Vec<u8>> {
    if FilesystemKind::of(filesystem) != FilesystemKind::Disk || filesystem.starts_with("fuse") {
        return None;
    }
    let is_meant = fs::metadata(mount_point)
        .is_ok_and(|found| found.dev() == st_dev && (found.is_dir() || found.is_file()));
    let folder = File::open(mount_point).ok().filter(|_| is_meant)?;
    uuid::bytes_of(&folder)
}

/// True if a file system with another `st_dev` has this UUID and is mounted, too: a copy made block by block, or a
/// snapshot below the file system. Only file systems on disks are asked.
pub fn is_mounted_twice(uuid: &[u8], st_dev: u64) -> bool {
    let mut asked = HashSet::from([st_dev]);
    Mounts::read().visible().any(|mount| {
        let st_dev = mount.device.st_dev();
        asked.insert(st_dev)
            && uuid_bytes_of_mounted(&mount.mount_point, &mount.filesystem, st_dev).as_deref()
                == Some(uuid)
    })
}

fn hyphenated(uuid: [u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (place, byte) in uuid.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::LeafKind;

    fn disk(wwid: Option<&str>, serial: Option<&str>) -> Leaf {
        Leaf {
            wwid: wwid.map(str::to_owned),
            serial: serial.map(str::to_owned),
            model: Some("DISK 1".to_owned()),
            ..Leaf::named(LeafKind::Disk, "sda")
        }
    }

    #[test]
    fn disks_are_known_by_their_own_names_only() {
        let memory = Leaf::named(LeafKind::Memory, "memory");
        for (leaves, expected) in [
            (vec![disk(Some("naa.5"), Some("S1"))], Some("naa.5")),
            (vec![disk(None, Some("S1"))], Some("DISK 1 S1")),
            (vec![disk(None, None)], None),
            (vec![disk(Some("naa.5"), None), disk(None, None)], None),
            (
                vec![disk(Some("naa.5"), None), disk(Some("naa.4"), None)],
                Some("naa.4, naa.5"),
            ),
            (vec![Leaf::named(LeafKind::Server, "//nas")], Some("//nas")),
            (vec![memory], None),
            (vec![], None),
        ] {
            let identity = Identity::of_disks(&leaves, &[]).map(|identity| identity.to_string());
            assert_eq!(identity.as_deref(), expected, "{leaves:?}");
        }
    }

    #[test]
    fn two_arrays_of_the_same_disks_are_two() {
        let array = |level: &str| Array {
            name: "md0".to_owned(),
            level: level.to_owned(),
            members: Vec::new(),
            sweeps: 1,
        };
        let leaves = [disk(Some("naa.5"), None)];
        let of = |level| Identity::of_disks(&leaves, &[array(level)]);
        assert_ne!(of("raid0"), of("raid1"));
        assert_eq!(of("raid0"), of("raid0"));
    }

    #[test]
    fn a_uuid_is_written_as_everywhere() {
        let bytes: [u8; 16] = std::array::from_fn(|place| place as u8 * 0x11);
        assert_eq!(hyphenated(bytes), "00112233-4455-6677-8899-aabbccddeeff");
    }
}
