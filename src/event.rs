//! Events that the library reports during a run.
//!
//! The library prints nothing. It hands [`Problem`]s and [`Notice`]s to an [`Observer`] and keeps
//! counters ([`crate::engine::Control`]) that anybody may read at any time.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Receives what happens during a run; called from several threads.
pub trait Observer: Send + Sync {
    /// Something named by the user or found on the way could not be judged.
    fn problem(&self, problem: Problem);

    /// Something a curious user wants to know (`-v`).
    fn notice(&self, notice: Notice);

    /// A symbolic link below the searched paths, if the search tells of links.
    fn link(&self, _path: PathBuf) {}

    /// A file of a catalog that has to be read before it can be compared, when its disk is plugged in.
    fn wanted(&self, _file: &WantedFile<'_>) {}

    /// What will be read of files that are wanted, and then of others, if an earlier catalog is brought up to date.
    fn to_read(&self, _wanted: Amount, _others: Amount) {}
}

/// Files, and bytes of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of files.
    pub files: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Amount {
    /// Adds a file.
    pub fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// A file of a catalog, and how much of it has to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedFile<'a> {
    /// Its length, bytes.
    pub size: u64,
    /// The UUID or another name of its file system; empty if it has none.
    pub volume: &'a str,
    /// The path of its folder on its file system.
    pub dir: &'a [u8],
    /// Its name.
    pub name: &'a [u8],
    /// All of it has to be read; otherwise its first and last bytes.
    pub is_whole: bool,
}

/// An observer that listens to nothing.
#[derive(Debug, Default)]
pub struct Deaf;

impl Observer for Deaf {
    fn problem(&self, _: Problem) {}
    fn notice(&self, _: Notice) {}
}

/// One path that takes no further part, and why.
#[derive(Debug)]
#[non_exhaustive]
pub struct Problem {
    /// The path as the user would write it.
    pub path: PathBuf,
    /// The kind of the problem.
    pub kind: ProblemKind,
    /// The error of the system, if there is one.
    pub cause: Option<io::Error>,
}

/// The ways in which a path can drop out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A root that is not there.
    MissingRoot,
    /// A root that is neither a folder nor a regular file.
    UnsuitableRoot,
    /// A root that is a symbolic link to a file (unless links are followed).
    LinkRoot,
    /// A root that leads elsewhere than when it was decided that it may be searched.
    ReplacedRoot,
    /// A root that could not be looked at or opened.
    UnreadableRoot,
    /// A folder that could not be opened or listed to its end.
    UnreadableFolder,
    /// A file whose metadata could not be read.
    UnreadableMetadata,
    /// A file that could not be opened or read.
    UnreadableFile,
    /// A file that was there during the scan and is gone.
    Vanished,
    /// A file that is not the one, or not in the state, that the scan saw.
    Changed,
    /// An ignore file that cannot be read, is no regular file, is too long, or has lines that cannot be used.
    UnusableIgnoreFile,
    /// A symbolic link that leads back to a folder above it.
    LinkLoop,
    /// A symbolic link that leads nowhere (only with followed links).
    BrokenLink,
    /// A file of the cache that could not be read or written.
    UnusableCache,
    /// A file system of which the cache keeps nothing.
    NotCached,
    /// A folder that changed after it was listed, so that files may have been missed.
    ChangedFolder,
    /// A folder that is too many levels below its root.
    TooDeep,
    /// A folder whose inode number too many others have.
    TooManyAlike,
    /// A folder with more names than any file system is known to hold.
    TooManyNames,
    /// Listing ended here, since memory is nearly used up.
    MemoryShort,
    /// A file system that has not answered for a while; it is waited for.
    NotAnswering,
    /// A file system that has not answered, and is not waited for any longer.
    Unanswered,
    /// A member that failed the comparison byte by byte after its digest had matched.
    NotVerified,
}

impl ProblemKind {
    /// The problem with a root that the system answers with this error.
    pub(crate) fn of_root(error: io::ErrorKind) -> Self {
        match error {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::MissingRoot,
            _ => Self::UnreadableRoot,
        }
    }

    /// True if a given path holds nothing that can be searched.
    pub fn is_of_root(self) -> bool {
        matches!(
            self,
            Self::MissingRoot
                | Self::UnsuitableRoot
                | Self::LinkRoot
                | Self::ReplacedRoot
                | Self::UnreadableRoot
        )
    }

    /// True if it is worth a line, but no file was missed.
    pub fn misses_nothing(self) -> bool {
        matches!(
            self,
            Self::LinkLoop
                | Self::BrokenLink
                | Self::UnusableCache
                | Self::NotCached
                | Self::NotAnswering
        )
    }

    /// States the problem in a few words, for a line that already names the path.
    pub fn words(self) -> &'static str {
        match self {
            Self::MissingRoot => "no such file or folder",
            Self::UnsuitableRoot => "neither a folder nor a regular file",
            Self::LinkRoot => "symbolic link; not followed",
            Self::ReplacedRoot => "now leads to another place; skipped",
            Self::UnreadableRoot | Self::UnreadableFolder => "cannot list this folder",
            Self::UnreadableMetadata => "cannot read metadata",
            Self::UnreadableFile => "cannot read",
            Self::Vanished => "removed since the scan",
            Self::Changed => "changed since the scan; skipped",
            Self::UnusableIgnoreFile => "cannot use this ignore file",
            Self::LinkLoop => "symbolic link loop; not followed",
            Self::BrokenLink => "broken symbolic link",
            Self::UnusableCache => "continuing without this cache",
            Self::NotCached => "files on this file system are not cached",
            Self::ChangedFolder => {
                "changed after it was listed; files may be missing from the result (run again when nothing changes it)"
            }
            Self::TooDeep => {
                "more than 16,384 folders deep; skipped (give it as a PATH to search it)"
            }
            Self::TooManyAlike => {
                "more than 256 folders have the inode number of this one; skipped"
            }
            Self::TooManyNames => "more than 100,000,000 names in this folder; the rest is skipped",
            Self::MemoryShort => {
                "memory is almost exhausted: no further files are added (search fewer files at a time, or leave \
                this folder out)"
            }
            Self::NotAnswering => "does not answer; waiting for it",
            Self::Unanswered => "did not answer; files not read there are skipped",
            Self::NotVerified => "its bytes differ from those of its set; skipped",
        }
    }
}

impl fmt::Display for Problem {
    /// Does not print the path: the caller decides how to escape it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.words())?;
        match &self.cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

/// A decision taken on the way that changes how the work is done, not its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice(pub String);

/// Counts of what took no part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct LeftOut {
    /// Hidden files and folders left out by `--no-hidden`.
    pub hidden: u64,
    /// Files and folders named by an ignore file.
    pub ignored: u64,
    /// Files and folders left out by name, type, size, time or depth filters.
    pub filtered: u64,
    /// Empty files (without `--empty`).
    pub empty: u64,
    /// Symbolic links not followed.
    pub symlinks: u64,
    /// FIFOs, sockets and devices.
    pub special: u64,
    /// Folders on another file system (`--one-file-system`).
    pub other_file_system: u64,
    /// Folders of pseudo file systems such as /proc.
    pub pseudo_file_system: u64,
    /// Trash folders.
    pub trash: u64,
    /// Folders reached a second time, by another path or mount.
    pub listed_before: u64,
    /// Files and folders that were gone when they were to be looked at.
    pub vanished: u64,
    /// Folders that changed after they were listed.
    pub unsettled: u64,
    /// Folders, files or metadata that could not be read.
    pub unreadable: u64,
    /// Folders and reads that got no answer from a file system.
    pub unanswered: u64,
    /// Files that were not listed or read because memory was nearly used up, at least.
    pub memory_short: u64,
    /// Files that changed or vanished between scan and read.
    pub changed: u64,
}

impl LeftOut {
    /// Adds the counts of another part of the run.
    pub fn add(&mut self, other: &Self) {
        self.hidden += other.hidden;
        self.ignored += other.ignored;
        self.filtered += other.filtered;
        self.empty += other.empty;
        self.symlinks += other.symlinks;
        self.special += other.special;
        self.other_file_system += other.other_file_system;
        self.pseudo_file_system += other.pseudo_file_system;
        self.trash += other.trash;
        self.listed_before += other.listed_before;
        self.vanished += other.vanished;
        self.unsettled += other.unsettled;
        self.unreadable += other.unreadable;
        self.unanswered += other.unanswered;
        self.memory_short += other.memory_short;
        self.changed += other.changed;
    }
}
