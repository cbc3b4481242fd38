//! Owner, mode and ACLs of a folder, for the new folder that a move creates for it elsewhere.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::io::{Errno, Result};

use crate::file::trust;
use crate::sys::attributes::{self, Attributes};
use crate::sys::{dirent, names, open, parent, stat};

use super::folder_entry;

const ACLS: [&CStr; 2] = [attributes::ACL, attributes::DEFAULT_ACL];

/// The owner, mode and ACLs of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderTraits {
    uid: u32,
    gid: u32,
    mode: u32,
    /// The access ACL and the default ACL; `None` if they are unknown.
    acls: Option<[Option<Vec<u8>>; 2]>,
}

impl FolderTraits {
    /// The traits of the folder that lies `height` folders above this one.
    ///
    /// # Errors
    /// `ESTALE` if the folder has been moved meanwhile.
    pub fn above(original: &Original<'_>, height: usize) -> Result<Self> {
        let at = original.above(height)?;
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
    /// traits that could not be applied. The mode is then narrowed, so that no user may do more than in the original.
    pub fn give(&self, folder: &OwnedFd) -> Vec<&'static str> {
        let mut missing = Vec::new();
        let Ok(now) = attributes::get(folder) else {
            return vec!["mode"];
        };
        let mut mode = self.mode;
        let as_wanted = (now.uid, now.gid) == (self.uid, self.gid);
        let has_owner =
            as_wanted || attributes::set_owner(folder, Some(self.uid), self.gid).is_ok();
        if !has_owner {
            // Nobody may give a folder away, but its owner may give it to a group of his own.
            let group = attributes::set_owner(folder, None, self.gid).is_ok();
            mode = narrowed(mode, now.uid == self.uid, group || now.gid == self.gid);
            // A folder of root's, such as /home, is as open as before: root may enter every folder.
            let lacks_nothing = (self.uid, self.gid, self.mode) == (0, 0, mode);
            if !lacks_nothing {
                missing.push(match now.uid == self.uid {
                    true => "group",
                    false => "owner",
                });
            }
        }
        if !self.give_acls(folder, has_owner) {
            missing.push("ACL");
            mode &= 0o700;
        }
        if attributes::set_mode(folder, mode | self.own_access()).is_err() {
            missing.push("mode");
        }
        missing
    }

    /// Removes inherited ACLs. Without owner and group, an ACL would apply to other people.
    fn give_acls(&self, folder: &OwnedFd, has_owner: bool) -> bool {
        let Some(acls) = &self.acls else { return false };
        ACLS.into_iter().zip(acls).all(|(name, acl)| match acl {
            Some(acl) => has_owner && attributes::set_extended(folder, name, acl).is_ok(),
            None => attributes::remove_extended(folder, name).is_ok(),
        })
    }

    /// The permissions of the owner: a user who is not root may have to put more files into the folder.
    fn own_access(&self) -> u32 {
        match trust::is_root() {
            true => 0,
            false => 0o700,
        }
    }
}

/// A mode for a folder that gets another owner or another group. A user who was in another permission class before
/// may do only what both classes allow.
fn narrowed(mode: u32, has_owner: bool, has_group: bool) -> u32 {
    let (user, group, others) = (mode >> 6 & 7, mode >> 3 & 7, mode & 7);
    // The owner of the original is one of the group or of the others now.
    let (group, others) = match has_owner {
        true => (group, others),
        false => (group & user, others & user),
    };
    let (group, others, special) = match has_group {
        true => (group, others, mode & 0o7000),
        // What is made inside would get a group that it is not meant for.
        false => (group & others, group & others, mode & 0o5000),
    };
    special | user << 6 | group << 3 | others
}

/// The folder that a moved file came from.
#[derive(Clone, Copy, Debug)]
pub struct Original<'a> {
    /// Opened before the file was moved.
    pub folder: &'a OwnedFd,
    /// Its real path.
    pub path: &'a [u8],
    /// The owner of the file, if root guards it: nobody else may change the folders on the way to its destination.
    pub guarded: Option<u32>,
}

impl Original<'_> {
    /// The folder this many levels above, on which `..` and the path agree. A user who may rename the folder can choose
    /// the target of `..`, or of the path, but not both.
    pub fn above(&self, height: usize) -> Result<OwnedFd> {
        let mut at = rustix::io::fcntl_dupfd_cloexec(self.folder, 0)?;
        let mut path = self.path;
        for _ in 0..height {
            at = parent::step(&at, c"..")?;
            path = folder_entry::parent(path);
        }
        let (reached, named) = (stat::descriptor(&at)?, parent::open(path)?);
        let named = stat::descriptor(&named)?;
        match (reached.dev, reached.ino) == (named.dev, named.ino) {
            true => Ok(at),
            false => Err(Errno::STALE),
        }
    }
}

/// Opens a folder that was just created, for reading. If other users may rename folders there, another folder may have
/// its name by now, whose owner and mode must not be changed.
///
/// # Errors
/// `ESTALE` if it is another folder. A folder that is empty, closed to other users, and belongs to the creator is
/// accepted.
pub fn open_made(parent: &OwnedFd, name: &CStr) -> Result<OwnedFd> {
    let opened = open::folder(parent, name).and_then(|folder| {
        let now = attributes::get(&folder)?;
        // The folder was made with mode 0700. The group's bits include the mask of an ACL.
        let is_closed =
            || now.mode & 0o077 == 0 || attributes::modes_are_made_up(&folder) == Ok(true);
        // On a file system without owners, one user owns every file.
        let is_ours = now.uid == trust::me() || now.uid == attributes::get(parent)?.uid;
        let is_own = !trust::is_root() || is_ours && is_closed();
        match is_own && dirent::is_empty(&folder)? {
            true => Ok(folder),
            false => Err(Errno::STALE),
        }
    });
    opened.inspect_err(|_| {
        // It stays if something is in it.
        let _ = names::remove_folder(parent, name);
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_narrowed_mode_lets_nobody_do_more() {
        for (mode, has_owner, has_group, expected) in [
            (0o2770, true, true, 0o2770),
            (0o755, false, true, 0o755),
            (0o755, false, false, 0o755),
            (0o750, false, false, 0o700),
            (0o2775, false, false, 0o755),
            (0o705, true, false, 0o700),
            (0o575, false, true, 0o555),
            (0o1777, false, false, 0o1777),
        ] {
            let narrowed = narrowed(mode, has_owner, has_group);
            assert_eq!(narrowed, expected, "{mode:o} {has_owner} {has_group}");
        }
    }
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
        assert!(open_made(&base, c"new").is_ok());
        // Only root acts in folders where others can do this.
        let open = closed("open");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).expect("opened");
        assert_eq!(open_made(&base, c"open").is_err(), trust::is_root());
        assert_eq!(open.exists(), !trust::is_root(), "an empty folder goes");
        let file = closed("filled").join("file");
        fs::write(&file, "theirs").expect("written");
        assert_eq!(open_made(&base, c"filled").err(), Some(Errno::STALE));
        assert!(file.exists());
        symlink("new", top.path().join("link")).expect("linked");
        assert!(open_made(&base, c"link").is_err());
        assert!(top.path().join("link").is_symlink());
    }
}
