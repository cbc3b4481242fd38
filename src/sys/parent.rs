//! Opening a folder by a path on which no symbolic link is followed.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::{Errno, Result};

use super::fault;

/// The longest path for one call; the kernel takes 4096 bytes with the final NUL.
const LONGEST: usize = 4000;

/// Opens an absolute path to a folder as a starting point for other calls (`O_PATH`).
///
/// `ELOOP` where a part of the path is a symbolic link. A path of any length is opened, in several
/// steps. Without `openat2` (Linux 5.6; some containers forbid it) each part is opened by itself.
pub fn open(path: &[u8]) -> Result<OwnedFd> {
    fault::point()?;
    if let Some(opened) = at_once(path) {
        return opened;
    }
    let mut at = folder(CWD, c"/", ResolveFlags::empty())?;
    let mut rest = path;
    while !rest.is_empty() {
        let (part, after) = split(rest);
        if !part.is_empty() {
            at = below(&at, part)?;
        }
        rest = after;
    }
    Ok(at)
}

/// The usual case, in one call; `None` where it takes several.
fn at_once(path: &[u8]) -> Option<Result<OwnedFd>> {
    if !path.starts_with(b"/") || path.len() > LONGEST {
        return None;
    }
    let name = std::ffi::CString::new(path).ok()?;
    match folder(CWD, &name, ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS | Errno::PERM) => None,
        opened => Some(opened),
    }
}

/// Splits off as much as the kernel takes at once, up to a slash.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let first = path.iter().position(|&b| b != b'/');
    let path = &path[first.unwrap_or(path.len())..];
    if path.len() <= LONGEST {
        return (path, &[]);
    }
    let cut = path[..LONGEST].iter().rposition(|&b| b == b'/');
    match cut {
        Some(cut) => (&path[..cut], &path[cut + 1..]),
        None => (path, &[]),
    }
}

fn below(at: &OwnedFd, part: &[u8]) -> Result<OwnedFd> {
    let name = std::ffi::CString::new(part).map_err(|_| Errno::INVAL)?;
    open_below(at, &name)
}

/// Opens a folder below an open one as a starting point for other calls; its path is relative and no link on it is
/// followed. The path must not be longer than the kernel takes at once.
pub fn open_below(at: impl AsFd, path: &CStr) -> Result<OwnedFd> {
    match folder(&at, path, ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS | Errno::PERM) => one_by_one(&at, path.to_bytes()),
        opened => opened,
    }
}

fn folder(at: impl AsFd, name: &CStr, resolve: ResolveFlags) -> Result<OwnedFd> {
    if resolve.is_empty() {
        return openat(at, name, FLAGS, Mode::empty());
    }
    // With O_NOFOLLOW a link at the end of the path would be "not a directory".
    openat2(
        at,
        name,
        FLAGS.difference(OFlags::NOFOLLOW),
        Mode::empty(),
        resolve,
    )
}

const FLAGS: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

fn one_by_one(at: impl AsFd, path: &[u8]) -> Result<OwnedFd> {
    let mut here = rustix::io::fcntl_dupfd_cloexec(at, 0)?;
    for part in path.split(|&b| b == b'/').filter(|part| !part.is_empty()) {
        let name = std::ffi::CString::new(part).map_err(|_| Errno::INVAL)?;
        here = match openat(&here, &name, FLAGS, Mode::empty()) {
            // O_DIRECTORY says so of a symbolic link that O_NOFOLLOW does not follow.
            Err(Errno::NOTDIR) if is_link(&here, &name) => return Err(Errno::LOOP),
            opened => opened?,
        };
    }
    Ok(here)
}

fn is_link(at: &OwnedFd, name: &CStr) -> bool {
    super::stat::entry(at, name).is_ok_and(|stat| stat.kind == rustix::fs::FileType::Symlink)
}

/// Opens a folder in a folder, never through a symbolic link.
pub fn step(at: impl AsFd, name: &CStr) -> Result<OwnedFd> {
    fault::point()?;
    openat(at, name, FLAGS, Mode::empty())
}

/// Makes a folder; one that is there already is as good, which `false` tells. After an error it asks again: the reply of a
/// server may have been lost.
pub fn make_folder(at: impl AsFd, name: &CStr, mode: u32) -> Result<bool> {
    let make = || {
        fault::point()?;
        rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(mode))
    };
    match make().or_else(|error| make().map_err(|again| (error, again))) {
        Ok(()) => Ok(true),
        Err((_, Errno::EXIST)) => Ok(false),
        Err((error, _)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn no_link_on_the_way_is_followed_with_or_without_openat2() {
        let folder = tempfile::tempdir().expect("a folder");
        let real = folder.path().canonicalize().expect("a real path");
        std::fs::create_dir_all(real.join("a/b")).expect("folders");
        std::os::unix::fs::symlink("a", real.join("link")).expect("a link");
        let at = open(real.as_os_str().as_bytes()).expect("the folder");
        let one_by_one = |at: &OwnedFd, path: &[u8]| one_by_one(at, path);
        for open in [below, one_by_one] {
            assert!(open(&at, b"a/b").is_ok());
            assert_eq!(open(&at, b"link/b").err(), Some(Errno::LOOP));
            assert_eq!(open(&at, b"link").err(), Some(Errno::LOOP));
            assert_eq!(open(&at, b"missing/b").err(), Some(Errno::NOENT));
        }
    }
}
