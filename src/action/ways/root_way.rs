//! Resolves a given path, and checks which users control the links on it.
//!
//! The owner of a symbolic link on a path can redirect the path at any time. An action that follows such a link does to
//! other people's files what the owner of the link wants.

use std::ffi::{CStr, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::Ways;
use super::folder_entry::parent;
use crate::file::trust;
use crate::sys::way::{self, Way};
use crate::sys::{attributes, open};

/// The resolution of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootWay {
    /// Device and inode number of the target.
    pub id: (u64, u64),
    /// The path of the target, without links.
    pub real: PathBuf,
    /// The symbolic links on the path.
    pub links: Vec<RootLink>,
}

/// A symbolic link on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootLink {
    /// The place of the link.
    pub path: PathBuf,
    /// The target, without links.
    pub target: PathBuf,
    /// The owner of the link.
    pub owner: u32,
    /// True if another user could redirect the path to other people's files: the link belongs neither to root nor to
    /// the owner of its target, or others may change a folder on the way to it.
    pub is_untrusted: bool,
}

impl RootWay {
    /// Follows a path.
    ///
    /// # Errors
    /// If the path leads nowhere, or may not be followed.
    pub fn look(path: &Path) -> io::Result<Self> {
        let bytes = path.as_os_str().as_bytes();
        let (end, mut links) = match way::without_links(bytes)? {
            Some(end) => (end, Vec::new()),
            None => followed(bytes)?,
        };
        let (stat, access) = attributes::both(&end)?;
        let mut ways = Ways::default();
        for (link, owner) in &mut links {
            let folder = parent(link.path.as_os_str().as_bytes());
            let mut leads =
                |owner| trust::may_lead(link.owner, owner) && ways.is_closed(folder, owner);
            link.is_untrusted |= !leads(*owner) || !leads(access.uid);
        }
        Ok(Self {
            id: (stat.dev, stat.ino),
            // Without `/proc` it takes a path.
            real: real(&end).or_else(|_| path.canonicalize())?,
            links: links.into_iter().map(|(link, _)| link).collect(),
        })
    }
}

/// Follows a path component by component, and records its links in the order of the path, each with the owner of its
/// target.
fn followed(path: &[u8]) -> io::Result<(OwnedFd, Vec<(RootLink, u32)>)> {
    let mut way = Way::to(path)?;
    let mut links: Vec<(RootLink, u32)> = Vec::new();
    // Links whose text is being followed, each with how many parts come after it.
    let mut begun = Vec::new();
    while let Some(name) = way.part() {
        let part = way.look(&name)?;
        if part.is_link() {
            let here = attributes::get(way.here())?;
            begun.push((links.len(), way.left()));
            let link = RootLink {
                path: place(way.here(), &name),
                target: PathBuf::new(),
                owner: part.access.uid,
                // A link of root's can be moved into a folder with the sticky bit, unlike a folder of root's.
                is_untrusted: trust::others_may_write(way.here(), &here),
            };
            links.push((link, 0));
            way.follow(&part)?;
        } else {
            way.enter(&name, part.handle);
        }
        while let Some((link, _)) = begun.pop_if(|(_, after)| way.left() <= *after) {
            links[link].0.target = real(way.here()).unwrap_or_default();
            links[link].1 = attributes::get(way.here())?.uid;
        }
    }
    Ok((way.into_here(), links))
}

/// The path of an open file or folder, without links.
fn real(end: &OwnedFd) -> io::Result<PathBuf> {
    let path = open::path_of(end).ok_or(io::ErrorKind::NotFound)?;
    Ok(OsString::from_vec(path).into())
}

/// The path of a name in an open folder.
fn place(folder: &OwnedFd, name: &CStr) -> PathBuf {
    let folder = real(folder).unwrap_or_default();
    folder.join(OsStr::from_bytes(name.to_bytes()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    use rustix::io::Errno;

    use super::*;

    #[test]
    fn links_are_met_in_every_part_of_a_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path().canonicalize().expect("real");
        let path = |name: &str| top.join(name);
        fs::create_dir_all(path("real/sub")).expect("folders");
        symlink("real", path("one")).expect("a link");
        symlink(path("one"), path("two")).expect("a link");
        symlink("../real/../real/sub", path("real/up")).expect("a link");
        symlink("round", path("round")).expect("a link");
        for (given, links, leads_to) in [
            ("real/sub", &[][..], "real/sub"),
            ("one", &[("one", "real")], "real"),
            ("one/", &[("one", "real")], "real"),
            ("one/sub", &[("one", "real")], "real/sub"),
            ("one/../real", &[("one", "real")], "real"),
            ("two/sub", &[("two", "real"), ("one", "real")], "real/sub"),
            (
                "two/up/..",
                &[("two", "real"), ("one", "real"), ("real/up", "real/sub")],
                "real",
            ),
        ] {
            let way = RootWay::look(&path(given)).expect("it leads somewhere");
            let met = way.links.into_iter().map(|link| (link.path, link.target));
            let expected = links.iter().map(|(a, b)| (path(a), path(b)));
            assert!(met.eq(expected), "{given}");
            let there = fs::metadata(path(leads_to)).expect("is there");
            assert_eq!(way.id, (there.dev(), there.ino()), "{given}");
            assert_eq!(way.real, path(leads_to), "{given}");
        }
        for (given, errno) in [("round", Errno::LOOP), ("one/none", Errno::NOENT)] {
            let error = RootWay::look(&path(given)).expect_err("leads nowhere");
            assert_eq!(error.raw_os_error(), Some(errno.raw_os_error()), "{given}");
        }
    }
}
