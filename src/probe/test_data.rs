//! What can be read for measuring, and how to get it from the disk and not from memory.

use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::fs::FileType;
use rustix::io::{Errno, Result};

use crate::sys::memory::Aligned;
use crate::sys::open::{self, CWD, Manner};
use crate::sys::{extents, page_cache, pread, process, stat, write};

use super::listing::Listing;
use super::rng::Rng;

/// Bytes of a scattered read.
pub const BLOCK: u64 = 4096;

/// Files that are tried to find out how the page cache can be avoided.
const TRIED: usize = 8;

/// Files from this length on are asked whether room was reserved for them that was never written to:
/// downloads and databases do that, small files hardly.
const LARGE: u64 = 256 << 10;

/// How reads get past the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bypass {
    /// `O_DIRECT`.
    Direct,
    /// What is to be read is first dropped from the page cache.
    Dropped,
    /// Not at all: memory answers.
    Impossible,
}

/// The data that is read for measuring.
pub struct TestData {
    /// Files whose bytes are all on the disk, in the order in which folders name them.
    pub files: Vec<Piece>,
    /// How reads get past the page cache.
    pub bypass: Bypass,
    /// True if the system tells what is in the page cache.
    pub checked: bool,
    /// Files left out because they have holes, are compressed, or reserve room not written to.
    pub sparse: u64,
    scratch: Option<OwnedFd>,
    handles: Vec<OnceLock<Arc<OwnedFd>>>,
    /// Handles that may still be kept.
    keep: AtomicUsize,
}

/// One file.
#[derive(Clone, Debug)]
pub struct Piece {
    path: std::ffi::CString,
    /// Its inode number.
    pub ino: u64,
    /// Its length, bytes.
    pub size: u64,
}

impl TestData {
    /// What the files of a listing have that was asked for their metadata.
    pub fn of_files(listing: &Listing) -> Self {
        let mut sparse = 0;
        let mut seen = HashSet::new();
        let mut files = Vec::new();
        for entry in &listing.entries {
            let Some(stat) = entry.stat else { continue };
            if stat.kind != FileType::RegularFile
                || stat.size == 0
                || !seen.insert((stat.dev, stat.ino))
            {
                continue;
            }
            // Holes and compressed bytes are read faster than they could come from a disk.
            let is_sparse = stat.blocks * 512 < stat.size / 10 * 9 || stat.blocks == 0;
            if is_sparse || stat.size >= LARGE && is_reserved(&entry.path) {
                sparse += 1;
                continue;
            }
            files.push(Piece {
                path: entry.path.clone(),
                ino: stat.ino,
                size: stat.size,
            });
        }
        Self::new(files, sparse, None)
    }

    /// A scratch file.
    pub fn of_scratch(fd: OwnedFd) -> Self {
        let size = stat::descriptor(&fd).map_or(0, |stat| stat.size);
        let piece = Piece {
            path: c"".to_owned(),
            ino: 0,
            size,
        };
        Self::new(vec![piece], 0, Some(fd))
    }

    fn new(files: Vec<Piece>, sparse: u64, scratch: Option<OwnedFd>) -> Self {
        let handles = files.iter().map(|_| OnceLock::new()).collect();
        let limit = usize::try_from(process::open_files()).unwrap_or(usize::MAX);
        let mut test_data = Self {
            files,
            bypass: Bypass::Impossible,
            checked: false,
            sparse,
            scratch,
            handles,
            // The other half is for streams, threads and what is opened in passing.
            keep: AtomicUsize::new(limit / 2),
        };
        test_data.try_out();
        test_data
    }

    /// Bytes in all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// True if it is a scratch file.
    pub fn is_scratch(&self) -> bool {
        self.scratch.is_some()
    }

    /// Opens a file for reading from front to back.
    pub fn open(&self, file: usize, direct: bool) -> Result<OwnedFd> {
        if let Some(fd) = &self.scratch {
            return write::reopened(fd, direct);
        }
        let path = &self.files[file].path;
        if direct {
            return open::file_direct(CWD, path);
        }
        let manner = Manner {
            keep_access_time: true,
            follow: false,
        };
        open::file(CWD, path, manner)
    }

    /// Opens a file for scattered reads past the page cache; most files stay open.
    pub fn handle(&self, file: usize) -> Result<Arc<OwnedFd>> {
        let place = &self.handles[file];
        if let Some(fd) = place.get() {
            return Ok(Arc::clone(fd));
        }
        let fd = Arc::new(self.open(file, self.bypass == Bypass::Direct)?);
        if self.bypass == Bypass::Dropped {
            page_cache::advise(&fd, 0, 0, page_cache::Advice::Random);
        }
        let taken = self
            .keep
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        if taken.is_ok() {
            // Another thread may have been faster; then this one lives for one read.
            let _faster = place.set(Arc::clone(&fd));
        }
        Ok(fd)
    }

    /// Drops a range from the page cache; false if it is known to be there all the same.
    pub fn forget(&self, fd: impl AsFd, offset: u64, len: u64) -> bool {
        page_cache::advise(&fd, offset, len, page_cache::Advice::DontNeed);
        cached(&fd, offset, len).unwrap_or(0) == 0
    }

    /// Where on the disk a place of a file lies, bytes; `None` where the file system does not tell.
    pub fn position(&self, file: usize, offset: u64) -> Option<u64> {
        let fd = self.open(file, false).ok()?;
        if offset == 0 {
            return extents::first_position(&fd, 0);
        }
        position_in(&extents::extents(&fd)?, offset)
    }

    /// All places of a file's parts at once.
    pub fn positions(&self, file: usize, offsets: &[u64]) -> Vec<Option<u64>> {
        let extents = self.open(file, false).ok().and_then(extents::extents);
        let extents = extents.unwrap_or_default();
        let place = |&offset: &u64| position_in(&extents, offset);
        offsets.iter().map(place).collect()
    }

    /// A scattered place: each block of all files is as likely as any other.
    pub fn any_block(&self, sums: &[u64], rng: &mut Rng) -> (usize, u64) {
        let Some(&total) = sums.last() else {
            return (0, 0);
        };
        let block = rng.below(total);
        let file = sums.partition_point(|&sum| sum <= block);
        let before = file.checked_sub(1).map_or(0, |file| sums[file]);
        (file, (block - before) * BLOCK)
    }

    /// Running sums of the files' blocks, for [`TestData::any_block`].
    pub fn block_sums(&self) -> Vec<u64> {
        let blocks = self.files.iter().map(|file| file.size.div_ceil(BLOCK));
        blocks
            .scan(0, |sum, blocks| {
                *sum += blocks;
                Some(*sum)
            })
            .collect()
    }

    /// Finds out how the page cache can be avoided, by trying it.
    fn try_out(&mut self) {
        let step = (self.files.len() / TRIED).max(1);
        for file in (0..self.files.len()).step_by(step).take(TRIED) {
            let Ok(plain) = self.open(file, false) else {
                continue;
            };
            if cached(&plain, 0, BLOCK).is_some() {
                self.checked = true;
            }
            if let Some(bypass) = self.way_past(file, &plain) {
                self.bypass = bypass;
                return;
            }
        }
    }

    /// How the page cache can be avoided for one file; `None` if this file cannot tell.
    fn way_past(&self, file: usize, plain: &OwnedFd) -> Option<Bypass> {
        let mut block = Aligned::new(BLOCK as usize);
        page_cache::advise(plain, 0, 0, page_cache::Advice::DontNeed);
        let before = cached(plain, 0, BLOCK);
        match self.open(file, true) {
            Ok(direct) => match pread::full(&direct, &mut block, 0) {
                // Where direct reads are only pretended the page is in the cache afterwards.
                Ok(1..) if before != Some(0) || cached(plain, 0, BLOCK) == Some(0) => {
                    return Some(Bypass::Direct);
                }
                _ => {}
            },
            Err(Errno::INVAL | Errno::OPNOTSUPP) => {}
            Err(_) => return None,
        }
        if !matches!(pread::full(plain, &mut block, 0), Ok(1..)) {
            return None;
        }
        page_cache::advise(plain, 0, 0, page_cache::Advice::DontNeed);
        match cached(plain, 0, BLOCK) {
            Some(0) => Some(Bypass::Dropped),
            // Somebody may be using just this file; another may tell more.
            Some(_) => None,
            None => Some(Bypass::Dropped),
        }
    }
}

/// True if some of a file's room is reserved only: it has no bytes that a disk could give.
fn is_reserved(path: &std::ffi::CStr) -> bool {
    let manner = Manner {
        keep_access_time: true,
        follow: false,
    };
    let extents = open::file(CWD, path, manner)
        .ok()
        .and_then(extents::extents);
    extents.is_some_and(|extents| extents.iter().any(|extent| extent.unwritten))
}

/// Pages of a range in the page cache, by whichever call this kernel has.
fn cached(fd: impl AsFd, offset: u64, len: u64) -> Option<u64> {
    page_cache::cached_pages(&fd, offset, len)
        .or_else(|| page_cache::resident_pages(&fd, offset, len))
}

/// The place of an offset on the disk; `None` in a hole.
fn position_in(extents: &[extents::Extent], offset: u64) -> Option<u64> {
    let inside = |extent: &&extents::Extent| {
        (extent.logical..extent.logical + extent.length).contains(&offset)
    };
    let extent = extents.iter().find(inside)?;
    Some(extent.physical + (offset - extent.logical))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, Instant};

    use super::super::control::Control;
    use super::*;

    fn test_data(files: &[(&str, usize)]) -> (tempfile::TempDir, TestData) {
        let folder = tempfile::tempdir().expect("a folder");
        for &(name, size) in files {
            let file = folder.path().join(name);
            fs::write(&file, vec![7; size]).expect("written");
            fs::File::open(&file)
                .expect("opened")
                .sync_all()
                .expect("synced");
        }
        let until = Instant::now() + Duration::from_secs(600);
        let mut rng = Rng::new(1);
        let mut listing = Listing::below(folder.path(), until, &mut rng, &Control::default());
        for entry in &mut listing.entries {
            entry.stat = entry.ask();
        }
        let test_data = TestData::of_files(&listing);
        (folder, test_data)
    }

    #[test]
    fn every_block_of_every_file_can_be_met_and_no_other() {
        let (_folder, test_data) = test_data(&[("a", 4096), ("b", 10_000), ("empty", 0)]);
        let (mut rng, sums) = (Rng::new(2), test_data.block_sums());
        let mut met = HashSet::new();
        for _ in 0..1000 {
            let (file, offset) = test_data.any_block(&sums, &mut rng);
            assert!(offset < test_data.files[file].size);
            met.insert((file, offset));
        }
        assert_eq!(met.len(), 4);
        assert_eq!(test_data.bytes(), 14_096);
    }

    #[test]
    fn holes_and_further_names_are_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let hole = fs::File::create(folder.path().join("hole")).expect("made");
        hole.set_len(1 << 20).expect("grown");
        let full = folder.path().join("full");
        fs::write(&full, vec![7; 5000]).expect("written");
        fs::File::open(&full)
            .expect("opened")
            .sync_all()
            .expect("synced");
        fs::hard_link(&full, folder.path().join("again")).expect("linked");
        // Where room can be reserved, it is; not every file system knows that, or tells.
        let reserved = fs::File::create(folder.path().join("reserved")).expect("made");
        let flags = rustix::fs::FallocateFlags::empty();
        let is_known = rustix::fs::fallocate(&reserved, flags, 0, 1 << 20).is_ok()
            && extents::extents(&reserved).is_some();
        if !is_known {
            fs::remove_file(folder.path().join("reserved")).expect("removed");
        }
        let sparse = 1 + u64::from(is_known);
        let until = Instant::now() + Duration::from_secs(600);
        let control = Control::default();
        let mut listing = Listing::below(folder.path(), until, &mut Rng::new(1), &control);
        for entry in &mut listing.entries {
            entry.stat = entry.ask();
        }
        let test_data = TestData::of_files(&listing);
        assert_eq!((test_data.files.len(), test_data.sparse), (1, sparse));
    }

    #[test]
    fn positions_follow_the_extents() {
        let extent = |logical, physical, length| extents::Extent {
            logical,
            physical,
            length,
            shared: false,
            unwritten: false,
            inline: false,
        };
        let extents = [extent(0, 1000, 10), extent(20, 5000, 20)];
        for (offset, position) in [
            (0, Some(1000)),
            (9, Some(1009)),
            (10, None),
            (21, Some(5001)),
            (40, None),
        ] {
            assert_eq!(position_in(&extents, offset), position);
        }
    }
}
