//! Opens one file, reads it, and verifies that it is the expected file.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;

use crate::device::VolumeId;
use crate::file::{DirHandles, Fingerprint, SharedDirs};
use crate::hash::{Digest, Places, PlacesDigest, Running};
use crate::heartbeat::{Watchlist, current};
use crate::sys::extents;
use crate::sys::memory::ALIGNMENT;
use crate::sys::open;
use crate::sys::page_cache;
use crate::sys::stat::{self, Stat};

use super::access::Access;
use super::access::{Buffer, PIECE};
use super::holes;
use super::open_file::{Device, OpenFile, leaves_cache};
use super::page_use::ReadRanges;
use super::shown::ShownResults;
use super::task::{Ask, Failure, Outcome, Recalls, SPANS, Source, Span, Task};
use super::unhashed::Unhashed;
use crate::hash::Fold;

/// Maximum number of attempts to open a file while descriptors are short, 10 ms apart: other reads will have ended by
/// then.
const ATTEMPTS: u64 = 1000;

/// The settings of all readers of a run.
#[derive(Clone)]
pub struct ReadSettings {
    /// The folders that tasks name.
    pub dirs: Arc<SharedDirs>,
    /// How files are opened.
    pub follow: bool,
    /// Maximum number of folders that each thread keeps open.
    pub open_folders: usize,
    /// Announce the next reads to the kernel.
    pub read_ahead: bool,
    /// Whether reported holes count as zeros.
    pub passes_holes: bool,
    /// The rules for all reads.
    pub access: Access,
    /// The list of threads that are watched for signs of life.
    pub watchlist: Arc<Watchlist>,
    /// Batches that readers hold may be recalled.
    pub recalls: Recalls,
    /// What files show, apart from their tags.
    pub shown: ShownResults,
}

/// The resources of one reading thread.
pub struct Reader {
    pub(super) settings: ReadSettings,
    pub(super) fold: Fold,
    /// What it has read, and drops from the page cache soon.
    pub(super) read_ranges: ReadRanges,
    /// What it has read, and reports soon.
    pub(super) unhashed: Unhashed,
    handles: DirHandles,
    buffer: Buffer,
}

impl Reader {
    pub fn new(settings: ReadSettings, fold: Fold) -> Self {
        Self {
            handles: DirHandles::new(settings.open_folders),
            settings,
            fold,
            read_ranges: ReadRanges::default(),
            unhashed: Unhashed::default(),
            buffer: Buffer::default(),
        }
    }

    /// True if the run was told to stop.
    pub fn stopped(&self) -> bool {
        self.settings.access.stopped()
    }

    /// Opens the task's file. When descriptors run out, it waits until one is free again; or it returns `None`, if this
    /// thread has other files open, which it can close first.
    pub fn open(
        &mut self,
        task: &Task,
        name: &CStr,
        has_others: bool,
    ) -> Option<Result<OwnedFd, Failure>> {
        if self.stopped() {
            return Some(Err(Failure::Refused(Errno::CANCELED)));
        }
        let patience = if has_others { 1 } else { ATTEMPTS };
        match self.open_with(patience, task, name) {
            Err(Failure::Refused(Errno::MFILE | Errno::NFILE)) if has_others => None,
            opened => Some(opened),
        }
    }

    fn open_with(&mut self, patience: u64, task: &Task, name: &CStr) -> Result<OwnedFd, Failure> {
        current::ask_of(task.device.volume.0);
        let Self {
            handles,
            settings,
            read_ranges,
            ..
        } = self;
        let opened = patiently(patience, |again| {
            current::beat();
            if let Some(wait) = again {
                // Out of descriptors: ours can be given up, and others will be soon.
                handles.close_all();
                read_ranges.drop_pages();
                std::thread::sleep(wait);
            }
            let dir = handles.get(task.dir, &settings.dirs);
            dir.and_then(|dir| open::file(dir, name, settings.follow))
        });
        opened.map_err(|error| match error {
            Errno::NOENT | Errno::NOTDIR => Failure::Vanished,
            // A symbolic link, socket or device in the file's place.
            Errno::LOOP | Errno::NXIO | Errno::NODEV => Failure::Changed,
            error => Failure::Refused(error),
        })
    }

    /// True if a file with this metadata has holes that need not be read.
    pub fn is_thin(&self, fd: impl AsFd, seen: &Stat) -> bool {
        self.settings.passes_holes && holes::is_thin(fd, seen)
    }

    /// Takes bytes out of the device's budget, and waits until they may be read. False if the run was told to stop
    /// before.
    #[must_use]
    pub fn spend(&self, task: &Task, bytes: u64) -> bool {
        let access = &self.settings.access;
        access.spend(task.device.volume, bytes)
    }

    /// Reads bytes of a file into this thread's buffer. `unpaid` of them are taken out of the budget before.
    pub fn read(
        &mut self,
        file: &OpenFile<impl AsFd>,
        unpaid: u64,
        len: usize,
        offset: u64,
    ) -> rustix::io::Result<usize> {
        let room = if file.is_direct {
            len.next_multiple_of(ALIGNMENT)
        } else {
            len
        };
        let access = &self.settings.access;
        file.read(access, unpaid, self.buffer.first_mut(room), len, offset)
    }

    /// Reads all spans here and now, piece by piece, as far as the device's budget allows.
    pub fn read_in_time(&mut self, task: &Task, fd: BorrowedFd<'_>) -> Outcome {
        let spends =
            self.settings.access.budgets.are_limited() && self.uncached_bytes(task, fd) != Some(0);
        self.read_now(task, fd, spends)
    }

    /// Reads all spans here and now. `spends`: they are taken out of the device's budget, since they are not in the
    /// page cache.
    pub fn read_now(&mut self, task: &Task, fd: BorrowedFd<'_>, spends: bool) -> Outcome {
        let mut digests = [None; SPANS];
        let mut bytes = 0;
        for (digest, span) in digests.iter_mut().zip(task.spans) {
            if span.len > 0 {
                match self.read_span(task, fd, span, spends) {
                    Ok(d) => *digest = Some(d),
                    Err(failure) => return Outcome::Failed(failure),
                }
                bytes += span.len;
            }
        }
        finished(task, fd, digests, bytes, false)
    }

    fn read_span(
        &mut self,
        task: &Task,
        fd: BorrowedFd<'_>,
        span: Span,
        spends: bool,
    ) -> Result<Digest, Failure> {
        let whole = is_whole(task, span);
        let file = OpenFile::new(fd, task.device.volume, false);
        let mut state = Running::default();
        let mut done = 0;
        while done < span.len {
            if self.stopped() {
                return Err(Failure::Refused(Errno::CANCELED));
            }
            let want = (span.len - done).min(PIECE as u64) as usize;
            let unpaid = if spends { want as u64 } else { 0 };
            match self.read(&file, unpaid, want, span.offset + done) {
                Ok(n) if n == want => {}
                Ok(_) => return Err(Failure::Changed),
                Err(e) => return Err(refused(task, fd, e)),
            }
            if want as u64 == span.len {
                let bytes = self.buffer.first(want);
                return Ok(self.fold.at_once(bytes, whole));
            }
            self.feed_piece(&mut state, want);
            done += want as u64;
        }
        Ok(self.fold.finish(state, whole))
    }

    /// Ends a task if it needs no bytes from the disk; true if so. If it does, the kernel knows what is read next, and
    /// the descriptor belongs to a file in which one may seek.
    pub fn end_known(&mut self, task: &mut Task, fd: BorrowedFd<'_>, to: &mut Source<'_>) -> bool {
        task.is_stored = may_be_stored(task, fd);
        if let Some(outcome) = self.look(task, fd) {
            to.complete(task, outcome);
            return true;
        }
        if !task.only_cached {
            self.announce(task, fd);
        }
        if self.end_cached(task, fd, to) {
            return true;
        }
        if task.only_cached {
            // The kernel has just dropped some of it.
            to.complete(task, self.read_now(task, fd, false));
        }
        task.only_cached
    }

    /// Completes the tasks whose bytes are gathered.
    pub fn complete_unhashed(&mut self, to: &mut Source<'_>) {
        self.unhashed
            .complete(&self.fold, |completion| to.add(completion));
    }

    /// Ends a task, all of whose bytes are gathered: at once, or when enough of others is gathered.
    pub fn end_unhashed(
        &mut self,
        task: &Task,
        fd: BorrowedFd<'_>,
        is_cached: bool,
        to: &mut Source<'_>,
    ) {
        if let Err(failure) = is_expected(task, fd) {
            self.unhashed.cancel_file();
            return to.complete(task, Outcome::Failed(failure));
        }
        self.unhashed.end_file(task, is_cached);
        if self.unhashed.is_full(to.most()) {
            self.complete_unhashed(to);
        }
    }

    /// Answers a task that needs no bytes of the file, or only those in the page cache.
    pub fn look(&mut self, task: &Task, fd: BorrowedFd<'_>) -> Option<Outcome> {
        if task.only_cached
            && let Some(position) = self.position(task, fd)
        {
            return Some(position);
        }
        match task.ask {
            Ask::Bytes | Ask::EveryByte => None,
            Ask::Shown(depth) => Some(self.show(task, fd, depth)),
            Ask::BytesFromDisk => {
                let mut spans = task.spans.iter().filter(|span| span.len > 0);
                let is_dropped = spans.all(|span| leaves_cache(fd, span.offset, span.len));
                (!is_dropped).then_some(Outcome::StaysCached)
            }
            Ask::Blocks => Some(Outcome::Blocks {
                places: self.blocks(task, fd),
            }),
        }
    }

    /// A digest of the blocks of a file, if all of them may be shared and the file is still the expected one.
    pub fn blocks(&self, task: &Task, fd: BorrowedFd<'_>) -> Option<PlacesDigest> {
        let Device { volume, .. } = Some(task.device).filter(|device| device.shares_blocks)?;
        let places = places(fd, task.expect.size, volume)?;
        is_expected(task, fd).is_ok().then_some(places)
    }

    /// Folds the first bytes of this thread's buffer.
    pub fn feed_piece(&self, state: &mut Running, len: usize) {
        self.fold.feed(state, self.buffer.first(len));
    }

    /// The digest of the first bytes of this thread's buffer alone.
    pub fn digest_of_piece(&self, len: usize, whole_file: bool) -> Digest {
        self.fold.at_once(self.buffer.first(len), whole_file)
    }
}

/// True if the results of a task are to be stored, and all of its bytes are on the disk.
///
/// Call it before the first byte is read. A program that writes through a memory map can change a page without a new
/// ctime as long as the page is dirty. Writeback ends this: the next write to the page sets the ctime. So, if the pages
/// are clean now, each change after this call leaves a new ctime. A query after the read proves less: a page that was
/// dirty during the read may have been changed after it was read, and written back before the query.
pub fn may_be_stored(task: &Task, fd: BorrowedFd<'_>) -> bool {
    if !(task.is_stored && task.may_be_dirty) {
        return task.is_stored;
    }
    if let Ask::Shown(_) = task.ask {
        // Headers may lie anywhere.
        return page_cache::is_unwritten(fd, 0, task.expect.size) != Some(true);
    }
    let [first, second] = task.spans;
    // A head is the beginning of the whole that is read along with it.
    let is_within =
        first.offset >= second.offset && first.offset + first.len <= second.offset + second.len;
    let spans = [(!is_within).then_some(first), Some(second)];
    let mut spans = spans.into_iter().flatten().filter(|span| span.len > 0);
    !spans.any(|span| page_cache::is_unwritten(fd, span.offset, span.len) == Some(true))
}

/// Tries to open something. While descriptors are short, it tries again up to this many times, each time after a wait.
fn patiently<T>(
    patience: u64,
    mut attempt: impl FnMut(Option<Duration>) -> rustix::io::Result<T>,
) -> rustix::io::Result<T> {
    let mut result = attempt(None);
    for again in 0..patience {
        match result {
            Err(Errno::MFILE | Errno::NFILE) => {
                result = attempt(Some(Duration::from_millis(again.min(10))));
            }
            other => return other,
        }
    }
    result
}

/// A digest of the places of all blocks of a file of this size, if other files refer to all of them.
fn places(fd: impl AsFd, size: u64, volume: VolumeId) -> Option<PlacesDigest> {
    let mut places = Places::default();
    let is_shared = extents::shared_blocks(fd, size, |run| {
        run.into_iter().for_each(|number| places.add(number));
    });
    is_shared.then(|| places.finish(volume.0))
}

/// True if the span is the task's whole file.
pub fn is_whole(task: &Task, span: Span) -> bool {
    span.offset == 0 && span.len == task.expect.size
}

/// Checks that the descriptor belongs to the file that the scan saw, in the same state.
pub fn is_expected(task: &Task, fd: BorrowedFd<'_>) -> Result<(), Failure> {
    expected(task, fd).map(drop)
}

/// As [`is_expected`], and returns the metadata.
pub fn expected(task: &Task, fd: BorrowedFd<'_>) -> Result<Stat, Failure> {
    match stat::descriptor(fd) {
        Ok(now)
            if task
                .expect
                .is_met_by(&Fingerprint::from(&now), task.numbering) =>
        {
            if holes::are_too_many(&now) {
                Err(Failure::Holes)
            } else {
                Ok(now)
            }
        }
        Ok(_) => Err(Failure::Changed),
        Err(e) => Err(Failure::Refused(e)),
    }
}

/// Interprets a read error: a folder or a FIFO in the file's place cannot be read, but the relevant fact is that it is
/// not the file.
pub fn refused(task: &Task, fd: BorrowedFd<'_>, error: Errno) -> Failure {
    is_expected(task, fd).map_or_else(|failure| failure, |()| Failure::Refused(error))
}

/// Ends a task whose spans were all read. The task counts only if the descriptor belongs to the file that the scan saw,
/// in the same state. The metadata from the scan is the "before", this metadata the "after".
pub fn finished(
    task: &Task,
    fd: BorrowedFd<'_>,
    digests: [Option<Digest>; SPANS],
    bytes: u64,
    cached: bool,
) -> Outcome {
    match is_expected(task, fd) {
        Ok(()) => Outcome::Read {
            digests,
            bytes,
            cached,
            may_be_stored: task.is_stored,
        },
        Err(failure) => Outcome::Failed(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens something that needs this many attempts; returns the result, and the wait before each attempt.
    fn opened(
        patience: u64,
        needs: usize,
        error: Errno,
    ) -> (rustix::io::Result<()>, Vec<Duration>) {
        let (mut attempts, mut waits) = (0, Vec::new());
        let result = patiently(patience, |again| {
            assert_eq!(again.is_some(), attempts > 0, "it waits between attempts");
            attempts += 1;
            waits.extend(again);
            if attempts < needs { Err(error) } else { Ok(()) }
        });
        (result, waits)
    }

    #[test]
    fn descriptors_that_run_out_are_waited_for() {
        for error in [Errno::MFILE, Errno::NFILE] {
            assert_eq!(opened(ATTEMPTS, 1, error), (Ok(()), Vec::new()));
            let (result, waits) = opened(ATTEMPTS, 300, error);
            assert_eq!((result, waits.len()), (Ok(()), 299));
            // The first wait is short, and no later one is long.
            assert!(waits[0] <= Duration::from_millis(1));
            assert!(waits.iter().all(|wait| *wait <= Duration::from_millis(10)));
        }
    }
}
