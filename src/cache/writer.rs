//! Appends what a run learns to a file of rows, in the background, so that the run hardly waits for the disk.

use std::fs::File;
use std::io;
use std::mem;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::CacheError;
use super::folder::CacheFolder;
use super::frame::{self, Day, FULL, HEAD, Key};
use super::log::Log;
use super::row::Row;
use super::rows::{self, seed_of};

/// Number of frames that may wait for the disk.
const WAITING: usize = 64;

/// How long a run waits for room among them. Then frames are dropped until the disk takes one: a run waits once for a
/// disk that does not answer.
const PATIENCE: Duration = Duration::from_millis(200);

/// Appends to one file of rows.
pub struct Writer {
    target: Target,
    frame: Vec<u8>,
    thread: Option<(Sender<Vec<u8>>, Thread)>,
    /// The last frame was dropped.
    is_late: bool,
}

type Thread = io::Result<JoinHandle<Appended>>;

/// Where a writer appends.
#[derive(Clone)]
pub struct Target {
    /// The folder of the file.
    pub folder: Arc<CacheFolder>,
    /// Its name.
    pub name: String,
    /// The file with its lock, and its length; `None` if it is missing, until there is a row to write.
    pub file: Option<(Arc<File>, u64)>,
    /// The path that the run searches.
    pub searched: PathBuf,
}

/// The end of the file, if a row was appended to it.
type Appended = Result<Option<Log>, CacheError>;

impl Writer {
    /// A writer that has nothing to write yet.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            frame: frame::begun(),
            thread: None,
            is_late: false,
        }
    }

    /// Queues a row to be written. If the disk is slow, it may be dropped.
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
            let patience = if self.is_late {
                Duration::ZERO
            } else {
                PATIENCE
            };
            self.is_late = self.start().send_timeout(frame, patience).is_err();
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

    /// Waits until all rows are written. Returns the end of the file, if any row was written to it.
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
    let mut begun = None;
    for mut rows in from {
        let log = match &mut begun {
            Some(log) => log,
            None => begun.insert(begin(target)?),
        };
        log.append(&mut rows)?;
    }
    Ok(begun)
}

/// The end of the file, behind the searched path.
fn begin(target: &Target) -> Result<Log, CacheError> {
    let (file, end) = match &target.file {
        Some((file, end)) => (Arc::clone(file), *end),
        None => (Arc::new(target.folder.made(&target.name)?), 0),
    };
    rows::is_ours(&file)?;
    let mut log = Log::new(file, seed_of(&target.name), end);
    log.begin(Some(target.searched.clone()))?;
    Ok(log)
}
