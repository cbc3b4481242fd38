//! The end of a file of rows: what is appended to it, and the places of the appended rows.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::CacheError;
use super::frame::{self, HEAD, Kind, START};
use super::index::Index;
use crate::sys::write;

/// The end of a file of rows.
pub struct Log {
    /// The file.
    pub file: Arc<File>,
    /// Differs from file to file, so that a frame of another file counts as damaged.
    pub seed: u64,
    /// The length of the file, unless other runs append as well.
    pub end: u64,
    /// The places of the rows that were appended; in [`Rows`](super::rows::Rows), of all rows.
    pub index: Index,
    /// The path that was searched last.
    pub searched: Option<PathBuf>,
}

impl Log {
    /// The end of a file of this length.
    pub fn new(file: Arc<File>, seed: u64, end: u64) -> Self {
        Self {
            file,
            seed,
            end,
            index: Index::default(),
            searched: None,
        }
    }

    /// The present length of the file.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn len(&self) -> Result<u64, CacheError> {
        Ok(self.file.metadata()?.len())
    }

    /// Appends the path that a run searches. A new file gets its first frame before.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(&mut self, searched: Option<PathBuf>) -> Result<(), CacheError> {
        if self.len()? == 0 {
            self.push(Kind::Start, &[0; START - HEAD])?;
        }
        if let Some(path) = &searched {
            self.push(Kind::Searched, path.as_os_str().as_bytes())?;
        }
        self.searched = searched;
        Ok(())
    }

    fn push(&mut self, kind: Kind, payload: &[u8]) -> Result<(), CacheError> {
        let frame = frame::of(kind, payload, self.seed);
        write::append(&*self.file, &frame)?;
        self.end += frame.len() as u64;
        Ok(())
    }

    /// Completes a frame of rows, and appends it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, rows: &mut Vec<u8>) -> Result<(), CacheError> {
        frame::seal(rows, Kind::Rows, self.seed);
        write::append(&*self.file, rows)?;
        self.index.add(rows, self.end);
        self.end += rows.len() as u64;
        Ok(())
    }

    /// Appends the index, which must have the places of all rows of the file, and the searched path again. No other run
    /// may use the file.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn conclude(mut self) -> Result<(), CacheError> {
        let start = frame::of(Kind::Start, &self.end.to_le_bytes(), self.seed);
        self.index.sort();
        let mut frame = frame::begun();
        self.index.encode(&mut frame);
        frame::seal(&mut frame, Kind::Index, self.seed);
        write::append(&*self.file, &frame)?;
        let searched = self.searched.take();
        self.begin(searched)?;
        // After a kill, the index before is found. A power loss may leave a file that is not whole, which costs reads.
        Ok(write::over_the_beginning(&*self.file, &start)?)
    }
}
