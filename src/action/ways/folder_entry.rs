//! A name in an opened folder. Actions reach every file in this way, so that no path is trusted twice.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::io::{Errno, Result};

use crate::action::reason::{Code, Reason};
use crate::heartbeat::current;
use crate::sys::statfs::{self, ServedBy};
use crate::sys::{stat, way};

/// A name in a folder that stays open.
#[derive(Debug)]
pub struct NameInFolder {
    /// The folder, as a starting point for calls.
    pub folder: OwnedFd,
    /// The name in it.
    pub name: CString,
}

/// Device and inode number.
pub type Identity = (u64, u64);

impl NameInFolder {
    /// Opens the folder that an absolute path leads to, following no symbolic link.
    pub fn of(path: &[u8]) -> std::result::Result<Self, Reason> {
        let (folder, name) = split(path).ok_or(Code::BadPath)?;
        current::ask_about(path);
        let folder = way::open(folder).map_err(|error| match error {
            Errno::LOOP => Code::ThroughLink.into(),
            Errno::NOENT | Errno::NOTDIR => Code::Gone.into(),
            error => Reason::unreadable(&error.into()),
        })?;
        Ok(Self { folder, name })
    }

    /// Device number of the file system with the name of a file with this number. The files of an overlay may have
    /// other numbers than its folders.
    pub fn volume(&self, dev: u64) -> u64 {
        match statfs::served_by(&self.folder) {
            ServedBy::Overlay => stat::descriptor(&self.folder).map_or(dev, |folder| folder.dev),
            _ => dev,
        }
    }

    /// The metadata of the file that has the name now.
    pub fn stat(&self) -> Result<stat::Stat> {
        stat::fresh_entry(&self.folder, &self.name)
    }
}

/// Splits an absolute path into folder and name; `None` if it has `.`, `..` or a NUL in it.
pub fn split(path: &[u8]) -> Option<(&[u8], CString)> {
    let mut parts = path.strip_prefix(b"/")?.split(|&b| b == b'/');
    if parts.any(|part| part == b"." || part == b"..") {
        return None;
    }
    let slash = path.iter().rposition(|&b| b == b'/')?;
    let (folder, name) = (&path[..slash], &path[slash + 1..]);
    if name.is_empty() {
        return None;
    }
    Some((folder, CString::new(name).ok()?))
}

/// The folder's part of an absolute path.
pub fn parent(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|&b| b == b'/');
    &path[..slash.unwrap_or(0)]
}

/// The part of a path behind its last slash.
pub fn bare(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|&b| b == b'/');
    &path[slash.map_or(0, |slash| slash + 1)..]
}

/// The nearest existing folder of this one and those above it, with its path. No link is followed.
pub fn nearest(mut path: &[u8]) -> Result<(OwnedFd, &[u8])> {
    loop {
        match way::open(path) {
            Err(Errno::NOENT) if !path.is_empty() => path = self::parent(path),
            folder => return Ok((folder?, path)),
        }
    }
}

/// A path below a folder.
pub fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = folder.to_vec();
    if !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// True if a name is one that [`temporary`] generates: a file with such a name may be removed at any time.
pub fn is_temporary(name: &[u8]) -> bool {
    let ends = [&b".tmp"[..], b".part", b".undo"];
    name.starts_with(b".seekless-") && ends.iter().any(|end| name.ends_with(end))
}

/// A name for a temporary file that also identifies its run: `mark` belongs to one run only, also if several machines
/// work on one file system.
pub fn temporary(mark: &str, step: u64) -> CString {
    CString::new(format!(".seekless-{mark}-{step}.tmp")).unwrap_or_default()
}

/// The name of a copy beside the victim, which a rescue or an undo makes.
pub fn ours(temporary: &CStr) -> CString {
    sibling(temporary, b".undo")
}

/// The name of a copy at its destination, until it is complete.
pub fn part(temporary: &CStr) -> CString {
    sibling(temporary, b".part")
}

fn sibling(temporary: &CStr, ending: &[u8]) -> CString {
    let name = temporary.to_bytes();
    let stem = name.strip_suffix(b".tmp").unwrap_or(name);
    CString::new([stem, ending].concat()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_absolute_paths_are_taken() {
        let name = |text: &str| CString::new(text).expect("no NUL");
        assert_eq!(split(b"/a"), Some((&b""[..], name("a"))));
        assert_eq!(split(b"/a/b c"), Some((&b"/a"[..], name("b c"))));
        for bad in [
            "", "/", "a", "a/b", "/a/", "/a/../b", "/..", "/./a", "/a\0b",
        ] {
            assert_eq!(split(bad.as_bytes()), None, "{bad:?}");
        }
    }
}
