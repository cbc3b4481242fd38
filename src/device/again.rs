//! Finds a folder on a file system again, wherever that is mounted now and whatever its device is called.

use std::collections::HashSet;
use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;

use super::filesystem::FilesystemKind;
use super::mountinfo::{Mount, Mounts};
use super::mounts::{BY_UUID, is_passing, linked_uuid, shown};
use crate::heartbeat::current;
use crate::sys::stat::{self, Stat};
use crate::sys::way;

/// Why a folder is not found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotHere {
    /// No mount shows it.
    #[error("it is not mounted")]
    Unmounted,
    /// Two file systems have the same name: a copy made block by block, or a snapshot of the disk.
    #[error("two file systems with its name are mounted")]
    Twice,
    /// Its file system is mounted, and has neither a folder nor a file there.
    #[error("its file system is mounted, but has no such folder")]
    Gone,
}

impl Mounts {
    /// The present path of a folder or file, by the title of its file system ([`Mounts::title_of`]) and its path there,
    /// with its device and inode number. No symbolic link is followed, and no other file system entered.
    ///
    /// # Errors
    /// It is not there, or not the only one.
    pub fn again(&self, title: &str, dir: &Path) -> Result<(PathBuf, (u64, u64)), NotHere> {
        let mounts: Vec<&Mount> = self.all_titled(title).collect();
        let devices: HashSet<_> = mounts.iter().map(|mount| mount.device).collect();
        if devices.len() > 1 {
            return Err(NotHere::Twice);
        }
        let mut why = NotHere::Unmounted;
        for mount in mounts {
            let Ok(rest) = dir.strip_prefix(&mount.root) else {
                continue;
            };
            // Without a slash at its end.
            let path: PathBuf = mount.mount_point.join(rest).components().collect();
            let is_uncovered = self.point_above(&path).as_ref() == Some(&mount.mount_point);
            let found = is_uncovered
                .then(|| below(&mount.mount_point, rest))
                .flatten();
            if let Some(found) = found {
                return Ok((path, (found.dev, found.ino)));
            }
            why = NotHere::Gone;
        }
        Err(why)
    }

    /// True if a part of the file system with this title is mounted.
    pub fn show_any_of(&self, title: &str) -> bool {
        self.all_titled(title).next().is_some()
    }

    fn all_titled(&self, title: &str) -> impl Iterator<Item = &Mount> {
        let mounts = self.visible();
        mounts.filter(move |mount| self.titled(mount).as_deref() == Some(title))
    }

    /// The title of what is mounted there. Only file systems on disks are opened: others may not answer.
    fn titled(&self, mount: &Mount) -> Option<String> {
        if is_passing(mount) {
            return None;
        }
        if let Some(shown) = shown(mount) {
            return Some(String::from_utf8_lossy(shown).into());
        }
        use FilesystemKind::{Btrfs, Disk, Zfs};
        let is_on_disk = matches!(FilesystemKind::of(&mount.filesystem), Disk | Btrfs | Zfs);
        if !is_on_disk || mount.filesystem.starts_with("fuse") {
            return String::from_utf8(linked_uuid(Path::new(BY_UUID), &mount.source)?).ok();
        }
        let _call = current::limited_call(&mount.mount_point);
        let found = fs::metadata(&mount.mount_point).ok()?;
        // A pipe that something was mounted on may wait for ever.
        let folder = found.is_dir().then(|| File::open(&mount.mount_point));
        self.title_of(&folder?.ok()?, found.dev())
    }
}

/// What lies below a mount point, if it is a folder or a file and no link leads there.
fn below(mount_point: &Path, rest: &Path) -> Option<Stat> {
    let _call = current::limited_call(mount_point);
    let is_down = |part| matches!(part, Component::Normal(_));
    if !rest.components().all(is_down) {
        return None;
    }
    let text = |path: &OsStr| CString::new(path.as_bytes()).ok();
    let mut folder = way::open(mount_point.as_os_str().as_bytes()).ok()?;
    let Some(name) = rest.file_name() else {
        return stat::descriptor(&folder).ok();
    };
    let parent = rest.parent().filter(|it| !it.as_os_str().is_empty());
    if let Some(parent) = parent {
        folder = way::open_below(&folder, &text(parent.as_os_str())?).ok()?;
    }
    let found = stat::entry(&folder, &text(name)?).ok()?;
    matches!(found.kind, FileType::Directory | FileType::RegularFile).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_found_by_its_name_below_the_part_that_is_mounted() {
        let folder = tempfile::tempdir().expect("a folder");
        let real = folder.path().canonicalize().expect("a real path");
        fs::create_dir_all(real.join("2024/a")).expect("folders");
        std::os::unix::fs::symlink("a", real.join("2024/link")).expect("a link");
        let point = real.display();
        let table = |more: &str| {
            let mount = format!("9 1 0:9 /photos {point} rw - nfs4 nas:/data rw\n{more}");
            Mounts::parse(mount.as_bytes())
        };
        let mounts = table("");
        let again = |mounts: &Mounts, dir: &str| {
            let found = mounts.again("nas:/data", Path::new(dir));
            found.map(|(path, _)| path)
        };
        assert_eq!(again(&mounts, "/photos/2024/a"), Ok(real.join("2024/a")));
        assert_eq!(again(&mounts, "/photos"), Ok(real.clone()));
        for dir in [
            "/photos/2025",
            "/photos/2024/link",
            "/photos/2024/link/x",
            "/photos/2024/../2024/a",
        ] {
            assert_eq!(again(&mounts, dir), Err(NotHere::Gone), "{dir}");
        }
        assert_eq!(again(&mounts, "/music"), Err(NotHere::Unmounted));
        assert!(mounts.show_any_of("nas:/data"), "a part of it is mounted");
        assert!(!mounts.show_any_of("nas:/other"));
        let other = mounts.again("nas:/other", Path::new("/photos"));
        assert_eq!(other, Err(NotHere::Unmounted));
        let copy = table("8 1 0:8 /photos /elsewhere rw - nfs4 nas:/data rw\n");
        assert_eq!(again(&copy, "/photos"), Err(NotHere::Twice));
        // Something else is mounted on the way.
        let covered = format!("8 1 0:8 / {point}/2024 rw - ext4 /dev/sda1 rw\n");
        assert_eq!(
            again(&table(&covered), "/photos/2024/a"),
            Err(NotHere::Gone)
        );
    }
}
