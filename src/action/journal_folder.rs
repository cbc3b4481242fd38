//! The folder that journals are in: its owner's alone.

use std::ffi::CString;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use rustix::io::Errno;

use super::journal::JournalError;
use super::run_name;
use crate::sys::open::Manner;
use crate::sys::{attributes, open, sync, unlink};

/// What others may not do.
const OTHERS: u32 = 0o077;

/// What others may not do in any case.
const OTHERS_MAY_WRITE: u32 = 0o022;

/// Opens the folder, and makes it if it is missing, with what is missing above it.
///
/// # Errors
/// If that cannot be, or if others may write to it.
pub fn make(folder: &Path) -> Result<OwnedFd, JournalError> {
    let failed = |error: io::Error| JournalError::Folder(folder.to_owned(), error);
    let mut builder = DirBuilder::new();
    // Whatever the umask leaves of it: journals name everything that was ever acted on.
    let made = builder.recursive(true).mode(0o700).create(folder);
    made.map_err(failed)?;
    let at = opened(folder).map_err(failed)?;
    close_to_others(folder, &at)?;
    clear_drafts(folder, &at);
    Ok(at)
}

/// Opens a journal for reading: never a link's target, and never something that would have to be waited for.
pub fn open(path: &Path) -> io::Result<File> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    let manner = Manner {
        keep_access_time: false,
        follow: false,
    };
    let file = File::from(open::file(open::CWD, &name, manner)?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a regular file")),
    }
}

/// Opens the folder itself: the user's choice, links on the way and all.
pub fn opened(folder: &Path) -> io::Result<OwnedFd> {
    let path = CString::new(folder.as_os_str().as_bytes())?;
    Ok(open::folder_following(open::CWD, &path)?)
}

/// Takes from others what an older version, or the user's umask, gave them.
///
/// A folder of other things is nobody's to close: it is refused.
pub fn close_to_others(folder: &Path, at: impl AsFd) -> Result<(), JournalError> {
    let failed = |error: Errno| JournalError::Folder(folder.to_owned(), error.into());
    let now = attributes::get(&at).map_err(failed)?;
    let refused = || JournalError::Shared(folder.to_owned(), now.mode);
    if now.mode & OTHERS == 0 {
        return Ok(());
    }
    if now.uid != rustix::process::geteuid().as_raw() || !is_for_journals(folder) {
        return match now.mode & OTHERS_MAY_WRITE {
            0 if is_for_journals(folder) => Ok(()),
            _ => Err(refused()),
        };
    }
    match attributes::set_mode(&at, 0o700) {
        Ok(()) => Ok(()),
        // A file system without modes (FAT): what it shows is up to how it is mounted.
        Err(Errno::PERM | Errno::NOTSUP) if now.mode & OTHERS_MAY_WRITE == 0 => Ok(()),
        Err(Errno::PERM | Errno::NOTSUP) => Err(refused()),
        Err(error) => Err(failed(error)),
    }
}

/// True if there is nothing in it, or at least one journal.
fn is_for_journals(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    let mut is_empty = true;
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(run_name::is_one) {
            return true;
        }
        is_empty &= name.to_str().is_some_and(is_draft);
    }
    is_empty
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

/// Removes what was left by runs that were killed before they had begun.
fn clear_drafts(folder: &Path, at: &OwnedFd) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    for name in names.filter(|name| is_draft(name)) {
        let Ok(name) = CString::new(name) else {
            continue;
        };
        let is_dead = sync::journal(at, &name, false)
            .is_ok_and(|file| sync::lock(&file).is_ok_and(|locked| locked));
        if is_dead {
            let _ = unlink::file(at, &name);
        }
    }
}
