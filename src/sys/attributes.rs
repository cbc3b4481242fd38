//! Metadata of files: owner, mode, times, flags, extended attributes.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd};

use rustix::buffer::spare_capacity;
use rustix::fs::{
    Access, AtFlags, Gid, Mode, Statx, StatxAttributes, StatxFlags, Timespec, Timestamps,
    UTIME_NOW, UTIME_OMIT, Uid, XattrFlags, statx,
};
use rustix::io::{Errno, Result};
use serde::{Deserialize, Serialize};

use super::stat::{self, Stat};
use super::{fault, open, statfs};

/// A time as the kernel stores it. Nanoseconds since 1970 do not fit into 64 bits after 2262.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Time {
    /// Seconds since 1970.
    pub seconds: i64,
    /// The rest, below a second.
    pub nanoseconds: u32,
}

impl Time {
    /// Nanoseconds since 1970, or the closest to it that 64 bits hold.
    pub fn ns(self) -> i64 {
        let seconds = self.seconds.saturating_mul(1_000_000_000);
        seconds.saturating_add(self.nanoseconds.into())
    }
}

impl From<rustix::fs::StatxTimestamp> for Time {
    fn from(time: rustix::fs::StatxTimestamp) -> Self {
        Self {
            seconds: time.tv_sec,
            nanoseconds: time.tv_nsec,
        }
    }
}

/// Owner, mode, times and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Permission bits, with set-user-ID, set-group-ID and sticky.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Last access.
    pub accessed: Time,
    /// Last modification.
    pub modified: Time,
    /// `chattr +i`.
    pub immutable: bool,
    /// `chattr +a`.
    pub append_only: bool,
}

/// The extended attribute that holds a file's POSIX ACL.
pub const ACL: &CStr = c"system.posix_acl_access";

/// The one that holds the ACL of what is made in a folder.
pub const DEFAULT_ACL: &CStr = c"system.posix_acl_default";

const WANTED: StatxFlags = StatxFlags::BASIC_STATS.union(stat::MOUNT);

/// Attributes of an open file, from the server or daemon that keeps the file system, not from the kernel's cache.
pub fn get(fd: impl AsFd) -> Result<Attributes> {
    both(fd).map(|(_, attributes)| attributes)
}

/// The same, and what else `stat` tells, as of one moment.
pub fn both(fd: impl AsFd) -> Result<(Stat, Attributes)> {
    fault::point()?;
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
    statx(fd, c"", flags, WANTED).map(told)
}

/// The same, of a name in a folder; the last component's symbolic link is not followed.
pub fn entry(at: impl AsFd, name: &CStr) -> Result<(Stat, Attributes)> {
    fault::point()?;
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    statx(at, name, flags, WANTED).map(told)
}

fn told(s: Statx) -> (Stat, Attributes) {
    let attributes = Attributes {
        mode: u32::from(s.stx_mode) & 0o7777,
        uid: s.stx_uid,
        gid: s.stx_gid,
        accessed: s.stx_atime.into(),
        modified: s.stx_mtime.into(),
        immutable: s.stx_attributes.contains(StatxAttributes::IMMUTABLE),
        append_only: s.stx_attributes.contains(StatxAttributes::APPEND),
    };
    (Stat::from(s), attributes)
}

/// Sets owner and group, or the group alone.
pub fn set_owner(fd: impl AsFd, uid: Option<u32>, gid: u32) -> Result<()> {
    fault::point()?;
    rustix::fs::fchown(fd, uid.map(Uid::from_raw), Some(Gid::from_raw(gid)))
}

/// Sets the permission bits.
pub fn set_mode(fd: impl AsFd, mode: u32) -> Result<()> {
    fault::point()?;
    rustix::fs::fchmod(fd, Mode::from_raw_mode(mode))
}

/// Sets both times.
pub fn set_times(fd: impl AsFd, accessed: Time, modified: Time) -> Result<()> {
    fault::point()?;
    let time = |time: Time| Timespec {
        tv_sec: time.seconds,
        tv_nsec: time.nanoseconds.into(),
    };
    let times = Timestamps {
        last_access: time(accessed),
        last_modification: time(modified),
    };
    rustix::fs::futimens(fd, &times)
}

/// Makes sure that the effective user may write to a name in a folder: `EACCES` or `EROFS` if not.
pub fn may_write(at: impl AsFd, name: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::accessat(at, name, Access::WRITE_OK, AtFlags::EACCESS)
}

/// Sets the time of modification of a name in a folder to now; a symbolic link is not followed.
pub fn touch(at: impl AsFd, name: &CStr) -> Result<()> {
    fault::point()?;
    let time = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    let times = Timestamps {
        last_access: time(UTIME_OMIT),
        last_modification: time(UTIME_NOW),
    };
    rustix::fs::utimensat(at, name, &times, AtFlags::SYMLINK_NOFOLLOW)
}

/// The most bytes that Linux lets a list of names or a value have.
const LARGEST: usize = 64 << 10;

/// Size of the first buffer. Most files have no attributes, and the kernel allocates as much as the caller asks for.
const USUAL: usize = 1 << 10;

/// True if the mount does not store modes, so that they do not tell who created a file. The test removes a permission
/// of the folder; if the permission is gone afterwards, it is restored.
pub fn modes_are_made_up(folder: impl AsFd) -> Result<bool> {
    if !statfs::may_make_up_modes(&folder) {
        return Ok(false);
    }
    let folder = open::folder(folder, c".")?;
    let before = get(&folder)?.mode;
    // The lowest permission bit, which is one of the others' bits.
    match set_mode(&folder, before & before.wrapping_sub(1)) {
        // The system stores a mode, and refuses to change it.
        Err(Errno::PERM | Errno::ACCESS | Errno::ROFS) => return Ok(false),
        // A mode that cannot be set is not stored.
        Err(_) => return Ok(true),
        Ok(()) => {}
    }
    let is_made_up = get(&folder)?.mode == before;
    if !is_made_up {
        set_mode(&folder, before)?;
    }
    Ok(is_made_up)
}

/// All extended attributes that this process may see, ACLs among them; none where there are none
/// to have.
pub fn extended(fd: impl AsFd) -> Result<Vec<(CString, Vec<u8>)>> {
    fault::point()?;
    let all = all(
        |names| rustix::fs::flistxattr(&fd, spare_capacity(names)),
        |name, value| rustix::fs::fgetxattr(&fd, name, spare_capacity(value)),
    );
    match all {
        Err(error) if has_none(&fd, error) => Ok(Vec::new()),
        all => all,
    }
}

/// True if an error means that the file system has no extended attributes. Some FUSE programs (rclone) return EIO.
fn has_none(fd: impl AsFd, error: Errno) -> bool {
    matches!(error, Errno::NOTSUP | Errno::NOSYS) || error == Errno::IO && statfs::is_fuse(fd)
}

/// The same, of the file that a path leads to; a symbolic link at its end is not followed.
pub fn extended_of(path: &CStr) -> Result<Vec<(CString, Vec<u8>)>> {
    fault::point()?;
    all(
        |names| rustix::fs::llistxattr(path, spare_capacity(names)),
        |name, value| rustix::fs::lgetxattr(path, name, spare_capacity(value)),
    )
}

fn all(
    list: impl Fn(&mut Vec<u8>) -> Result<usize>,
    get: impl Fn(&CStr, &mut Vec<u8>) -> Result<usize>,
) -> Result<Vec<(CString, Vec<u8>)>> {
    let names = match filled(list) {
        Ok(names) => names,
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut all = Vec::new();
    for name in names.split(|&b| b == 0).filter(|name| !name.is_empty()) {
        let name = CString::new(name).map_err(|_| Errno::INVAL)?;
        match filled(|value| get(&name, value)) {
            Ok(value) => all.push((name, value)),
            // Gone meanwhile, or not for us.
            Err(Errno::NODATA | Errno::PERM | Errno::ACCESS | Errno::NOTSUP) => {}
            Err(error) => return Err(error),
        }
    }
    all.sort();
    Ok(all)
}

/// Calls with a buffer. The buffer grows if it is too small.
fn filled(call: impl Fn(&mut Vec<u8>) -> Result<usize>) -> Result<Vec<u8>> {
    let mut buffer = Vec::with_capacity(USUAL);
    let told = match call(&mut buffer) {
        Err(Errno::RANGE) => {
            buffer = Vec::with_capacity(LARGEST);
            call(&mut buffer)
        }
        told => told,
    };
    told.map(|_| {
        buffer.shrink_to_fit();
        buffer
    })
}

/// True if a POSIX ACL says who else may do what; also if that cannot be found out. A handle (`O_PATH`) will do.
pub fn has_acl(fd: impl AsFd) -> bool {
    !matches!(extended_of_handle(fd, ACL), Ok(None))
}

/// Sets one extended attribute.
pub fn set_extended(fd: impl AsFd, name: &CStr, value: &[u8]) -> Result<()> {
    fault::point()?;
    match rustix::fs::fsetxattr(&fd, name, value, XattrFlags::empty()) {
        Err(error) if has_none(&fd, error) => Err(Errno::NOTSUP),
        set => set,
    }
}

/// Takes one extended attribute away; one that is not there is as good.
pub fn remove_extended(fd: impl AsFd, name: &CStr) -> Result<()> {
    fault::point()?;
    match rustix::fs::fremovexattr(&fd, name) {
        Err(Errno::NODATA) => Ok(()),
        Err(error) if has_none(&fd, error) => Ok(()),
        removed => removed,
    }
}

/// One extended attribute of what a handle (`O_PATH`) leads to, if it has that; needs `/proc`.
pub fn extended_of_handle(fd: impl AsFd, name: &CStr) -> Result<Option<Vec<u8>>> {
    fault::point()?;
    let path = format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd());
    match filled(|value| rustix::fs::getxattr(&path, name, spare_capacity(value))) {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => Ok(None),
        Err(error) => Err(error),
    }
}
