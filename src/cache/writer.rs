//! Writes rows in the background, so that the run does not wait for them.

use std::io;
use std::mem;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::day::Day;
use super::error::CacheError;
use super::folder::CacheFolder;
use super::pack::{Numbered, PackKey};
use super::row::{Row, RowPart};
use super::rule;
use super::state::FileState;
use super::store::Store;
use super::volume::VolumeKey;
use crate::heartbeat::within;

/// Interval between two writes of rows. A kill costs the results since the last write, and those of reads during it.
const INTERVAL: Duration = Duration::from_millis(1500);

/// Number of reads whose rows are written at once.
const BATCH: usize = 1 << 14;

/// Number of reads that are sent to the writer at once: otherwise each one would wake it.
const GATHERED: usize = 512;

/// Number of such batches that may wait for the writer. Further ones are dropped: a run never waits for its cache.
const WAITING: usize = (1 << 16) / GATHERED;

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
    pub state: FileState,
    /// The data that was read.
    pub part: RowPart,
}

/// A run, as recorded in files of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMark {
    /// Its start, nanoseconds since 1970.
    pub began_ns: i64,
    /// A folder on the file system that it searches.
    pub folder: PathBuf,
}

/// Writes to one file of rows. The thread starts, and it opens or makes the file, when there is a row to write.
pub struct Writer {
    place: Arc<CacheFolder>,
    key: VolumeKey,
    run: RunMark,
    gathered: Vec<Learned>,
    thread: Option<WriterThread>,
}

/// The thread of a writer.
struct WriterThread {
    to: Sender<Vec<Learned>>,
    thread: io::Result<JoinHandle<Result<Option<Store>, CacheError>>>,
}

impl Writer {
    /// A writer of the rows of a run to the file of a volume.
    pub fn new(place: Arc<CacheFolder>, key: VolumeKey, run: RunMark) -> Self {
        Self {
            place,
            key,
            run,
            gathered: Vec::new(),
            thread: None,
        }
    }

    /// Queues a result to be written, unless too many wait already.
    pub fn learned(&mut self, learned: Learned) {
        if self.gathered.is_empty() {
            self.gathered.reserve(GATHERED);
        }
        self.gathered.push(learned);
        if self.gathered.len() >= GATHERED {
            self.hand_over();
        }
    }

    /// Sends the gathered results to the thread.
    pub fn hand_over(&mut self) {
        if !self.gathered.is_empty() {
            let gathered = mem::take(&mut self.gathered);
            let _not_kept = self.thread().to.try_send(gathered);
        }
    }

    fn thread(&mut self) -> &WriterThread {
        let Self {
            place, key, run, ..
        } = self;
        self.thread.get_or_insert_with(|| {
            let (to, from) = bounded(WAITING);
            let (place, key, run) = (Arc::clone(place), *key, run.clone());
            let thread = thread::Builder::new().name("cache".to_owned());
            let thread = thread.spawn(move || write_all(&place, &key, &from, &run));
            WriterThread { to, thread }
        })
    }

    /// Waits until all rows are written. Returns the file, if any row was written to it.
    ///
    /// # Errors
    /// The reason why a row is not written. No later row is written, either.
    pub fn finish(mut self) -> Result<Option<Store>, CacheError> {
        if !self.gathered.is_empty() {
            self.thread();
        }
        let Some(WriterThread { to, thread }) = self.thread else {
            return Ok(None);
        };
        let (thread, gathered) = (thread?, self.gathered);
        let ended = within(Some(PATIENCE), move || {
            // It takes no more if it has ended, with an error.
            let _not_kept = to.send(gathered);
            drop(to);
            thread.join()
        })?;
        ended.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn write_all(
    place: &CacheFolder,
    key: &VolumeKey,
    from: &Receiver<Vec<Learned>>,
    run: &RunMark,
) -> Result<Option<Store>, CacheError> {
    let mut store = None;
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
                let store = match &mut store {
                    Some(store) => store,
                    None => {
                        let opened = Store::open(place, key)?;
                        opened.begin_run(&run.folder)?;
                        store.insert(opened)
                    }
                };
                let order = order(&batch);
                let packs = packs(&batch, &order, run.began_ns);
                store.write(packs, Day::of(run.began_ns), joined)?;
                batch.clear();
            }
            due = Instant::now() + INTERVAL;
        }
        if is_over {
            return Ok(store);
        }
    }
}

/// A result of a batch: the subvolume and the inode number of its file, and its place in the batch. Results are sorted in
/// this form since it is short.
type Sorted = (u64, u64, u32);

/// The results by the keys of their rows. The results of one file stay in their order.
fn order(learned: &[Learned]) -> Vec<Sorted> {
    let keyed = (0..).zip(learned).map(|(nth, learned)| {
        let Learned {
            subvolume, inode, ..
        } = *learned;
        (subvolume, inode, nth)
    });
    let mut order: Vec<_> = keyed.collect();
    order.sort_unstable();
    order
}

/// The results, pack by pack.
fn packs(
    learned: &[Learned],
    order: &[Sorted],
    began_ns: i64,
) -> impl Iterator<Item = Vec<Numbered>> {
    let pack = |&(subvolume, inode, _): &Sorted| PackKey::of(subvolume, inode);
    let packs = order.chunk_by(move |one, next| pack(one) == pack(next));
    packs.map(move |order| {
        let of_pack = order.iter().map(|&(.., nth)| &learned[nth as usize]);
        rows(of_pack, began_ns)
    })
}

/// A row for each file in each state.
fn rows<'l>(learned: impl ExactSizeIterator<Item = &'l Learned>, began_ns: i64) -> Vec<Numbered> {
    let mut rows: Vec<Numbered> = Vec::with_capacity(learned.len());
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
    const STATE: FileState = FileState {
        size: 3,
        mtime_ns: 1,
        ctime_ns: 1_700_000_000_000_000_001,
    };

    fn row(state: FileState, began_ns: i64, part: RowPart) -> Row {
        let mut row = Row::new(state, began_ns);
        row.add(part);
        row
    }

    #[test]
    fn what_was_learned_of_a_file_is_one_row() {
        let head = RowPart::Head(SampleDigest::of(b"head"));
        let tail = RowPart::Tail(SampleDigest::of(b"tail"));
        let learned = |inode, state, part| Learned {
            subvolume: 0,
            inode,
            state,
            part,
        };
        let changed = FileState {
            mtime_ns: 2,
            ..STATE
        };
        let learned = [
            learned(9, STATE, head),
            learned(3, STATE, tail),
            learned(9, changed, head),
            learned(3, STATE, head),
            learned(9, changed, tail),
        ];
        let order = order(&learned);
        let rows = packs(&learned, &order, MINUTE).flatten();
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
        let head = RowPart::Head(SampleDigest::of(b"head"));
        let tail = RowPart::Tail(SampleDigest::of(b"tail"));
        let new = row(STATE, began, tail);
        let mut both = new.clone();
        both.add(head);
        assert_eq!(joined(Some(row(STATE, began, head)), &new), both);
        let another = FileState {
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
