//! The folder of the journals, and their names. Only its owner writes there: what a journal says is for its owner only.

use std::ffi::{CString, OsString};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::action::reason::{Code, Facts, Reason};
use crate::file::{OwnFolder, RouteError};
use crate::heartbeat::current;
use crate::sys::{names, stat};

/// Opens the folder, and creates it and missing folders above it.
///
/// # Errors
/// If that fails, or if other users could have created it or may write to it.
pub fn make(folder: &Path) -> Result<OwnFolder, Reason> {
    current::ask_about(folder.as_os_str().as_bytes());
    let own = OwnFolder::make(folder);
    let own = own.map_err(|error| no_way(Code::Journals, folder, error))?;
    clear_drafts(&own);
    Ok(own)
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

/// Checks whether journals can be written in this folder, and creates it: before a search, and before the user reads a
/// plan.
///
/// # Errors
/// If other users could have created it or may write to it, if it cannot be written to, or if the disk is full.
pub fn check_journals(folder: &Path) -> Result<(), Reason> {
    let own = make(folder)?;
    try_out(&own).map_err(|error| no_way(Code::Journals, folder, error))
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
    format!("{DRAFT}{:08x}{DRAFT_END}", random())
}

fn is_draft(name: &str) -> bool {
    name.starts_with(DRAFT) && name.ends_with(DRAFT_END)
}

const DRAFT: &str = ".seekless-";
const DRAFT_END: &str = ".new";

/// Removes the drafts of runs that were killed before they had begun: a run names its draft a moment after it made it.
fn clear_drafts(own: &OwnFolder) {
    let bound = Timestamp::now() - 24.hours();
    let names = own.names().unwrap_or_default();
    let names = names.into_iter().filter_map(|name| name.into_string().ok());
    for name in names.filter(|name| is_draft(name)) {
        let name = CString::new(name).unwrap_or_default();
        let made = stat::entry(own.descriptor(), &name);
        if made.is_ok_and(|made| i128::from(made.mtime_ns) < bound.as_nanosecond()) {
            let _ = names::remove(own.descriptor(), &name);
        }
    }
}

/// A run's name, the start time, so that names sort in the order of the runs: `20261121T045702Z`, with a number if there is one already.
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
