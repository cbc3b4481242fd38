//! Paths to folders: opened without following a symbolic link, or followed part by part.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::{Errno, Result};

use super::attributes::{self, Attributes};
use super::open::{any_handle, folder_handle};
use super::stat::{self, Stat};
use super::{fault, names};

/// The longest path for one call; the kernel takes 4096 bytes with the final NUL.
const LONGEST: usize = 4000;

/// Opens an absolute path to a folder as a starting point for other calls (`O_PATH`).
///
/// `ELOOP` where a part of the path is a symbolic link. A path of any length is opened, in several
/// steps. Without `openat2` (Linux 5.6; some containers forbid it) each part is opened by itself.
pub fn open(path: &[u8]) -> Result<OwnedFd> {
    fault::point()?;
    let (first, mut rest) = split(path);
    let mut at = below(CWD, &[b"/", first].concat())?;
    while !rest.is_empty() {
        let (part, after) = split(rest);
        if !part.is_empty() {
            at = below(&at, part)?;
        }
        rest = after;
    }
    Ok(at)
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

fn below(at: impl AsFd, part: &[u8]) -> Result<OwnedFd> {
    let name = CString::new(part).map_err(|_| Errno::INVAL)?;
    open_below(at, &name)
}

/// Opens a folder below an open one as a starting point for other calls, or by an absolute path; no link on the path is
/// followed. The path must not be longer than the kernel takes at once.
pub fn open_below(at: impl AsFd, path: &CStr) -> Result<OwnedFd> {
    // With O_NOFOLLOW a link at the end of the path would be "not a directory".
    let flags = FLAGS.difference(OFlags::NOFOLLOW);
    match openat2(&at, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS | Errno::PERM) => one_by_one(&at, path.to_bytes()),
        opened => opened,
    }
}

const FLAGS: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

fn one_by_one(at: impl AsFd, path: &[u8]) -> Result<OwnedFd> {
    let start = if path.starts_with(b"/") { c"/" } else { c"." };
    let mut here = openat(at, start, FLAGS, Mode::empty())?;
    for part in path.split(|&b| b == b'/').filter(|part| !part.is_empty()) {
        let name = CString::new(part).map_err(|_| Errno::INVAL)?;
        here = match openat(&here, &name, FLAGS, Mode::empty()) {
            // O_DIRECTORY says so of a symbolic link that O_NOFOLLOW does not follow.
            Err(Errno::NOTDIR) if is_link(&here, &name) => return Err(Errno::LOOP),
            opened => opened?,
        };
    }
    Ok(here)
}

fn is_link(at: &OwnedFd, name: &CStr) -> bool {
    stat::entry(at, name).is_ok_and(|stat| stat.kind == FileType::Symlink)
}

/// Opens a folder in a folder, never through a symbolic link.
pub fn step(at: impl AsFd, name: &CStr) -> Result<OwnedFd> {
    fault::point()?;
    openat(at, name, FLAGS, Mode::empty())
}

/// Makes a folder; one that is there already is as good, which `false` tells. After an error it asks again: the reply
/// of a server may have been lost.
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

// A path that is followed part by part with open descriptors, so that what was seen of a part is what was followed. The
// caller decides about each part: enter it, follow it if it is a link, or give up.

/// Links that are followed, as many as the kernel follows.
const LINKS: usize = 40;

/// A path that was followed in part.
#[derive(Debug)]
pub struct Way {
    here: OwnedFd,
    shown: PathBuf,
    /// The parts to come, the next one last.
    left: Vec<CString>,
    links: usize,
}

/// The target of a part of a path.
#[derive(Debug)]
pub struct PathPart {
    /// The file, folder or link itself, opened with `O_PATH`.
    pub handle: OwnedFd,
    /// Its metadata.
    pub stat: Stat,
    /// Whose it is, and who may write to it.
    pub access: Attributes,
}

impl PathPart {
    /// True if it is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.stat.kind == FileType::Symlink
    }
}

impl Way {
    /// Begins at `/`, or in the current folder. The path may be of any length.
    pub fn to(path: &[u8]) -> Result<Self> {
        let mut way = Self {
            here: folder_handle(CWD, c".")?,
            shown: PathBuf::new(),
            left: Vec::new(),
            links: 0,
        };
        way.lead_to(path)?;
        Ok(way)
    }

    /// Puts this path before the rest.
    fn lead_to(&mut self, path: &[u8]) -> Result<()> {
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        if path.starts_with(b"/") {
            self.here = folder_handle(CWD, c"/")?;
            self.shown = PathBuf::from("/");
        }
        let mut parts = path.split(|&b| b == b'/').rev();
        // A slash at the end asks for a folder, as a dot does. Elsewhere both say nothing.
        let last = parts.next().filter(|part| !part.is_empty());
        let before = parts.filter(|part| !matches!(*part, b"" | b"."));
        for part in std::iter::once(last.unwrap_or(b".")).chain(before) {
            self.left
                .push(CString::new(part).map_err(|_| Errno::INVAL)?);
        }
        Ok(())
    }

    /// Takes the next part.
    pub fn part(&mut self) -> Option<CString> {
        self.left.pop()
    }

    /// How many parts come after those that were taken.
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// The folder that was reached, as a starting point for calls.
    pub fn here(&self) -> &OwnedFd {
        &self.here
    }

    /// The same, for good.
    pub fn into_here(self) -> OwnedFd {
        self.here
    }

    /// Its path, for messages: relative if the path was, and without the links that were followed.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// Looks at a name in it.
    pub fn look(&self, name: &CStr) -> Result<PathPart> {
        // In this order, as `O_DIRECTORY` has the kernel mount what it mounts on demand.
        let handle = match step(&self.here, name) {
            Err(Errno::NOTDIR | Errno::LOOP) => any_handle(&self.here, name, false)?,
            opened => opened?,
        };
        let (stat, access) = attributes::both(&handle)?;
        Ok(PathPart {
            handle,
            stat,
            access,
        })
    }

    /// Goes on in what has this name.
    pub fn enter(&mut self, name: &CStr, folder: OwnedFd) {
        self.here = folder;
        let is_below = !self.shown.as_os_str().is_empty() && !self.shown.ends_with("..");
        match name.to_bytes() {
            b"." => {}
            b".." if is_below => drop(self.shown.pop()),
            name => self.shown.push(OsStr::from_bytes(name)),
        }
    }

    /// Goes on where a link leads.
    ///
    /// # Errors
    /// `ELOOP` for more than 40 links.
    pub fn follow(&mut self, part: &PathPart) -> Result<()> {
        self.links += 1;
        if self.links > LINKS {
            return Err(Errno::LOOP);
        }
        self.lead_to(&names::read_link(&part.handle, c"")?)
    }
}

/// The usual case, in one call (`O_PATH`): nothing where there are links, or where the kernel has no such call.
pub fn without_links(path: &[u8]) -> Result<Option<OwnedFd>> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let opened = |more| {
        let flags = OFlags::PATH | OFlags::CLOEXEC | more;
        openat2(CWD, &path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
    };
    let opened = match opened(OFlags::DIRECTORY) {
        Err(Errno::NOTDIR) => opened(OFlags::empty()),
        opened => opened,
    };
    match opened {
        Err(Errno::LOOP | Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG) => Ok(None),
        opened => opened.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_on_the_way_is_followed_with_or_without_openat2() {
        let folder = tempfile::tempdir().expect("a folder");
        let real = folder.path().canonicalize().expect("a real path");
        std::fs::create_dir_all(real.join("a/b")).expect("folders");
        std::os::unix::fs::symlink("a", real.join("link")).expect("a link");
        let at = open(real.as_os_str().as_bytes()).expect("the folder");
        let below = |at: &OwnedFd, path: &[u8]| below(at, path);
        let one_by_one = |at: &OwnedFd, path: &[u8]| one_by_one(at, path);
        for open in [below, one_by_one] {
            assert!(open(&at, b"a/b").is_ok());
            let absolute = |name| real.join(name).into_os_string().into_encoded_bytes();
            assert!(open(&at, &absolute("a/b")).is_ok());
            assert_eq!(open(&at, &absolute("link/b")).err(), Some(Errno::LOOP));
            assert_eq!(open(&at, b"link/b").err(), Some(Errno::LOOP));
            assert_eq!(open(&at, b"link").err(), Some(Errno::LOOP));
            assert_eq!(open(&at, b"missing/b").err(), Some(Errno::NOENT));
        }
    }

    /// Every way that enters folders and follows links goes where the kernel goes.
    fn end(path: &Path) -> Result<(u64, u64)> {
        let mut way = Way::to(path.as_os_str().as_bytes())?;
        while let Some(name) = way.part() {
            let part = way.look(&name)?;
            if part.is_link() {
                way.follow(&part)?
            } else {
                way.enter(&name, part.handle)
            }
        }
        let now = stat::descriptor(way.here())?;
        Ok((now.dev, now.ino))
    }

    #[test]
    fn paths_lead_where_the_kernel_would_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path().canonicalize().expect("real");
        fs::create_dir_all(top.join("a/b")).expect("folders");
        fs::write(top.join("a/file"), "").expect("a file");
        for (name, text) in [
            ("to-b", "a/b"),
            ("to-file", "./a//file"),
            ("slash", "a/b/"),
            ("a/b/up", "../../to-b/.."),
            ("loop", "loop"),
            ("dangling", "none"),
        ] {
            symlink(text, top.join(name)).expect("a link");
        }
        symlink(top.join("to-b"), top.join("absolute")).expect("a link");
        for path in [
            "",
            ".",
            "a/",
            "a/./b/..",
            "to-b",
            "to-b/",
            "to-b/up",
            "to-b/up/file",
            "slash/up",
            "to-file",
            "to-file/",
            "absolute/..",
            "a/file/",
            "a/file/x",
            "a/file/..",
            "none",
            "none/..",
            "loop",
            "dangling",
        ] {
            use std::os::unix::fs::MetadataExt;
            let path = top.join(path);
            let kernel = fs::metadata(&path).map(|now| (now.dev(), now.ino()));
            let kernel = kernel.map_err(|error| Errno::from_io_error(&error));
            assert_eq!(end(&path).map_err(Some), kernel, "{path:?}");
            match without_links(path.as_os_str().as_bytes()) {
                Ok(opened) => assert!(opened.is_none() || kernel.is_ok(), "{path:?}"),
                Err(error) => assert_eq!(kernel, Err(Some(error)), "{path:?}"),
            }
        }
        assert_eq!(end(Path::new("")), Err(Errno::NOENT));
        assert_eq!(end(Path::new("a\0b")), Err(Errno::INVAL));
    }
}
