//! The folder of the journals, and the runs in it. Only its owner writes there: what a journal says is for its owner
//! only.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::past::{self, Past};
use super::record::{self, Record, RunHeader};
use crate::action::reason::{Code, Facts, Reason};
use crate::file::{OwnFolder, RouteError};
use crate::heartbeat::current;
use crate::sys::{names, sync};

/// Opens the folder, and creates it and missing folders above it.
///
/// # Errors
/// If that fails, or if other users could have created it or may write to it.
pub fn make(folder: &Path) -> Result<OwnFolder, Reason> {
    current::ask_about(folder.as_os_str().as_bytes());
    let own = OwnFolder::make(folder);
    own.map_err(|error| no_way(Code::Journals, folder, error))
}

/// Opens the folder; `None` if it is not there.
///
/// # Errors
/// As for [`make`].
pub fn open(folder: &Path) -> Result<Option<OwnFolder>, Reason> {
    current::ask_about(folder.as_os_str().as_bytes());
    OwnFolder::open(folder).map_err(|error| no_way(Code::JournalsUnlisted, folder, error))
}

fn no_way(code: Code, folder: &Path, error: RouteError) -> Reason {
    match error {
        RouteError::Untrusted(untrusted) => Code::JournalsUntrusted.with(Facts {
            advice: Some(untrusted.way_out("XDG_STATE_HOME")),
            ..Facts::caused(folder.to_string_lossy(), &untrusted)
        }),
        RouteError::Io(error) => refused(code, folder, &error),
    }
}

/// What the system refused about the folder.
pub fn refused(code: Code, folder: &Path, error: &io::Error) -> Reason {
    code.with(Facts::refused(&folder.to_string_lossy(), error))
}

/// A folder of journals, locked: no other run that writes there acts, undoes or sweeps while this exists.
///
/// Each step is proven by itself, but not against the plan of another run, which may remove what a new link leads to a
/// moment later. The kernel unlocks the folder when the process ends, however it ends.
#[derive(Debug)]
pub struct RunLock(OwnFolder);

impl RunLock {
    /// Locks the folder, and creates it if it is missing.
    ///
    /// # Errors
    /// If another run has it, or as for [`make`].
    pub fn take(folder: &Path) -> Result<Self, Reason> {
        let own = make(folder)?;
        match sync::lock(own.descriptor()) {
            Ok(true) => Ok(Self(own)),
            Ok(false) => Err(Code::Locked.about(folder.to_string_lossy())),
            Err(error) => Err(refused(Code::Journals, folder, &error.into())),
        }
    }
}

/// Locks this folder, and checks whether journals can be written there: before a search, and before the user reads a
/// plan.
///
/// # Errors
/// If another run has it, if other users could have created it or may write to it, if it cannot be written to, or if
/// the disk is full.
pub fn check_journals(folder: &Path) -> Result<RunLock, Reason> {
    let lock = RunLock::take(folder)?;
    try_out(&lock.0).map_err(|error| no_way(Code::Journals, folder, error))?;
    Ok(lock)
}

/// Writes a draft as long as the first lines of a journal, and removes it.
fn try_out(own: &OwnFolder) -> Result<(), RouteError> {
    let name = draft();
    let mut file = own.append_or_make(&name)?;
    let written = file.write_all(&[b'\n'; 4096]);
    let name = CString::new(name).map_err(io::Error::from)?;
    names::remove(own.descriptor(), &name)?;
    Ok(written?)
}

/// The name of a journal until its first line is on the disk.
pub fn draft() -> String {
    format!(".seekless-{:08x}.new", random())
}

/// A run's name: its start time (`20261121T045702Z`), so that names sort in the order of the runs, and a number if the
/// name is taken.
pub fn run_name(time: Timestamp, number: u32) -> String {
    let name = time.strftime(TIME).to_string();
    match number {
        0 => name,
        number => format!("{name}-{number:03}"),
    }
}

const TIME: &str = "%Y%m%dT%H%M%SZ";

/// True if a file of this name is a run's journal.
pub fn is_run(name: &str) -> bool {
    let (time, number) = match name.split_once('-') {
        Some((time, number)) => (time, Some(number)),
        None => (name, None),
    };
    let is_number = |number: &str| number.len() == 3 && number.bytes().all(|b| b.is_ascii_digit());
    named_time(time).is_some() && number.is_none_or(is_number)
}

/// The name of the newest run among these, if there is one.
pub fn newest(names: Vec<OsString>) -> Option<String> {
    let names = names.into_iter().filter_map(|name| name.into_string().ok());
    names.filter(|name| is_run(name)).max()
}

/// The time in a run's name.
pub fn named_time(name: &str) -> Option<Timestamp> {
    let time = name.split('-').next()?;
    let time = DateTime::strptime(TIME, time).ok()?;
    time.to_zoned(TimeZone::UTC)
        .ok()
        .map(|time| time.timestamp())
}

/// The start of a run, for its name. Names sort in the order of the runs, even if the clock was set back in between:
/// the run then counts as begun a second after the newest one.
pub fn run_time(started_ns: i64, newest: Option<String>) -> Timestamp {
    let time = Timestamp::from_nanosecond(started_ns.into()).unwrap_or_default();
    let newest = newest.and_then(|name| named_time(&name));
    match newest {
        Some(newest) if newest > time => newest.checked_add(1.second()).unwrap_or(newest),
        _ => time,
    }
}

/// A number that differs between machines, processes and calls.
pub fn random() -> u32 {
    // Its keys come from the system's source of randomness.
    RandomState::new().hash_one(()) as u32
}

/// One run that has a journal.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// The header of the run.
    pub header: RunHeader,
    /// Number of recorded steps.
    pub steps: usize,
    /// Number of steps that were done, as far as is known.
    pub done: usize,
    /// True if all of it was undone.
    pub undone: bool,
    /// True if each step is known to have changed nothing.
    pub changed_nothing: bool,
    /// True if it removed files for good and did nothing else: nothing of it can be undone.
    pub permanent: bool,
    /// True if the run, or an undo of it, was cut short.
    pub cut_short: bool,
    /// True if the run, or an undo of it, is in progress in another process.
    pub busy: bool,
    /// Number of damaged lines of the journal.
    pub damaged: usize,
}

/// A file with the name of a run.
#[derive(Debug)]
pub struct JournalFile {
    /// The run's name.
    pub name: String,
    /// The run, or why its journal cannot be read.
    pub run: Result<Run, Reason>,
}

/// All runs with a journal in this folder that can be read, the oldest first.
///
/// # Errors
/// If the folder cannot be listed.
pub fn runs(folder: &Path) -> Result<Vec<Run>, Reason> {
    let found = journals(folder)?.into_iter();
    Ok(found.filter_map(|found| found.run.ok()).collect())
}

/// All files of this folder that have a run's name, the oldest first.
///
/// # Errors
/// If the folder cannot be listed.
pub fn journals(folder: &Path) -> Result<Vec<JournalFile>, Reason> {
    match open(folder)? {
        Some(own) => Ok(newest_first(own)?.rev().collect()),
        None => Ok(Vec::new()),
    }
}

/// The names of the runs, the oldest first. A file without such a name is no journal.
pub(in crate::action) fn names(own: &OwnFolder) -> Result<Vec<String>, Reason> {
    let names = own.names();
    let unlisted = |error| refused(Code::JournalsUnlisted, own.path(), &error);
    let names = names.map_err(unlisted)?;
    let names = names.into_iter().filter_map(|name| name.into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_run(name)).collect();
    names.sort_unstable();
    Ok(names)
}

/// The number of the newest journals, which stay however old they are.
const KEPT_JOURNALS: usize = 20;

/// The days for which every journal stays.
const KEPT_DAYS: i64 = 90;

/// Removes old journals when a run begins at this time, except those of unfinished runs: undo or a sweep may need them.
pub(in crate::action) fn prune(own: &OwnFolder, now: Timestamp) {
    let names = names(own).unwrap_or_default();
    let Ok(bound) = now.checked_sub((KEPT_DAYS * 24).hours()) else {
        return;
    };
    let old = names.iter().rev().skip(KEPT_JOURNALS);
    let old = old.filter(|name| named_time(name).is_some_and(|time| time < bound));
    for name in old {
        // Its file stays locked until it is removed: no undo begins.
        let Ok(mut file) = own.append(name) else {
            continue;
        };
        let is_over = sync::lock(&file) == Ok(true) && is_over(&mut file) == Some(true);
        if let (true, Ok(name)) = (is_over, CString::new(name.as_str())) {
            let _ = names::remove(own.descriptor(), &name);
        }
    }
}

/// True if the last line says that there are no leftovers. Long journals of runs that went well, which are nearly all,
/// need not be read then.
pub(in crate::action) fn is_over(file: &mut File) -> Option<bool> {
    /// Longer than any of these lines.
    const TAIL: u64 = 256;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))
        .ok()?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).ok()?;
    let whole = tail.strip_suffix(b"\n");
    let last = whole.and_then(|tail| tail.rsplit(|&b| b == b'\n').next());
    Some(matches!(
        last.and_then(record::parse),
        Some(Record::Ended | Record::UndoEnded | Record::AllUndone | Record::Swept)
    ))
}

fn look(own: &OwnFolder, name: &str) -> Result<Run, Reason> {
    let mut bytes = Vec::new();
    let file = own.read(name).and_then(|mut file| {
        file.read_to_end(&mut bytes)?;
        Ok(file)
    });
    let file = file.map_err(|error| past::unreadable(name, error))?;
    let past = Past::read(name, &bytes)?;
    let is_locked = || sync::is_locked(&file);
    Ok(Run {
        name: name.to_owned(),
        steps: past.steps.len(),
        done: past.done(),
        undone: past.all_undone,
        changed_nothing: past.changed_nothing(),
        permanent: past.is_permanent(),
        busy: past.cut_short && is_locked(),
        cut_short: past.cut_short,
        damaged: past.damaged.len(),
        header: past.header,
    })
}

/// The last run that did anything: the one that is meant if none is named.
///
/// # Errors
/// If there is none, or if a later journal cannot be read.
pub(in crate::action) fn last(folder: &Path) -> Result<String, Reason> {
    match acting(folder)?.next() {
        Some(JournalFile { run: Ok(run), .. }) => Ok(run.name),
        Some(JournalFile { run: Err(why), .. }) => Err(Code::LastJournal.with(why.facts().clone())),
        // A journal without its last line may have lost more.
        None => {
            let unfinished = runs(folder)?.into_iter().rev().find(|run| run.cut_short);
            let unfinished = unfinished.map(|run| run.name);
            unfinished.ok_or_else(|| Code::NothingToUndo.into())
        }
    }
}

/// Runs that may have changed files, the last one first.
fn acting(folder: &Path) -> Result<impl Iterator<Item = JournalFile> + use<>, Reason> {
    let own = open(folder)?.ok_or(Code::NothingToUndo)?;
    let did_nothing = |found: &JournalFile| {
        let run = found.run.as_ref();
        run.is_ok_and(|run| run.changed_nothing)
    };
    Ok(newest_first(own)?.filter(move |found| !did_nothing(found)))
}

/// All files of a folder that have a run's name, each read when it is asked for.
fn newest_first(
    own: OwnFolder,
) -> Result<impl DoubleEndedIterator<Item = JournalFile> + use<>, Reason> {
    let names = names(&own)?.into_iter().rev();
    Ok(names.map(move |name| JournalFile {
        run: look(&own, &name),
        name,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runs_count() {
        let mut names = Vec::new();
        assert_eq!(newest(names.clone()), None);
        for (name, expected) in [
            ("20261121T014316Z-001", true),
            ("20261121T014316Z", true),
            ("20261121T014316Z.bak", false),
            ("20261121T014316Z-1", false),
            ("20261121T014316Z-001~", false),
            ("zzz", false),
            ("2099.bak", false),
        ] {
            assert_eq!(is_run(name), expected, "{name}");
            names.push(name.into());
        }
        assert_eq!(newest(names).as_deref(), Some("20261121T014316Z-001"));
    }
}
