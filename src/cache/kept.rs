//! What the folder of a cache has of each file system, and its removal.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use crate::heartbeat::current;

use super::CacheError;
use super::folder::CacheFolder;
use super::rows::{self, Rows};
use super::settle::NEW;
use super::volume;

/// The stored data of one file system.
#[derive(Debug)]
pub struct StoredVolume {
    /// Name of the file of rows.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// The time of the last use by a run, nanoseconds since 1970.
    pub last_used_ns: i64,
    /// The contents, unless they cannot be read.
    pub contents: Result<Contents, CacheError>,
}

/// The contents of a file of rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Number of files with stored data.
    pub files: u64,
    /// The searched path on the file system of the last run that wrote a row, or a folder below it.
    pub folder: Option<PathBuf>,
}

impl CacheFolder {
    /// The stored data, with the file system that was used last at the end. Skips other files in the folder.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn kept(&self) -> io::Result<Vec<StoredVolume>> {
        let names = self.names()?.into_iter();
        let names = names.filter_map(|name| name.into_string().ok());
        let mut kept: Vec<StoredVolume> = names
            .filter(|name| volume::is_file_name(name))
            .map(|name| self.one(name))
            .collect();
        kept.sort_by(|a, b| (a.last_used_ns, &a.name).cmp(&(b.last_used_ns, &b.name)));
        Ok(kept)
    }

    /// True if a file of this name belongs to the cache.
    pub fn is_name_of_kept(name: &[u8]) -> bool {
        let name = std::str::from_utf8(name).unwrap_or_default();
        volume::is_file_name(name.strip_suffix(NEW).unwrap_or(name))
    }

    fn one(&self, name: String) -> StoredVolume {
        let path = self.path().join(&name);
        current::ask_about(path.as_os_str().as_encoded_bytes());
        let is = path.symlink_metadata();
        let used = is
            .as_ref()
            .ok()
            .and_then(|is| is.modified().ok())
            .unwrap_or(UNIX_EPOCH);
        let used = used.duration_since(UNIX_EPOCH).unwrap_or_default();
        StoredVolume {
            bytes: is.map_or(0, |is| is.len()),
            last_used_ns: i64::try_from(used.as_nanos()).unwrap_or(i64::MAX),
            contents: self.contents(&name),
            name,
        }
    }

    fn contents(&self, name: &str) -> Result<Contents, CacheError> {
        let Some(rows) = Rows::open(self, name)? else {
            return Ok(Contents::default());
        };
        Ok(Contents {
            files: rows.count(),
            folder: rows.searched().map(PathBuf::from),
        })
    }

    /// Removes what is kept of a file system, unless a run is using it.
    ///
    /// # Errors
    /// If the file is not the user's own, is no file of rows, or is in use; if the system refuses.
    pub fn remove(&self, kept: &StoredVolume) -> Result<(), CacheError> {
        let path = self.path().join(&kept.name);
        current::ask_about(path.as_os_str().as_encoded_bytes());
        let Some(locked) = self.locked(&kept.name, true)? else {
            return Ok(());
        };
        rows::is_ours(&locked)?;
        fs::remove_file(&path)?;
        // Of a run that was killed while it wrote the file anew.
        match fs::remove_file(self.path().join(format!("{}{NEW}", kept.name))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}
