//! Types that planning and acting have in common.

use std::fmt;
use std::io;

use super::access::Apart;
use super::action_kind::ActionKind;
use super::reads::Reads;
use super::reason::{Code, Facts, Reason};
use crate::file::Raw;
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
#[derive(Debug)]
pub enum Skip {
    /// The victim has changed.
    Victim(Unfit),
    /// All files that were to be kept have changed; this is the change of the first of them.
    Keeper(Unfit),
    /// Keeper and victim are one file with two names.
    SameFile,
    /// The keeper's name led elsewhere after the victim's name was set aside. The victim's name was put back.
    SeemOne(Unfit),
    /// The temporary name of the victim showed up in the keeper's folder as well; it was put back.
    OneFolder,
    /// Nothing proves that the two are two files, on a file system of this type.
    Unprovable(String),
    /// This run removed or replaced another file because this one stays.
    Kept,
    /// It belongs together with a file that stays.
    Together {
        /// Absolute path of the other file.
        with: Vec<u8>,
        /// The reason why it stays.
        because: Box<Reason>,
    },
    /// `hardlink`: the kept file can have no further name.
    Full,
    /// They hold different bytes, first at this position.
    Differs(u64),
    /// Other users may read or write the kept file, or it has another owner.
    Apart(Apart),
    /// `hardlink` or `symlink` with `same_metadata`.
    Metadata(Vec<&'static str>),
}

/// Advice for the user about a failed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Advice in these words.
    Plain(&'static str),
    /// A reason of its own says it.
    Code(Code),
}

impl From<&'static str> for Hint {
    fn from(words: &'static str) -> Self {
        Self::Plain(words)
    }
}

impl From<Code> for Hint {
    fn from(code: Code) -> Self {
        Self::Code(code)
    }
}

/// The reason why a file is not reliable.
#[derive(Debug)]
pub enum Unfit {
    /// The path is not absolute, or has `..` in it.
    BadPath,
    /// Its name leads nowhere.
    Gone,
    /// A folder on the way is a symbolic link.
    ThroughLink,
    /// It is not a regular file any more.
    NotRegular,
    /// It differs from the report.
    Changed(Change),
    /// Another process has it open for writing.
    OpenForWriting,
    /// It may not be changed (`chattr +i`).
    Immutable,
    /// It may only be appended to (`chattr +a`).
    AppendOnly,
    /// Names in its folder may not be changed (`chattr +i` on the folder).
    ImmutableFolder,
    /// Names in its folder may only be added (`chattr +a` on the folder).
    AppendOnlyFolder,
    /// It cannot be opened or read.
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

/// A refusal by the system, with a way out where there is one.
#[derive(Debug)]
pub struct Failure {
    /// The failed operation, worded to follow "cannot".
    pub doing: String,
    /// The error of the system.
    pub cause: io::Error,
    /// Advice for the user.
    pub hint: Option<Hint>,
}

impl From<&Skip> for Reason {
    fn from(skip: &Skip) -> Self {
        let because = |code: Code, unfit: &Unfit| {
            code.with(Facts {
                because: Some(Box::new(unfit.into())),
                ..Facts::default()
            })
        };
        match skip {
            Skip::Victim(unfit) => unfit.into(),
            Skip::Keeper(unfit) => because(Code::Keeper, unfit),
            Skip::SameFile => Code::SameFile.into(),
            Skip::SeemOne(unfit) => because(Code::SeemsOne, unfit),
            Skip::OneFolder => Code::OneFolder.into(),
            Skip::Unprovable(kind) => Code::Unprovable.about(kind.as_str()),
            Skip::Kept => Code::ReliedOn.into(),
            Skip::Together { with, because } => Code::Together.with(Facts {
                other: Some(Raw(with.clone())),
                because: Some(because.clone()),
                ..Facts::default()
            }),
            Skip::Full => Code::Full.into(),
            Skip::Differs(at) => Code::Differs.with(Facts {
                offset: Some(*at),
                ..Facts::default()
            }),
            Skip::Apart(apart) => Self::apart(*apart, "the kept file"),
            Skip::Metadata(differ) => Code::Metadata.with(Facts {
                what: Some(format!("has another {} than", differ.join(", "))),
                whom: Some("the kept file".to_owned()),
                ..Facts::default()
            }),
        }
    }
}

impl From<&Unfit> for Reason {
    fn from(unfit: &Unfit) -> Self {
        Self::from(match unfit {
            Unfit::BadPath => Code::BadPath,
            Unfit::Gone => Code::Gone,
            Unfit::ThroughLink => Code::ThroughLink,
            Unfit::NotRegular => Code::NotRegular,
            Unfit::Changed(change) => {
                return Code::Changed.about(match change {
                    Change::Identity => "another file has its name",
                    Change::Size => "its length",
                    Change::ModificationTime => "its modification time",
                    Change::StatusTime => "its change time",
                });
            }
            Unfit::OpenForWriting => Code::OpenForWriting,
            Unfit::Immutable => Code::Immutable,
            Unfit::AppendOnly => Code::AppendOnly,
            Unfit::ImmutableFolder => Code::ImmutableFolder,
            Unfit::AppendOnlyFolder => Code::AppendOnlyFolder,
            Unfit::Unreadable(error) => return Self::unreadable(error),
        })
    }
}

impl From<&Failure> for Reason {
    fn from(failure: &Failure) -> Self {
        let facts = Facts::refused(&failure.doing, &failure.cause);
        match failure.hint {
            Some(Hint::Code(code)) => code.with(facts),
            Some(Hint::Plain(advice)) => Code::Failed.with(Facts {
                advice: Some(advice.to_owned()),
                ..facts
            }),
            None => Code::Failed.with(facts),
        }
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Reason::from(self).fmt(f)
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Reason::from(self).fmt(f)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Reason::from(self).fmt(f)
    }
}
