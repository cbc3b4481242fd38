//! Types that planning and acting have in common.

use std::fmt;
use std::io;

use super::access::Apart;
use super::action_kind::ActionKind;
use super::reads::Reads;
use crate::hash::ContentDigest;

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
    /// The time at which the file was examined (a report's `started`), nanoseconds since 1970. A time of the file that
    /// is not known above must not be later.
    pub not_after_ns: Option<i64>,
}

impl Expected {
    /// The current state of a file, for a comparison when the step is carried out.
    pub fn of_metadata(metadata: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let ns = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000) + rest;
        Self {
            size: metadata.len(),
            dev: Some(metadata.dev()),
            ino: Some(metadata.ino()),
            mtime_ns: Some(ns(metadata.mtime(), metadata.mtime_nsec())),
            ctime_ns: Some(ns(metadata.ctime(), metadata.ctime_nsec())),
            not_after_ns: None,
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
    /// The file that stays. Without a keeper, the victim takes its content along, so only `trash` and `move` can do
    /// without.
    pub keeper: Option<StepFile>,
    /// Other files that stay as well, in case the keeper is no longer fit; tried in this order.
    pub alternates: Vec<StepFile>,
    /// The file to act on.
    pub victim: StepFile,
    /// The destination of `move`, relative to [`Settings::destination`]; `None` is the victim's whole path without its
    /// leading slash. Has no `..`.
    pub below: Option<Vec<u8>>,
    /// Digest of the content as reported. No step relies on it; with [`Settings::trust_hash`] the journal keeps it
    /// for undo.
    pub digest: Option<ContentDigest>,
}

/// The settings of a run that carries out steps.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Do not compare bytes before acting.
    pub trust_hash: bool,
    /// `hardlink`, `symlink`: act only where owner, mode, modification time and extended attributes are equal.
    pub same_metadata: bool,
    /// Act also where files have different owners, or where other users may read or write them.
    pub across_owners: bool,
    /// Allow a victim that is a further name (hard link) of its keeper, and remove it.
    pub further_names: bool,
    /// Act also where nothing proves that two mounts do not show one file.
    pub trust_mounts: bool,
    /// `symlink`: use an absolute path as the text of the link, not one relative to its folder.
    pub absolute_links: bool,
    /// Restore the times of the folders in which names change.
    pub preserve_times: bool,
    /// `move`: the destination folder, an absolute path. Created if it is missing.
    pub destination: Option<Vec<u8>>,
    /// The rules for reads.
    pub reads: Reads,
    /// Read only while no other program uses the disk.
    pub io_idle: bool,
    /// `trash`: the user's own trash (`$XDG_DATA_HOME/Trash`), an absolute path without links in it.
    pub home_trash: Option<Vec<u8>>,
}

/// The outcome of a step.
#[derive(Debug)]
pub enum Outcome {
    /// The step was carried out.
    Done(Done),
    /// The step was unnecessary: the victim is a link to the keeper, or shares all its blocks, already.
    Already,
    /// The step was skipped, because a file is not as expected. Nothing was changed.
    Skipped(Skip),
    /// The system refused. The file is unchanged, or the message says where it is.
    Failed(Failure),
}

/// The result of a finished step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Bytes that were freed on the disk: 0 if another name of the file remains, only unshared bytes where blocks are
    /// shared, and 0 for a move within a file system.
    pub freed: u64,
    /// The present path of the file (`move`, `trash`).
    pub destination: Option<Vec<u8>>,
    /// Notes for the user: metadata that the link does not have, the trash that was used.
    pub notes: Vec<String>,
}

/// The reason why a step was skipped.
#[derive(Debug, thiserror::Error)]
pub enum Skip {
    /// The victim has changed.
    #[error("{0}; left alone")]
    Victim(Unfit),
    /// All files that were to be kept have changed; this is the change of the first of them.
    #[error("cannot rely on the kept file: {0}; left alone")]
    Keeper(Unfit),
    /// Keeper and victim are one file with two names.
    #[error("is a hard link to the kept file; left alone, because removing it would free nothing")]
    SameFile,
    /// The keeper's name led elsewhere after the victim's name was set aside. The victim's name was put back.
    #[error(
        "seems to be the same file as the kept name: while this name was moved aside, the other {0}; left alone"
    )]
    SeemOne(Unfit),
    /// The temporary name of the victim showed up in the keeper's folder as well; it was put back.
    #[error(
        "seems to be in the same folder as the kept name: a new file beside this one appeared beside the other; left \
        alone"
    )]
    OneFolder,
    /// Nothing proves that the two are two files, on a file system of this type.
    #[error("may be the kept file itself: {0} may answer from a cache; left alone")]
    Unprovable(String),
    /// This run removed or replaced another file because this one stays.
    #[error("stays, because this run acted on a copy of it; left alone")]
    Kept,
    /// It belongs together with a file that stays, for this reason.
    #[error("belongs together with {}, which stays ({why}); left alone", String::from_utf8_lossy(.with))]
    Together {
        /// Absolute path of the other file.
        with: Vec<u8>,
        /// The reason why it stays.
        why: String,
        /// The setting that would allow its removal.
        way_out: Option<WayOut>,
    },
    /// `hardlink`: the kept file can have no further name.
    #[error(
        "the kept file has the maximum number of names; this file stays, and the remaining files of its set become \
        links to it"
    )]
    Full,
    /// They hold different bytes.
    #[error("differs from the kept file at byte {0}; left alone")]
    Differs(u64),
    /// Other users may read or write the kept file, or it has another owner.
    #[error("{0} the kept file; left alone")]
    Apart(Apart),
    /// `hardlink` or `symlink` with `same_metadata`.
    #[error("has another {} than the kept file; left alone", .0.join(", "))]
    Metadata(Vec<&'static str>),
}

impl Skip {
    /// The setting that would allow the step.
    pub fn way_out(&self) -> Option<WayOut> {
        match self {
            Self::Apart(_) => Some(WayOut::AcrossOwners),
            Self::Unprovable(_) => Some(WayOut::TrustMounts),
            _ => None,
        }
    }
}

/// A way to make a skipped step possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayOut {
    /// [`Settings::across_owners`]
    AcrossOwners,
    /// [`Settings::trust_mounts`], or an action that can be undone.
    TrustMounts,
    /// A hint in the message.
    Hint(Hint),
}

/// Advice for the user. A program may replace it by its own options and commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Advice in these words.
    Plain(&'static str),
    /// The journal needs more room, or another place.
    Journal,
    /// No trash can be used; the cause says why.
    Trash,
    /// The trash that was created does not belong to the user.
    MadeTrash,
    /// The destination of a move is not given.
    Destination,
    /// The destination has a folder of another user where one of this owner is needed.
    NotOwners,
    /// The owner of the destination has no access to the original folder.
    BaseOwner,
    /// The destination has a folder that is open to more users than the original.
    MoreOpen,
    /// A mount below the destination is served by a program of another user.
    ForeignMount,
    /// Undo completes it.
    Undo,
}

impl From<&'static str> for Hint {
    fn from(words: &'static str) -> Self {
        Self::Plain(words)
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(words) => words,
            Self::Journal => "free some space for the journal, or put it on another disk",
            Self::Trash => "act without the trash",
            Self::MadeTrash => {
                "new files there do not belong to you (a server may squash root): act without the trash"
            }
            Self::Destination => "say where to",
            Self::NotOwners => {
                "that folder belongs to another user than the original folder: move it away, or choose another folder"
            }
            Self::BaseOwner => {
                "that folder belongs to a user who has no access to the original folder: choose another folder"
            }
            Self::MoreOpen => {
                "more users have access to that folder than to the original folder: close it (chmod), or choose another folder"
            }
            Self::ForeignMount => {
                "that folder is on a mount that a program of another user serves: unmount it, or choose another folder"
            }
            Self::Undo => "undo the run once the cause is gone",
        })
    }
}

/// The reason why a file is not reliable.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// The path is not absolute, or has `..` in it.
    #[error("not an absolute path without ..")]
    BadPath,
    /// Its name leads nowhere.
    #[error("no longer exists")]
    Gone,
    /// A folder on the way is a symbolic link.
    #[error("is reached through a symbolic link; give the folder's real path")]
    ThroughLink,
    /// It is not a regular file any more.
    #[error("is no longer a regular file")]
    NotRegular,
    /// It differs from the report.
    #[error("has changed since it was compared ({0})")]
    Changed(Change),
    /// Another process has it open for writing.
    #[error("is open for writing in another program")]
    OpenForWriting,
    /// It may not be changed (`chattr +i`).
    #[error("is immutable (run chattr -i on it)")]
    Immutable,
    /// It may only be appended to (`chattr +a`).
    #[error("is append-only (run chattr -a on it)")]
    AppendOnly,
    /// Names in its folder may not be changed (`chattr +i` on the folder).
    #[error("is in an immutable folder (run chattr -i on the folder)")]
    ImmutableFolder,
    /// Names in its folder may only be added (`chattr +a` on the folder).
    #[error("is in an append-only folder (run chattr -a on the folder)")]
    AppendOnlyFolder,
    /// It cannot be opened or read.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
}

/// The changed property of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Device or inode number.
    Identity,
    /// Length.
    Size,
    /// Time of last modification.
    ModificationTime,
    /// Time of the inode's last change.
    StatusTime,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identity => "another file has its name",
            Self::Size => "its length",
            Self::ModificationTime => "its modification time",
            Self::StatusTime => "its change time",
        })
    }
}

/// A refusal by the system, with a way out where there is one.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing}: {cause}{}", .hint.map(|hint| format!("; {hint}")).unwrap_or_default())]
pub struct Failure {
    /// The failed operation, worded to follow "cannot".
    pub doing: String,
    /// The error of the system.
    pub cause: io::Error,
    /// Advice for the user.
    pub hint: Option<Hint>,
}
