//! The folder of the journals: only its owner writes there. What a journal says is for its owner only.

use std::ffi::CString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jiff::{Timestamp, ToSpan};

use super::run_name;
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
    format!("{DRAFT}{:08x}{DRAFT_END}", run_name::random())
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
