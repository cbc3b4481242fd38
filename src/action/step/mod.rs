//! Types that planning and acting have in common.

pub(in crate::action) mod bytes;
pub(in crate::action) mod check;
pub(in crate::action) mod destination;
pub(in crate::action) mod folders;
pub(in crate::action) mod links;
pub(in crate::action) mod metadata;
pub(in crate::action) mod pair;
pub(in crate::action) mod reflink;
pub(in crate::action) mod synced;

use std::path::PathBuf;

use super::access::ActionKind;
use super::journal::record::Recorded;
use super::reads::Reads;
use super::reason::{Class, Code, Reason};
use crate::file::trust;
use crate::sys::stat::Stat;

/// The state of a file when it was found. `None` is not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Length, bytes.
    pub size: u64,
    /// `st_dev` of its file system.
    pub dev: Option<u64>,
    /// Inode number.
    pub ino: Option<u64>,
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: Option<i64>,
    /// Last change of the inode, nanoseconds since 1970.
    pub ctime_ns: Option<i64>,
}

impl From<&Stat> for Expected {
    fn from(stat: &Stat) -> Self {
        Self {
            size: stat.size,
            dev: Some(stat.dev),
            ino: Some(stat.ino),
            mtime_ns: Some(stat.mtime_ns),
            ctime_ns: Some(stat.ctime_ns),
        }
    }
}

/// A file of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepFile {
    /// Absolute path. No folder on the path may be a symbolic link when the step is carried out: the planner has to
    /// resolve a link that the user named, once.
    pub path: Vec<u8>,
    /// The expected state.
    pub expected: Expected,
}

/// One act on one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The action.
    pub action: ActionKind,
    /// The file that stays.
    pub keeper: StepFile,
    /// The file to act on.
    pub victim: StepFile,
    /// How the two belong together.
    pub bond: Bond,
}

/// What the file to act on has in common with the one that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bond {
    /// All bytes.
    Bytes,
    /// They show the same picture, film or sound; their tags may differ.
    Shown,
    /// The copy is on a disk that is not plugged in: the file that stays is the catalog that knows it.
    Recorded(Recorded),
    /// The file is a sidecar without a copy: it gets this absolute path, beside the photo or film that it is about.
    Carried(Vec<u8>),
}

impl Step {
    /// True if it carries a sidecar file.
    pub fn carries(&self) -> bool {
        matches!(self.bond, Bond::Carried(_))
    }
}

/// The settings of a run that carries out steps.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `hardlink`, `symlink`: act only where owner, mode, modification time and extended attributes are equal.
    pub same_metadata: bool,
    /// Act also where files have different owners, or where other users may read or write them.
    pub across_owners: bool,
    /// As root, act also where other users may change the folders on the way to a file or to its destination.
    pub shared: bool,
    /// Act also where nothing proves that two mounts do not show one file.
    pub trust_mounts: bool,
    /// `symlink`: use an absolute path as the text of the link, not one relative to its folder.
    pub absolute_links: bool,
    /// `move`: the destination folder, an absolute path. Created if it is missing.
    pub destination: Option<Vec<u8>>,
    /// The rules for reads.
    pub reads: Reads,
    /// Read only while no other program uses the disk.
    pub io_idle: bool,
    /// `trash`: the user's own trash (`$XDG_DATA_HOME/Trash`), an absolute path without links in it.
    pub home_trash: Option<Vec<u8>>,
}

impl Settings {
    /// True if nobody but root and the owner of a file may change the folders on the way to it.
    pub fn guards_ways(&self) -> bool {
        trust::is_root() && !self.shared
    }
}

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The step was carried out.
    Done(Done),
    /// The step was unnecessary: the victim is a link to the keeper, or shares all its blocks, already.
    Already,
    /// The step was skipped, because a file is not as expected. Nothing was changed.
    Skipped(Reason),
    /// The system refused. The file is unchanged, or the message says where it is.
    Failed(Reason),
}

impl From<Reason> for Outcome {
    fn from(why: Reason) -> Self {
        match why.code.row().class {
            _ if why.code == Code::Already => Self::Already,
            Class::Failed => Self::Failed(why),
            _ => Self::Skipped(why),
        }
    }
}

impl Outcome {
    /// True if the step was not carried out because it could not be recorded. No other step can be recorded, either.
    pub fn is_unwritten(&self) -> bool {
        matches!(self, Self::Failed(why) if why.code == Code::JournalFull)
    }
}

/// The result of a finished step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Bytes that were freed on the disk: 0 if another name of the file remains, only unshared bytes where blocks are
    /// shared, and 0 for a move within a file system.
    pub freed: u64,
    /// The present path of the file (`move`, `trash`).
    pub destination: Option<PathBuf>,
    /// Notes for the user: metadata that a link changes or that a copy lacks.
    pub notes: Vec<String>,
}
