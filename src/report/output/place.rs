//! Where a report goes: a name in an opened folder, found through no link that another user may have made.
//!
//! The path is resolved once, part by part. After that only the name in the opened folder counts, so nobody can
//! swap a folder of the path for another one.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::error::Cause;
use crate::file::trust;
use crate::sys::attributes::{self, Attributes};
use crate::sys::stat::Stat;
use crate::sys::way::{PathPart, Way};
use crate::sys::{open, statfs};

/// Where a path leads.
#[derive(Debug)]
pub enum Found {
    /// To a name in a folder.
    Name(OutputPlace),
    /// To a file that some process has open already: `/dev/stdout`, `/dev/fd/3`.
    Open(OwnedFd),
}

/// A name in a folder that stays open.
#[derive(Debug)]
pub struct OutputPlace {
    /// The folder, as a starting point for calls.
    pub folder: OwnedFd,
    /// Its access rights.
    pub access: Attributes,
    /// The name in it.
    pub name: CString,
    /// The existing file of that name, which is neither a folder nor a symbolic link.
    pub existing: Option<(Stat, Attributes)>,
}

impl OutputPlace {
    /// True if nobody but this user and root can give this name to something else.
    pub fn is_safe(&self) -> bool {
        trust::only_we_write(&self.folder, &self.access)
    }
}

/// Finds the folder and the name that a path leads to.
pub fn find(path: &Path) -> Result<Found, Cause> {
    let mut way = Way::to(path.as_os_str().as_bytes())?;
    while let Some(name) = way.part() {
        let is_last = way.left() == 0;
        let part = match way.look(&name) {
            Err(Errno::NOENT) if is_last => return in_folder(way, name, None),
            part => part?,
        };
        match part.stat.kind {
            FileType::Directory => way.enter(&name, part.handle),
            FileType::Symlink if statfs::is_proc(&part.handle) => {
                if is_last {
                    let file = open::for_appending(way.here(), &name, true)?;
                    return Ok(Found::Open(file));
                }
                let folder = open::folder_handle(way.here(), &name)?;
                way.enter(&name, folder);
            }
            FileType::Symlink => follow(&mut way, &name, &part)?,
            _ if !is_last => return Err(Errno::NOTDIR.into()),
            _ => return in_folder(way, name, Some((part.stat, part.access))),
        }
    }
    Err(Errno::ISDIR.into())
}

/// Goes on where a link leads, unless another user may have made it.
fn follow(way: &mut Way, name: &CStr, part: &PathPart) -> Result<(), Cause> {
    let folder = attributes::get(way.here())?;
    if !trust::link_is_ours(way.here(), &folder, &part.stat, &part.access) {
        let name = OsStr::from_bytes(name.to_bytes());
        return Err(Cause::Link(way.shown().join(name)));
    }
    Ok(way.follow(part)?)
}

fn in_folder(
    way: Way,
    name: CString,
    existing: Option<(Stat, Attributes)>,
) -> Result<Found, Cause> {
    let folder = way.into_here();
    Ok(Found::Name(OutputPlace {
        access: attributes::get(&folder)?,
        folder,
        name,
        existing,
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    type Tested = Result<(), Box<dyn std::error::Error>>;

    fn found(path: &Path) -> Result<(PathBuf, CString, bool), Cause> {
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
            let found = found(&top.join(path)).map_err(|cause| format!("{cause:?}"))?;
            let (folder, found_name, existing) = found;
            assert_eq!(folder, top.join(at), "{path}");
            assert_eq!(
                (found_name.as_c_str(), existing),
                (name, is_there),
                "{path}"
            );
        }
        let said = |path: &Path| match found(path) {
            Err(Cause::System(error)) => error.raw_os_error(),
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
            assert_eq!(said(&top.join(path)), Some(error.raw_os_error()), "{path}");
        }
        assert_eq!(said(Path::new("")), Some(Errno::NOENT.raw_os_error()));
        Ok(())
    }
}
