//! Appends what a run learns to a file of rows, in the background, so that the run does not wait for the disk.

use std::fs::File;
use std::io;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::error::CacheError;
use super::folder::CacheFolder;
use super::frame::{self, Day, HEAD, Key, Kind};
use super::row::Row;
use super::rows::{self, seed_of};
use crate::sys::write;

/// Length of a frame that is full, bytes.
const FULL: usize = 1 << 16;

/// Number of frames that may wait for the disk. Further ones are dropped: a run never waits for its cache.
const WAITING: usize = 16;

/// Appends to one file of rows.
pub struct Writer {
    target: Target,
    frame: Vec<u8>,
    thread: Option<(Sender<Vec<u8>>, Thread)>,
}

type Thread = io::Result<JoinHandle<Appended>>;

/// Where a writer appends.
#[derive(Clone)]
pub struct Target {
    /// The folder of the file.
    pub folder: Arc<CacheFolder>,
    /// Its name.
    pub name: String,
    /// The file with its lock; `None` if it is missing, until there is a row to write.
    pub file: Option<Arc<File>>,
    /// The path that the run searches.
    pub searched: PathBuf,
}

/// The file, if a row was appended to it.
type Appended = Result<Option<Arc<File>>, CacheError>;

impl Writer {
    /// A writer that has nothing to write yet.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            frame: frame::begun(),
            thread: None,
        }
    }

    /// Queues a row to be written, unless too much waits already.
    pub fn learned(&mut self, key: Key, today: Day, row: &Row) {
        frame::push_row(&mut self.frame, key, today, row);
        if self.frame.len() >= FULL {
            self.flush();
        }
    }

    /// Hands over the rows so far.
    pub fn flush(&mut self) {
        if self.frame.len() > HEAD {
            let frame = mem::replace(&mut self.frame, frame::begun());
            let _not_kept = self.start().try_send(frame);
        }
    }

    fn start(&mut self) -> &Sender<Vec<u8>> {
        let (to, _) = self.thread.get_or_insert_with(|| {
            let (to, from) = bounded(WAITING);
            let target = self.target.clone();
            let thread = thread::Builder::new().name("cache".to_owned());
            (to, thread.spawn(move || append_all(&target, &from)))
        });
        to
    }

    /// Waits until all rows are written. Returns the file, if any row was written to it.
    ///
    /// # Errors
    /// The reason why a row is not written. No later row is written, either.
    pub fn finish(mut self) -> Appended {
        self.flush();
        let Some((to, thread)) = self.thread else {
            return Ok(None);
        };
        drop(to);
        thread?.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn append_all(target: &Target, from: &Receiver<Vec<u8>>) -> Appended {
    let seed = seed_of(&target.name);
    let mut begun = None;
    for mut rows in from {
        let file = match &begun {
            Some(file) => file,
            None => begun.insert(begin(target, seed)?),
        };
        frame::seal(&mut rows, Kind::Rows, seed);
        write::append(&**file, &rows)?;
    }
    Ok(begun)
}

/// The file, with the searched path at its end.
fn begin(target: &Target, seed: u64) -> Result<Arc<File>, CacheError> {
    let file = match &target.file {
        Some(file) => Arc::clone(file),
        None => Arc::new(target.folder.made(&target.name)?),
    };
    rows::is_ours(&file)?;
    let mut searched = frame::begun();
    searched.extend(target.searched.as_os_str().as_bytes());
    frame::seal(&mut searched, Kind::Searched, seed);
    write::append(&*file, &searched)?;
    Ok(file)
}
