//! The end of a run that leaves a file of rows to itself: the next run finds an index, and only rows that count.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

use super::CacheError;
use super::folder::CacheFolder;
use super::frame::{self, Day, FULL, HEAD, Key};
use super::log::Log;
use super::rows::Rows;
use crate::sys::sync;

/// A file gets a new index if the part behind the last one is longer than an eighth of the part before. A run reads all
/// of that part when it begins.
const LOG_SHARE: u64 = 8;

/// Ends the use of a file, unless another run uses it. `rows` are those at its beginning, `appended` is what the run
/// added, and the rows of the keys `used` are marked as used today. The file has a shared lock.
///
/// # Errors
/// If the file cannot be read, or if the index or the new file cannot be written.
pub fn settle(
    folder: &CacheFolder,
    name: &str,
    rows: Option<Rows>,
    appended: Option<Log>,
    used: Vec<Key>,
    today: Day,
) -> Result<(), CacheError> {
    let new = |log: &Log| Rows::new(Arc::clone(&log.file), log.seed);
    let Some(rows) = rows.or_else(|| appended.as_ref().map(new)) else {
        return Ok(());
    };
    if !sync::hold(&*rows.log.file, true)? {
        return Ok(());
    }
    let rows = rows.join(appended)?;
    let Log { index, end, .. } = &rows.log;
    let is_mostly_superseded = rows.superseded.len() * 2 > index.entries.len();
    if !used.is_empty() || is_mostly_superseded || today.drops(index.oldest) {
        renew(folder, name, rows, used, today)
    } else if (end - rows.covered) * LOG_SHARE > rows.covered {
        rows.log.conclude()
    } else {
        Ok(())
    }
}

/// The ending of the name of a file that is being written.
pub const NEW: &str = ".new";

/// Writes a file anew, with the rows that count.
fn renew(
    folder: &CacheFolder,
    name: &str,
    mut rows: Rows,
    mut used: Vec<Key>,
    today: Day,
) -> Result<(), CacheError> {
    used.sort_unstable();
    let path = folder.path().join(name);
    let new = folder.path().join(format!("{name}{NEW}"));
    // Of a run that was killed.
    let _none = fs::remove_file(&new);
    let mut options = OpenOptions::new();
    let made = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)?;
    let mut log = Log::new(Arc::new(made), rows.log.seed, 0);
    let mut written = log.begin(rows.log.searched.take());
    let mut frame = frame::begun();
    rows.each(|mut entry| {
        if used.binary_search(&entry.key).is_ok() {
            entry.day = today;
        }
        if written.is_ok() && today.keeps(entry.day) {
            entry.push(&mut frame);
            if frame.len() >= FULL {
                written = log.append(&mut frame);
                frame.truncate(HEAD);
            }
        }
    });
    if written.is_ok() && frame.len() > HEAD {
        written = log.append(&mut frame);
    }
    let written = written.and_then(|()| log.conclude());
    if written.is_err() {
        fs::remove_file(&new)?;
        return written;
    }
    // A power loss may leave neither file whole, which costs reads.
    Ok(fs::rename(new, path)?)
}
