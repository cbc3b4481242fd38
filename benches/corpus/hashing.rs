//! The slow and certain truth: every file read and hashed in full.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use walkdir::WalkDir;

use super::{Totals, truth};

/// A file's length and the first half of its digest: a name for its set.
pub type Identity = (u64, u64);

/// Writes the truth of any folder.
pub fn write_truth(dir: &Path, header: &str) -> io::Result<Totals> {
    let mut writer = truth::Writer::create(dir, header)?;
    let mut totals = Totals::default();
    for (relative, (len, digest)) in identities(dir)? {
        writer.line((len > 0).then_some(digest), &relative)?;
        totals.files += 1;
        totals.bytes += len;
    }
    writer.finish()?;
    Ok(totals)
}

/// All regular files below `dir`, by their relative paths.
pub fn identities(dir: &Path) -> io::Result<Vec<(Vec<u8>, Identity)>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in WalkDir::new(dir).sort_by_file_name() {
        let entry = entry?;
        if entry.file_type().is_file() {
            paths.push(entry.into_path());
        }
    }
    let next = AtomicUsize::new(0);
    let hash_some = || -> io::Result<Vec<(usize, Identity)>> {
        let mut hashed = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(index) else {
                return Ok(hashed);
            };
            hashed.push((index, identity(path)?));
        }
    };
    let threads = thread::available_parallelism()?.get();
    let mut identities = vec![(0, 0); paths.len()];
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(hash_some)).collect();
        for worker in workers {
            for (index, identity) in worker.join().expect("hashing does not panic")? {
                identities[index] = identity;
            }
        }
        io::Result::Ok(())
    })?;
    let relative = |path: PathBuf| {
        path.strip_prefix(dir)
            .expect("a walk stays below its root")
            .as_os_str()
            .as_bytes()
            .to_vec()
    };
    Ok(paths.into_iter().map(relative).zip(identities).collect())
}

fn identity(path: &Path) -> io::Result<Identity> {
    let hash = |path| {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(file)?;
        let digest = hasher.finalize();
        let (first, _) = digest
            .as_bytes()
            .split_first_chunk::<8>()
            .expect("a digest has 32 bytes");
        io::Result::Ok((len, u64::from_le_bytes(*first)))
    };
    hash(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
