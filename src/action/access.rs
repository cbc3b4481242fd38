//! The actions, and what two files must have in common for each of them.
//!
//! After `hardlink` and `symlink`, a program that opens the victim's name gets the keeper, with its owner and its
//! permissions. Both files must therefore have the same rights, or some user gains or loses access. This module does
//! not check which users can reach the file through its folders; [`ways`](super::ways) checks who may change these.

use std::fmt;

use crate::sys::attributes::Attributes;

/// The action on a victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ActionKind {
    /// Unlinks its name. Undo is impossible.
    Remove,
    /// Moves it into the trash of its file system (freedesktop.org).
    Trash,
    /// Replaces it with a further name of the keeper.
    Hardlink,
    /// Replaces it with a symbolic link to the keeper.
    Symlink,
    /// Makes it share the keeper's blocks.
    Reflink,
    /// Moves it to another folder.
    Move,
}

/// Whether undo can reverse an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reversal {
    /// Undo restores the previous state.
    GivesBack,
    /// No undo is necessary: every file is unchanged, with all its bytes.
    NothingToDo,
    /// Undo is impossible: the file is gone.
    Impossible,
}

impl ActionKind {
    /// All actions.
    pub const ALL: [Self; 6] = [
        Self::Remove,
        Self::Trash,
        Self::Hardlink,
        Self::Symlink,
        Self::Reflink,
        Self::Move,
    ];

    /// The name in journals and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Remove => "remove",
            Self::Trash => "trash",
            Self::Hardlink => "hardlink",
            Self::Symlink => "symlink",
            Self::Reflink => "reflink",
            Self::Move => "move",
        }
    }

    /// The action of this name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }

    /// True if it takes names from their places. A link takes the place of its file, so the name stays.
    pub(crate) fn takes_names(self) -> bool {
        self == Self::Remove || self.moves_files()
    }

    /// True if the file goes to another place, from which undo brings it back.
    pub(crate) fn moves_files(self) -> bool {
        matches!(self, Self::Trash | Self::Move)
    }

    /// True if a link to the kept file takes the place of the other.
    pub(crate) fn makes_links(self) -> bool {
        matches!(self, Self::Hardlink | Self::Symlink)
    }

    /// True if the bytes of the file go: only the kept file has them then, and its name has to lead to them.
    pub fn gives_up_bytes(self) -> bool {
        self == Self::Remove || self.makes_links()
    }

    /// Whether undo can reverse it.
    pub(crate) fn reversal(self) -> Reversal {
        match self {
            Self::Remove => Reversal::Impossible,
            Self::Reflink => Reversal::NothingToDo,
            Self::Trash | Self::Hardlink | Self::Symlink | Self::Move => Reversal::GivesBack,
        }
    }
}

/// The access rights of a file: owner, mode, ACLs, labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rights {
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Permission bits, with set-user-ID and set-group-ID.
    pub mode: u32,
    /// A digest of its ACL; 0 without one.
    pub acl: u64,
    /// A digest of its security labels and capabilities; 0 without any.
    pub label: u64,
    /// A digest of all metadata that files must share; 0 if they need not.
    pub same: u64,
}

/// The properties that a file and its kept file must share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Common {
    /// Nothing: each file keeps its own, or the user allowed it.
    #[default]
    Nothing,
    /// The owner: no user loses a file because another user has a copy.
    Owner,
    /// The users who may read and write it.
    Access,
}

/// The property in which two files must not differ, but do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Apart {
    /// The owner.
    Owner,
    /// The ACL.
    Acl,
    /// A security label or capability.
    Label,
    /// Permissions of the group or of others.
    Permissions,
    /// The group, if it may do more or less than others.
    Group,
    /// Any metadata, where all must be the same.
    Metadata,
}

/// Words to follow the one file and to precede the other: "has another owner than".
impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Owner => "has another owner than",
            Self::Acl => "has another ACL than",
            Self::Label => "has another security label or capability than",
            Self::Permissions => "has other permissions than",
            Self::Group => "has another group than",
            Self::Metadata => {
                "differs in owner, mode, modification time or extended attributes from"
            }
        })
    }
}

impl Common {
    /// The properties that an action requires files to share.
    ///
    /// For `remove` this limits root only: only root can remove files that otherwise only their owners could remove.
    pub fn demanded(action: ActionKind, across_owners: bool, is_root: bool) -> Self {
        match action {
            _ if across_owners => Self::Nothing,
            ActionKind::Hardlink | ActionKind::Symlink => Self::Access,
            ActionKind::Remove if is_root => Self::Owner,
            // These can be brought back, or keep what they have.
            ActionKind::Remove | ActionKind::Trash | ActionKind::Move | ActionKind::Reflink => {
                Self::Nothing
            }
        }
    }

    /// What counts of these rights. Files for which this is equal may replace each other.
    pub fn counted(self, rights: &Rights) -> Rights {
        match self {
            Self::Nothing => Rights {
                same: rights.same,
                ..Rights::default()
            },
            Self::Owner => Rights {
                uid: rights.uid,
                same: rights.same,
                ..Rights::default()
            },
            Self::Access => rights.counted(),
        }
    }

    /// The first difference that keeps a file from replacing another one, if any.
    pub fn apart(self, one: &Rights, other: &Rights) -> Option<Apart> {
        let (one, other) = (self.counted(one), self.counted(other));
        let differs = [
            (one.uid != other.uid, Apart::Owner),
            (one.acl != other.acl, Apart::Acl),
            (one.label != other.label, Apart::Label),
            (one.mode != other.mode, Apart::Permissions),
            (one.gid != other.gid, Apart::Group),
            (one.same != other.same, Apart::Metadata),
        ];
        let mut differs = differs.into_iter().filter(|(differs, _)| *differs);
        differs.next().map(|(_, apart)| apart)
    }
}

impl Rights {
    /// The rights according to `stat`.
    pub fn of(attributes: &Attributes) -> Self {
        Self {
            uid: attributes.uid,
            gid: attributes.gid,
            mode: attributes.mode,
            acl: 0,
            label: 0,
            same: 0,
        }
    }

    /// These rights, with a digest of all metadata: a file may then replace only files that have the same.
    #[must_use]
    pub fn with_all<'a>(
        self,
        mtime_ns: i64,
        extended: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Self {
        let mut all = Sum::default();
        for number in [self.uid, self.gid, self.mode] {
            all.add(b"", &number.to_le_bytes());
        }
        all.add(b"", &mtime_ns.to_le_bytes());
        for (name, value) in extended {
            if !is_signature(name) {
                all.add(name, value);
            }
        }
        Self {
            same: all.get(),
            ..self
        }
    }

    /// These rights, with the extended attributes of the file that decide about access.
    #[must_use]
    pub fn with<'a>(self, extended: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        let (mut acl, mut label) = (Sum::default(), Sum::default());
        for (name, value) in extended {
            match name {
                name if !is_deciding(name) => {}
                name if name.starts_with(SYSTEM) => acl.add(name, value),
                name => label.add(name, value),
            }
        }
        Self {
            acl: acl.get(),
            label: label.get(),
            ..self
        }
    }

    /// What counts of these rights. The owner's own permissions do not count: the owner may change them. Nor does the
    /// permission to execute, since a user who can read a program can copy it; a program that runs as its owner or
    /// group is another matter.
    fn counted(&self) -> Self {
        const SET_ID: u32 = 0o6000;
        let counted = match self.mode & SET_ID {
            0 => 0o066,
            _ => SET_ID | 0o077,
        };
        let permissions = self.mode & counted;
        let (group, others) = (permissions >> 3 & 7, permissions & 7);
        let has_effect = group != others || self.mode & SET_ID != 0 || self.acl != 0;
        Self {
            mode: permissions,
            gid: if has_effect { self.gid } else { 0 },
            ..*self
        }
    }
}

const SYSTEM: &[u8] = b"system.";

/// True for an extended attribute that decides about access: ACLs of every kind, labels, capabilities.
fn is_deciding(name: &[u8]) -> bool {
    name.starts_with(SYSTEM) || name.starts_with(b"security.") && !is_signature(name)
}

/// True for an extended attribute with which the kernel's integrity subsystem proves a file: of the inode (EVM), so
/// that it differs for every file, or of the content (IMA). They say nothing about the file that the file does not say.
fn is_signature(name: &[u8]) -> bool {
    matches!(name, b"security.evm" | b"security.ima")
}

/// A digest of names and values, in the order of names.
#[derive(Default)]
struct Sum(Option<blake3::Hasher>);

impl Sum {
    fn add(&mut self, name: &[u8], value: &[u8]) {
        let hasher = self.0.get_or_insert_default();
        for part in [name, value] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }

    fn get(&self) -> u64 {
        let Some(hasher) = &self.0 else { return 0 };
        let mut first = [0; 8];
        hasher.finalize_xof().fill(&mut first);
        u64::from_le_bytes(first).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rights(uid: u32, gid: u32, mode: u32) -> Rights {
        Rights {
            uid,
            gid,
            mode,
            ..Rights::default()
        }
    }

    #[test]
    fn files_stand_for_each_other_where_the_same_people_may_read_and_write_them() {
        use Apart::{Group, Owner, Permissions};
        for (one, other, expected) in [
            ((1, 1, 0o644), (1, 1, 0o644), None),
            // Execution and the owner's own permissions.
            ((1, 1, 0o644), (1, 1, 0o755), None),
            ((1, 1, 0o400), (1, 1, 0o600), None),
            ((1, 1, 0o711), (1, 1, 0o700), None),
            // Somebody could read or write more, or less, than before.
            ((1, 1, 0o600), (1, 1, 0o644), Some(Permissions)),
            ((1, 1, 0o600), (1, 1, 0o640), Some(Permissions)),
            ((1, 1, 0o644), (1, 1, 0o664), Some(Permissions)),
            ((1, 1, 0o664), (1, 1, 0o666), Some(Permissions)),
            ((1, 1, 0o620), (1, 1, 0o640), Some(Permissions)),
            // Another group counts where it may do more or less than others.
            ((1, 1, 0o644), (1, 2, 0o644), None),
            ((1, 1, 0o600), (1, 2, 0o600), None),
            ((1, 1, 0o640), (1, 2, 0o640), Some(Group)),
            ((1, 1, 0o604), (1, 2, 0o604), Some(Group)),
            // Another owner always does, root or not.
            ((1, 1, 0o644), (2, 1, 0o644), Some(Owner)),
            ((0, 0, 0o644), (1, 1, 0o644), Some(Owner)),
            ((0, 0, 0o666), (1, 0, 0o600), Some(Owner)),
            // Programs that run as somebody else.
            ((0, 0, 0o4755), (0, 0, 0o755), Some(Permissions)),
            ((0, 0, 0o4755), (0, 0, 0o4750), Some(Permissions)),
            ((0, 1, 0o2755), (0, 2, 0o2755), Some(Group)),
            ((0, 1, 0o4755), (0, 1, 0o4755), None),
        ] {
            let of = |(uid, gid, mode)| rights(uid, gid, mode);
            for (one, other) in [(one, other), (other, one)] {
                let apart = Common::Access.apart(&of(one), &of(other));
                assert_eq!(apart, expected, "{one:?} {other:?}");
                let owner = (one.0 != other.0).then_some(Owner);
                assert_eq!(Common::Owner.apart(&of(one), &of(other)), owner);
                assert_eq!(Common::Nothing.apart(&of(one), &of(other)), None);
            }
        }
    }

    #[test]
    fn acls_labels_and_capabilities_count_and_other_attributes_do_not() {
        let attributes = Attributes {
            mode: 0o644,
            uid: 1,
            gid: 1,
            accessed: Default::default(),
            modified: Default::default(),
            immutable: false,
            append_only: false,
        };
        let with = |name: &'static str, value: &'static str| {
            Rights::of(&attributes).with([(name.as_bytes(), value.as_bytes())])
        };
        let without = Rights::of(&attributes);
        for (name, expected) in [
            ("system.posix_acl_access", Some(Apart::Acl)),
            ("system.nfs4_acl", Some(Apart::Acl)),
            ("security.selinux", Some(Apart::Label)),
            ("security.SMACK64", Some(Apart::Label)),
            ("security.capability", Some(Apart::Label)),
            ("security.evm", None),
            ("security.ima", None),
            ("user.note", None),
            ("trusted.note", None),
        ] {
            let common = Common::Access;
            assert_eq!(common.apart(&with(name, "a"), &without), expected, "{name}");
            assert_eq!(
                common.apart(&with(name, "a"), &with(name, "b")),
                expected,
                "{name}"
            );
            assert_eq!(common.apart(&with(name, "a"), &with(name, "a")), None);
        }
    }
}
