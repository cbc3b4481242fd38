//! The journal of a run: what is about to be done, written down and on the disk before it is done.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::past::Past;
use super::record::{self, Record, RunHeader};
use super::run_name;
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
    /// The name, and what no other machine makes of the same moment.
    mark: String,
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
        let time = run_name::time(header.started_ns, run_name::newest(folder).map_err(failed)?);
        // Runs that begin in one second have different numbers.
        for number in 0..1000 {
            let name = run_name::of(time, number);
            let c_name = CString::new(name.as_str()).map_err(|e| failed(e.into()))?;
            match sync::journal(&at, &c_name, true) {
                Err(rustix::io::Errno::EXIST) => continue,
                Err(error) => return Err(failed(error.into())),
                Ok(file) => {
                    sync::lock(&file).map_err(|e| failed(e.into()))?;
                    let mut journal = Self {
                        mark: format!("{name}-{:08x}", run_name::random()),
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
            mark: name.to_owned(),
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

    /// A word that no other run has, of this machine or of another one.
    pub(super) fn mark(&self) -> &str {
        &self.mark
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

    /// As [`Journal::write`], and waits for others at the same time; tells what came of each.
    pub(super) fn write_with(
        &mut self,
        records: &[Record],
        others: &[sync::Wait<'_>],
    ) -> (Result<(), JournalError>, Vec<rustix::io::Result<()>>) {
        let noted = match records.is_empty() {
            true => None,
            false => Some(self.note(records)),
        };
        let own = matches!(noted, Some(Ok(()))).then_some(sync::Wait::File(self.file.as_fd()));
        let waits: Vec<_> = own.into_iter().chain(others.iter().copied()).collect();
        let mut told = sync::all(&waits).into_iter();
        let synced = own.and_then(|_| told.next()).unwrap_or(Ok(()));
        let written = noted
            .unwrap_or(Ok(()))
            .and(synced.map_err(|e| self.failed(e)));
        (written, told.collect())
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
