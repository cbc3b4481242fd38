//! The slow and certain truth: every file read and hashed in full.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use walkdir::WalkDir;

use super::{Totals, truth};

/// A file's length and the first half of its digest: a name for its set.
type Identity = (u64, u64);

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

/// Compares a truth that was constructed with the bytes that are there; returns the number of files.
pub fn check_truth(dir: &Path) -> Result<usize, String> {
    let told = truth::read(&truth::path_for(dir)).map_err(|error| error.to_string())?;
    let mut found: HashMap<_, _> = identities(dir)
        .map_err(|error| error.to_string())?
        .into_iter()
        .collect();
    let mut identity_of: HashMap<Option<u64>, Identity> = HashMap::new();
    let mut set_of: HashMap<Identity, Option<u64>> = HashMap::new();
    let count = told.len();
    for (set, path) in told {
        let name = String::from_utf8_lossy(&truth::escape(&path)).into_owned();
        let identity = found
            .remove(&path)
            .ok_or_else(|| format!("{name} is not there"))?;
        let same_set = *identity_of.entry(set).or_insert(identity) == identity;
        let same_identity = *set_of.entry(identity).or_insert(set) == set;
        if !same_set || !same_identity || set.is_none() != (identity.0 == 0) {
            return Err(format!("{name} is in the wrong set"));
        }
    }
    match found.into_keys().next() {
        Some(path) => Err(format!(
            "{} is not in the truth",
            String::from_utf8_lossy(&truth::escape(&path))
        )),
        None => Ok(count),
    }
}

/// All regular files below `dir`, by their relative paths.
fn identities(dir: &Path) -> io::Result<Vec<(Vec<u8>, Identity)>> {
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
