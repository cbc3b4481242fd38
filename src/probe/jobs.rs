//! What is measured, as jobs for the search's readers.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::device::VolumeId;
use crate::file::{DirId, FileIndex, Fingerprint, FolderId, Numbering, SharedDirs};
use crate::read::{
    Access, Ask, Batch, Finished, Fold, Job, Lane, Limits, ReadSettings, Recalls, Scheduler, Span,
    SweepOrder, Task, Ticket, Unwritten,
};

use super::control::Control;

/// The device whose budget all reads are taken from.
pub const DEVICE: &str = "measured";

/// How often whoever waits for reads looks whether the time is over.
const LOOK_UP: Duration = Duration::from_millis(20);

/// The same when the time is nearly over.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

/// Folders that each thread keeps open.
const OPEN_FOLDERS: usize = 64;

/// How the readers find a file.
#[derive(Clone, Debug)]
pub struct TestDataFile {
    dir: DirId,
    name: Box<[u8]>,
    expect: Fingerprint,
}

/// The folders of all targets.
#[derive(Debug, Default)]
pub struct Targets {
    dirs: Arc<SharedDirs>,
    /// The last folder that was added: files of one folder come together.
    last: Option<(Vec<u8>, DirId)>,
}

impl Targets {
    /// Takes a file by its whole path.
    pub fn add(&mut self, path: &[u8], expect: Fingerprint) -> TestDataFile {
        let cut = path.iter().rposition(|byte| *byte == b'/');
        let (folder, name) = path.split_at(cut.map_or(0, |at| at + 1));
        let known = self.last.as_ref().filter(|(last, _)| last == folder);
        let dir = match known {
            Some(&(_, dir)) => dir,
            None => {
                // Nobody asks which folder it is.
                let id = FolderId {
                    dev: expect.dev,
                    ino: 0,
                    mount: 0,
                };
                let dir = self.dirs.write().add_unlisted(folder, 0, id);
                self.last = Some((folder.to_owned(), dir));
                dir
            }
        };
        TestDataFile {
            dir,
            name: name.into(),
            expect,
        }
    }

    /// Takes a file without a name. It stays open for as long as it is read.
    pub fn add_open(&mut self, file: &OwnedFd, expect: Fingerprint) -> TestDataFile {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        self.add(path.as_bytes(), expect)
    }
}

/// A span of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestSpan {
    /// The file's place in the test data.
    pub file: usize,
    /// Where it begins, bytes.
    pub offset: u64,
    /// How long it is, bytes.
    pub len: u64,
}

/// What the readers are told.
pub struct Reads<'a> {
    /// All files.
    pub targets: &'a [TestDataFile],
    /// Their folders.
    pub folders: &'a Targets,
    /// The rules for all reads.
    pub access: &'a Access,
    /// Counts all bytes that are read.
    pub bytes_read: &'a AtomicU64,
    /// They go past the page cache.
    pub direct: bool,
    /// Reads that overtake one another cost time.
    pub in_order: bool,
    /// How much may be under way.
    pub limits: Limits,
    /// The parts are long ones, each read from front to back.
    pub bulk: bool,
}

impl Reads<'_> {
    /// Has parts read for a while. What has begun then is read to its end, unless `cuts_off`.
    pub fn run(
        &self,
        mut parts: impl Iterator<Item = TestSpan>,
        window: Duration,
        cuts_off: bool,
        control: &Control,
        mut each: impl FnMut(Finished<TestSpan, Read>),
    ) -> Counted {
        let start = Instant::now();
        let stop = Arc::new(AtomicBool::new(false));
        let fold = Clocked {
            start,
            bytes: Arc::default(),
        };
        let bytes = Arc::clone(&fold.bytes);
        let settings = ReadSettings {
            dirs: Arc::clone(&self.folders.dirs),
            // A file without a name is found by a link.
            follow: true,
            open_folders: OPEN_FOLDERS,
            read_ahead: true,
            part: None,
            passes_holes: false,
            set_files: 0,
            order: SweepOrder::default(),
            access: self.access.clone(),
            stop: Arc::clone(&stop),
            watchlist: Arc::default(),
            recalls: Recalls::default(),
        };
        let mut scheduler = Scheduler::new(settings, fold);
        let volume = scheduler.add_volume(&DEVICE.into(), Lane::Pools, self.limits);
        let mut describe = |job: Job<TestSpan>, batch: &mut Batch| self.task(job.want, batch);
        let completions = scheduler.completions().clone();
        let most = self.ahead();
        let mut counted = None;
        loop {
            let is_over = start.elapsed() >= window || control.is_cancelled();
            if is_over && counted.is_none() {
                scheduler.forget_waiting();
                if cuts_off || control.is_cancelled() {
                    stop.store(true, Ordering::Relaxed);
                    counted = Some(Counted::new(&bytes, start));
                }
            }
            while !is_over && scheduler.outstanding() < most {
                let Some(part) = parts.next() else { break };
                let job = Job {
                    file: FileIndex(part.file as u32),
                    want: part,
                    bulk: self.bulk,
                };
                scheduler.push(volume, job, None);
            }
            scheduler.dispatch(&mut describe);
            if scheduler.outstanding() == 0 {
                break;
            }
            let left = window.saturating_sub(start.elapsed());
            let wait = left.clamp(SHORTEST_WAIT, LOOK_UP);
            let some = completions.recv_timeout(wait).unwrap_or_default();
            for completion in some {
                if let Some(finished) = scheduler.completed(completion) {
                    each(finished);
                }
            }
        }
        scheduler.join();
        let all = bytes.load(Ordering::Relaxed);
        self.bytes_read.fetch_add(all, Ordering::Relaxed);
        counted.unwrap_or_else(|| Counted::new(&bytes, start))
    }

    /// Jobs that are handed over before any has ended, so that no reader waits for the next.
    fn ahead(&self) -> usize {
        let Limits {
            random_threads,
            depth,
            sequential_threads,
            ..
        } = self.limits;
        4 * match self.bulk {
            true => sequential_threads,
            false => random_threads * depth,
        }
    }

    fn task(&self, part: TestSpan, batch: &mut Batch) -> Task {
        let target = &self.targets[part.file];
        let TestSpan { offset, len, .. } = part;
        Task {
            ticket: Ticket::default(),
            file: FileIndex(part.file as u32),
            volume: VolumeId(0),
            dir: target.dir,
            name: batch.add_name(&target.name),
            expect: target.expect,
            numbering: Numbering::default(),
            spans: [Span { offset, len }, Span { offset, len: 0 }],
            ask: Ask::BytesFromDisk {
                direct: self.direct,
            },
            may_end_early: false,
            may_go_past_cache: false,
            in_order: self.in_order,
            is_layered: false,
            one_uncached: false,
            space: None,
            unwritten: Unwritten::Ignored,
        }
    }
}

/// What was read in a while.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Bytes.
    pub bytes: u64,
    /// In how many seconds.
    pub seconds: f64,
}

impl Counted {
    fn new(bytes: &AtomicU64, start: Instant) -> Self {
        Self {
            bytes: bytes.load(Ordering::Relaxed),
            seconds: start.elapsed().as_secs_f64(),
        }
    }
}

/// When a read ended and how long it had taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    /// Since the beginning, microseconds.
    pub at: u64,
    /// From asking to having, microseconds.
    pub took: u32,
}

/// The moment when a file was begun.
struct Begun(Instant);

impl Default for Begun {
    fn default() -> Self {
        Self(Instant::now())
    }
}

/// Counts bytes and takes times; the bytes themselves are for nobody.
#[derive(Clone, Debug)]
struct Clocked {
    start: Instant,
    bytes: Arc<AtomicU64>,
}

impl Clocked {
    fn count(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn ended(&self, begun: &Begun) -> Read {
        let micros = |duration: Duration| duration.as_micros();
        Read {
            at: u64::try_from(micros(self.start.elapsed())).unwrap_or(u64::MAX),
            took: u32::try_from(micros(begun.0.elapsed())).unwrap_or(u32::MAX),
        }
    }
}

impl Fold for Clocked {
    type State = Begun;
    type Part = ();
    type Digest = Read;

    fn feed(&self, _: &mut Begun, bytes: &[u8]) {
        self.count(bytes.len() as u64);
    }

    fn finish(&self, begun: Begun, _: bool) -> Read {
        self.ended(&begun)
    }

    fn at_once(&self, bytes: &[u8], whole_file: bool) -> Read {
        self.of_one_piece(&Begun::default(), bytes, whole_file)
    }

    fn of_one_piece(&self, begun: &Begun, bytes: &[u8], _: bool) -> Read {
        self.count(bytes.len() as u64);
        self.ended(begun)
    }

    fn feed_zeros(&self, _: &mut Begun, len: u64) {
        self.count(len);
    }

    fn zero_part(&self, _: u64, _: u64, _: &dyn Fn() -> bool) -> Option<()> {
        None
    }

    fn begin_part(&self, _: u64) -> Begun {
        Begun::default()
    }

    fn end_part(&self, _: Begun) {}

    fn join(&self, _: Vec<()>, _: bool) -> Read {
        self.ended(&Begun::default())
    }
}
