//! Appends what a run learns to a file of rows, in the background, so that the run hardly waits for the disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::heartbeat::current;
use crate::sys::{sync, write};

use super::CacheError;
use super::folder::CacheFolder;
use super::frame::{self, Day, Entry, HEAD, Key, Kind};
use super::row::Row;
use super::rows::{self, Rows, seed_of};

/// Length of a frame that is full, bytes.
const FULL: usize = 1 << 16;

/// Number of frames that may wait for the disk.
const WAITING: usize = 16;

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

/// Length of the payload of a frame of sorted rows, bytes. A request for one row reads all of it. The checksum of 16
/// KiB takes little more time than that of 4 KiB: their pieces of 1 KiB are hashed together. Otherwise a guess.
const BLOCK: usize = 16_000;

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
