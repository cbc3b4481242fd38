//! Where on its file system a path lies, whichever mount leads there.

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::filesystem::{asks_for_new_names, has_branches};
use super::mountinfo::{DeviceNumber, Mounts};

/// A file system, by the number that its mounts have in common, and a path in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inner {
    device: DeviceNumber,
    path: PathBuf,
}

impl Mounts {
    /// Translates a real absolute path.
    pub fn inner(&self, path: &[u8]) -> Option<Inner> {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let mount = self.above(path)?;
        let rest = path.strip_prefix(&mount.mount_point).ok()?;
        Some(Inner {
            device: mount.device,
            path: mount.root.join(rest),
        })
    }

    /// The mount point that an absolute path lies below, by the letter of the path.
    pub fn point_above(&self, path: &Path) -> Option<PathBuf> {
        self.above(path).map(|mount| mount.mount_point.clone())
    }

    /// The mount point of what has this device number and lies at this path.
    pub fn point_of(&self, device: u64, path: &Path) -> Option<PathBuf> {
        let mount = self.find(DeviceNumber::of(device), path);
        mount.map(|mount| mount.mount_point.clone())
    }

    /// The type of the file system with this device number, as in `fuse.sshfs`, and whether it looks up each name
    /// that it was not asked for before where the name is kept. `None` where no mount has this number.
    pub fn type_of(&self, device: u64) -> Option<(&str, bool)> {
        let device = DeviceNumber::of(device);
        let mount = self.visible().find(|mount| mount.device == device)?;
        let asks = asks_for_new_names(&mount.filesystem, mount.source.as_bytes());
        Some((&mount.filesystem, asks))
    }

    /// True if the file system with this device number shows one of the files that have the same name on its branches,
    /// and changes all of them.
    pub fn has_branches(&self, device: u64) -> bool {
        self.type_of(device)
            .is_some_and(|(kind, _)| has_branches(kind))
    }

    /// True if what has this device number is mounted at one of these points.
    pub fn is_at(&self, device: u64, points: &HashSet<PathBuf>) -> bool {
        let mut mounts = self.of_device(DeviceNumber::of(device));
        mounts.any(|mount| points.contains(&mount.mount_point))
    }

    /// True if something is mounted right there.
    pub fn is_point(&self, path: &Path) -> bool {
        self.visible().any(|mount| mount.mount_point == path)
    }

    /// Mount points below a folder behind which lies what can be reached by other mounts as well.
    pub fn shared_below(&self, path: &Path) -> Vec<PathBuf> {
        let mut times: HashMap<DeviceNumber, usize> = HashMap::new();
        for mount in self.visible() {
            *times.entry(mount.device).or_default() += 1;
        }
        let below = self.visible().filter(|mount| {
            let point = &mount.mount_point;
            times[&mount.device] > 1 && point != path && point.starts_with(path)
        });
        below.map(|mount| mount.mount_point.clone()).collect()
    }

    /// All paths that lead to the same place, through whichever mount; a real absolute path is one of them.
    pub fn ways(&self, path: &[u8]) -> Vec<PathBuf> {
        let Some(inner) = self.inner(path) else {
            return Vec::new();
        };
        let mounts = self.visible();
        let mounts = mounts.filter(|mount| mount.device == inner.device);
        let ways = mounts.filter_map(|mount| {
            let rest = inner.path.strip_prefix(&mount.root).ok()?;
            Some(if rest.as_os_str().is_empty() {
                mount.mount_point.clone()
            } else {
                mount.mount_point.join(rest)
            })
        });
        ways.collect()
    }
}

impl Inner {
    /// True for the place itself and everything below it.
    pub fn holds(&self, other: &Self) -> bool {
        self.device == other.device && other.path.starts_with(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_one_whichever_mount_leads_there() {
        let mounts = Mounts::parse(
            b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
              2 1 8:2 / /data rw - ext4 /dev/sda2 rw\n\
              3 1 8:2 /photos/2024 /mnt/new rw - ext4 /dev/sda2 rw\n\
              4 1 8:2 /photos /mnt/all rw - ext4 /dev/sda2 rw\n",
        );
        let inner = |path: &str| mounts.inner(path.as_bytes()).expect("a mount");
        let photos = inner("/data/photos");
        for (path, expected) in [
            ("/data/photos", true),
            ("/data/photos/2023/a", true),
            ("/mnt/new/a", true),
            ("/mnt/all/2024/a", true),
            ("/data/photos-2/a", false),
            ("/mnt/a", false),
            ("/photos/2024/a", false),
        ] {
            assert_eq!(photos.holds(&inner(path)), expected, "{path}");
        }
        assert!(Mounts::default().inner(b"/a").is_none());
        let ways = |path: &str| mounts.ways(path.as_bytes());
        let both = ["/data/photos/2024/a", "/mnt/new/a", "/mnt/all/2024/a"];
        for path in both {
            assert_eq!(ways(path), both.map(PathBuf::from));
        }
        assert_eq!(
            ways("/data/photos")[..],
            ["/data/photos", "/mnt/all"].map(PathBuf::from)
        );
        assert_eq!(ways("/etc")[..], [PathBuf::from("/etc")]);
        assert!(Mounts::default().ways(b"/a").is_empty());
        let below = |path: &str| mounts.shared_below(Path::new(path));
        assert_eq!(
            below("/mnt")[..],
            ["/mnt/new", "/mnt/all"].map(PathBuf::from)
        );
        assert_eq!(below("/").len(), 3);
        assert!(below("/mnt/new").is_empty());
    }
}
