//! The plan for one set: the files that stay, the files to act on, and the files that are left alone.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Not;

use serde::{Deserialize, Serialize};

use super::reach::Who;
use crate::action::ActionKind;
use crate::action::access::{Apart, Rights};
use crate::action::bounds::Hold;
use crate::action::keep::{Named, Traits};
use crate::action::swap::is_temporary;

/// The planned fate of the files of one set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetPlan {
    /// Length of each file, bytes.
    pub size: u64,
    /// Digest of the content, hexadecimal, if one was given.
    pub digest: Option<String>,
    /// The files that were found as expected, in the order in which they were listed.
    pub files: Vec<PlannedFile>,
    /// Names that were not found as expected.
    pub left: Vec<LeftName>,
    /// Blocks that files of the set share with other files.
    #[serde(default)]
    pub shared: Shared,
}

/// Bytes of files that are acted on, in blocks that other files refer to as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// Blocks that several removed files share. They count as freed, which is wrong if another file shares them too.
    pub unless_shared: u64,
    /// Blocks that something outside the set shares: they are not freed.
    pub held: u64,
}

/// One file (one inode) and its fate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedFile {
    /// `st_dev`.
    pub dev: u64,
    /// Device number of its file system. Links and renames never cross it.
    pub volume: u64,
    /// True if files there may share blocks.
    pub shares_blocks: bool,
    /// Inode number.
    pub ino: u64,
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the inode, nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Last access, nanoseconds since 1970.
    pub atime_ns: i64,
    /// Number of names of the inode.
    pub links: u64,
    /// Bytes allocated on disk.
    pub allocated: u64,
    /// The access rights.
    pub rights: Rights,
    /// Its names in this set; never empty.
    pub names: Vec<PlannedName>,
    /// The fate of the file.
    pub fate: Fate,
}

/// One name of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedName {
    /// The real absolute path: no folder in it is a symbolic link.
    #[serde(with = "bytes")]
    pub path: Vec<u8>,
    /// The name as it was listed.
    #[serde(with = "bytes")]
    pub listed: Vec<u8>,
    /// The given path that it lies below, counted from 0, if it is known.
    pub root: Option<u32>,
    /// The reason why it must not be touched.
    pub hold: Option<Hold>,
    /// The user marked it to stay, against all rules.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub marked: bool,
    /// It lies in a trash that the user gave.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub in_trash: bool,
    /// The name is acted on although its file stays, under another name.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub goes: bool,
    /// It stays because users who cannot remove it can remove the other names that stay.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub is_safer: bool,
    /// The users, besides root and the file's owner, who may remove it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub reach: BTreeSet<Who>,
}

/// The preference for a name as one that stays, before any rule. The first is best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// It lies anywhere but in a trash.
    Normal,
    /// It lies in a trash: it is lost when the trash is emptied.
    InTrash,
    /// A killed run left it behind: undo may remove it.
    Leftover,
}

impl Rank {
    /// All of them, the best first.
    pub const ALL: [Self; 3] = [Self::Normal, Self::InTrash, Self::Leftover];
}

impl PlannedName {
    /// The preference for it.
    pub fn rank(&self) -> Rank {
        match self.in_trash {
            _ if is_temporary(self.bare()) => Rank::Leftover,
            true => Rank::InTrash,
            false => Rank::Normal,
        }
    }

    /// True if other files may go because it stays.
    pub fn is_relied_on(&self) -> bool {
        self.rank() == Rank::Normal || self.marked || self.hold == Some(Hold::Reference)
    }

    /// The part behind the last slash.
    pub fn bare(&self) -> &[u8] {
        let slash = self.path.iter().rposition(|&byte| byte == b'/');
        &self.path[slash.map_or(0, |slash| slash + 1)..]
    }
}

/// The fate of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fate {
    /// It stays, for this reason.
    Keep(Kept),
    /// It is acted on.
    Act {
        /// Place of the file that stays for it.
        keeper: usize,
        /// Bytes that are freed on the disk.
        frees: u64,
    },
    /// It is left alone: no step relies on it or touches it.
    Leave(Left),
}

/// The reason why a file stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kept {
    /// It must not be touched.
    Hold(Hold),
    /// A file below the same given path stays, and counts as one with it.
    SamePath,
    /// The reason in words.
    Because(String),
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hold(hold) => hold.words(),
            Self::SamePath => "below the same given path",
            Self::Because(why) => why,
        })
    }
}

/// A name that is left alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftName {
    /// The name, absolute if that is known.
    #[serde(with = "bytes")]
    pub path: Vec<u8>,
    /// The reason.
    pub why: Left,
}

/// The reason why a name is left alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Left {
    /// It leads nowhere.
    Gone,
    /// It is a relative name, and the folder where it starts is unknown.
    NoFolder,
    /// It is a symbolic link.
    Link,
    /// It is a folder, a device or the like.
    NotRegular,
    /// The file has another length.
    Size,
    /// The file has changed since it was listed, or another file has its name.
    Changed,
    /// It lies outside the searched paths.
    OutsideRoots,
    /// It lies outside the paths that a report is limited to.
    OutsidePaths,
    /// It lies in the destination of a move.
    Aside,
    /// It lies in a trash that is not a given path.
    Trash,
    /// It was not read as a whole for the report, and its bytes will not be compared.
    NoDigest,
    /// The file was in an earlier set already.
    Repeated,
    /// The system did not allow its inspection.
    Refused(String),
    /// No file that stays is on its file system.
    OtherFileSystem,
    /// The file's companion stays.
    Companion,
    /// The user did not decide about the set.
    NotAsked,
    /// No file of the set lies below a reference.
    NoReference,
    /// The set's file below a reference is on another file system.
    ReferenceElsewhere,
    /// It is the same directory entry as another listed name, reached by another path.
    SameName,
    /// No other file of the set may replace it: this property differs.
    Apart(Apart),
    /// It lies in the kept file's folder, seen through another mount.
    OneFolder,
    /// Nothing proves that the kept file is another one, on a file system of this type.
    Unprovable(String),
    /// The kept file may be the same one, and a script cannot check that.
    NotForScript,
    /// A mount of several branches shows it for further files of its name, which the action would affect as well.
    HidesFiles,
    /// Its file system has no hard links.
    NoHardLinks,
    /// A hard link is shown with another inode number.
    LinkLooksLikeCopy,
    /// No symbolic link to the kept file can be made there.
    NoSymlinks,
    /// Files cannot share blocks on its file system.
    NoSharedBlocks,
}

impl Left {
    /// True if a file is not as it was reported, which the exit status tells.
    pub fn is_problem(&self) -> bool {
        !matches!(
            self,
            Self::OtherFileSystem
                | Self::Companion
                | Self::NotAsked
                | Self::OutsidePaths
                | Self::Aside
                | Self::Trash
                | Self::NoReference
                | Self::ReferenceElsewhere
                | Self::SameName
                | Self::Apart(_)
        )
    }

    /// The reason, in a few words.
    pub fn words(&self) -> String {
        let words = match self {
            Self::Gone => "no longer exists",
            Self::NoFolder => "is a relative path, and the report does not name its folder",
            Self::Link => "is a symbolic link",
            Self::NotRegular => "is not a regular file",
            Self::Size => "has a different size than in the report",
            Self::Changed => "has changed since the report",
            Self::OutsideRoots => "is outside the searched paths",
            Self::OutsidePaths => "is outside the given paths",
            Self::Aside => "is in the destination folder",
            Self::Trash => "is in a trash folder that is not one of the given paths",
            Self::NoDigest => "has no digest in the report, or one from the cache",
            Self::Repeated => "is already in another set",
            Self::Refused(cause) => return format!("cannot be read: {cause}"),
            Self::Apart(apart) => {
                return format!("{apart} the files it equals");
            }
            Self::Unprovable(kind) => {
                return format!(
                    "may be the kept file itself, seen through another mount: {kind} may answer from a cache"
                );
            }
            Self::OneFolder => {
                "seems to be the same file as the kept name: both paths lead to the same folder, seen through two \
                mounts"
            }
            Self::NotForScript => {
                "may be the kept file itself, seen through another mount, which a script cannot check"
            }
            Self::HidesFiles => {
                "hides files of the same name on other branches of the mount, which would change as well: run seekless \
                on the branches"
            }
            Self::NoHardLinks => "is on a file system without hard links: use remove or move",
            Self::LinkLooksLikeCopy => {
                "is on a mount that shows hard links as separate files: use remove or move"
            }
            Self::NoSymlinks => {
                "is on a file system that cannot hold a symbolic link to the kept file: use remove or move"
            }
            Self::NoSharedBlocks => {
                "is on a file system that cannot share blocks (btrfs, xfs and bcachefs can): use remove or move, or \
                hardlink if it has hard links"
            }
            Self::OtherFileSystem => {
                "is alone on its file system, and hard links cannot cross file systems"
            }
            Self::Companion => "belongs together with a file that stays",
            Self::NotAsked => "is still undecided",
            Self::NoReference => "has no copy below a reference folder",
            Self::SameName => {
                "is the same name as another in the report, seen through another mount"
            }
            Self::ReferenceElsewhere => {
                "has its copy below a reference folder on another file system, and hard links cannot cross file systems"
            }
        };
        words.to_owned()
    }
}

impl PlannedFile {
    /// The properties that rules compare.
    pub fn traits(&self) -> Traits<'_> {
        Traits {
            mtime_ns: self.mtime_ns,
            atime_ns: self.atime_ns,
            links: self.links,
            names: self
                .names
                .iter()
                .map(|name| Named {
                    path: &name.path,
                    listed: &name.listed,
                    root: name.root,
                })
                .collect(),
        }
    }

    /// The reason why the file must stay; a file stays as a whole if one of its names does.
    pub fn hold(&self) -> Option<Hold> {
        let holds = self.names.iter().filter_map(|name| name.hold);
        holds.min_by_key(|hold| *hold as u8)
    }

    /// True if the user marked it to stay.
    pub fn is_marked(&self) -> bool {
        self.names.iter().any(|name| name.marked)
    }

    /// The preference for the file: that for its best name.
    pub fn rank(&self) -> Rank {
        let ranks = self.names.iter().map(PlannedName::rank);
        ranks.min().unwrap_or(Rank::Leftover)
    }

    /// True if other files may go because it stays.
    pub fn is_relied_on(&self) -> bool {
        self.names.iter().any(PlannedName::is_relied_on)
    }

    /// Names that are acted on although the file stays.
    pub fn going(&self) -> impl Iterator<Item = &PlannedName> {
        let stays = matches!(self.fate, Fate::Keep(_));
        self.names.iter().filter(move |name| stays && name.goes)
    }

    /// Names of the file that are not in this set.
    pub fn names_elsewhere(&self) -> u64 {
        self.links.saturating_sub(self.names.len() as u64)
    }
}

/// Bytes as text, a character for each: compact where they are ASCII, and never lossy.
mod bytes {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], out: S) -> Result<S::Ok, S::Error> {
        let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
        out.serialize_str(&text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        let byte = |c| u8::try_from(u32::from(c)).map_err(serde::de::Error::custom);
        text.chars().map(byte).collect()
    }
}

impl SetPlan {
    /// True if the plan acts on a file of this set.
    pub fn acts(&self) -> bool {
        let mut files = self.files.iter();
        files.any(|file| matches!(file.fate, Fate::Act { .. }) || file.going().next().is_some())
    }

    /// The owner of the file that stays for this one, if it is another owner.
    pub fn other_owner(&self, file: &PlannedFile, action: ActionKind) -> Option<u32> {
        let Fate::Act { keeper, .. } = file.fate else {
            return None;
        };
        let owner = self.files.get(keeper)?.rights.uid;
        // What only shares blocks with another file does not depend on it.
        (owner != file.rights.uid && action != ActionKind::Reflink).then_some(owner)
    }
}
