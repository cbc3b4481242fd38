//! The users who could remove the name of a kept file, according to the folders on its path.
//!
//! Root may remove a file, or replace it with a symbolic link, because its owner has a copy. If that copy lies in a
//! folder of another user, this user can remove it afterwards, or put another file in its place. Files that different
//! users can remove are therefore no substitutes for each other.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::set::{PlannedFile, PlannedName, SetPlan};
use crate::action::folder_entry::parent;
use crate::action::reach::Reach;

/// Checks the folders of all files of a set.
pub fn look(reach: &mut Reach, set: &mut SetPlan) {
    for file in &mut set.files {
        let owner = file.rights.uid;
        for name in &mut file.names {
            name.reach = reach.others(parent(&name.path), owner);
        }
        file.rights.reach = of_file(file);
    }
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
    use crate::action::plan::set::Fate;
    use crate::action::reason::Code;
    use crate::file::trust;
    use crate::sys::attributes;

    /// A digest of the users who can remove a file of this owner that has a name in each of these folders.
    fn reach(owner: u32, folders: &[&Path]) -> u64 {
        let name = |folder: &&Path| PlannedName {
            path: folder.join("f").as_os_str().as_bytes().to_vec(),
            ..PlannedName::default()
        };
        let file = PlannedFile {
            dev: 1,
            volume: Default::default(),
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
            fate: Fate::Leave(Code::NotAsked.into()),
        };
        let mut set = SetPlan {
            size: 1,
            digest: None,
            files: vec![file],
            ..SetPlan::default()
        };
        look(&mut Reach::default(), &mut set);
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
