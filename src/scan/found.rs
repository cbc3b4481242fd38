//! Messages in which walkers hand over the files that they find.

use std::ffi::CStr;

use crossbeam_channel::Sender;

use crate::event::{LeftOut, Problem, ProblemKind};
use crate::file::{DirId, FoundFile, Numbering};
use crate::heartbeat::current;
use crate::tree::{EntryKind, Unseen};

use super::enter::Stamp;

/// A batch of found files.
#[derive(Debug, Default)]
pub struct FoundBatch {
    /// The runs of files in one folder each, in order.
    pub runs: Vec<FolderRun>,
    /// The files.
    pub files: Vec<FoundFile>,
    /// Their names, concatenated.
    pub names: Vec<u8>,
}

impl FoundBatch {
    /// Reserves room for the files of one message. Grown bit by bit it would leave holes behind in the walker's heap.
    fn make_room(&mut self) {
        if self.files.capacity() == 0 {
            self.files.reserve_exact(FILES);
            self.names.reserve(FILES * USUAL_NAME);
        }
    }
}

/// The place of a found file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundIn {
    /// Its folder.
    pub dir: DirId,
    /// The root below which it was found.
    pub root: u32,
    /// Device number of its file system.
    pub dev: u64,
}

/// A file that was reached through a symbolic link. The engine gets these last: a file that also has a real name below
/// the roots is thus known by its real name.
#[derive(Clone, Debug)]
pub struct LinkedFile {
    /// The place of the link.
    pub place: FoundIn,
    /// How reliable inode numbers are on the file system of the file, if known.
    pub numbering: Option<Numbering>,
    /// The path that ends in the link's name.
    pub path: Vec<u8>,
    /// The file that the link leads to.
    pub file: FoundFile,
}

impl LinkedFile {
    /// The link's name.
    pub fn name(&self) -> &[u8] {
        &self.path[self.path.len() - usize::from(self.file.name_len)..]
    }
}

/// Consecutive files of a batch that lie in one folder.
#[derive(Clone, Copy, Debug)]
pub struct FolderRun {
    /// Where they were found.
    pub place: FoundIn,
    /// How reliable inode numbers are there, if known.
    pub numbering: Option<Numbering>,
    /// Number of files.
    pub files: u32,
}

/// A message from the scan to the engine.
#[derive(Debug)]
pub enum ScanMessage {
    /// Files.
    Found(FoundBatch),
    /// A path that cannot be examined.
    Problem(Problem),
    /// All roots have been checked: device numbers of the good ones, each with its root's number.
    Rooted(Vec<(u64, usize)>),
    /// All folders of one group have been listed, as far as they are known.
    Walked {
        /// Its number.
        group: usize,
    },
    /// All folders have been listed.
    Done {
        /// Folders listed.
        folders: u64,
        /// Counts of skipped files.
        left_out: LeftOut,
        /// Folders with their times before they were listed, if these are requested.
        listed: Vec<(DirId, Stamp)>,
        /// Entries that no other message reports, if they are requested.
        others: Vec<OtherEntry>,
        /// Roots that are skipped, and why.
        roots: Vec<(u32, Unseen)>,
    },
}

/// Files in one message: enough to make the cost of the channel small against the few microseconds that a file takes,
/// few enough that reading starts early.
const FILES: usize = 512;

/// Bytes that are reserved for a name at first.
const USUAL_NAME: usize = 30;

/// Fills batches and sends them.
pub struct Outbox {
    batch: FoundBatch,
    /// The device met last.
    last: Option<(u64, Option<Numbering>)>,
    to: Sender<ScanMessage>,
}

impl Outbox {
    /// An outbox that sends to this channel.
    pub fn new(to: &Sender<ScanMessage>) -> Self {
        Self {
            batch: FoundBatch::default(),
            last: None,
            to: to.clone(),
        }
    }

    fn send(&self, message: ScanMessage) {
        current::resting(|| {
            // Send fails only after the run ended.
            let _ignored = self.to.send(message);
        });
    }

    /// Reports a path that cannot be examined.
    pub fn problem(&self, problem: Problem) {
        self.send(ScanMessage::Problem(problem));
    }

    /// Adds a file. Calls `numbering` if the device differs from that of the file before.
    pub fn push(
        &mut self,
        place: FoundIn,
        name: &[u8],
        file: FoundFile,
        numbering: impl FnOnce() -> Option<Numbering>,
    ) {
        self.batch.make_room();
        let dev = place.dev;
        match self.batch.runs.last_mut() {
            Some(run) if run.place == place => run.files += 1,
            _ => {
                if !matches!(self.last, Some((last, Some(_))) if last == dev) {
                    self.last = Some((dev, numbering()));
                }
                self.batch.runs.push(FolderRun {
                    place,
                    numbering: self.last.and_then(|(_, numbering)| numbering),
                    files: 1,
                });
            }
        }
        self.batch.files.push(file);
        self.batch.names.extend_from_slice(name);
        if self.batch.files.len() >= FILES {
            self.flush();
        }
    }

    /// Moves the batch to another one. Returns what that one had if both are too much for one message.
    pub fn move_to(&mut self, other: &mut FoundBatch) -> FoundBatch {
        let full = if other.files.len() + self.batch.files.len() > FILES {
            std::mem::take(other)
        } else {
            FoundBatch::default()
        };
        if !self.batch.files.is_empty() {
            other.make_room();
            for run in self.batch.runs.drain(..) {
                match other.runs.last_mut() {
                    Some(last) if last.place == run.place => last.files += run.files,
                    _ => other.runs.push(run),
                }
            }
            other.files.append(&mut self.batch.files);
            other.names.append(&mut self.batch.names);
        }
        full
    }

    /// Reports that a group has done its work.
    pub fn walked(&self, group: usize) {
        self.send(ScanMessage::Walked { group });
    }

    /// Sends this batch, unless it is empty.
    pub fn hand_over(&self, batch: FoundBatch) {
        if !batch.files.is_empty() {
            self.send(ScanMessage::Found(batch));
        }
    }

    /// Sends the batch.
    pub fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        self.hand_over(batch);
    }
}

/// An entry that no other message reports.
#[derive(Debug)]
pub struct OtherEntry {
    /// The folder that it lies in.
    pub dir: DirId,
    /// Its name; empty if the folder itself is meant.
    pub name: Box<[u8]>,
    /// Its metadata.
    pub kind: EntryKind,
}

impl OtherEntry {
    /// An entry of a folder, or the folder itself.
    pub fn new(dir: DirId, name: Option<&CStr>, kind: EntryKind) -> Self {
        let name = name.map_or(&b""[..], CStr::to_bytes);
        Self {
            dir,
            name: name.into(),
            kind,
        }
    }
}

/// The reason that a problem gives for an unseen entry; `None` if the problem hid no entry.
pub fn unseen_by_problem(kind: ProblemKind) -> Option<Unseen> {
    match kind {
        ProblemKind::MissingRoot | ProblemKind::UnsuitableRoot | ProblemKind::LinkRoot => {
            Some(Unseen::NoRoot)
        }
        ProblemKind::UnreadableRoot
        | ProblemKind::UnreadableFolder
        | ProblemKind::UnreadableMetadata
        | ProblemKind::UnreadableFile => Some(Unseen::Unreadable),
        ProblemKind::Vanished => Some(Unseen::Vanished),
        ProblemKind::ReplacedRoot
        | ProblemKind::Changed
        | ProblemKind::ChangedFolder
        | ProblemKind::NotVerified => Some(Unseen::Changed),
        ProblemKind::TooDeep | ProblemKind::TooManyAlike | ProblemKind::TooManyNames => {
            Some(Unseen::TooMany)
        }
        ProblemKind::MemoryShort => Some(Unseen::MemoryShort),
        ProblemKind::Unanswered => Some(Unseen::Unanswered),
        ProblemKind::UnusableIgnoreFile
        | ProblemKind::LinkLoop
        | ProblemKind::BrokenLink
        | ProblemKind::UnusableCache
        | ProblemKind::NotCached
        | ProblemKind::NotAnswering => None,
    }
}
