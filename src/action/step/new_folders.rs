//! Folders that a step creates on the path to its destination, or in a trash.
//!
//! The record of the step has the number of folders that were missing above its destination. Whoever takes the step back
//! removes so many, if they are empty.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::io::{Errno, Result, fcntl_dupfd_cloexec};

use crate::action::failure::{failed, failure_with};
use crate::action::reason::{Code, Facts, Reason};
use crate::action::ways::Ways;
use crate::action::ways::folder_entry::{NameInFolder, join, nearest, parent as above};
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::attributes::{self, Attributes};
use crate::sys::{dirent, names, open, parent, stat, sync};

/// Created folders. Those that are like another one get its traits when they are filled.
#[derive(Debug, Default)]
pub struct Made(RefCell<Vec<MadeFolder>>);

/// A created folder.
#[derive(Debug)]
struct MadeFolder {
    path: Vec<u8>,
    folder: OwnedFd,
    /// What it gets when it is filled.
    traits: Option<Traits>,
}

/// The folders that a moved file came from, which new folders are like.
#[derive(Clone, Copy, Debug)]
pub struct Original<'a> {
    /// The real path of its folder.
    pub path: &'a [u8],
    /// The number of bytes of the destination's path behind which folders are like those above the file.
    pub base: usize,
    /// The owner of the file, if root guards it: nobody else may change the folders on the way to its destination.
    pub guarded: Option<u32>,
}

impl Made {
    /// Opens the folder with this absolute path, and creates missing folders on the path; follows no link. Without an
    /// `original`, new folders are for their owner only.
    pub fn open(
        &self,
        path: &[u8],
        original: Option<&Original<'_>>,
    ) -> std::result::Result<OwnedFd, Reason> {
        const CREATE: &str = "create the destination folder";
        let mut ways = Ways::default();
        let mut closed = |path: &[u8]| match original.and_then(|original| original.guarded) {
            Some(owner) if !ways.is_closed(path, owner) => {
                let doing = format!("move it into {}", String::from_utf8_lossy(path));
                Err(Code::SharedDestination.with(Facts::refused(&doing, &Errno::PERM.into())))
            }
            _ => Ok(()),
        };
        current::ask_about(path);
        let (mut at, there) = nearest(path).map_err(failed("open the destination folder"))?;
        closed(there)?;
        // What is put there must be free to be taken back.
        let now = attributes::get(&at).map_err(failed("open the destination folder"))?;
        if now.immutable || now.append_only {
            let hint = "the destination folder is immutable or append-only: run chattr -ia on it";
            return Err(failure_with("move it there", Errno::PERM, hint));
        }
        let mut here = there.to_vec();
        let missing = path[there.len()..].split(|&byte| byte == b'/');
        let missing: Vec<_> = missing.filter(|part| !part.is_empty()).collect();
        for (place, part) in missing.iter().enumerate() {
            here = join(&here, part);
            current::ask_about(&here);
            let name = CString::new(*part).map_err(|_| failed(CREATE)(Errno::INVAL))?;
            let like = original.filter(|original| here.len() > original.base);
            let traits = like.map(|like| Traits::above(like.path, missing.len() - 1 - place));
            let traits = traits.transpose().map_err(failed(CREATE))?;
            let is_plain = original.is_some() && traits.is_none();
            let mode = if is_plain { 0o777 } else { 0o700 };
            let since_ns = now_ns();
            let is_new = parent::make_folder(&at, &name, mode).map_err(failed(CREATE))?;
            let next = if is_new && traits.is_some() {
                open_made(&at, &name, since_ns)
            } else {
                parent::step(&at, &name)
            };
            let next = next.map_err(failed("open the folder"))?;
            if !is_new || traits.is_none() {
                closed(&here)?;
            }
            if is_new {
                let kept = fcntl_dupfd_cloexec(&next, 0).map_err(failed("open the folder"))?;
                self.0.borrow_mut().push(MadeFolder {
                    path: here.clone(),
                    folder: kept,
                    traits,
                });
            }
            sync::folder(&at).map_err(failed(CREATE))?;
            at = next;
        }
        Ok(at)
    }

    /// True if the folder with this absolute path was created.
    pub fn has(&self, path: &[u8]) -> bool {
        self.0.borrow().iter().any(|made| made.path == path)
    }

    /// Applies their traits to all of them, the innermost first: a closed outer folder protects it meanwhile.
    ///
    /// Returns the traits that could not be applied, for the user.
    pub fn open_up(&self) -> Option<String> {
        let mut missing = Vec::new();
        for made in self.0.borrow_mut().drain(..).rev() {
            for what in made
                .traits
                .iter()
                .flat_map(|traits| traits.give(&made.folder))
            {
                if !missing.contains(&what) {
                    missing.push(what);
                }
            }
        }
        (!missing.is_empty()).then(|| {
            let missing = missing.join(" and ");
            format!("a new folder on its path does not have the {missing} of the original folder")
        })
    }
}

/// The number of missing folders above this absolute path.
pub fn missing_above(path: &[u8]) -> usize {
    let there = nearest(above(path)).map_or(path.len(), |(_, there)| there.len());
    let ends = path.iter().skip(there + 1);
    ends.filter(|&&byte| byte == b'/').count()
}

/// Removes these folders, each before the one above it, up to one that is not empty.
pub fn remove<'a>(folders: impl Iterator<Item = &'a [u8]>) {
    for path in folders {
        current::ask_about(path);
        let removed =
            NameInFolder::of(path).map(|place| names::remove_folder(&place.folder, &place.name));
        if matches!(removed, Ok(Err(error)) if error != Errno::NOENT) {
            return;
        }
    }
}

/// True if one of these folders is there, and empty.
pub fn are_left<'a>(mut folders: impl Iterator<Item = &'a [u8]>) -> bool {
    folders.any(|path| {
        let folder = parent::open(path).and_then(|folder| open::folder(&folder, c"."));
        folder.is_ok_and(|folder| dirent::is_empty(&folder) == Ok(true))
    })
}

const ACLS: [&CStr; 2] = [attributes::ACL, attributes::DEFAULT_ACL];

/// The owner, mode and ACLs of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Traits {
    uid: u32,
    gid: u32,
    mode: u32,
    /// The access ACL and the default ACL; `None` if they are unknown.
    acls: Option<[Option<Vec<u8>>; 2]>,
}

impl Traits {
    /// The traits of the folder that is `height` folders above this one.
    fn above(mut path: &[u8], height: usize) -> Result<Self> {
        for _ in 0..height {
            path = above(path);
        }
        let at = parent::open(path)?;
        let Attributes { mode, uid, gid, .. } = attributes::get(&at)?;
        let acls = ACLS.map(|name| attributes::extended_of_handle(&at, name));
        let acls = match acls {
            [Ok(access), Ok(default)] => Some([access, default]),
            _ => None,
        };
        Ok(Self {
            uid,
            gid,
            mode,
            acls,
        })
    }

    /// Applies the traits to a folder that is open for reading, and that only its owner may enter so far. Returns the
    /// traits that could not be applied; other users may not enter the folder then.
    fn give(&self, folder: &OwnedFd) -> Vec<&'static str> {
        let is_owned = attributes::set_owner(folder, Some(self.uid), self.gid).is_ok()
            || attributes::get(folder).is_ok_and(|now| (now.uid, now.gid) == (self.uid, self.gid));
        let has_acls = self.give_acls(folder, is_owned);
        // A folder of root's, such as /home, may be for everybody, whoever owns the new one.
        let is_roots = self.uid == 0 && self.mode >> 3 & 7 == self.mode & 7;
        let is_open = (is_owned || is_roots) && has_acls;
        // A user who is not root may have to put more files into the folder.
        let own = if trust::is_root() { 0 } else { 0o700 };
        let mode = if is_open {
            self.mode
        } else {
            self.mode & 0o700
        };
        let has_mode = attributes::set_mode(folder, mode | own).is_ok();
        let missing = [
            (!is_owned && !is_roots, "owner"),
            (!has_acls, "ACL"),
            (!has_mode, "mode"),
        ];
        let missing = missing.into_iter().filter(|(is_missing, _)| *is_missing);
        missing.map(|(_, what)| what).collect()
    }

    /// Removes inherited ACLs. Without owner and group, an ACL would apply to other people.
    fn give_acls(&self, folder: &OwnedFd, is_owned: bool) -> bool {
        let Some(acls) = &self.acls else { return false };
        ACLS.into_iter().zip(acls).all(|(name, acl)| match acl {
            Some(acl) => is_owned && attributes::set_extended(folder, name, acl).is_ok(),
            None => attributes::remove_extended(folder, name).is_ok(),
        })
    }
}

/// Opens a folder that was just created, for reading. If other users may rename folders there, another folder may have
/// its name by now, whose owner and mode must not be changed.
///
/// # Errors
/// `ESTALE` if it is another folder.
fn open_made(parent: &OwnedFd, name: &CStr, since_ns: i64) -> Result<OwnedFd> {
    open_new(parent, name, since_ns, false).inspect_err(|_| {
        // It stays if something is in it.
        let _ = names::remove_folder(parent, name);
    })
}

/// Opens a folder for reading that this user created since this moment, and that is empty and closed to others. Where the
/// file system keeps no time of creation, it counts as new unless that is to be `certain`.
///
/// # Errors
/// `ESTALE` if it is another folder.
pub fn open_new(parent: &OwnedFd, name: &CStr, since_ns: i64, certain: bool) -> Result<OwnedFd> {
    let folder = open::folder(parent, name)?;
    let now = attributes::get(&folder)?;
    let made_up = || attributes::modes_are_made_up(&folder) == Ok(true);
    // The group's bits include the mask of an ACL.
    let is_closed = || now.mode & 0o077 == 0 || made_up();
    // On a file system without owners, one user owns every file.
    let is_ours = now.uid == trust::me() || now.uid == attributes::get(parent)?.uid;
    let born_ns = stat::birth_ns(&folder, c".", false);
    let is_young = born_ns.map_or(!certain, |born_ns| born_ns >= since_ns) || made_up();
    let is_own = is_ours && is_young && (!trust::is_root() || is_closed());
    if is_own && dirent::is_empty(&folder)? {
        Ok(folder)
    } else {
        Err(Errno::STALE)
    }
}

/// The least time that a file system may give to what is made now: its clock may be a tick of the kernel behind.
fn now_ns() -> i64 {
    const TICK_NS: i128 = 20_000_000;
    let now = jiff::Timestamp::now().as_nanosecond() - TICK_NS;
    i64::try_from(now).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn another_folder_with_the_name_of_a_new_one_is_refused() {
        let top = tempfile::tempdir().expect("a folder");
        let path = CString::new(top.path().as_os_str().as_bytes()).expect("no NUL");
        let base = open::folder(open::CWD, &path).expect("it is there");
        let closed = |name: &str| {
            let path = top.path().join(name);
            fs::create_dir(&path).expect("made");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("closed");
            path
        };
        closed("new");
        assert!(open_made(&base, c"new", 0).is_ok());
        // Only root acts in folders where others can do this.
        let open = closed("open");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).expect("opened");
        assert_eq!(open_made(&base, c"open", 0).is_err(), trust::is_root());
        assert_eq!(open.exists(), !trust::is_root(), "an empty folder goes");
        let file = closed("filled").join("file");
        fs::write(&file, "theirs").expect("written");
        assert_eq!(open_made(&base, c"filled", 0).err(), Some(Errno::STALE));
        assert!(file.exists());
        let later = now_ns() + 1_000_000_000;
        let is_old = stat::birth_ns(&base, c".", false).is_some();
        assert_eq!(open_new(&base, c"new", later, false).is_err(), is_old);
        symlink("new", top.path().join("link")).expect("linked");
        assert!(open_made(&base, c"link", 0).is_err());
        assert!(top.path().join("link").is_symlink());
    }
}
