//! Names that a plan leaves alone, and the reasons.

use serde::{Deserialize, Serialize};

use super::byte_text;
use crate::action::access::Apart;
use crate::file::RowNumber;

/// A name that is left alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftName {
    /// The name, absolute if that is known.
    #[serde(with = "byte_text")]
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
    /// It is or lies behind a symbolic link that the search followed.
    Followed,
    /// It lies outside the searched paths.
    OutsideRoots,
    /// It lies outside the paths that a report is limited to.
    OutsidePaths,
    /// It lies in the destination of a move.
    Aside,
    /// It lies in a trash that is not a given path.
    Trash,
    /// It lies in a hidden folder, or in a folder that a program manages.
    Managed(RowNumber),
    /// It was not read as a whole for the report, and its bytes will not be compared.
    NoDigest,
    /// The file was in an earlier set already.
    Repeated,
    /// The system did not allow its inspection.
    Refused(String),
    /// No file that stays is on its file system.
    OtherFileSystem,
    /// No file that stays is on its mount, but one is on its file system, seen through another mount.
    OtherMount,
    /// A file of its group stays.
    Group,
    /// It is a sidecar, and no copy of it is beside a copy of its photo.
    NoPair,
    /// The user did not decide about the set.
    NotAsked,
    /// No file of the set lies below a reference.
    NoReference,
    /// The set's file below a reference is on another file system, or seen through another mount.
    ReferenceElsewhere,
    /// It is the same directory entry as another listed name, reached by another path.
    SameName,
    /// No other file of the set may replace it: this property differs.
    Apart(Apart),
    /// The set's files below a reference may not replace it: this property differs.
    ApartFromReference(Apart),
    /// It lies in the kept file's folder, seen through another mount.
    OneFolder,
    /// Nothing proves that the kept file is another one, on a file system of this type.
    Unprovable(String),
    /// A mount of several branches shows it for further files of its name, which the action would affect as well.
    HidesFiles,
    /// No trash folder can be used for it, for this reason.
    NoTrash(String),
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
                | Self::OtherMount
                | Self::Group
                | Self::NoPair
                | Self::NotAsked
                | Self::OutsidePaths
                | Self::Followed
                | Self::Aside
                | Self::Trash
                | Self::Managed(_)
                | Self::NoReference
                | Self::ReferenceElsewhere
                | Self::SameName
                | Self::Apart(_)
                | Self::ApartFromReference(_)
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
            Self::Followed => "is reached through a symbolic link",
            Self::OutsideRoots => "is outside the searched paths",
            Self::OutsidePaths => "is outside the given paths",
            Self::Aside => "is in the destination folder",
            Self::Trash => "is in a trash folder that is not one of the given paths",
            Self::Managed(row) => return format!("belongs to {}", row.row().words),
            Self::NoDigest => "has no digest in the report, or only one from the cache",
            Self::Repeated => "is already in another set",
            Self::Refused(cause) => return format!("cannot be read: {cause}"),
            Self::Apart(apart @ (Apart::Owner | Apart::Metadata)) => {
                return format!("{apart} its copies");
            }
            // The most similar copy has the same owner.
            Self::Apart(apart) => {
                return format!("{apart} its copies of the same owner");
            }
            Self::ApartFromReference(apart) => {
                return format!("{apart} its copy below a reference folder");
            }
            Self::Unprovable(kind) => {
                return format!(
                    "may be the kept file itself, seen through another mount: {kind} may answer from a cache"
                );
            }
            Self::NoTrash(why) => return format!("has no usable trash folder: {why}"),
            Self::OneFolder => {
                "seems to be the same file as the kept name: both paths lead to the same folder, seen through two \
                mounts"
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
                "is on a file system that cannot share blocks (btrfs, XFS and bcachefs can): use remove or move, or \
                hardlink if it has hard links"
            }
            Self::OtherFileSystem => {
                "is alone on its file system, and hard links cannot cross file systems"
            }
            Self::OtherMount => {
                "is alone on its mount, and hard links cannot cross mounts, even of one file system"
            }
            Self::Group => "belongs together with a file that stays",
            Self::NoPair => "has no copy beside a copy of its photo",
            Self::NotAsked => "has no answer yet",
            Self::NoReference => "has no copy below a reference folder",
            Self::SameName => {
                "is the same name as another in the report, seen through another mount"
            }
            Self::ReferenceElsewhere => {
                "has its copy below a reference folder on another file system or mount, and hard links cannot cross them"
            }
        };
        words.to_owned()
    }
}
