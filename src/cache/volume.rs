//! The key of a file system in the cache. It is the same from run to run, whatever the mount point and the device
//! number.

use std::fmt;
use std::fs::File;
use std::path::Path;

use crate::device::{self, Mounts, NoName};
use crate::hash::SampleDigest;
use crate::sys::{stat, statfs};

/// File systems with 16 bytes of their own and inode numbers that stay.
const WITH_UUID: &[u64] = &[
    0xef53,      // ext4 (and its elders)
    0x5846_5342, // xfs
    0xf2f5_2010, // f2fs
];

/// A file system, and on btrfs the subvolume: a file and its snapshot have one inode number and one generation there,
/// also after one of them was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VolumeKey {
    /// UUID of the file system.
    pub uuid: [u8; 16],
    /// Number of the subvolume; 0 where there are none.
    pub subvolume: u64,
    /// Its files are identified by their paths: their inode numbers may change with the next mount.
    pub by_path: bool,
}

/// The reason why no data is stored for a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCached {
    /// Its type is not known to have reliable inode numbers and times.
    #[error("its files cannot be identified reliably in a later run")]
    Unknown,
    /// The kernel does not say which one it is.
    #[error(
        "the kernel does not report its UUID (Linux 6.0 and later do for ext4, 6.9 for XFS and f2fs, 6.10 for btrfs)"
    )]
    Nameless,
    /// Neither the kernel nor its mount says which one it is.
    #[error(
        "it cannot be identified: it has no UUID, and its mount source is neither an address nor a folder"
    )]
    Unnamed,
    /// Another mounted file system has the same UUID.
    #[error("another mounted file system has the same UUID or source")]
    Twice,
    /// It no longer exists.
    #[error("it is no longer mounted")]
    Gone,
}

impl VolumeKey {
    /// The key of the file system of the folder, with this `st_dev`.
    ///
    /// # Errors
    /// The reason why no data can be stored for it.
    pub fn of(folder: &Path, st_dev: u64) -> Result<Self, NotCached> {
        let fd = opened(folder, st_dev)?;
        let key = match statfs::magic(&fd) {
            Some(statfs::BTRFS) => statfs::uuid_of_btrfs(&fd).zip(stat::subvolume(&fd)),
            // The kernel mounts no second btrfs with one UUID, and subvolumes have device numbers of their own.
            Some(magic) if WITH_UUID.contains(&magic) => {
                let uuid = statfs::uuid_of(&fd);
                if uuid.is_some_and(|uuid| device::is_mounted_twice(&uuid, st_dev)) {
                    return Err(NotCached::Twice);
                }
                uuid.map(|uuid| (uuid, 0))
            }
            _ => return Err(NotCached::Unknown),
        };
        let (uuid, subvolume) = key.ok_or(NotCached::Nameless)?;
        Ok(Self {
            uuid,
            subvolume,
            by_path: false,
        })
    }

    /// The key of the file system of the folder, with this `st_dev`, if its files are identified by their paths.
    ///
    /// # Errors
    /// The reason why no data can be stored for it.
    pub fn by_path(folder: &Path, st_dev: u64, mounts: &Mounts) -> Result<Self, NotCached> {
        let fd = opened(folder, st_dev)?;
        let name = mounts.name_of(&fd, st_dev).map_err(|why| match why {
            NoName::Passing => NotCached::Unknown,
            NoName::Nameless => NotCached::Unnamed,
            NoName::Twice => NotCached::Twice,
        })?;
        Ok(Self {
            uuid: *SampleDigest::of(&name).as_bytes(),
            subvolume: 0,
            by_path: true,
        })
    }

    /// Name of the file with its rows.
    pub fn file_name(&self) -> String {
        format!("{}{FILE_END}", Hex(&self.uuid))
    }
}

/// The ending of the name of a file of rows.
const FILE_END: &str = ".rows";

/// True for the name of a file of rows.
pub fn is_file_name(name: &str) -> bool {
    let uuid = name.strip_suffix(FILE_END);
    uuid.is_some_and(|uuid| uuid.len() == 32 && uuid.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn opened(folder: &Path, st_dev: u64) -> Result<File, NotCached> {
    let fd = File::open(folder).map_err(|_| NotCached::Gone)?;
    let found = stat::descriptor(&fd).map(|found| found.dev);
    (found == Ok(st_dev)).then_some(fd).ok_or(NotCached::Gone)
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn nothing_is_kept_of_file_systems_that_the_kernel_makes_up() {
        let proc = Path::new("/proc/self");
        let dev = std::fs::metadata(proc).expect("is mounted").dev();
        assert_eq!(VolumeKey::of(proc, dev), Err(NotCached::Unknown));
    }

    #[test]
    fn what_is_mounted_from_two_places_has_two_keys() {
        let root = Path::new("/");
        let dev = std::fs::metadata(root).expect("is there").dev();
        let number = format!("{}:{}", rustix::fs::major(dev), rustix::fs::minor(dev));
        let key = |source: &str| {
            let mount = format!("1 0 {number} / / rw - nfs4 {source} rw\n");
            VolumeKey::by_path(root, dev, &Mounts::parse(mount.as_bytes()))
        };
        assert!(key("nas:/photos").is_ok_and(|key| key.by_path));
        assert_eq!(key("nas:/photos"), key("nas:/photos"));
        assert_ne!(key("nas:/photos"), key("nas:/music"));
    }

    #[test]
    fn a_folder_that_is_on_another_file_system_by_now_has_no_key() {
        assert_eq!(
            VolumeKey::of(Path::new("/"), u64::MAX),
            Err(NotCached::Gone)
        );
    }
}
