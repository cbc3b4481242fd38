//! Who could take the name of a kept file away: the folders on its way tell.
//!
//! Root may remove a file, or make it a symbolic link, because its owner has a copy. If that copy lies in a folder of
//! somebody else, that user can take it away afterwards, or put another file in its place. So files that different
//! users can take away do not stand for each other.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::set::SetPlan;
use crate::action::folder_entry::parent;
use crate::file::trust;
use crate::sys::attributes;
use crate::sys::parent as folder;

/// Somebody who may rename what is in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Who {
    Owner(u32),
    /// Of a folder with this group, or this ACL, that lets others write.
    Others(u32, bool),
}

/// What was found out about folders.
#[derive(Debug, Default)]
pub struct Reach {
    known: HashMap<Vec<u8>, BTreeSet<Who>>,
}

impl Reach {
    /// Looks at the folders of all files of a set.
    pub fn look(&mut self, set: &mut SetPlan) {
        for file in &mut set.files {
            // The best protected name counts: the file survives under it.
            let owner = file.rights.uid;
            let names = file.names.iter();
            let fewest = names
                .map(|name| self.others(parent(&name.path), owner))
                .min_by_key(BTreeSet::len);
            file.rights.reach = fewest.filter(|who| !who.is_empty()).map_or(0, |who| {
                let mut hasher = DefaultHasher::new();
                who.hash(&mut hasher);
                hasher.finish() | 1
            });
        }
    }

    /// Who could take away what lies in this folder, besides root and its owner.
    fn others(&mut self, folder: &[u8], owner: u32) -> BTreeSet<Who> {
        let all = self.who(folder).iter().copied();
        all.filter(|who| !matches!(who, Who::Owner(uid) if *uid == 0 || *uid == owner))
            .collect()
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
                        who.insert(Who::Others(now.gid, now.mode & 0o002 != 0));
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

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn whoever_may_write_to_a_folder_on_the_way_can_take_a_file_away() {
        let top = tempfile::tempdir().expect("a folder");
        let path = top.path().canonicalize().expect("a real path");
        let inner = path.join("open/inner");
        fs::create_dir_all(&inner).expect("folders");
        let mode = |mode| {
            fs::set_permissions(path.join("open"), Permissions::from_mode(mode)).expect("a mode")
        };
        let others = || Reach::default().others(inner.as_os_str().as_bytes(), trust::me());
        let is_open = |who: &Who| matches!(who, Who::Others(_, true));

        mode(0o755);
        assert!(!others().iter().any(is_open));
        mode(0o777);
        assert!(others().iter().any(is_open));
        // With the sticky bit each name is its owner's.
        mode(0o1777);
        assert!(!others().iter().any(is_open));
    }

    #[test]
    fn the_owner_of_the_file_and_root_do_not_count_but_every_other_owner_of_a_folder() {
        let top = tempfile::tempdir().expect("a folder");
        let path = top.path().canonicalize().expect("a real path");
        let owned = Who::Owner(trust::me());
        let counts = |owner| {
            Reach::default()
                .others(path.as_os_str().as_bytes(), owner)
                .contains(&owned)
        };
        assert!(!counts(trust::me()));
        assert_eq!(counts(trust::me() + 1), !trust::is_root());
    }

    #[test]
    fn a_folder_that_cannot_be_looked_at_counts_as_somebody_elses() {
        let others = Reach::default().others(b"/no/such/folder", 0);
        assert_eq!(others, BTreeSet::from([Who::Owner(u32::MAX)]));
    }
}
