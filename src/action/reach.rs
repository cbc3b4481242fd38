//! The users who could rename the entries of a folder, according to the folders on its path and the programs that serve
//! them.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::{AsFd, OwnedFd};

use serde::{Deserialize, Serialize};

use super::folder_entry::parent;
use crate::device::Mounts;
use crate::file::trust;
use crate::sys::parent as folder;
use crate::sys::statfs::{self, ServedBy};
use crate::sys::{attributes, stat};

/// A user or group who may rename entries of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Who {
    /// The owner of a folder, or the user whose program serves it.
    Owner(u32),
    /// The users of a folder that lets others write: its group, whether it lets all users write, and a digest of its
    /// ACL, 0 without one.
    Others(u32, bool, u64),
}

/// The users, besides root and this user, who could have put a folder in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placers {
    Nobody,
    /// The user with this number.
    Only(u32),
    Several,
}

/// The results for folders.
#[derive(Debug, Default)]
pub struct Reach {
    known: HashMap<Vec<u8>, BTreeSet<Who>>,
    mounts: Option<Mounts>,
}

impl Reach {
    /// The users besides root and the owner who could remove files from this folder.
    pub fn others(&mut self, folder: &[u8], owner: u32) -> BTreeSet<Who> {
        let all = self.who(folder).iter().copied();
        all.filter(|who| !matches!(who, Who::Owner(uid) if *uid == 0 || *uid == owner))
            .collect()
    }

    /// The users who could have put a folder with this owner at this path.
    pub fn placers(&mut self, path: &[u8], owner: u32) -> Placers {
        let mut who = self.who(parent(path)).clone();
        who.insert(Who::Owner(owner));
        who.retain(|who| !matches!(who, Who::Owner(uid) if trust::is_trusted(*uid).is_ok()));
        let mut who = who.into_iter();
        match (who.next(), who.next()) {
            (None, _) => Placers::Nobody,
            (Some(Who::Owner(uid)), None) => Placers::Only(uid),
            _ => Placers::Several,
        }
    }

    fn who(&mut self, path: &[u8]) -> &BTreeSet<Who> {
        if !self.known.contains_key(path) {
            let mut who = match path {
                b"" | b"/" => BTreeSet::new(),
                path => self.who(parent(path)).clone(),
            };
            // One that cannot be looked at belongs to nobody who is known.
            match folder::open(path).and_then(|fd| Ok((attributes::get(&fd)?, fd))) {
                Ok((now, fd)) => {
                    who.insert(Who::Owner(now.uid));
                    who.extend(self.server(&fd).map(Who::Owner));
                    // With the sticky bit each file is its owner's to rename, and each folder.
                    if trust::others_may_write(&fd, &now) && !trust::is_sticky(&now) {
                        let acl = digest_of_acl(&fd, path);
                        who.insert(Who::Others(now.gid, now.mode & 0o002 != 0, acl));
                    }
                }
                Err(_) => {
                    who.insert(Who::Owner(u32::MAX));
                }
            }
            self.known.insert(path.to_vec(), who);
        }
        &self.known[path]
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

/// A digest of the ACL of the folder with this path; 0 without one. One that cannot be read is like no other.
fn digest_of_acl(folder: impl AsFd, path: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    match attributes::extended_of_handle(folder, attributes::ACL) {
        Ok(None) => return 0,
        Ok(Some(acl)) => (true, acl).hash(&mut hasher),
        Err(_) => (false, path).hash(&mut hasher),
    }
    hasher.finish() | 1
}
