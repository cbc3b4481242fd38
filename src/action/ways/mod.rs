//! Who may change the folders on the way to a file: the one rule for root beside other users.
//!
//! Root acts in a folder, relies on a file in it, or moves a file into it, only if no user but root and the owner of the
//! file may change that folder or one above it. `StrictModes` of sshd asks the same of the way to a user's keys.
//! [`Settings::shared`](super::Settings::shared) lifts the rule.

pub(in crate::action) mod folder_entry;
pub(in crate::action) mod folder_identity;
pub(in crate::action) mod root_way;
pub(in crate::action) mod temporary;

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use self::folder_entry::parent;
use crate::device::Mounts;
use crate::file::trust;
use crate::sys::parent as folder;
use crate::sys::statfs::{self, ServedBy};
use crate::sys::{attributes, stat};

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
        match self.changers(folder) {
            Changers::Nobody => true,
            Changers::Only(user) => user == owner,
            Changers::Several => false,
        }
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
        let opened = folder::open(path)?;
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

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;

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
}
