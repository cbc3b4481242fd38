//! Puts the page cache into the state that a run asks for.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use walkdir::WalkDir;

use super::machine::available_memory;

/// Whether what a tool reads is in memory when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    Hot,
    Cold,
}

impl Cache {
    /// How it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Cold => "cold",
        }
    }

    /// Says why files in `dir` can't be brought into this state.
    pub fn check(self, dir: &Path) -> Result<(), String> {
        match self {
            Self::Hot => {
                let (_, bytes) = needed(dir).map_err(|error| error.to_string())?;
                let available = available_memory();
                if bytes > available / 10 * 8 {
                    return Err(format!(
                        "{bytes} bytes to read don't fit into {available} bytes of free memory"
                    ));
                }
                Ok(())
            }
            Self::Cold => {
                drop_caches().map_err(|error| format!("only root can drop the page cache: {error}"))
            }
        }
    }

    /// Brings the files in `dir` into this state.
    pub fn prepare(self, dir: &Path) -> io::Result<()> {
        match self {
            Self::Hot => warm(dir),
            Self::Cold => drop_caches(),
        }
    }
}

fn drop_caches() -> io::Result<()> {
    // SAFETY: `sync` has no arguments and cannot fail.
    unsafe { libc::sync() };
    fs::write("/proc/sys/vm/drop_caches", "3\n")
}

/// Every file whose size occurs more than once, and the bytes of them all: no tool needs to read more than that.
fn needed(dir: &Path) -> io::Result<(Vec<PathBuf>, u64)> {
    let mut by_size: HashMap<u64, Vec<PathBuf>> = HashMap::new();
    for entry in WalkDir::new(dir) {
        let entry = entry?;
        if entry.file_type().is_file() {
            by_size
                .entry(entry.metadata()?.len())
                .or_default()
                .push(entry.into_path());
        }
    }
    by_size.retain(|_, paths| paths.len() > 1);
    let bytes = by_size
        .iter()
        .map(|(len, paths)| len * paths.len() as u64)
        .sum();
    Ok((by_size.into_values().flatten().collect(), bytes))
}

/// Reads every folder, every inode, and every file that a tool may need to read.
fn warm(dir: &Path) -> io::Result<()> {
    let (needed, _) = needed(dir)?;
    let next = AtomicUsize::new(0);
    let read_some = || -> io::Result<()> {
        let mut buffer = vec![0; 1 << 20];
        while let Some(path) = needed.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut file = File::open(path)?;
            while file.read(&mut buffer)? > 0 {}
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism()?.get();
        let readers: Vec<_> = (0..threads).map(|_| scope.spawn(read_some)).collect();
        readers
            .into_iter()
            .try_for_each(|reader| reader.join().expect("reading does not panic"))
    })
}
