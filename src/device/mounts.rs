//! File systems by their mounts: where on one a path lies, whichever mount leads there, and what names one wherever it
//! is plugged in or mounted.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::file::trust;
use crate::sys::statfs;

use super::filesystem::{FilesystemKind, asks_for_new_names, has_branches};
use super::mountinfo::{DeviceNumber, Mount, Mounts};

/// A file system, by the number that its mounts have in common, and a path in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inner {
    device: DeviceNumber,
    path: PathBuf,
}

impl Mounts {
    /// Translates a real absolute path.
    pub fn inner(&self, path: &[u8]) -> Option<Inner> {
        let path = Path::new(OsStr::from_bytes(path));
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
}

impl Inner {
    /// The path on the file system.
    pub fn into_path_bytes(self) -> Vec<u8> {
        self.path.into_os_string().into_vec()
    }

    /// True for the place itself and everything below it.
    pub fn holds(&self, other: &Self) -> bool {
        self.device == other.device && other.path.starts_with(&self.path)
    }
}

/// Why nothing names a file system from mount to mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoName {
    /// Its files are not kept, or are those of other file systems.
    Passing,
    /// Neither the kernel nor the mount says which one it is.
    Nameless,
    /// Another one that is mounted has the same name.
    Twice,
}

/// Where `udev` keeps links to block devices, by the UUIDs of the file systems on them.
pub(super) const BY_UUID: &str = "/dev/disk/by-uuid";

impl Mounts {
    /// What names the file system that this open folder is on, whose device number this is: the server and its export,
    /// the address or the folder that a program shows, or the UUID of what is on a disk.
    ///
    /// # Errors
    /// If nothing does.
    pub fn name_of(&self, folder: &File, st_dev: u64) -> Result<Vec<u8>, NoName> {
        let device = DeviceNumber::of(st_dev);
        let mount = self.of_device(device).last();
        let mount = mount.ok_or(NoName::Nameless)?;
        if is_passing(mount) {
            return Err(NoName::Passing);
        }
        // Any user may mount a program's file system, and give it any name.
        if foreign_server(mount).is_some() {
            return Err(NoName::Nameless);
        }
        if let Some(shown) = shown(mount) {
            return if is_shown_twice(self, mount) {
                Err(NoName::Twice)
            } else {
                Ok([mount.filesystem.as_bytes(), b"\0", shown].concat())
            };
        }
        let uuid = statfs::uuid_bytes_of(folder);
        if uuid
            .as_ref()
            .is_some_and(|uuid| is_mounted_twice(uuid, st_dev))
        {
            return Err(NoName::Twice);
        }
        let uuid = uuid.or_else(|| linked_uuid(Path::new(BY_UUID), &mount.source));
        let uuid = uuid.ok_or(NoName::Nameless)?;
        Ok([mount.filesystem.as_bytes(), b"\0", &uuid].concat())
    }

    /// The same as text, without its type: the UUID as `blkid` prints it, or the server and its export. `None` where
    /// nothing names it. Two that are mounted may have one.
    pub fn title_of(&self, folder: &File, st_dev: u64) -> Option<String> {
        if let Some(uuid) = statfs::uuid_of_btrfs(folder) {
            return Some(hyphenated(uuid));
        }
        let mount = self.of_device(DeviceNumber::of(st_dev)).last()?;
        if is_passing(mount) {
            return None;
        }
        if let Some(shown) = shown(mount) {
            return Some(String::from_utf8_lossy(shown).into());
        }
        let linked = || linked_uuid(Path::new(BY_UUID), &mount.source);
        let uuid = statfs::uuid_of(folder).map(hyphenated);
        uuid.or_else(|| String::from_utf8(linked()?).ok())
    }

    /// The user other than root and the effective user whose program serves the file system with this device number,
    /// and could report anything about its files; `u32::MAX` if the user is unknown. Also if it is not mounted here.
    pub fn foreign_server(&self, st_dev: u64) -> Option<u32> {
        let mount = self.of_device(DeviceNumber::of(st_dev)).last();
        mount.map_or(Some(u32::MAX), foreign_server)
    }

    /// Where a real absolute path leads on the file system with this device number, whichever of its mounts is above;
    /// `None` if another file system is mounted there.
    pub fn place_on(&self, st_dev: u64, path: &[u8]) -> Option<Vec<u8>> {
        let path = Path::new(OsStr::from_bytes(path));
        let mount = self.above(path)?;
        if mount.device != DeviceNumber::of(st_dev) {
            return None;
        }
        let rest = path.strip_prefix(&mount.mount_point).ok()?;
        let inner = mount.root.join(rest);
        // Mounts of several exports may have one device number.
        let shown = shown(mount).unwrap_or_default();
        Some([shown, b"\0", inner.as_os_str().as_bytes()].concat())
    }
}

/// True if its files are not kept, or are those of other file systems.
pub(super) fn is_passing(mount: &Mount) -> bool {
    use FilesystemKind::{Layered, Memory, Pseudo};
    matches!(
        FilesystemKind::of(&mount.filesystem),
        Memory | Pseudo | Layered
    )
}

/// The name that a mount gives to what it shows. A device has another name after each start; a single word is that of
/// the program.
pub(super) fn shown(mount: &Mount) -> Option<&[u8]> {
    let source = mount.source.as_bytes();
    let names = source.contains(&b'/') || source.contains(&b':');
    let is_remote = mount.filesystem.starts_with("fuse")
        || FilesystemKind::of(&mount.filesystem) == FilesystemKind::Network;
    (is_remote && names && !source.starts_with(b"/dev/")).then_some(source)
}

fn foreign_server(mount: &Mount) -> Option<u32> {
    let users = mount.option_values("user_id").map(|user| {
        let user = std::str::from_utf8(user).ok();
        user.and_then(|user| user.parse().ok()).unwrap_or(u32::MAX)
    });
    let mut foreign = users.filter(|&user| !trust::is_ours_or_roots(user));
    foreign.next()
}

fn is_shown_twice(mounts: &Mounts, this: &Mount) -> bool {
    mounts.visible().any(|other| {
        other.device != this.device
            && other.filesystem == this.filesystem
            && (&other.source, &other.root) == (&this.source, &this.root)
    })
}

/// The UUID of the file system on a block device, by the links that lead to it.
pub(super) fn linked_uuid(links: &Path, device: &OsStr) -> Option<Vec<u8>> {
    let number = |path: &Path| fs::metadata(path).ok().map(|found| found.rdev());
    let wanted = number(Path::new(device)).filter(|&number| number != 0)?;
    let mut links = fs::read_dir(links).ok()?.flatten();
    let link = links.find(|link| number(&link.path()) == Some(wanted))?;
    Some(link.file_name().as_bytes().to_vec())
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
    statfs::uuid_bytes_of(&folder)
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
    }

    fn mounts(lines: &str) -> Mounts {
        Mounts::parse(lines.as_bytes())
    }

    fn name(mounts: &Mounts, minor: u32) -> Result<String, NoName> {
        let folder = File::open("/").expect("is there");
        let name = mounts.name_of(&folder, rustix::fs::makedev(0, minor))?;
        Ok(String::from_utf8_lossy(&name).into_owned())
    }

    #[test]
    fn a_mount_names_what_it_shows_by_an_address_or_a_path() {
        let table = mounts(
            "1 0 0:1 / / rw - tmpfs tmpfs rw\n\
             2 1 0:2 / /nas rw - nfs4 nas:/data rw\n\
             3 1 0:3 / /music rw - cifs //nas/music rw\n\
             4 1 0:4 / /remote rw - fuse.sshfs me@host:/srv rw,user_id=0\n\
             5 1 0:5 / /bucket rw - fuse.s3fs s3fs rw,user_id=0\n\
             6 1 0:6 / /theirs rw - fuse.sshfs you@host:/srv rw,user_id=4294967294\n\
             7 1 0:7 / /layers rw - overlay overlay rw\n\
             8 1 0:8 / /host rw - virtiofs share rw\n",
        );
        assert_eq!(name(&table, 2).as_deref(), Ok("nfs4\0nas:/data"));
        assert_eq!(name(&table, 3).as_deref(), Ok("cifs\0//nas/music"));
        assert_eq!(name(&table, 4).as_deref(), Ok("fuse.sshfs\0me@host:/srv"));
        assert_eq!(name(&table, 1), Err(NoName::Passing));
        assert_eq!(name(&table, 7), Err(NoName::Passing));
        assert_eq!(name(&table, 6), Err(NoName::Nameless));
        assert_eq!(name(&table, 99), Err(NoName::Nameless));
        // The folder is on a file system that may have a UUID: that is not what its mount says.
        for word in [5, 8] {
            assert!(!name(&table, word).is_ok_and(|name| name.ends_with("s3fs")));
        }
    }

    #[test]
    fn a_mount_names_the_user_whose_program_serves_it() {
        let table = mounts(
            "1 0 0:2 / /nas rw - nfs4 nas:/data rw\n\
             2 0 0:3 / /ours rw - fuse.sshfs host:/srv rw,user_id=0\n\
             3 0 0:4 / /theirs rw - fuse.bindfs /srv rw,user_id=4294967294,allow_other\n\
             4 0 0:5 / /odd rw - fuse.bindfs /srv rw,user_id=x\n",
        );
        let server = |minor| table.foreign_server(rustix::fs::makedev(0, minor));
        assert_eq!([2, 3].map(server), [None; 2]);
        assert_eq!(server(4), Some(4_294_967_294));
        // The last one is not mounted here.
        assert_eq!([5, 6].map(server), [Some(u32::MAX); 2]);
    }

    #[test]
    fn what_two_mounts_show_under_one_name_has_none() {
        let table = mounts(
            "1 0 0:2 / /a rw - fuse.sshfs host:/srv rw,user_id=0\n\
             2 0 0:3 / /b rw - fuse.sshfs host:/srv rw,user_id=0\n\
             3 0 0:4 / /c rw - nfs4 nas:/data rw\n\
             4 0 0:4 / /d rw - nfs4 nas:/data rw\n",
        );
        assert_eq!(name(&table, 2), Err(NoName::Twice));
        // One file system that is mounted in two places.
        assert_eq!(name(&table, 4).as_deref(), Ok("nfs4\0nas:/data"));
    }

    #[test]
    fn a_file_has_one_place_whichever_mount_leads_there() {
        let table = mounts(
            "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
             2 1 8:17 / /stick rw - vfat /dev/sdb1 rw\n\
             3 1 8:17 /music /mnt rw - vfat /dev/sdb1 rw\n\
             4 1 0:4 / /nas rw - nfs4 nas:/data rw\n\
             5 1 0:4 / /sub rw - nfs4 nas:/data/sub rw\n",
        );
        let stick = rustix::fs::makedev(8, 17);
        let place = |path: &str| table.place_on(stick, path.as_bytes());
        assert_eq!(place("/stick/music/a"), Some(b"\0/music/a".to_vec()));
        assert_eq!(place("/mnt/a"), place("/stick/music/a"));
        assert_ne!(place("/mnt/a"), place("/stick/a"));
        assert_eq!(place("/a"), None);
        let nas = rustix::fs::makedev(0, 4);
        let place = |path: &str| table.place_on(nas, path.as_bytes());
        assert!(place("/nas/a").is_some() && place("/nas/a") != place("/sub/a"));
    }

    #[test]
    fn a_block_device_is_known_by_the_link_that_leads_to_it() {
        let links = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::symlink("/dev/null", links.path().join("1234-ABCD")).expect("a link");
        let uuid = |device: &str| linked_uuid(links.path(), OsStr::new(device));
        assert_eq!(uuid("/dev/null"), Some(b"1234-ABCD".to_vec()));
        assert_eq!(uuid("/dev/zero"), None);
        assert_eq!(uuid("/etc"), None);
    }
}
