//! Writes rows behind the run, so that nobody waits for it.

use std::collections::BTreeMap;
use std::io;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::row::{Part, Row};
use super::rule::{self, State};
use super::store::{CacheError, Store};

/// What a kill costs at most.
const INTERVAL: Duration = Duration::from_secs(2);

/// Rows that are written down at one go.
const BATCH: usize = 16_384;

/// What may wait for the writer. What comes beyond that is not kept: a run never waits for its cache.
const WAITING: usize = 1 << 16;

/// How long the end of a run waits for what is written last.
const PATIENCE: Duration = Duration::from_secs(10);

/// Something that was read of a file.
#[derive(Clone, Copy, Debug)]
pub struct Learned {
    /// Subvolume of the file.
    pub subvolume: u64,
    /// Its inode number.
    pub inode: u64,
    /// Its state before and after it was read.
    pub state: State,
    /// The data that was read.
    pub part: Part,
}

/// The thread that writes to one file of rows.
pub struct Writer {
    to: Sender<Learned>,
    ended: Receiver<Result<(), CacheError>>,
    thread: JoinHandle<()>,
}

impl Writer {
    /// Starts it for a run that began then, nanoseconds since 1970.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub fn start(mut store: Store, began_ns: i64) -> io::Result<Self> {
        let (to, from) = bounded(WAITING);
        let (tell, ended) = bounded(1);
        let thread = thread::Builder::new().name("cache".to_owned());
        let thread = thread.spawn(move || {
            let result = write_all(&mut store, &from, began_ns);
            // The run may have stopped waiting.
            let _ignored = tell.send(result);
        })?;
        Ok(Self { to, ended, thread })
    }

    /// Has it written down, unless too much waits already.
    pub fn learned(&self, learned: Learned) {
        let _not_kept = self.to.try_send(learned);
    }

    /// Waits until everything is written down.
    ///
    /// # Errors
    /// Why something is not. After that nothing more was written.
    pub fn finish(self) -> Result<(), CacheError> {
        drop(self.to);
        match self.ended.recv_timeout(PATIENCE) {
            Ok(result) => {
                // It has said its last word.
                let _ignored = self.thread.join();
                result
            }
            Err(_) => Err(CacheError::Io(io::ErrorKind::TimedOut.into())),
        }
    }
}

fn write_all(store: &mut Store, from: &Receiver<Learned>, began_ns: i64) -> Result<(), CacheError> {
    let mut batch: BTreeMap<(u64, u64), Row> = BTreeMap::new();
    let mut written = Instant::now();
    loop {
        let due = written + INTERVAL;
        let is_over = match from.recv_deadline(due) {
            Ok(learned) => {
                let at = (learned.subvolume, learned.inode);
                let new = || Row::new(learned.state, began_ns);
                let row = batch.entry(at).or_insert_with(new);
                if row.state != learned.state {
                    *row = new();
                }
                row.add(learned.part);
                false
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => true,
        };
        if is_over || batch.len() >= BATCH || Instant::now() >= due {
            if !batch.is_empty() {
                let rows = batch.iter();
                let rows = rows.map(|(&(subvolume, inode), row)| (subvolume, inode, row));
                store.write(rows, joined)?;
                batch.clear();
            }
            written = Instant::now();
        }
        if is_over {
            return Ok(());
        }
    }
}

/// A new row, with what an older one says if it still holds.
fn joined(before: Option<Row>, new: &Row) -> Row {
    let mut row = new.clone();
    let holds = |was: &Row| rule::holds(&was.state, was.began_ns, &new.state, new.began_ns);
    if let Some(before) = before.filter(holds) {
        row.join(before);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SampleDigest;

    const MINUTE: i64 = 60_000_000_000;
    const STATE: State = State {
        size: 3,
        mtime_ns: 1,
        ctime_ns: 1_700_000_000_000_000_001,
    };

    fn row(state: State, began_ns: i64, part: Part) -> Row {
        let mut row = Row::new(state, began_ns);
        row.add(part);
        row
    }

    #[test]
    fn an_older_row_adds_what_still_holds() {
        let began = STATE.ctime_ns + 2 * MINUTE;
        let head = Part::Head(SampleDigest::of(b"head"));
        let tail = Part::Tail(SampleDigest::of(b"tail"));
        let new = row(STATE, began, tail);
        let mut both = new.clone();
        both.add(head);
        assert_eq!(joined(Some(row(STATE, began, head)), &new), both);
        let another = State {
            mtime_ns: 2,
            ..STATE
        };
        let later = began + 1;
        let too_early = STATE.ctime_ns + 1;
        for before in [
            row(another, began, head),
            row(STATE, later, head),
            row(STATE, too_early, head),
        ] {
            assert_eq!(joined(Some(before), &new), new);
        }
        assert_eq!(joined(None, &new), new);
    }
}
