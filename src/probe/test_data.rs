//! The data to read for a measurement, and how to read it from the disk and not from memory.

use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::FileType;
use rustix::io::{Errno, Result};

use crate::device::VolumeId;
use crate::file::Fingerprint;
use crate::read::{Access, Limits, OpenFile, Signs};
use crate::sys::memory::Aligned;
use crate::sys::open::{self, CWD, Manner};
use crate::sys::{extents, page_cache, stat, write};

use super::jobs::{Reads, Targets, TestDataFile, TestSpan};
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
    /// Drops data from the page cache before it is read.
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
    /// Reads that overtake one another cost time.
    pub in_order: bool,
    scratch: Option<OwnedFd>,
    /// As the readers find them.
    targets: Vec<TestDataFile>,
    folders: Targets,
    access: Access,
    bytes_read: AtomicU64,
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
    /// The files of a listing for which metadata was requested.
    pub fn of_files(listing: &Listing, access: Access) -> Self {
        let mut test_data = Self::new(access);
        let mut seen = HashSet::new();
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
                test_data.sparse += 1;
                continue;
            }
            let expect = Fingerprint::from(&stat);
            let target = test_data.folders.add(entry.path.as_bytes(), expect);
            test_data.targets.push(target);
            test_data.files.push(Piece {
                path: entry.path.clone(),
                ino: stat.ino,
                size: stat.size,
            });
        }
        test_data.try_out();
        test_data
    }

    /// A scratch file.
    pub fn of_scratch(fd: OwnedFd, access: Access) -> Self {
        let mut test_data = Self::new(access);
        if let Ok(stat) = stat::descriptor(&fd) {
            let expect = Fingerprint::from(&stat);
            test_data
                .targets
                .push(test_data.folders.add_open(&fd, expect));
            test_data.files.push(Piece {
                path: c"".to_owned(),
                ino: 0,
                size: stat.size,
            });
        }
        test_data.scratch = Some(fd);
        test_data.try_out();
        test_data
    }

    fn new(access: Access) -> Self {
        Self {
            files: Vec::new(),
            bypass: Bypass::Impossible,
            checked: false,
            sparse: 0,
            in_order: false,
            scratch: None,
            targets: Vec::new(),
            folders: Targets::default(),
            access,
            bytes_read: AtomicU64::new(0),
        }
    }

    /// Bytes that were read so far.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// True if no more than a given rate may be read.
    pub fn is_limited(&self) -> bool {
        self.access.budgets.are_limited()
    }

    /// What the readers are told, if so much may be under way.
    pub fn reads(&self, limits: Limits, bulk: bool) -> Reads<'_> {
        Reads {
            targets: &self.targets,
            folders: &self.folders,
            access: &self.access,
            bytes_read: &self.bytes_read,
            in_order: self.in_order,
            // The kernel reads whole files ahead, as it does for a search.
            direct: !bulk && self.bypass == Bypass::Direct,
            limits,
            bulk,
        }
    }

    /// Reads some of a file; returns how many bytes came.
    pub fn read(&self, fd: impl AsFd, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let rules = (&self.access, &Signs::of_current_thread());
        let len = buffer.len();
        let read =
            OpenFile::new(fd, VolumeId(0), false).read(rules, len as u64, buffer, len, offset)?;
        self.bytes_read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
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

    /// A block of a file, or what is left of it.
    pub fn block(&self, file: usize, offset: u64) -> TestSpan {
        let len = BLOCK.min(self.files[file].size - offset);
        TestSpan { file, offset, len }
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
            Ok(direct) => match self.read(&direct, &mut block, 0) {
                // Where direct reads are only pretended the page is in the cache afterwards.
                Ok(1..) if before != Some(0) || cached(plain, 0, BLOCK) == Some(0) => {
                    return Some(Bypass::Direct);
                }
                _ => {}
            },
            Err(Errno::INVAL | Errno::OPNOTSUPP) => {}
            Err(_) => return None,
        }
        if !matches!(self.read(plain, &mut block, 0), Ok(1..)) {
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
pub(super) fn position_in(extents: &[extents::Extent], offset: u64) -> Option<u64> {
    let inside = |extent: &&extents::Extent| {
        (extent.logical..extent.logical + extent.length).contains(&offset)
    };
    let extent = extents.iter().find(inside)?;
    Some(extent.physical + (offset - extent.logical))
}
