//! What becomes of pages that were read: they stay in the page cache, are dropped from it, or are kept out of it.
//!
//! As long as memory is free, the pages that a run reads evict no others, and a later action reads the same files
//! again: the pages stay. Once little memory is free, they are dropped.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::device::VolumeId;
use crate::heartbeat::current;
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

/// Maximum number of ranges that a thread gathers: each keeps a descriptor open.
const MOST: usize = 8;

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
    /// True if pages may have to be dropped at some time.
    pub fn may_drop(self) -> bool {
        self != Self::Keep
    }

    /// True if pages read now have to be dropped.
    pub fn drops_now(self) -> bool {
        self.drops(process::free_share)
    }

    /// True if pages have to be dropped with this share of free memory.
    fn drops(self, free_share: impl FnOnce() -> f64) -> bool {
        match self {
            Self::Keep => false,
            Self::KeepWhileFree | Self::KeepShort => free_share() < LEFT_FREE,
            Self::Drop => true,
        }
    }

    /// True if a file of this size, of which all is read, must stay out of the page cache.
    pub fn keeps_out(self, size: u64) -> bool {
        self == Self::KeepShort && size >= KEPT_BELOW || self.drops_now()
    }
}

/// Ranges that a thread has read, and whose pages it drops together.
#[derive(Default)]
pub struct ReadRanges {
    ranges: Vec<Range>,
    bytes: u64,
}

struct Range {
    file: Arc<OwnedFd>,
    volume: VolumeId,
    offset: u64,
    len: u64,
}

impl ReadRanges {
    /// Takes a range of a file on this volume.
    pub fn push(&mut self, (file, volume): (&Arc<OwnedFd>, VolumeId), offset: u64, len: u64) {
        self.bytes += len;
        self.ranges.push(Range {
            file: Arc::clone(file),
            volume,
            offset,
            len,
        });
        if self.bytes >= GATHERED || self.ranges.len() >= MOST {
            self.drop_pages();
        }
    }

    /// Drops the pages of all ranges, and closes their files.
    pub fn drop_pages(&mut self) {
        self.bytes = 0;
        for range in self.ranges.drain(..) {
            current::ask_of(range.volume.0);
            page_cache::advise(&range.file, range.offset, range.len, Advice::DontNeed);
        }
    }
}

impl Drop for ReadRanges {
    fn drop(&mut self) {
        self.drop_pages();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_dropped_while_little_memory_is_free() {
        for page_use in [PageUse::KeepWhileFree, PageUse::KeepShort] {
            assert!(page_use.drops(|| 0.0));
            assert!(page_use.drops(|| 0.1249));
            assert!(!page_use.drops(|| 0.125));
            assert!(!page_use.drops(|| 1.0));
        }
        assert!(!PageUse::Keep.drops(|| 0.0));
        assert!(PageUse::Drop.drops(|| 1.0));
    }

    #[test]
    fn long_files_are_kept_out_of_the_page_cache() {
        assert!(!PageUse::Keep.keeps_out(u64::MAX));
        assert!(PageUse::Drop.keeps_out(0));
        assert!(PageUse::KeepShort.keeps_out(KEPT_BELOW));
    }
}
