//! The folder of the journals: only its owner has access.

use std::ffi::{CString, OsString};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use jiff::{Timestamp, ToSpan};
use rustix::io::Errno;

use super::journal_error::JournalError;
use super::run_name;
use crate::file::{OwnFolder, RouteError};
use crate::heartbeat::current;
use crate::sys::{attributes, names, open as sys_open, stat, statfs};

/// The mode bits that others must not have.
const OTHERS: u32 = 0o077;

/// Opens the folder, and creates it and missing folders above it.
///
/// # Errors
/// If that fails, or if other users could have created it or may write to it.
pub fn make(folder: &Path) -> Result<OwnFolder, JournalError> {
    current::ask_about(folder.as_os_str().as_bytes());
    let own = OwnFolder::make(folder);
    let own = own.map_err(|error| refused(folder, error, JournalError::Folder))?;
    close_to_others(&own)?;
    clear_drafts(&own);
    Ok(own)
}

/// Opens the folder; `None` if it is not there.
///
/// # Errors
/// As for [`make`].
pub fn open(folder: &Path) -> Result<Option<OwnFolder>, JournalError> {
    current::ask_about(folder.as_os_str().as_bytes());
    OwnFolder::open(folder).map_err(|error| refused(folder, error, JournalError::List))
}

fn refused(
    folder: &Path,
    error: RouteError,
    by_the_system: fn(PathBuf, io::Error) -> JournalError,
) -> JournalError {
    let folder = folder.to_owned();
    match error {
        RouteError::Untrusted(untrusted) => JournalError::Untrusted(folder, untrusted),
        RouteError::Io(error) => by_the_system(folder, error),
    }
}

/// Checks whether journals can be written in this folder, which need not exist: before a search, and before the user
/// reads a plan. Problems that only the creation of the folder shows appear when the journal is created.
///
/// # Errors
/// If other users could have created it or may write to it, if they may read it and it is not only for journals, if the
/// folder cannot be written to, or if the disk is full.
pub fn check_journals(folder: &Path) -> Result<(), JournalError> {
    let failed = |error: Errno| JournalError::Folder(folder.to_owned(), error.into());
    match open(folder) {
        Err(JournalError::List(folder, error)) => Err(JournalError::Folder(folder, error)),
        Err(error) => Err(error),
        Ok(Some(own)) => {
            shown_to_others(&own)?;
            try_out(&own).map_err(|error| refused(folder, error, JournalError::Folder))
        }
        Ok(None) => match nearest_above(folder) {
            Some(above) if statfs::is_pseudo(&above) => Err(failed(Errno::ROFS)),
            Some(above) => stat::can_create_in(&above).map_err(failed),
            None => Ok(()),
        },
    }
}

/// The nearest existing folder above this one.
fn nearest_above(folder: &Path) -> Option<OwnedFd> {
    folder.ancestors().skip(1).find_map(|above| {
        let name = CString::new(above.as_os_str().as_bytes()).ok()?;
        sys_open::folder_handle(sys_open::CWD, &name).ok()
    })
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

/// Removes the read access of other users that an older version, or the user's umask, allowed.
///
/// A folder with other files is not closed: it is refused.
pub fn close_to_others(own: &OwnFolder) -> Result<(), JournalError> {
    let failed = |error: Errno| JournalError::Folder(own.path().to_owned(), error.into());
    if !shown_to_others(own)? {
        return Ok(());
    }
    match attributes::set_mode(own.descriptor(), 0o700) {
        // A file system without modes (FAT): what it shows is up to how it is mounted.
        Ok(()) | Err(Errno::PERM | Errno::NOTSUP) => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// True if other users can see the folder, which can then be closed to them.
///
/// # Errors
/// If it cannot be closed, because it is not only for journals.
fn shown_to_others(own: &OwnFolder) -> Result<bool, JournalError> {
    let now = attributes::get(own.descriptor())
        .map_err(|error| JournalError::Folder(own.path().to_owned(), error.into()))?;
    match now.mode & OTHERS != 0 {
        true if !is_for_journals(own) => Err(JournalError::Shared(own.path().to_owned(), now.mode)),
        is_shown => Ok(is_shown),
    }
}

/// True if the folder is empty, or has at least one journal.
fn is_for_journals(own: &OwnFolder) -> bool {
    let Ok(names) = own.names() else {
        return false;
    };
    let is = |kind: fn(&str) -> bool| move |name: &OsString| name.to_str().is_some_and(kind);
    names.iter().any(is(run_name::is_one)) || names.iter().all(is(is_draft))
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
