//! Writes rows in the background, so that the run does not wait for them.

use std::io;
use std::mem;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::pack::{Numbered, PackKey};
use super::row::{Part, Row};
use super::rule::{self, State};
use super::store::{CacheError, Store};

/// Interval between two writes of rows. A kill costs the results since the last write, and those of reads during it.
const INTERVAL: Duration = Duration::from_millis(1500);

/// Number of reads whose rows are written at once.
const BATCH: usize = 1 << 16;

/// Number of reads that are sent to the writer at once: otherwise each one would wake it.
const GATHERED: usize = 512;

/// Number of such batches that may wait for the writer. Further ones are dropped: a run never waits for its cache.
const WAITING: usize = BATCH / GATHERED;

/// Time that the end of a run waits for the last writes.
const PATIENCE: Duration = Duration::from_secs(10);

/// The result of a read of a file.
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

/// A run, as recorded in files of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMark {
    /// Digest of the searched paths.
    pub roots: [u8; 16],
    /// Its start, nanoseconds since 1970.
    pub began_ns: i64,
    /// A folder on the file system that it searches.
    pub folder: PathBuf,
}

/// The thread that writes to one file of rows.
pub struct Writer {
    to: Sender<Vec<Learned>>,
    gathered: Vec<Learned>,
    ended: Receiver<Result<(), CacheError>>,
    thread: JoinHandle<()>,
}

impl Writer {
    /// Starts the thread for a run.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub fn start(mut store: Store, run: RunMark) -> io::Result<Self> {
        let (to, from) = bounded(WAITING);
        let (tell, ended) = bounded(1);
        let thread = thread::Builder::new().name("cache".to_owned());
        let thread = thread.spawn(move || {
            let result = write_all(&mut store, &from, &run);
            // The run may have stopped waiting.
            let _ignored = tell.send(result);
        })?;
        Ok(Self {
            to,
            gathered: Vec::new(),
            ended,
            thread,
        })
    }

    /// Queues a result to be written, unless too many wait already.
    pub fn learned(&mut self, learned: Learned) {
        self.gathered.push(learned);
        if self.gathered.len() >= GATHERED {
            self.hand_over();
        }
    }

    /// Sends the gathered results to the thread.
    pub fn hand_over(&mut self) {
        if !self.gathered.is_empty() {
            let _not_kept = self.to.try_send(mem::take(&mut self.gathered));
        }
    }

    /// Waits until all rows are written.
    ///
    /// # Errors
    /// The reason why a row is not written. No later row is written, either.
    pub fn finish(self) -> Result<(), CacheError> {
        // Who does not take it has ended, or is asked below.
        let _not_kept = self.to.send_timeout(self.gathered, PATIENCE);
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

fn write_all(
    store: &mut Store,
    from: &Receiver<Vec<Learned>>,
    run: &RunMark,
) -> Result<(), CacheError> {
    let mut has_begun = false;
    let mut batch = Vec::new();
    let mut due = Instant::now() + INTERVAL;
    loop {
        let is_over = match from.recv_deadline(due) {
            Ok(learned) => {
                batch.extend(learned);
                false
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => true,
        };
        if is_over || batch.len() >= BATCH || Instant::now() >= due {
            if !batch.is_empty() {
                if !has_begun {
                    store.begin_run(run)?;
                    has_begun = true;
                }
                store.write(packs(&mut batch, run.began_ns), joined)?;
                batch.clear();
            }
            due = Instant::now() + INTERVAL;
        }
        if is_over {
            return Ok(());
        }
    }
}

/// The results, pack by pack.
fn packs(learned: &mut [Learned], began_ns: i64) -> impl Iterator<Item = Vec<Numbered>> {
    // What was learned of one file stays in its order.
    learned.sort_by_key(|learned| (learned.subvolume, learned.inode));
    let pack = |learned: &Learned| PackKey::of(learned.subvolume, learned.inode);
    let packs = learned.chunk_by(move |one, next| pack(one) == pack(next));
    packs.map(move |learned| rows(learned, began_ns))
}

/// A row for each file in each state.
fn rows(learned: &[Learned], began_ns: i64) -> Vec<Numbered> {
    let mut rows: Vec<Numbered> = Vec::new();
    for learned in learned {
        let (subvolume, inode) = (learned.subvolume, learned.inode);
        let begun = rows.last_mut().filter(|last| {
            let is_same = (last.subvolume, last.inode) == (subvolume, inode);
            is_same && last.row.state == learned.state
        });
        match begun {
            Some(last) => last.row.add(learned.part),
            None => {
                let mut row = Row::new(learned.state, began_ns);
                row.add(learned.part);
                rows.push(Numbered {
                    subvolume,
                    inode,
                    row,
                });
            }
        }
    }
    rows
}

/// A new row, with the data of an older one if it still applies.
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
    fn what_was_learned_of_a_file_is_one_row() {
        let head = Part::Head(SampleDigest::of(b"head"));
        let tail = Part::Tail(SampleDigest::of(b"tail"));
        let learned = |inode, state, part| Learned {
            subvolume: 0,
            inode,
            state,
            part,
        };
        let changed = State {
            mtime_ns: 2,
            ..STATE
        };
        let mut learned = [
            learned(9, STATE, head),
            learned(3, STATE, tail),
            learned(9, changed, head),
            learned(3, STATE, head),
            learned(9, changed, tail),
        ];
        let rows = packs(&mut learned, MINUTE).flatten();
        let rows = rows.map(|found| (found.inode, found.row));
        let with_both = |state| {
            let mut both = row(state, MINUTE, head);
            both.add(tail);
            both
        };
        // The last one of a file is the one that stays.
        let expected = [
            (3, with_both(STATE)),
            (9, row(STATE, MINUTE, head)),
            (9, with_both(changed)),
        ];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
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
