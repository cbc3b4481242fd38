//! The data to read for a measurement: which files, and where they lie.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use fastrand::Rng;
use rustix::fs::FileType;

use super::sweep::Control;
use crate::file::{DirId, Fingerprint, FolderId, SharedDirs};
use crate::read::Access;
use crate::sys::extents::{self, Extent};
use crate::sys::open::{self, CWD};
use crate::sys::{page_cache, stat, statfs};
use crate::units::Bytes;

/// Bytes of a scattered read.
pub const BLOCK: u64 = 4096;

/// The device whose budget all reads are taken from.
pub const DEVICE: &str = "measured";

/// More files than this would take memory and teach nothing new.
const MOST_FILES: usize = 200_000;

/// Files from this length on are asked whether room was reserved for them that was never written to:
/// downloads and databases do that, small files hardly.
const LARGE: u64 = 256 << 10;

/// The data that is read for measuring.
pub struct TestData {
    /// Files whose bytes are all on the disk, in the order in which folders name them.
    pub files: Vec<TestFile>,
    /// Files left out because they have holes, are compressed, or reserve room not written to.
    pub sparse: u64,
    /// Folders that could not be listed.
    pub unreadable: u64,
    /// True if there may be more files than were listed.
    pub is_partial: bool,
    /// The scratch file, which stays open for as long as it is read.
    pub scratch: Option<OwnedFd>,
    pub(super) folders: Arc<SharedDirs>,
    pub(super) access: Access,
    pub(super) bytes_read: AtomicU64,
    seen: HashSet<(u64, u64)>,
}

/// One file, as the readers find it.
#[derive(Clone, Debug)]
pub struct TestFile {
    path: CString,
    pub(super) dir: DirId,
    pub(super) expect: Fingerprint,
}

impl TestFile {
    /// Its name in its folder.
    pub fn name(&self) -> &[u8] {
        let path = self.path.as_bytes();
        &path[folder_len(path)..]
    }

    /// Its path, for messages.
    pub fn shown(&self) -> String {
        self.path.to_string_lossy().into_owned()
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

impl TestData {
    /// Nothing yet.
    pub fn new(access: Access) -> Self {
        Self {
            files: Vec::new(),
            sparse: 0,
            unreadable: 0,
            is_partial: false,
            scratch: None,
            folders: Arc::default(),
            access,
            bytes_read: AtomicU64::new(0),
            seen: HashSet::new(),
        }
    }

    /// Adds what is below a folder on its own file system, until it is late. Folders are taken in a random order, so
    /// that a part of a tree is a fair part of it.
    pub fn add_below(&mut self, root: &Path, until: Instant, rng: &mut Rng, control: &Control) {
        let Ok(top) = stat::target(CWD, &c_path(root)) else {
            return;
        };
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            if control.is_over(until) || self.files.len() >= MOST_FILES {
                self.is_partial = true;
                break;
            }
            // Subvolumes have device numbers of their own, and are reached through the same mount.
            let elsewhere = folder != root
                && stat::entry(CWD, &c_path(&folder))
                    .is_ok_and(|here| here.dev != top.dev && !here.is_in_mount(top.mount));
            if !elsewhere {
                let mut inner = self.add_folder(&folder);
                rng.shuffle(&mut inner);
                folders.append(&mut inner);
            }
        }
    }

    /// Adds a folder's files; returns its folders.
    fn add_folder(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut inner = Vec::new();
        let Ok(entries) = fs::read_dir(folder) else {
            self.unreadable += 1;
            return inner;
        };
        let mut dir = None;
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => inner.push(entry.path()),
                Ok(kind) if kind.is_file() => dir = self.add(&entry.path(), dir),
                _ => {}
            }
        }
        inner
    }

    /// Adds a file, which lies in the folder `dir` if that is known; returns its folder.
    pub fn add(&mut self, path: &Path, dir: Option<DirId>) -> Option<DirId> {
        let path = c_path(path);
        let Ok(stat) = stat::entry(CWD, &path) else {
            return dir;
        };
        let is_empty = stat.kind != FileType::RegularFile || stat.size == 0;
        if is_empty || !self.seen.insert((stat.dev, stat.ino)) {
            return dir;
        }
        // Holes and compressed bytes are read faster than they could come from a disk.
        let is_sparse = stat.blocks * 512 < stat.size / 10 * 9 || stat.blocks == 0;
        if is_sparse || stat.size >= LARGE && is_reserved(&path) {
            self.sparse += 1;
            return dir;
        }
        Some(self.push(path, Fingerprint::from(&stat), dir))
    }

    /// Adds a scratch file. It stays open for as long as it is read.
    pub fn add_scratch(&mut self, file: OwnedFd) {
        let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
        if let (Ok(path), Ok(stat)) = (path, stat::descriptor(&file)) {
            self.push(path, Fingerprint::from(&stat), None);
        }
        self.scratch = Some(file);
    }

    fn push(&mut self, path: CString, expect: Fingerprint, dir: Option<DirId>) -> DirId {
        let dir = dir.unwrap_or_else(|| {
            // Nobody asks which folder it is.
            let id = FolderId {
                dev: expect.dev,
                ..FolderId::default()
            };
            let folder = &path.as_bytes()[..folder_len(path.as_bytes())];
            self.folders.write().add_unlisted(folder, 0, id)
        });
        self.files.push(TestFile { path, dir, expect });
        dir
    }

    /// Bytes in all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.expect.size).sum()
    }

    /// Where on the disk these places of a file lie, bytes; `None` where the file system does not tell.
    pub fn positions(&self, file: usize, offsets: &[u64]) -> Vec<Option<u64>> {
        let extents = extents_of(&self.files[file].path).unwrap_or_default();
        let place = |&offset: &u64| position_in(&extents, offset);
        offsets.iter().map(place).collect()
    }

    /// Running sums of the files' blocks, for [`TestData::any_block`].
    pub fn block_sums(&self) -> Vec<u64> {
        let blocks = self
            .files
            .iter()
            .map(|file| file.expect.size.div_ceil(BLOCK));
        let sums = blocks.scan(0, |sum, blocks| {
            *sum += blocks;
            Some(*sum)
        });
        sums.collect()
    }

    /// The block with this number, of all blocks of all files; it must be less than the last of the sums.
    pub fn any_block(&self, sums: &[u64], block: u64) -> TestSpan {
        let file = sums.partition_point(|&sum| sum <= block);
        let before = file.checked_sub(1).map_or(0, |file| sums[file]);
        let offset = (block - before) * BLOCK;
        let len = BLOCK.min(self.files[file].expect.size - offset);
        TestSpan { file, offset, len }
    }
}

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

/// The length of the folder in a path, with its slash.
fn folder_len(path: &[u8]) -> usize {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    slash.map_or(0, |at| at + 1)
}

/// True if some of a file's room is reserved only: it has no bytes that a disk could give.
fn is_reserved(path: &CStr) -> bool {
    let extents = extents_of(path);
    extents.is_some_and(|extents| extents.iter().any(|extent| extent.is_unwritten()))
}

fn extents_of(path: &CStr) -> Option<Vec<Extent>> {
    extents::extents(open::file(CWD, path, true).ok()?)
}

/// The place of an offset on the disk; `None` in a hole.
fn position_in(extents: &[Extent], offset: u64) -> Option<u64> {
    let inside =
        |extent: &&Extent| (extent.logical..extent.logical + extent.length).contains(&offset);
    let extent = extents.iter().find(inside)?;
    Some(extent.physical + (offset - extent.logical))
}

/// Bytes written at a time.
const PIECE: usize = 1 << 20;

/// Writes a scratch file into a folder. It has no name: whatever ends this process, the file is
/// gone with it.
///
/// # Errors
/// In words, with the way out.
pub fn write_scratch(
    folder: &Path,
    size: Bytes,
    rng: &mut Rng,
    control: &Control,
) -> Result<OwnedFd, String> {
    let failed = |error: io::Error| format!("no scratch file in {}: {error}", folder.display());
    let handle = File::open(folder).map_err(failed)?;
    if let Some(free) = statfs::available(&handle).filter(|&free| free < size.0) {
        let free = Bytes(free);
        return Err(format!(
            "cannot create a scratch file in {}: {size} requested, {free} free",
            folder.display()
        ));
    }
    let mut file = tempfile::tempfile_in(folder).map_err(failed)?;
    let mut piece = vec![0; PIECE];
    let mut left = size.0;
    while left > 0 && !control.is_cancelled() {
        rng.fill(&mut piece);
        let len = left.min(PIECE as u64) as usize;
        file.write_all(&piece[..len]).map_err(failed)?;
        left -= len as u64;
    }
    // What is not on the disk yet would be read from memory.
    file.sync_all().map_err(failed)?;
    page_cache::advise(&file, 0, 0, page_cache::Advice::DontNeed);
    Ok(file.into())
}
