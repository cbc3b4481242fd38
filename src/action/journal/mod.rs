//! The journal of a run: each step is written to the disk before it is carried out.

pub(in crate::action) mod past;
pub(in crate::action) mod record;
pub(in crate::action) mod runs;

use std::ffi::CString;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;

use self::past::Past;
use self::record::{Record, RunHeader};

use crate::action::reason::{Code, Facts, Reason};
use crate::file::RouteError;
use crate::sys::{names, open, stat, sync, write};

/// Maximum bytes of the record of a step's end, without the reason why the step was not carried out.
const DONE: u64 = 400;

/// Maximum bytes of the records of an undone step. A folder has two.
const UNDONE: u64 = 180;

/// Bytes for records that are written once: a run's end, an undo's beginning and end.
const ONCE: u64 = 4096;

/// Time for which a check by another process may lock the journal; such a check takes microseconds.
const LOOKS: u32 = 50;
const LOOK: Duration = Duration::from_millis(2);

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    name: String,
    /// The name, and a text that no other machine generates at the same moment.
    mark: String,
    file: OwnedFd,
    steps: u64,
    /// The last line may be incomplete.
    torn: bool,
    /// The length up to which the file has reserved space on the disk.
    reserved: u64,
}

impl Journal {
    /// Begins a journal in this folder, and creates the folder if it is missing. Removes [old journals](runs::prune).
    ///
    /// # Errors
    /// If the folder or the file cannot be created or written: then no step must be carried out.
    pub fn create(folder: &Path, header: RunHeader) -> Result<Self, Reason> {
        let refused = |error: &io::Error| runs::refused(Code::Journals, folder, error);
        let failed = |error: Errno| refused(&error.into());
        let own = runs::make(folder)?;
        let at = own.descriptor();
        let names = own.names();
        let names = names.map_err(|error| refused(&error))?;
        let time = runs::run_time(header.started_ns, runs::newest(names));
        let header = RunHeader {
            version: record::VERSION,
            ..header
        };
        // What has a run's name is a whole journal, or damaged: it gets the name when its first line is safe.
        let draft = CString::new(runs::draft()).unwrap_or_default();
        let mut journal = Self {
            mark: String::new(),
            name: String::new(),
            file: sync::journal(at, &draft, true).map_err(failed)?,
            steps: 0,
            torn: false,
            reserved: 0,
        };
        let named = sync::lock(&journal.file)
            .and_then(|_| journal.append(&[Record::Run(header.clone())]))
            .and_then(|()| sync::file(&journal.file))
            .and_then(|()| named(at, &draft, time));
        journal.name = named.map_err(|error| {
            let _ = names::remove(at, &draft);
            failed(error)
        })?;
        journal.mark = format!("{}-{:08x}", journal.name, runs::random());
        sync::folder(at).map_err(failed)?;
        // The name may be ahead of the clock.
        runs::prune(&own, time.min(runs::run_time(header.started_ns, None)));
        Ok(journal)
    }

    /// Continues the journal of an earlier run, to record undone steps.
    pub(super) fn reopen(folder: &Path, name: &str) -> Result<(Self, Past), Reason> {
        let failed = |error: io::Error| Code::Journal.with(Facts::refused(name, &error));
        let missing = || Code::NoSuchRun.about(name);
        let own = runs::open(folder)?.ok_or_else(missing)?;
        let mut file = own.append(name).map_err(|error| match error {
            RouteError::Io(error) if error.kind() == io::ErrorKind::NotFound => missing(),
            RouteError::Io(error) => failed(error),
            error => past::unreadable(name, error),
        })?;
        if !locked(&file).map_err(|e| failed(e.into()))? {
            return Err(Code::Active.about(name));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let past = Past::read_steps(name, &bytes)?;
        let journal = Self {
            name: name.to_owned(),
            mark: name.to_owned(),
            file: file.into(),
            steps: 0,
            // The torn end becomes a line of its own, which nobody believes.
            torn: past.torn,
            reserved: 0,
        };
        Ok((journal, past))
    }

    /// The run's name, for `seekless undo`.
    pub fn run_name(&self) -> &str {
        &self.name
    }

    /// A word that no other run has, on this machine or on another one.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// The number of the next step.
    pub(super) fn next_step(&mut self) -> u64 {
        self.steps += 1;
        self.steps - 1
    }

    /// Writes records and waits until they would survive a loss of power.
    pub(super) fn write(&mut self, records: &[Record]) -> Result<(), Reason> {
        self.reserve(records).map_err(|e| self.failed(e))?;
        self.note(records)?;
        sync::file(&self.file).map_err(|e| self.failed(e))
    }

    /// As [`Journal::write`], and waits for other files at the same time; returns the result of each.
    pub(super) fn write_with(
        &mut self,
        records: &[Record],
        others: &[sync::Wait<'_>],
    ) -> (Result<(), Reason>, Vec<rustix::io::Result<()>>) {
        let noted = (!records.is_empty()).then(|| {
            let reserved = self.reserve(records).map_err(|e| self.failed(e));
            reserved.and_then(|()| self.note(records))
        });
        let own = matches!(noted, Some(Ok(()))).then_some(sync::Wait::File(self.file.as_fd()));
        let waits: Vec<_> = own.into_iter().chain(others.iter().copied()).collect();
        let mut told = sync::all(&waits).into_iter();
        let synced = own.and_then(|_| told.next()).unwrap_or(Ok(()));
        let synced = synced.map_err(|e| self.failed(e));
        (noted.unwrap_or(Ok(())).and(synced), told.collect())
    }

    /// Writes records that may be lost: the files show the same facts.
    pub(super) fn note(&mut self, records: &[Record]) -> Result<(), Reason> {
        self.append(records).map_err(|e| self.failed(e))
    }

    /// Records the end of the run.
    pub(super) fn end(&mut self) -> Result<(), Reason> {
        self.write(&[Record::Ended])
    }

    /// Frees the reserved space that undo does not need any more.
    pub(super) fn give_back(&self) {
        let _ = write::free_beyond_the_end(&self.file);
    }

    fn append(&mut self, records: &[Record]) -> rustix::io::Result<()> {
        let mut lines: Vec<u8> = records.iter().flat_map(record::line).collect();
        if self.torn {
            // What could not be written as a whole must not spoil what comes after it.
            lines.insert(0, b'\n');
        }
        let written = write::append(&self.file, &lines);
        self.torn = written.is_err();
        written
    }

    /// Reserves space for the ends of these steps, and for the undo of all steps so far: the disk may be full when they
    /// are recorded.
    fn reserve(&mut self, records: &[Record]) -> rustix::io::Result<()> {
        let intents = |record: &&Record| matches!(record, Record::Intent(_) | Record::Folder(_));
        let begun = records.iter().filter(intents).count() as u64;
        if begun == 0 {
            return Ok(());
        }
        open::ask_about(&self.file);
        let lines = records
            .iter()
            .map(|record| record::line(record).len() as u64);
        let end = stat::descriptor(&self.file)?.size;
        let wanted = end + lines.sum::<u64>() + begun * DONE + self.steps * UNDONE + ONCE;
        if wanted > self.reserved {
            let from = self.reserved.max(end);
            write::beyond_the_end(&self.file, from, wanted - from)?;
            self.reserved = wanted;
        }
        Ok(())
    }

    fn failed(&self, error: Errno) -> Reason {
        Code::Journal.with(Facts::refused(&self.name, &error.into()))
    }
}

/// Gives a journal its name. Runs that begin in one second get different numbers.
fn named(at: &OwnedFd, draft: &CString, time: jiff::Timestamp) -> rustix::io::Result<String> {
    for number in 0..1000 {
        let name = runs::run_name(time, number);
        let c_name = CString::new(name.as_str()).map_err(|_| Errno::INVAL)?;
        match names::rename_no_replace(at, draft, at, &c_name) {
            Err(Errno::EXIST) => {}
            renamed => return renamed.map(|()| name),
        }
    }
    Err(Errno::EXIST)
}

/// Locks a journal. Waits for a process that only checks whether the journal is locked.
fn locked(file: impl AsFd + Copy) -> rustix::io::Result<bool> {
    for _ in 0..LOOKS {
        if sync::lock(file)? {
            return Ok(true);
        }
        thread::sleep(LOOK);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::fs;

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
