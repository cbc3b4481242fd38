//! Drops pages from the page cache that were read and need not stay there, or keeps them out of it.
//!
//! As long as memory is free, the pages that a run reads evict no others, and a later action reads the same files
//! again: the pages stay. Once little memory is free, they are dropped.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use crate::sys::page_cache::{self, Advice};
use crate::sys::process;

/// Bytes that are gathered before their pages are dropped, all in one batch.
///
/// The pages used last are in batches that each processor keeps for itself. Before the kernel can drop such pages, it
/// has to collect them from every processor, and each processor first finishes its current work. This cost arises once
/// for each call that meets such a page. On a network SSD, 2.7 GB of photos took 2.2 s when the readers dropped each
/// file's pages, and 1.4 s when they dropped none.
const GATHERED: u64 = 32 << 20;

/// Files from this size on, bytes, do not enter the page cache unless it is known that they will be read again. A fast
/// disk waits for the kernel to find room there: 10 GB in six files, cold, on a network SSD took 4.6 s and 2.4 s of CPU
/// past the page cache, 8.7 s and 12.3 s through it (medians of three in turns). The size is reasoned: photos and music
/// stay, films and images of disks do not. For files of 1 to 8 MB it made no difference to the time.
const KEPT_BELOW: u64 = 64 << 20;

/// Share of the memory that must be free, unused even as page cache, for pages to stay.
const LEFT_FREE: f64 = 0.125;

/// Maximum number of ranges that wait for the thread that drops pages: each keeps a descriptor open.
const WAITING: usize = 16;

/// If no range arrives within this time, the gathered pages are dropped: readers may be waiting for the descriptors.
const IDLE: Duration = Duration::from_millis(20);

/// A range of a file that was read.
pub struct Range {
    pub file: Arc<OwnedFd>,
    pub offset: u64,
    pub len: u64,
}

/// How to treat pages that were not in the page cache before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageUse {
    /// They stay.
    Keep,
    /// They stay as long as memory is free.
    KeepWhileFree,
    /// The same, but long files stay out of the page cache, where that is possible.
    #[default]
    KeepShort,
    /// They are dropped.
    Drop,
}

impl PageUse {
    /// True if pages read now would have to be dropped, with this share of free memory.
    fn gives_back(self, free_share: impl FnOnce() -> f64) -> bool {
        match self {
            Self::Keep => false,
            Self::KeepWhileFree | Self::KeepShort => free_share() < LEFT_FREE,
            Self::Drop => true,
        }
    }
}

/// A thread of its own, started when the first range comes.
#[derive(Clone, Default)]
pub struct Behind {
    page_use: PageUse,
    running: Arc<Mutex<Option<Running>>>,
}

struct Running {
    queue: Sender<Range>,
    thread: JoinHandle<()>,
}

impl Behind {
    /// A thread without waiting ranges.
    pub fn new(page_use: PageUse) -> Self {
        Self {
            page_use,
            running: Arc::default(),
        }
    }

    /// True if pages are always dropped, whether or not they may be read again.
    pub fn gives_back_always(&self) -> bool {
        self.page_use == PageUse::Drop
    }

    /// True if pages may have to be dropped at some time.
    pub fn gives_back_at_all(&self) -> bool {
        self.page_use != PageUse::Keep
    }

    /// True if pages read now would have to be dropped.
    pub fn is_wanted(&self) -> bool {
        self.page_use.gives_back(process::free_share)
    }

    /// True if the bytes now read of a file of this size must stay out of the page cache. They are all of the file, or
    /// a part of a file of which most will not be read.
    pub fn keeps_out(&self, size: u64, is_whole: bool) -> bool {
        match self.page_use {
            PageUse::Keep => false,
            _ if !is_whole => true,
            PageUse::KeepShort if size >= KEPT_BELOW => true,
            _ => self.is_wanted(),
        }
    }

    /// Queues the pages of a range, to be dropped soon.
    pub fn push(&self, range: Range) {
        let queue = {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            if running.is_none() {
                *running = start();
            }
            running.as_ref().map(|running| running.queue.clone())
        };
        let refused = match queue {
            Some(queue) => queue.send(range).err().map(|unsent| unsent.0),
            None => Some(range),
        };
        refused.iter().for_each(give_back);
    }

    /// Drops the waiting pages, and ends.
    pub fn join(&self) {
        let running = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(Running { queue, thread }) = running {
            drop(queue);
            // It does nothing that could panic.
            let _ignored = thread.join();
        }
    }
}

fn start() -> Option<Running> {
    let (queue, ranges) = bounded(WAITING);
    let thread = thread::Builder::new().name("give-back".to_owned());
    let thread = thread.spawn(move || gather(&ranges)).ok()?;
    Some(Running { queue, thread })
}

fn gather(ranges: &Receiver<Range>) {
    let mut gathered = Vec::new();
    let mut bytes = 0;
    loop {
        let received = match gathered.is_empty() {
            true => ranges.recv().map_err(RecvTimeoutError::from),
            false => ranges.recv_timeout(IDLE),
        };
        let is_over = matches!(received, Err(RecvTimeoutError::Disconnected));
        let is_idle = received.is_err();
        if let Ok(range) = received {
            bytes += range.len;
            gathered.push(range);
        }
        if is_idle || bytes >= GATHERED || gathered.len() >= WAITING {
            gathered.iter().for_each(give_back);
            gathered.clear();
            bytes = 0;
        }
        if is_over {
            return;
        }
    }
}

fn give_back(range: &Range) {
    page_cache::advise(&range.file, range.offset, range.len, Advice::DontNeed);
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;
    use crate::read::testing::{bytes, forget_pages};
    use crate::sys::page_cache;

    #[test]
    fn pages_go_once_less_than_an_eighth_of_the_memory_lies_free() {
        for page_use in [PageUse::KeepWhileFree, PageUse::KeepShort] {
            assert!(page_use.gives_back(|| 0.0));
            assert!(page_use.gives_back(|| 0.1249));
            assert!(!page_use.gives_back(|| 0.125));
            assert!(!page_use.gives_back(|| 1.0));
        }
        assert!(!PageUse::Keep.gives_back(|| 0.0));
        assert!(PageUse::Drop.gives_back(|| 1.0));
    }

    #[test]
    fn what_is_read_in_part_or_is_long_is_kept_out_of_the_page_cache() {
        let keep = Behind::new(PageUse::Keep);
        assert!(!keep.is_wanted());
        assert!(!keep.keeps_out(u64::MAX, true));
        assert!(!keep.keeps_out(u64::MAX, false));
        let give_back = Behind::new(PageUse::Drop);
        assert!(give_back.is_wanted());
        assert!(give_back.keeps_out(0, true));
        for page_use in [PageUse::KeepWhileFree, PageUse::KeepShort] {
            assert!(Behind::new(page_use).keeps_out(0, false), "{page_use:?}");
        }
        assert!(Behind::new(PageUse::KeepShort).keeps_out(KEPT_BELOW, true));
    }

    #[test]
    fn what_was_gathered_goes_when_nothing_more_comes() {
        let file = tempfile::tempfile().expect("a file");
        let file = Arc::new(OwnedFd::from(file));
        let behind = Behind::new(PageUse::Drop);
        for len in [1, 2] {
            behind.push(Range {
                file: Arc::clone(&file),
                offset: 0,
                len,
            });
            // Another owner of the descriptor closes it first.
            while Arc::strong_count(&file) > 1 {
                thread::yield_now();
            }
        }
        behind.join();
    }

    #[test]
    fn what_waits_is_given_back_at_the_end_if_not_before() {
        const LEN: u64 = 1 << 20;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f");
        fs::write(&path, bytes(1, LEN as usize)).expect("written");
        // Pages that are still to be written out stay, and in memory all of them do.
        let is_on_a_disk = forget_pages(&path);
        for page_use in [PageUse::Drop, PageUse::Keep] {
            let content = fs::read(&path).expect("is there");
            assert_eq!(content.len() as u64, LEN);
            let file = Arc::new(OwnedFd::from(File::open(&path).expect("is there")));
            let behind = Behind::new(page_use);
            let cached = || page_cache::cached_pages(&file, 0, LEN);
            assert!(cached() > Some(0) || cached().is_none());
            let range = Range {
                file: Arc::clone(&file),
                offset: 0,
                len: LEN,
            };
            behind.push(range);
            behind.join();
            assert_eq!(Arc::strong_count(&file), 1, "nobody holds it any more");
            if is_on_a_disk {
                assert_eq!(
                    cached(),
                    Some(0),
                    "{page_use:?}: whoever pushes it has decided"
                );
            }
        }
    }
}
