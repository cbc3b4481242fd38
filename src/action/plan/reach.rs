//! The users who could remove the name of a kept file, according to the folders on its path.
//!
//! Root may remove a file, or replace it with a symbolic link, because its owner has a copy. If that copy lies in a
//! folder of another user, this user can remove it afterwards, or put another file in its place. Files that different
//! users can remove are therefore no substitutes for each other.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::AsFd;

use serde::{Deserialize, Serialize};

use super::set::{PlannedFile, PlannedName, SetPlan};
use crate::action::folder_entry::parent;
use crate::file::trust;
use crate::sys::attributes;
use crate::sys::parent as folder;

/// A user or group who may rename entries of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Who {
    /// The owner of a folder.
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
}

impl Reach {
    /// Checks the folders of all files of a set.
    pub fn look(&mut self, set: &mut SetPlan) {
        for file in &mut set.files {
            let owner = file.rights.uid;
            for name in &mut file.names {
                name.reach = self.others(parent(&name.path), owner);
            }
            file.rights.reach = of_file(file);
        }
    }

    /// The users besides root and the owner who could remove files from this folder.
    fn others(&mut self, folder: &[u8], owner: u32) -> BTreeSet<Who> {
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

/// A digest of the users who can remove the file, which means all its names; 0 for none.
///
/// If no name is the safest of all, a group may have members among the users of another name. Nobody knows then who can
/// remove the file, so it is like no other file.
pub(super) fn of_file(file: &PlannedFile) -> u64 {
    let Some(safest) = file.names.iter().min_by_key(|name| name.order()) else {
        return 0;
    };
    let mut names = file.names.iter();
    let is_safest_of_all = names.all(|name| safest.reach.is_subset(&name.reach));
    if is_safest_of_all && safest.reach.is_empty() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    safest.reach.hash(&mut hasher);
    if !is_safest_of_all {
        (file.dev, file.ino).hash(&mut hasher);
    }
    hasher.finish() | 1
}

impl PlannedName {
    /// The order of the names of a file: steps rely on the first one, which fewest users can remove.
    pub(super) fn order(&self) -> (bool, usize) {
        (!self.is_relied_on(), self.reach.len())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;
    use crate::action::access::Rights;
    use crate::action::plan::left::Left;
    use crate::action::plan::set::Fate;

    /// A digest of the users who can remove a file of this owner that has a name in each of these folders.
    fn reach(owner: u32, folders: &[&Path]) -> u64 {
        let name = |folder: &&Path| PlannedName {
            path: folder.join("f").as_os_str().as_bytes().to_vec(),
            listed: Vec::new(),
            root: None,
            hold: None,
            marked: false,
            in_trash: false,
            goes: false,
            is_safer: false,
            reach: BTreeSet::new(),
        };
        let file = PlannedFile {
            dev: 1,
            volume: 1,
            shares_blocks: false,
            ino: 1,
            mtime_ns: 0,
            ctime_ns: 0,
            atime_ns: 0,
            links: folders.len() as u64,
            allocated: 0,
            rights: Rights {
                uid: owner,
                ..Rights::default()
            },
            names: folders.iter().map(name).collect(),
            fate: Fate::Leave(Left::NotAsked),
        };
        let mut set = SetPlan {
            size: 1,
            digest: None,
            files: vec![file],
            left: Vec::new(),
            shared: Default::default(),
        };
        Reach::default().look(&mut set);
        set.files[0].rights.reach
    }

    #[test]
    fn folders_that_others_may_write_to_let_others_take_files_away() {
        let base = tempfile::tempdir().unwrap();
        let me = trust::me();
        let folder = |name: &str, mode: u32| {
            let path = base.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        let private = folder("private", 0o700);
        let (open, other) = (folder("open", 0o777), folder("other", 0o777));
        let sticky = folder("sticky", 0o1777);
        let mine = reach(me, &[&private]);
        assert_eq!(mine, reach(me, &[base.path()]));
        assert_eq!(mine, reach(me, &[&sticky]), "each renames only its own");
        assert_ne!(mine, reach(me, &[&open]));
        assert_eq!(reach(me, &[&other]), reach(me, &[&open]), "the same people");
        // An ACL lets further users write.
        let shared = folder("shared", 0o775);
        let for_user = |user: u32| {
            let path = folder(&format!("for {user}"), 0o775);
            // (tag, permissions, user), as the kernel stores them: owner, user, group, mask, others.
            let entries = [
                (1, 7, !0),
                (2, 7, user),
                (4, 7, !0),
                (16, 7, !0),
                (32, 5, !0),
            ];
            let entries = entries.map(|(tag, may, id): (u16, u16, u32)| {
                [
                    &tag.to_le_bytes()[..],
                    &may.to_le_bytes(),
                    &id.to_le_bytes(),
                ]
                .concat()
            });
            let acl = [&2_u32.to_le_bytes()[..], &entries.concat()].concat();
            let opened = fs::File::open(&path).unwrap();
            attributes::set_extended(&opened, attributes::ACL, &acl).unwrap();
            path
        };
        let (one, another) = (for_user(1234), for_user(1235));
        assert_ne!(reach(me, &[&one]), reach(me, &[&shared]));
        assert_ne!(reach(me, &[&one]), reach(me, &[&another]));

        // What lies above counts.
        let below = open.join("below");
        fs::create_dir(&below).unwrap();
        assert_eq!(reach(me, &[&below]), reach(me, &[&open]));
        // A file survives under its best protected name.
        assert_eq!(mine, reach(me, &[&open, &private]));
        assert_eq!(mine, reach(me, &[&private, &open]));
        assert_eq!(reach(me, &[&below, &open]), reach(me, &[&open]));
        // Other users can remove each name: nobody knows who can remove both.
        let gone = base.path().join("gone");
        let both = reach(me, &[&open, &gone]);
        for one in [&private, &open, &gone] {
            assert_ne!(both, reach(me, &[one]), "{one:?}");
        }
        // Nobody is known to own what is not there.
        assert_ne!(mine, reach(me, &[&base.path().join("gone")]));
    }
}
