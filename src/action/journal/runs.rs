//! The runs that have a journal, and the last of them.

use std::ffi::CString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use jiff::{Timestamp, ToSpan};

use super::journal_folder;
use super::past::{self, Past};
use super::record::{self, Record, RunHeader};
use crate::action::reason::{Code, Reason};
use crate::file::OwnFolder;
use crate::sys::{names as sys_names, sync};

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
pub struct Found {
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
pub fn journals(folder: &Path) -> Result<Vec<Found>, Reason> {
    let Some(own) = journal_folder::open(folder)? else {
        return Ok(Vec::new());
    };
    let names = names(&own)?.into_iter();
    let look = |name: String| Found {
        run: look(&own, &name),
        name,
    };
    Ok(names.map(look).collect())
}

/// The names of the runs, the oldest first. A file without such a name is no journal.
pub(in crate::action) fn names(own: &OwnFolder) -> Result<Vec<String>, Reason> {
    let names = own.names();
    let unlisted = |error| journal_folder::refused(Code::JournalsUnlisted, own.path(), &error);
    let names = names.map_err(unlisted)?;
    let names = names.into_iter().filter_map(|name| name.into_string().ok());
    let mut names: Vec<String> = names.filter(|name| journal_folder::is_run(name)).collect();
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
    let old = old.filter(|name| journal_folder::named_time(name).is_some_and(|time| time < bound));
    for name in old {
        // Its file stays locked until it is removed: no undo begins.
        let Ok(mut file) = own.append(name) else {
            continue;
        };
        let is_over = sync::lock(&file) == Ok(true) && is_over(&mut file) == Some(true);
        if let (true, Ok(name)) = (is_over, CString::new(name.as_str())) {
            let _ = sys_names::remove(own.descriptor(), &name);
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
        Some(Found { run: Ok(run), .. }) => Ok(run.name),
        Some(Found { run: Err(why), .. }) => Err(Code::LastJournal.with(why.facts().clone())),
        // A journal without its last line may have lost more.
        None => {
            let unfinished = runs(folder)?.into_iter().rev().find(|run| run.cut_short);
            let unfinished = unfinished.map(|run| run.name);
            unfinished.ok_or_else(|| Code::NothingToUndo.into())
        }
    }
}

/// Runs that may have changed files, the last one first.
fn acting(folder: &Path) -> Result<impl Iterator<Item = Found> + use<>, Reason> {
    let own = journal_folder::open(folder)?.ok_or(Code::NothingToUndo)?;
    let names = names(&own)?.into_iter().rev();
    let found = names.map(move |name| Found {
        run: look(&own, &name),
        name,
    });
    let did_nothing = |found: &Found| {
        let run = found.run.as_ref();
        run.is_ok_and(|run| run.steps == 0 && run.damaged == 0)
    };
    Ok(found.filter(move |found| !did_nothing(found)))
}
