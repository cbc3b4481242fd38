//! The devices of file systems whose `st_dev` is anonymous, taken from their mounts.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::filesystem::{FilesystemKind, asks_for_new_names};
use super::mountinfo::{Mount, Mounts};
use super::sysfs::{BlockDevice, Sysfs};

/// Finds the UUID and the devices of the btrfs that is mounted here.
///
/// The mount names one member; `/sys/fs/btrfs/UUID/devices` lists them all. A mount from
/// `/dev/root` names none: then the only open btrfs, if there is just one, must be it.
pub(super) fn btrfs(sysfs: &Sysfs, mount: &Mount) -> (Option<String>, Vec<BlockDevice>) {
    let named = sysfs.by_path(&mount.source.to_string_lossy());
    let mut open = sysfs.open_filesystems("btrfs");
    if let Some(named) = &named {
        open.retain(|folder| sysfs.devices_in(&folder.join("devices")).contains(named));
    }
    match open.as_slice() {
        [folder] => {
            let uuid = folder.file_name();
            let uuid = uuid.map(|name| name.to_string_lossy().into_owned());
            (uuid, sysfs.devices_in(&folder.join("devices")))
        }
        _ => (None, named.into_iter().collect()),
    }
}

/// The folders that a layered file system is made of, upper first; only those whose place is
/// known (container engines also write relative paths, which mean nothing here).
pub(super) fn layer_folders(mount: &Mount) -> Vec<PathBuf> {
    let keys = ["upperdir", "lowerdir+", "datadir+", "lowerdir"];
    let lists = keys.iter().flat_map(|key| mount.option_values(key));
    let mut layers: Vec<Vec<u8>> = lists.flat_map(split_at_colons).collect();
    if mount.filesystem == "ecryptfs" {
        layers.push(mount.source.as_bytes().to_vec());
    }
    let paths = layers.into_iter().map(OsString::from_vec);
    let paths = paths.map(PathBuf::from);
    paths.filter(|path| path.is_absolute()).collect()
}

/// True if a file of another file system has its own modification time where this mount shows it. A program that
/// answers from a catalog may show any time (`rclone mount --no-modtime`). An overlay with `metacopy` sets times
/// without a copy of the bytes (Linux, `Documentation/filesystems/overlayfs.rst`). A mount of another kind may show
/// such a mount.
pub(super) fn keeps_times(mount: &Mount, mounts: &Mounts, sysfs: &Sysfs) -> bool {
    let shows_others = FilesystemKind::of(&mount.filesystem).may_show_others();
    let makes_up_times =
        |other: &Mount| other.filesystem == "fuse.rclone" || is_metacopy(other, sysfs);
    asks_for_new_names(&mount.filesystem, mount.source.as_bytes())
        && !(shows_others && mounts.iter().any(makes_up_times))
}

fn is_metacopy(mount: &Mount, sysfs: &Sysfs) -> bool {
    mount.filesystem == "overlay"
        && match mount.option_values("metacopy").last() {
            Some(value) => value == b"on",
            None => sysfs.is_set(Path::new("module/overlay/parameters/metacopy")),
        }
}

/// Splits at bare colons and takes one backslash away from what is escaped.
fn split_at_colons(text: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    let mut part = Vec::new();
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\\' => part.extend(bytes.next()),
            b':' => parts.push(std::mem::take(&mut part)),
            _ => part.push(byte),
        }
    }
    parts.push(part);
    parts
}

/// The server's name out of `nas:/export`, `[fe80::1]:/x`, `//nas/share`, `me@host:/home` or a bare tag.
pub(super) fn server(source: &str) -> String {
    let name = match source.strip_prefix("//") {
        Some(share) => share.split('/').next().unwrap_or_default(),
        None => {
            let host = source.split_once(":/").map_or(source, |(host, _)| host);
            let host = host.strip_suffix(':').unwrap_or(host);
            host.rsplit_once('@').map_or(host, |(_, host)| host)
        }
    };
    format!("//{}", if name.is_empty() { source } else { name })
}
