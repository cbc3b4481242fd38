//! The journal of a run: what is about to be done, written down and on the disk before it is done.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::record::{self, Intent, Record, RunHeader, State};
use crate::sys::{open, sync, write};

/// What can go wrong with a journal as a whole.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The folder for journals cannot be used.
    #[error("cannot write a journal in {0}: {1}")]
    Folder(PathBuf, io::Error),
    /// A journal cannot be read or written.
    #[error("journal {0}: {1}")]
    File(String, io::Error),
    /// There is none of this name.
    #[error("there is no run {0}")]
    Missing(String),
    /// There is none at all.
    #[error("there is nothing to undo")]
    Nothing,
    /// The run, or an undo of it, still goes on.
    #[error("run {0} is still going on")]
    Busy(String),
    /// The file is no journal, or of a later version.
    #[error("{0} is no journal that this version can read")]
    Foreign(String),
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    name: String,
    file: OwnedFd,
    steps: u64,
    /// The last line may have no end.
    torn: bool,
}

impl Journal {
    /// Begins a journal in this folder, which is made if it is missing.
    ///
    /// # Errors
    /// If the folder or the file cannot be made or written: then nothing must be done.
    pub fn create(folder: &Path, header: RunHeader) -> Result<Self, JournalError> {
        let failed = |error: io::Error| JournalError::Folder(folder.to_owned(), error);
        fs::create_dir_all(folder).map_err(failed)?;
        let at = folder_handle(folder).map_err(failed)?;
        // Two runs of one process in one second have different numbers.
        for number in 0..1000 {
            let name = run_name(header.started_ns, number);
            let c_name = CString::new(name.as_str()).map_err(|e| failed(e.into()))?;
            match sync::journal(&at, &c_name, true) {
                Err(rustix::io::Errno::EXIST) => continue,
                Err(error) => return Err(failed(error.into())),
                Ok(file) => {
                    sync::lock(&file).map_err(|e| failed(e.into()))?;
                    let mut journal = Self {
                        name,
                        file,
                        steps: 0,
                        torn: false,
                    };
                    let header = RunHeader {
                        version: record::VERSION,
                        ..header
                    };
                    journal.write(&[Record::Run(header)])?;
                    sync::folder(&at).map_err(|e| failed(e.into()))?;
                    return Ok(journal);
                }
            }
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }

    /// Continues the journal of an earlier run, to write down what is undone.
    pub(super) fn reopen(folder: &Path, name: &str) -> Result<(Self, Past), JournalError> {
        let failed = |error: io::Error| JournalError::File(name.to_owned(), error);
        let missing = || JournalError::Missing(name.to_owned());
        let at = folder_handle(folder).map_err(|_| missing())?;
        let c_name = CString::new(name).map_err(|_| missing())?;
        if name.contains('/') {
            return Err(missing());
        }
        let file = match sync::journal(&at, &c_name, false) {
            Err(rustix::io::Errno::NOENT) => return Err(missing()),
            opened => opened.map_err(|e| failed(e.into()))?,
        };
        if !sync::lock(&file).map_err(|e| failed(e.into()))? {
            return Err(JournalError::Busy(name.to_owned()));
        }
        let mut bytes = Vec::new();
        let duplicate = file.try_clone().map_err(failed)?;
        fs::File::from(duplicate)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        let past = Past::read(&bytes).ok_or_else(|| JournalError::Foreign(name.to_owned()))?;
        if bytes.last().is_some_and(|&last| last != b'\n') {
            // The torn end becomes a line of its own, which nobody believes.
            write::append(file.as_fd(), b"\n").map_err(|e| failed(e.into()))?;
        }
        let journal = Self {
            name: name.to_owned(),
            file,
            steps: 0,
            torn: false,
        };
        Ok((journal, past))
    }

    /// The run's name, for `seekless undo`.
    pub fn run_name(&self) -> &str {
        &self.name
    }

    /// Numbers the next step.
    pub(super) fn next_step(&mut self) -> u64 {
        self.steps += 1;
        self.steps - 1
    }

    /// Writes records and waits until they would survive a loss of power.
    pub(super) fn write(&mut self, records: &[Record]) -> Result<(), JournalError> {
        self.note(records)?;
        sync::file(&self.file).map_err(|e| self.failed(e))
    }

    /// Writes records that may be lost: what they say can be seen from the files.
    pub(super) fn note(&mut self, records: &[Record]) -> Result<(), JournalError> {
        let mut lines: Vec<u8> = records.iter().flat_map(record::line).collect();
        if self.torn {
            // What could not be written as a whole must not spoil what comes after it.
            lines.insert(0, b'\n');
        }
        let written = write::append(&self.file, &lines);
        self.torn = written.is_err();
        written.map_err(|e| self.failed(e))
    }

    fn failed(&self, error: rustix::io::Errno) -> JournalError {
        JournalError::File(self.name.clone(), error.into())
    }
}

/// Opens the journals' folder itself: the user's choice, links on the way and all.
fn folder_handle(folder: &Path) -> io::Result<OwnedFd> {
    let path = CString::new(folder.as_os_str().as_bytes())?;
    Ok(open::folder_handle(open::CWD, &path)?)
}

/// Names sort by time: `20261121T045702Z`, with a number if there is one already.
fn run_name(started_ns: i64, number: u32) -> String {
    let time = Timestamp::from_nanosecond(started_ns.into()).unwrap_or_default();
    let name = time.strftime("%Y%m%dT%H%M%SZ").to_string();
    match number {
        0 => name,
        number => format!("{name}-{number:03}"),
    }
}

/// A step as its journal tells it.
#[derive(Clone, Debug)]
pub(super) struct PastStep {
    pub intent: Intent,
    pub fate: Fate,
    pub undone: bool,
}

/// What the journal knows of a step's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Done(Option<State>),
    NotDone,
    /// The run was killed in the middle of it, or before it.
    Unsaid,
}

/// What a journal tells.
#[derive(Clone, Debug)]
pub(super) struct Past {
    pub header: RunHeader,
    pub steps: Vec<PastStep>,
    /// Lines in the middle that are damaged, counted from 1.
    pub damaged: Vec<usize>,
    pub all_undone: bool,
}

impl Past {
    /// Reads a journal; `None` if it is none. A torn last line is passed over.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut lines = bytes.split(|&b| b == b'\n').enumerate().peekable();
        let (_, first) = lines.next()?;
        let Some(Record::Run(header)) = record::parse(first) else {
            return None;
        };
        let mut past = Self {
            header,
            steps: Vec::new(),
            damaged: Vec::new(),
            all_undone: false,
        };
        if past.header.version != record::VERSION {
            return None;
        }
        while let Some((number, line)) = lines.next() {
            match record::parse(line) {
                Some(record) => past.take(record),
                None if line.is_empty() || lines.peek().is_none() => {}
                None => past.damaged.push(number + 1),
            }
        }
        Some(past)
    }

    fn take(&mut self, record: Record) {
        match record {
            Record::Run(_) => {}
            Record::Intent(intent) => self.steps.push(PastStep {
                intent: *intent,
                fate: Fate::Unsaid,
                undone: false,
            }),
            Record::Done { step, now } => self.with(step, |s| s.fate = Fate::Done(now)),
            Record::NotDone { step, .. } => self.with(step, |s| s.fate = Fate::NotDone),
            Record::Undone { step } => self.with(step, |s| s.undone = true),
            Record::AllUndone => self.all_undone = true,
        }
    }

    fn with(&mut self, step: u64, change: impl FnOnce(&mut PastStep)) {
        // Numbers grow: the first try is nearly always right.
        let guess = usize::try_from(step).unwrap_or(usize::MAX);
        let place = match self.steps.get(guess) {
            Some(found) if found.intent.step == step => Some(guess),
            _ => self.steps.iter().position(|s| s.intent.step == step),
        };
        if let Some(place) = place {
            change(&mut self.steps[place]);
        }
    }
}

/// One run that has a journal.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// What it was.
    pub header: RunHeader,
    /// How many steps were about to be done.
    pub steps: usize,
    /// How many of them are not known to have ended: more than none after a crash only.
    pub unfinished: usize,
    /// True if all of it was undone.
    pub undone: bool,
}

/// All runs with a journal in this folder, the oldest first.
///
/// # Errors
/// If the folder cannot be listed; files in it that are no journals are passed over.
pub fn runs(folder: &Path) -> Result<Vec<Run>, JournalError> {
    let failed = |error| JournalError::Folder(folder.to_owned(), error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut runs = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let Ok(bytes) = fs::read(entry.path()) else {
            continue;
        };
        if let Some(past) = Past::read(&bytes) {
            let unfinished = past.steps.iter().filter(|s| s.fate == Fate::Unsaid);
            runs.push(Run {
                name,
                steps: past.steps.len(),
                unfinished: unfinished.count(),
                undone: past.all_undone,
                header: past.header,
            });
        }
    }
    runs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_torn_by_a_full_disk_does_not_spoil_what_comes_later() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::create(folder.path(), RunHeader::default());
        let mut journal = journal.expect("a journal");
        let path = folder.path().join(journal.run_name());
        let undone = |step| Record::Undone { step };
        // Half a line, then an error.
        let half = &record::line(&undone(1))[..20];
        write::append(&journal.file, half).expect("written");
        let readable = fs::File::open(&path).expect("the journal");
        let writable = std::mem::replace(&mut journal.file, readable.into());
        assert!(journal.note(&[undone(1)]).is_err());
        journal.file = writable;
        journal.write(&[undone(2)]).expect("written");
        let text = fs::read(&path).expect("read");
        let read: Vec<_> = text.split(|&b| b == b'\n').map(record::parse).collect();
        assert!(read.contains(&Some(undone(2))), "{read:?}");
    }
}
