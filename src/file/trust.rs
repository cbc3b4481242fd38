//! Other users who can change a file or a folder.
//!
//! The effective user and root are trusted, everybody else is not. An ACL that lets others write shows in the
//! group's bits, as its mask.

use std::fmt;
use std::os::fd::AsFd;

use rustix::fs::FileType;

use crate::sys::attributes::{self, Attributes};
use crate::sys::process;
use crate::sys::stat::Stat;

/// Why something may be what somebody else made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// It belongs to somebody who is not trusted.
    #[error("belongs to {}, and this runs as {}", User(*.owner), User(*.me))]
    Owner {
        /// Whom it belongs to.
        owner: u32,
        /// The effective user.
        me: u32,
    },
    /// Others may write to it.
    #[error("can be written to by other users (mode {0:o})")]
    Writable(u32),
    /// It is a symbolic link, where none is followed.
    #[error("is a symbolic link")]
    Link,
    /// It is no folder.
    #[error("is not a folder")]
    NotFolder,
    /// It is no regular file.
    #[error("is not a regular file")]
    NotRegular,
    /// It is on another file system, where only one is expected.
    #[error("is on another file system")]
    OtherFileSystem,
    /// It is seen through another mount, where only one is expected.
    #[error("is on another mount")]
    OtherMount,
    /// It has further names (hard links), and is to be written to.
    #[error("is a file with several names (hard links)")]
    FurtherNames,
}

/// Checks that a file or folder belongs to the effective user and nobody else may write to it.
///
/// # Errors
/// Why it is not.
pub fn ours_alone(now: &Attributes) -> Result<(), Distrust> {
    let me = me();
    match now.mode & OTHERS_MAY_WRITE {
        _ if now.uid != me => Err(Distrust::Owner { owner: now.uid, me }),
        0 => Ok(()),
        _ => Err(Distrust::Writable(now.mode)),
    }
}

/// Checks that a name leads to a regular file, and not by a symbolic link.
///
/// # Errors
/// What it is instead.
pub fn regular_file(stat: &Stat) -> Result<(), Distrust> {
    match stat.kind {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => Err(Distrust::Link),
        _ => Err(Distrust::NotRegular),
    }
}

/// A folder in which only we and root can change names, or at least (sticky bit) the names of what is ours or
/// root's.
///
/// # Errors
/// Why others can.
pub fn folder_is_safe(fd: impl AsFd, now: &Attributes) -> Result<(), Distrust> {
    safe(fd, now, is_sticky(now))
}

/// A file whose bytes, or a folder whose names, only we and root can change.
///
/// # Errors
/// Why others can.
pub fn nobody_else_writes(fd: impl AsFd, now: &Attributes) -> Result<(), Distrust> {
    safe(fd, now, false)
}

/// A folder of ours or root's in which only we and root can change names. Whoever cannot be told from root is not
/// trusted here: in a sandbox that may be anybody.
pub fn only_we_write(fd: impl AsFd, folder: &Attributes) -> bool {
    // Users of containers are often in root's group.
    let is_group_roots = folder.uid == ROOT && folder.mode & GROUP_MAY_WRITE != 0;
    is_ours_or_roots(folder.uid) && !is_group_roots && nobody_else_writes(fd, folder).is_ok()
}

/// A symbolic link that was made by us or root, as far as its folder lets one know. The folder above is not asked.
pub fn link_is_ours(fd: impl AsFd, folder: &Attributes, stat: &Stat, link: &Attributes) -> bool {
    let me = me();
    // With the sticky bit, nobody else can move it there or away; a hard link can be made by anybody.
    let is_kept =
        folder.mode & STICKY != 0 && is_ours_or_roots(folder.uid) && is_ours_or_roots(link.uid);
    // Many systems give each user a group of its own, which may write to the user's folders.
    let is_private = me != ROOT && (folder.uid, link.uid) == (me, me) && folder.mode & 0o002 == 0;
    only_we_write(fd, folder) || (is_kept || is_private) && stat.links == 1
}

/// True if others than the owner may make and rename what is in a folder, as far as the sticky bit lets them.
pub fn others_may_write(fd: impl AsFd, folder: &Attributes) -> bool {
    let is_private = || folder.uid == folder.gid && !attributes::has_acl(fd);
    match folder.mode & OTHERS_MAY_WRITE {
        0 => false,
        GROUP_MAY_WRITE => !is_private(),
        _ => true,
    }
}

/// True if only its owner may rename what is in a folder (and the folder's owner).
pub fn is_sticky(folder: &Attributes) -> bool {
    folder.mode & STICKY != 0
}

/// A file that belongs to this user, to root, or to us.
pub fn is_theirs_or_ours(now: &Attributes, uid: u32) -> bool {
    now.uid == uid || is_ours_or_roots(now.uid)
}

/// The effective user and root.
pub fn is_ours_or_roots(uid: u32) -> bool {
    uid == me() || uid == ROOT
}

/// The effective user, on whose behalf files are made.
pub fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// True if the effective user is root, to whom owners and permissions are no obstacle.
pub fn is_root() -> bool {
    me() == ROOT
}

/// The effective user and root, and in a sandbox the users that cannot be distinguished from root.
///
/// # Errors
/// If it is another user.
pub fn is_trusted(owner: u32) -> Result<(), Distrust> {
    if is_ours_or_roots(owner) || process::is_unmapped(owner) {
        Ok(())
    } else {
        Err(Distrust::Owner { owner, me: me() })
    }
}

/// The group may write if it is its owner's private group, which has the owner's number: users of many
/// distributions have such a group, and a umask that lets it write.
fn safe(fd: impl AsFd, now: &Attributes, is_sticky: bool) -> Result<(), Distrust> {
    is_trusted(now.uid)?;
    if is_sticky || !others_may_write(fd, now) {
        Ok(())
    } else {
        Err(Distrust::Writable(now.mode))
    }
}

/// A user, for people.
#[derive(Clone, Copy, Debug)]
pub struct User(pub u32);

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ROOT => f.write_str("root"),
            uid => write!(f, "user {uid}"),
        }
    }
}

const ROOT: u32 = 0;
const STICKY: u32 = 0o1000;
const GROUP_MAY_WRITE: u32 = 0o020;
const OTHERS_MAY_WRITE: u32 = 0o022;

#[cfg(test)]
mod tests {
    use super::*;

    fn with(uid: u32, gid: u32, mode: u32) -> Attributes {
        Attributes {
            mode,
            uid,
            gid,
            accessed: Default::default(),
            modified: Default::default(),
            immutable: false,
            append_only: false,
        }
    }

    #[test]
    fn others_are_neither_owners_nor_writers() {
        let folder = tempfile::tempdir().expect("a folder");
        let plain = std::fs::File::open(folder.path()).expect("opened");
        let (me, other) = (me(), me() + 1);
        for (uid, gid, mode, alone, safe) in [
            (me, other, 0o700, true, true),
            (me, other, 0o755, true, true),
            (me, other, 0o775, false, false),
            (me, me, 0o775, false, true),
            (me, me, 0o777, false, false),
            (me, other, 0o1777, false, true),
            (ROOT, ROOT, 0o755, me == ROOT, true),
            (other, other, 0o700, false, false),
            (other, other, 0o1777, false, false),
        ] {
            let now = with(uid, gid, mode);
            assert!(mode & 0o020 == 0 || gid == uid || nobody_else_writes(&plain, &now).is_err());
            assert_eq!(ours_alone(&now).is_ok(), alone, "{now:?}");
            assert_eq!(folder_is_safe(&plain, &now).is_ok(), safe, "{now:?}");
        }
    }

    #[test]
    fn links_count_only_where_nobody_else_can_make_them() {
        let top = tempfile::tempdir().expect("a folder");
        let plain = std::fs::File::open(top.path()).expect("opened");
        let (me, other) = (me(), me() + 1);
        let stat = |links| Stat {
            kind: rustix::fs::FileType::Symlink,
            dev: 1,
            ino: 2,
            size: 3,
            atime_ns: 0,
            mtime_ns: 0,
            ctime_ns: 0,
            links,
            blocks: 0,
            mount: 0,
            mount_root: false,
        };
        for (uid, gid, mode, link_uid, links, counts) in [
            (me, other, 0o755, other, 2, true),
            (ROOT, other, 0o755, other, 1, true),
            (other, other, 0o755, me, 1, false),
            (ROOT, ROOT, 0o1777, me, 1, true),
            (ROOT, ROOT, 0o1777, ROOT, 1, true),
            (ROOT, ROOT, 0o1777, me, 2, false),
            (ROOT, ROOT, 0o1777, other, 1, false),
            (other, other, 0o1777, me, 1, false),
            (me, me, 0o777, me, 1, false),
            (me, me, 0o775, other, 2, me != ROOT),
            (ROOT, ROOT, 0o775, other, 1, false),
            (me, other, 0o775, me, 1, me != ROOT),
            (me, other, 0o775, me, 2, false),
            (me, other, 0o775, other, 1, false),
        ] {
            let (folder, link) = (with(uid, gid, mode), with(link_uid, gid, 0o777));
            let is_ours = link_is_ours(&plain, &folder, &stat(links), &link);
            assert_eq!(is_ours, counts, "{folder:?} {link_uid} {links}");
        }
    }
}
