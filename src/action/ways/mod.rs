//! Who may change what a path leads to: the one rule for root beside other users.
//!
//! Root acts in a folder, relies on a file in it, or moves a file into it, only if no user but root and the owner of
//! the file may change that folder or one above it. `StrictModes` of sshd asks the same of the way to a user's keys.
//! [`Settings::shared`](super::Settings::shared) lifts the rule for folders; an option of the program lifts it for
//! links.
//!
//! | on the way | who may change it |
//! |---|---|
//! | a folder | its owner |
//! | a folder that others may write to | everybody; with the sticky bit, its owner only |
//! | a folder that a program serves | the user of the program as well |
//! | a symbolic link in a given path | its owner, and whoever may change its folder; everybody if others may write there: |
//! | | a link of root's can be moved there in spite of the sticky bit |

pub(in crate::action) mod folder_entry;
pub(in crate::action) mod folder_identity;

use std::collections::HashMap;
use std::ffi::{CStr, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use self::folder_entry::parent;
use crate::device::Mounts;
use crate::file::trust;
use crate::sys::statfs::{self, ServedBy};
use crate::sys::way::{self, Way};
use crate::sys::{attributes, open, stat};

/// The users besides root and this user who may change a folder, or one above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Changers {
    #[default]
    Nobody,
    /// The user with this number.
    Only(u32),
    Several,
}

impl Changers {
    fn and(self, user: u32) -> Self {
        match self {
            _ if trust::is_trusted(user).is_ok() => self,
            Self::Nobody => Self::Only(user),
            Self::Only(only) if only == user => self,
            _ => Self::Several,
        }
    }

    /// True if none of them is another user than this owner.
    fn are_only(self, owner: u32) -> bool {
        match self {
            Self::Nobody => true,
            Self::Only(user) => user == owner,
            Self::Several => false,
        }
    }
}

/// The results for folders.
#[derive(Debug, Default)]
pub struct Ways {
    known: HashMap<Vec<u8>, Changers>,
    mounts: Option<Mounts>,
}

impl Ways {
    /// True if only root, this user and this owner may change the folder with this real path, and all folders above it.
    pub fn is_closed(&mut self, folder: &[u8], owner: u32) -> bool {
        self.changers(folder).are_only(owner)
    }

    fn changers(&mut self, path: &[u8]) -> Changers {
        if let Some(&known) = self.known.get(path) {
            return known;
        }
        let above = match path {
            b"" | b"/" => Changers::Nobody,
            path => self.changers(parent(path)),
        };
        // A folder that cannot be examined may be anybody's.
        let changers = self.with(path, above).unwrap_or(Changers::Several);
        self.known.insert(path.to_vec(), changers);
        changers
    }

    /// Adds the users who may change this folder.
    fn with(&mut self, path: &[u8], above: Changers) -> rustix::io::Result<Changers> {
        let opened = way::open(path)?;
        let now = attributes::get(&opened)?;
        // With the sticky bit, only the owners of files and folders may rename them.
        if trust::others_may_write(&opened, &now) && !trust::is_sticky(&now) {
            return Ok(Changers::Several);
        }
        let changers = above.and(now.uid);
        Ok(match self.server(&opened) {
            Some(user) => changers.and(user),
            None => changers,
        })
    }

    /// The user whose program serves the file system of a folder. The program can show any file under any name.
    fn server(&mut self, folder: &OwnedFd) -> Option<u32> {
        if statfs::served_by(folder) != ServedBy::Others {
            return None;
        }
        let mounts = self.mounts.get_or_insert_with(Mounts::read);
        match stat::descriptor(folder) {
            Ok(now) => mounts.foreign_server(now.dev),
            Err(_) => Some(u32::MAX),
        }
    }
}

/// The resolution of a given path.
///
/// The owner of a symbolic link on a path can redirect the path at any time. An action that follows such a link does to
/// other people's files what the owner of the link wants.
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
    /// True if others than the owner of the link's target, and of the path's, may change the link.
    pub is_untrusted: bool,
}

impl RootWay {
    /// Follows a path.
    ///
    /// # Errors
    /// If the path leads nowhere, or may not be followed.
    pub fn look(path: &Path) -> io::Result<Self> {
        let bytes = path.as_os_str().as_bytes();
        let (end, links) = match way::without_links(bytes)? {
            Some(end) => (end, Vec::new()),
            None => followed(bytes)?,
        };
        let (stat, access) = attributes::both(&end)?;
        let mut ways = Ways::default();
        let links = links.into_iter().map(|(mut link, is_open, owner)| {
            let changers = if is_open {
                Changers::Several
            } else {
                ways.changers(parent(link.path.as_os_str().as_bytes()))
            };
            let changers = changers.and(link.owner);
            link.is_untrusted = !changers.are_only(owner) || !changers.are_only(access.uid);
            link
        });
        Ok(Self {
            id: (stat.dev, stat.ino),
            links: links.collect(),
            // Without `/proc` it takes a path.
            real: real(&end).or_else(|_| path.canonicalize())?,
        })
    }
}

/// A link, whether others may write to its folder, and the owner of its target.
type Met = (RootLink, bool, u32);

/// Follows a path component by component, and records its links in the order of the path.
fn followed(path: &[u8]) -> io::Result<(OwnedFd, Vec<Met>)> {
    let mut way = Way::to(path)?;
    let mut links: Vec<Met> = Vec::new();
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
                is_untrusted: false,
            };
            links.push((link, trust::others_may_write(way.here(), &here), 0));
            way.follow(&part)?;
        } else {
            way.enter(&name, part.handle);
        }
        while let Some((link, _)) = begun.pop_if(|(_, after)| way.left() <= *after) {
            links[link].0.target = real(way.here()).unwrap_or_default();
            links[link].2 = attributes::get(way.here())?.uid;
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
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use rustix::io::Errno;

    use super::*;

    #[test]
    fn a_way_is_closed_if_nobody_else_may_change_a_folder_on_it() {
        let base = tempfile::tempdir().expect("a folder");
        let folder = |name: &str, mode: u32| {
            let path = base.path().join(name);
            fs::create_dir(&path).expect("made");
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("its mode");
        };
        for (name, mode) in [
            ("private", 0o700),
            ("readable", 0o755),
            ("open", 0o777),
            ("open/below", 0o700),
            ("sticky", 0o1777),
            ("sticky/below", 0o700),
        ] {
            folder(name, mode);
        }
        for (name, expected) in [
            ("private", true),
            ("readable", true),
            ("open", false),
            ("open/below", false),
            ("sticky", true),
            ("sticky/below", true),
            ("gone", false),
            ("private/gone", false),
        ] {
            let path = base.path().join(name);
            for owner in [trust::me(), trust::me() + 1] {
                let closed = Ways::default().is_closed(path.as_os_str().as_bytes(), owner);
                assert_eq!(closed, expected, "{name}");
            }
        }
    }

    #[test]
    fn one_stranger_is_the_owner_or_not_and_two_are_too_many() {
        let me = trust::me();
        let nobody = Changers::default();
        assert_eq!(nobody.and(me).and(0), nobody);
        let one = nobody.and(me + 7);
        assert_eq!(one, Changers::Only(me + 7));
        assert_eq!(one.and(me).and(me + 7), one);
        assert_eq!(one.and(me + 8), Changers::Several);
        assert_eq!(Changers::Several.and(me + 7), Changers::Several);
    }

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
