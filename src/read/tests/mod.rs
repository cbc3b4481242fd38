//! Tests of reading, and helpers that they share.

mod holes;
mod reading;
mod scheduler;
mod shown;

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::unbounded;

use crate::file::{DirId, FileIndex, Fingerprint, Numbering, SharedDirs};
use crate::hash::SampleDigest;
use crate::heartbeat::Watchlist;
use crate::sys::page_cache;

use crate::read::access::Access;
use crate::read::open_file::Device;
use crate::read::page_use::PageUse;
use crate::read::reader::ReadSettings;
use crate::read::shown::ShownResults;
use crate::read::task::{Ask, Batch, Failure, Outcome, Recalls, SPANS, Span, Task, Ticket};

/// Runs a test that must not hang.
pub fn in_time<R: Send + 'static>(test: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, result) = unbounded();
    let thread = std::thread::spawn(move || done.send(test()));
    match result.recv_timeout(Duration::from_secs(60)) {
        Ok(result) => result,
        Err(crossbeam_channel::RecvTimeoutError::Timeout) => panic!("it hangs"),
        Err(_) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(_) => unreachable!("it sends before it ends"),
        },
    }
}

/// Bytes that differ from file to file and from place to place.
pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.finalize_xof().fill(&mut out);
    out
}

pub fn fingerprint(path: &Path) -> Fingerprint {
    let m = fs::symlink_metadata(path).expect("is there");
    Fingerprint {
        dev: m.dev(),
        ino: m.ino(),
        size: m.size(),
        mtime_ns: m.mtime() * 1_000_000_000 + m.mtime_nsec(),
        ctime_ns: m.ctime() * 1_000_000_000 + m.ctime_nsec(),
    }
}

/// Takes the file's pages out of the page cache; false where they stay (tmpfs is nothing else).
pub fn forget_pages(path: &Path) -> bool {
    let file = fs::File::open(path).expect("is there");
    file.sync_all().expect("can be written out");
    page_cache::advise(&file, 0, 0, page_cache::Advice::DontNeed);
    let size = file.metadata().expect("is open").len();
    page_cache::cached_pages(&file, 0, size) == Some(0)
}

pub fn settings(folder: &Path) -> ReadSettings {
    let dirs = SharedDirs::default();
    let m = fs::metadata(folder).expect("is there");
    dirs.write()
        .add_root(folder.as_os_str().as_bytes(), 0, (m.dev(), m.ino()));
    ReadSettings {
        dirs: Arc::new(dirs),
        follow: false,
        open_folders: 2,
        read_ahead: true,
        passes_holes: true,
        access: Access::new(None, PageUse::Drop),
        watchlist: Watchlist::new(Duration::MAX),
        recalls: Recalls::default(),
        shown: ShownResults::default(),
    }
}

/// A read of a file in the only folder, with its name added to a batch.
pub fn task(
    batch: &mut Batch,
    number: u32,
    name: &str,
    expect: Fingerprint,
    spans: [Span; SPANS],
) -> Task {
    let name = batch.add_name(name.as_bytes());
    Task {
        ticket: Ticket(number),
        file: FileIndex(number),
        device: Device::default(),
        dir: DirId(0),
        name,
        expect,
        spans,
        ask: Ask::Bytes,
        only_cached: false,
        is_stored: false,
        may_be_dirty: false,
        position: 0,
        go_on_with: None,
        numbering: Numbering::Unique,
    }
}

/// Adds a read of a file in the only folder to a batch.
pub fn add_task<'b>(
    batch: &'b mut Batch,
    number: u32,
    name: &str,
    expect: Fingerprint,
    spans: [Span; SPANS],
) -> &'b mut Task {
    let task = task(batch, number, name, expect, spans);
    batch.tasks.push(task);
    batch.tasks.last_mut().expect("just added")
}

/// Something to read in the only folder.
#[derive(Clone)]
pub struct Wanted {
    pub name: String,
    pub expect: Fingerprint,
    pub spans: [Span; SPANS],
    pub go_on_with: Option<SampleDigest>,
}

pub fn wanted(folder: &Path, name: &str, spans: [(u64, u64); 2]) -> Wanted {
    Wanted {
        name: name.to_owned(),
        expect: fingerprint(&folder.join(name)),
        spans: spans.map(|(offset, len)| Span { offset, len }),
        go_on_with: None,
    }
}

/// Why a task failed.
pub fn failure(outcome: &Outcome) -> Failure {
    match outcome {
        Outcome::Failed(failure) => *failure,
        other => panic!("expected a failure, got {other:?}"),
    }
}
