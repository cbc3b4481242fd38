//! Sorts the rows of a file anew, with those of its log, and leaves out those that no run has used for long.
//!
//! Nothing tells that a file was deleted: a search sees a part of a file system, and no call looks a file up by its inode
//! number without privileges. So rows go by the day of their last use alone, which costs a read at most.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Arc;

use super::error::CacheError;
use super::folder::CacheFolder;
use super::frame::{self, Day, Entry, HEAD, Key, Kind};
use super::rows::{Rows, seed_of};
use crate::heartbeat::current;
use crate::sys::sync;

/// Length of the payload of a frame of sorted rows, bytes. A request for one row reads all of it. A guess.
const BLOCK: usize = 4000;

/// The rows are sorted anew if the log is longer than this share of them. A run reads all of the log when it begins.
const LOG_SHARE: u64 = 8;

/// Length of the start of a file, bytes.
const START: usize = HEAD + 16;

/// Sorts the rows of a file anew if its log is long or if rows have to be marked as used today, unless another run uses
/// the file. The file has a shared lock.
///
/// # Errors
/// If the file cannot be read, or if the new one cannot be written.
pub fn merge(
    folder: &CacheFolder,
    name: &str,
    file: Arc<File>,
    mut used: Vec<Key>,
    today: Day,
) -> Result<(), CacheError> {
    if !sync::hold(&*file, true)? {
        return Ok(());
    }
    let rows = Rows::read(file, seed_of(name))?;
    if used.is_empty() && rows.log_len * LOG_SHARE <= rows.sorted_len {
        return Ok(());
    }
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
    let written = Sorted::new(BufWriter::new(made), rows.seed).and_then(|mut sorted| {
        let mut failed = Ok(());
        rows.each(|mut entry| {
            let is_used = used.binary_search(&entry.key).is_ok();
            if is_used {
                entry.day = today;
            }
            if failed.is_ok() && today.keeps(entry.day) {
                failed = sorted.push(&entry);
            }
        });
        failed.and_then(|()| {
            sorted.end(
                rows.searched()
                    .map(|path| path.as_os_str().as_encoded_bytes()),
            )
        })
    });
    if let Err(error) = written {
        fs::remove_file(&new)?;
        return Err(error.into());
    }
    // A power loss may leave neither file whole, which costs reads.
    Ok(fs::rename(new, path)?)
}

/// The ending of the name of a file that is being written.
pub const NEW: &str = ".new";

/// A file of sorted rows that is being written.
struct Sorted {
    file: BufWriter<File>,
    seed: u64,
    len: u64,
    rows: u64,
    frame: Vec<u8>,
    index: Vec<u8>,
}

impl Sorted {
    fn new(mut file: BufWriter<File>, seed: u64) -> io::Result<Self> {
        file.write_all(&[0; START])?;
        Ok(Self {
            file,
            seed,
            len: START as u64,
            rows: 0,
            frame: frame::begun(),
            index: frame::begun(),
        })
    }

    fn push(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        if self.frame.len() > BLOCK {
            self.end_frame()?;
        }
        if self.frame.len() == HEAD {
            for number in [entry.key.0, entry.key.1, self.len] {
                self.index.extend(number.to_le_bytes());
            }
        }
        self.rows += 1;
        entry.push(&mut self.frame);
        Ok(())
    }

    fn end_frame(&mut self) -> io::Result<()> {
        if self.frame.len() > HEAD {
            // A large file takes some time.
            current::beat();
            frame::seal(&mut self.frame, Kind::Rows, self.seed);
            self.file.write_all(&self.frame)?;
            self.len += self.frame.len() as u64;
            self.frame.truncate(HEAD);
        }
        Ok(())
    }

    fn end(mut self, searched: Option<&[u8]>) -> io::Result<()> {
        self.end_frame()?;
        frame::seal(&mut self.index, Kind::Index, self.seed);
        self.file.write_all(&self.index)?;
        if let Some(searched) = searched {
            let mut frame = [&frame::begun(), searched].concat();
            frame::seal(&mut frame, Kind::Searched, self.seed);
            self.file.write_all(&frame)?;
        }
        let mut start = frame::begun();
        start.extend(self.len.to_le_bytes());
        start.extend(self.rows.to_le_bytes());
        frame::seal(&mut start, Kind::Start, self.seed);
        let file = self.file.into_inner().map_err(|error| error.into_error())?;
        file.write_all_at(&start, 0)
    }
}
