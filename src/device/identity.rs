//! The UUID of a mounted file system, wherever it is plugged in or mounted.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::filesystem::FilesystemKind;
use super::mountinfo::Mounts;
use crate::sys::uuid;

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

    #[test]
    fn a_uuid_is_written_as_everywhere() {
        let bytes: [u8; 16] = std::array::from_fn(|place| place as u8 * 0x11);
        assert_eq!(hyphenated(bytes), "00112233-4455-6677-8899-aabbccddeeff");
    }
}
