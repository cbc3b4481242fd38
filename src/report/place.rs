//! Where a report goes: a name in an opened folder, found through no link that another user may have made.
//!
//! The path is resolved once, part by part. After that only the name in the opened folder counts, so nobody can
//! swap a folder of the path for another one.

use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::sys::attributes::{self, Attributes};
use crate::sys::stat::Stat;
use crate::sys::{link, open, parent, statfs};

/// As many symbolic links as the kernel follows in one path.
const LINKS: usize = 40;

/// Where a path leads.
#[derive(Debug)]
pub enum Found {
    /// To a name in a folder.
    Name(Place),
    /// To a file that some process has open already: `/dev/stdout`, `/dev/fd/3`.
    Open(OwnedFd),
}

/// A name in a folder that stays open.
#[derive(Debug)]
pub struct Place {
    /// The folder, as a starting point for calls.
    pub folder: OwnedFd,
    /// Who may write to it.
    pub access: Attributes,
    /// The name in it.
    pub name: CString,
    /// What has the name, which is no folder and no symbolic link.
    pub existing: Option<(Stat, Attributes)>,
}

/// Why a path is not followed.
#[derive(Debug)]
pub enum Refusal {
    /// A symbolic link that another user may have made.
    Link(PathBuf),
    /// What the system said.
    System(Errno),
}

impl From<Errno> for Refusal {
    fn from(error: Errno) -> Self {
        Self::System(error)
    }
}

impl Place {
    /// True if nobody but this user and root can give this name to something else.
    pub fn is_safe(&self) -> bool {
        is_safe(&self.access)
    }
}

/// Finds the folder and the name that a path leads to.
pub fn find(path: &Path) -> Result<Found, Refusal> {
    let mut walk = Walk::begin(path.as_os_str().as_bytes())?;
    loop {
        if let Some(found) = walk.step()? {
            return Ok(found);
        }
    }
}

/// A path that is partly resolved.
struct Walk {
    here: OwnedFd,
    /// How `here` was reached, for messages.
    shown: Vec<u8>,
    /// The parts to come, the next one last.
    rest: Vec<Vec<u8>>,
    links: usize,
}

impl Walk {
    fn begin(path: &[u8]) -> Result<Self, Refusal> {
        let mut walk = Self {
            here: open::folder_handle(open::CWD, c".")?,
            shown: Vec::new(),
            rest: Vec::new(),
            links: 0,
        };
        walk.lead_to(path)?;
        Ok(walk)
    }

    /// What comes next is this path, and then what was to come.
    fn lead_to(&mut self, path: &[u8]) -> Result<(), Refusal> {
        if path.is_empty() {
            return Err(Errno::NOENT.into());
        }
        if path.starts_with(b"/") {
            self.here = open::folder_handle(open::CWD, c"/")?;
            self.shown = b"/".to_vec();
        }
        // A slash at the end asks for a folder, as a dot does.
        let part = |part: &[u8]| match part {
            b"" => b".".to_vec(),
            part => part.to_vec(),
        };
        let parts = path.split(|&b| b == b'/').rev().map(part);
        let known = self.rest.len();
        self.rest.extend(parts);
        // Dots say nothing, except at the end.
        let mut place = 0;
        self.rest.retain(|part| {
            place += 1;
            part != b"." || place == 1 || place <= known
        });
        Ok(())
    }

    /// Resolves the next part.
    fn step(&mut self) -> Result<Option<Found>, Refusal> {
        let part = self.rest.pop().unwrap_or_else(|| b".".to_vec());
        let is_last = self.rest.is_empty();
        let name = CString::new(part.as_slice()).map_err(|_| Errno::INVAL)?;
        let handle = match open::any_handle(&self.here, &name, false) {
            Err(Errno::NOENT) if is_last => return Ok(Some(self.name(name, None)?)),
            handle => handle?,
        };
        let (stat, access) = attributes::both(&handle)?;
        match stat.kind {
            FileType::Directory if is_last => return Err(Errno::ISDIR.into()),
            FileType::Directory => self.enter(&part, parent::step(&self.here, &name)?),
            FileType::Symlink if statfs::is_proc(&handle) => {
                if is_last {
                    let file = open::for_appending(&self.here, &name, true)?;
                    return Ok(Some(Found::Open(file)));
                }
                self.enter(&part, open::folder_handle(&self.here, &name)?);
            }
            FileType::Symlink => {
                let folder = attributes::get(&self.here)?;
                if !is_ours(&folder, &stat, &access) {
                    return Err(Refusal::Link(self.path_to(&part)));
                }
                self.links += 1;
                if self.links > LINKS {
                    return Err(Errno::LOOP.into());
                }
                self.lead_to(&link::read(&handle, c"")?)?;
            }
            _ if !is_last => return Err(Errno::NOTDIR.into()),
            _ => return Ok(Some(self.name(name, Some((stat, access)))?)),
        }
        Ok(None)
    }

    fn name(&self, name: CString, existing: Option<(Stat, Attributes)>) -> Result<Found, Refusal> {
        Ok(Found::Name(Place {
            folder: rustix::io::fcntl_dupfd_cloexec(&self.here, 0)?,
            access: attributes::get(&self.here)?,
            name,
            existing,
        }))
    }

    fn enter(&mut self, part: &[u8], folder: OwnedFd) {
        self.shown = self.path_to(part).into_os_string().into_encoded_bytes();
        self.here = folder;
    }

    fn path_to(&self, part: &[u8]) -> PathBuf {
        Path::new(OsStr::from_bytes(&self.shown)).join(OsStr::from_bytes(part))
    }
}

/// This user and root are trusted, nobody else.
pub fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == own_uid()
}

/// The user on whose behalf files are made.
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// True if nobody but this user and root may write to a folder. An ACL shows in the bits of the group.
fn is_safe(folder: &Attributes) -> bool {
    is_trusted(folder.uid) && folder.mode & 0o022 == 0
}

/// True if a symbolic link was made by this user or root, as far as the folder lets one know.
fn is_ours(folder: &Attributes, stat: &Stat, link: &Attributes) -> bool {
    let uid = own_uid();
    // With the sticky bit, nobody else can move it there or away; a hard link can be made by anybody.
    let is_kept = folder.mode & 0o1000 != 0 && is_trusted(folder.uid) && is_trusted(link.uid);
    // Many systems give each user a group of its own, which may write to the user's folders.
    let is_private = uid != 0 && (folder.uid, link.uid) == (uid, uid) && folder.mode & 0o002 == 0;
    is_safe(folder) || (is_kept || is_private) && stat.links == 1
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    type Tested = Result<(), Box<dyn std::error::Error>>;

    fn found(path: &Path) -> Result<(PathBuf, CString, bool), Refusal> {
        match find(path)? {
            Found::Name(place) => {
                let folder = open::path_of(&place.folder).unwrap_or_default();
                let folder = PathBuf::from(OsStr::from_bytes(&folder));
                Ok((folder, place.name, place.existing.is_some()))
            }
            Found::Open(_) => Err(Errno::BADF.into()),
        }
    }

    #[test]
    fn paths_lead_where_the_kernel_would_go() -> Tested {
        let folder = tempfile::tempdir()?;
        let top = folder.path().canonicalize()?;
        fs::create_dir_all(top.join("a/b"))?;
        fs::write(top.join("a/file"), "")?;
        for (link, text) in [
            ("to-b", "a/b"),
            ("to-file", "./a//file"),
            ("twice", "to-b/../../to-b/new"),
            ("a/b/up", "../../a"),
            ("dangling", "a/none"),
            ("loop", "loop"),
        ] {
            symlink(text, top.join(link))?;
        }
        symlink(top.join("a"), top.join("absolute"))?;
        for (path, at, name, is_there) in [
            ("a/file", "a", c"file", true),
            ("a/new", "a", c"new", false),
            ("./a/./b/../file", "a", c"file", true),
            ("to-b/new", "a/b", c"new", false),
            ("to-b/../new", "a", c"new", false),
            ("to-file", "a", c"file", true),
            ("twice", "a/b", c"new", false),
            ("to-b/up/file", "a", c"file", true),
            ("dangling", "a", c"none", false),
            ("absolute//new", "a", c"new", false),
        ] {
            let found = found(&top.join(path)).map_err(|refusal| format!("{refusal:?}"))?;
            let (folder, found_name, existing) = found;
            assert_eq!(folder, top.join(at), "{path}");
            assert_eq!(
                (found_name.as_c_str(), existing),
                (name, is_there),
                "{path}"
            );
        }
        let said = |path: &Path| match found(path) {
            Err(Refusal::System(error)) => Some(error),
            _ => None,
        };
        for (path, error) in [
            ("a", Errno::ISDIR),
            ("a/", Errno::ISDIR),
            ("a/.", Errno::ISDIR),
            ("a/..", Errno::ISDIR),
            ("to-b", Errno::ISDIR),
            ("/", Errno::ISDIR),
            ("none/new", Errno::NOENT),
            ("a/new/", Errno::NOENT),
            ("a/file/", Errno::NOTDIR),
            ("a/file/new", Errno::NOTDIR),
            ("loop", Errno::LOOP),
        ] {
            assert_eq!(said(&top.join(path)), Some(error), "{path}");
        }
        assert_eq!(said(Path::new("")), Some(Errno::NOENT));
        Ok(())
    }

    #[test]
    fn links_count_only_where_nobody_else_can_make_them() {
        let uid = own_uid();
        let other = if uid == 4711 { 4712 } else { 4711 };
        let with = |uid, mode| Attributes {
            mode,
            uid,
            gid: 0,
            atime_ns: 0,
            mtime_ns: 0,
            immutable: false,
            append_only: false,
        };
        let stat = |links| Stat {
            kind: FileType::Symlink,
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
        for (folder, link_uid, links, counts) in [
            (with(uid, 0o755), other, 2, true),
            (with(0, 0o755), other, 1, true),
            (with(other, 0o755), uid, 1, false),
            (with(0, 0o1777), uid, 1, true),
            (with(0, 0o1777), 0, 1, true),
            (with(0, 0o1777), uid, 2, false),
            (with(0, 0o1777), other, 1, false),
            (with(other, 0o1777), uid, 1, false),
            (with(uid, 0o777), uid, 1, false),
            (with(uid, 0o775), uid, 1, uid != 0),
            (with(uid, 0o775), other, 1, false),
        ] {
            let is_ours = is_ours(&folder, &stat(links), &with(link_uid, 0o777));
            assert_eq!(is_ours, counts, "{folder:?} {link_uid} {links}");
        }
    }
}
