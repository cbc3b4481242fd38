//! Metadata, asking only for what is used.

use std::ffi::CStr;
use std::os::fd::AsFd;

use rustix::fs::{
    Access, AtFlags, FileType, Statx, StatxAttributes, StatxFlags, StatxTimestamp, accessat, statx,
};
use rustix::io::Result;

/// Checks that this process can create entries in the folder: it needs the permission and a writable file system.
pub fn can_create_in(folder: impl AsFd) -> Result<()> {
    let access = Access::WRITE_OK | Access::EXEC_OK;
    accessat(folder, c".", access, AtFlags::EACCESS)
}

/// The metadata of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Kind of file.
    pub kind: FileType,
    /// Device number of the file system, as `st_dev`.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Length, bytes.
    pub size: u64,
    /// Last access, nanoseconds since 1970.
    pub atime_ns: i64,
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the inode, nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Number of names.
    pub links: u32,
    /// Allocated blocks of 512 bytes.
    pub blocks: u64,
    /// Number of the mount through which it was reached; never used again where the kernel has such numbers
    /// (Linux 6.8), 0 before Linux 5.8.
    pub mount: u64,
    /// True if something is mounted right here.
    pub mount_root: bool,
}

/// `STATX_MNT_ID_UNIQUE` (include/uapi/linux/stat.h, Linux 6.8): asked for together with `STATX_MNT_ID`, it wins.
const MNT_ID_UNIQUE: u32 = 0x4000;

const WANTED: StatxFlags = StatxFlags::from_bits_retain(
    StatxFlags::TYPE.bits()
        | StatxFlags::NLINK.bits()
        | StatxFlags::INO.bits()
        | StatxFlags::SIZE.bits()
        | StatxFlags::BLOCKS.bits()
        | StatxFlags::ATIME.bits()
        | StatxFlags::MTIME.bits()
        | StatxFlags::CTIME.bits()
        | MOUNT.bits(),
);

/// Asks for the number of the mount.
pub(super) const MOUNT: StatxFlags =
    StatxFlags::from_bits_retain(StatxFlags::MNT_ID.bits() | MNT_ID_UNIQUE);

#[inline]
fn ask(at: impl AsFd, name: &CStr, flags: AtFlags) -> Result<Stat> {
    super::fault::point()?;
    statx(at, name, flags, WANTED).map(Stat::from)
}

/// The name itself, without waking an automount.
const ENTRY: AtFlags = AtFlags::SYMLINK_NOFOLLOW.union(AtFlags::NO_AUTOMOUNT);

/// Metadata of a name in a folder; the last component's symbolic link is not followed.
pub fn entry(at: impl AsFd, name: &CStr) -> Result<Stat> {
    ask(at, name, ENTRY)
}

/// As [`entry`], asking whoever keeps the file system: a server or a daemon of FUSE, whose answers the
/// kernel remembers for a while. On local disks there is no difference.
pub fn fresh_entry(at: impl AsFd, name: &CStr) -> Result<Stat> {
    ask(at, name, ENTRY | AtFlags::STATX_FORCE_SYNC)
}

/// As [`descriptor`], asking the server or daemon that keeps the file system.
pub fn fresh_descriptor(fd: impl AsFd) -> Result<Stat> {
    ask(fd, c"", AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC)
}

/// Metadata of a name in a folder; symbolic links are followed.
pub fn target(at: impl AsFd, name: &CStr) -> Result<Stat> {
    ask(at, name, AtFlags::NO_AUTOMOUNT)
}

/// Metadata of an open file.
pub fn descriptor(fd: impl AsFd) -> Result<Stat> {
    ask(fd, c"", AtFlags::EMPTY_PATH)
}

/// `STATX_SUBVOL` (include/uapi/linux/stat.h, Linux 6.10).
const SUBVOL: u32 = 0x8000;

/// The number of the subvolume that an open file is in, which is never given to another one; `None` where the kernel or
/// the file system does not tell.
pub fn subvolume(fd: impl AsFd) -> Option<u64> {
    let wanted = StatxFlags::from_bits_retain(SUBVOL);
    let answer = statx(fd, c"", AtFlags::EMPTY_PATH, wanted).ok()?;
    (answer.stx_mask & SUBVOL != 0).then_some(answer.stx_subvol)
}

/// The moment at which what a name in a folder leads to was made, nanoseconds since 1970, which no call sets; `None`
/// where the file system keeps none.
pub fn birth_ns(at: impl AsFd, name: &CStr, follow: bool) -> Option<i64> {
    let flags = if follow { AtFlags::NO_AUTOMOUNT } else { ENTRY };
    let answer = statx(at, name, flags, StatxFlags::BTIME).ok()?;
    let is_known = answer.stx_mask & StatxFlags::BTIME.bits() != 0;
    is_known.then(|| nanoseconds(answer.stx_btime))
}

impl Stat {
    /// True if it was reached through this mount. A folder with another device number there is a subvolume of the same
    /// file system (btrfs); false where the kernel does not number mounts.
    pub fn is_in_mount(&self, mount: u64) -> bool {
        self.mount != 0 && self.mount == mount
    }
}

impl From<Statx> for Stat {
    fn from(s: Statx) -> Self {
        Self {
            kind: FileType::from_raw_mode(s.stx_mode.into()),
            dev: rustix::fs::makedev(s.stx_dev_major, s.stx_dev_minor),
            ino: s.stx_ino,
            size: s.stx_size,
            atime_ns: nanoseconds(s.stx_atime),
            mtime_ns: nanoseconds(s.stx_mtime),
            ctime_ns: nanoseconds(s.stx_ctime),
            links: s.stx_nlink,
            blocks: s.stx_blocks,
            mount: s.stx_mnt_id,
            mount_root: s.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
        }
    }
}

fn nanoseconds(t: StatxTimestamp) -> i64 {
    t.tv_sec
        .saturating_mul(1_000_000_000)
        .saturating_add(t.tv_nsec.into())
}
