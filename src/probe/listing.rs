//! Names of files below a path, and what is known of them.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::sys::open::CWD;
use crate::sys::stat::{self, Stat};

use super::control::Control;
use super::rng::Rng;

/// More files than this are not looked at: they would take memory and teach nothing new.
const MOST_FILES: usize = 200_000;

/// Files below a path, in the order in which folders name them.
#[derive(Debug, Default)]
pub struct Listing {
    /// The files.
    pub entries: Vec<Entry>,
    /// Folders that could not be listed.
    pub unreadable: u64,
    /// True if there may be more files than were listed.
    pub is_partial: bool,
}

/// One file.
#[derive(Debug)]
pub struct Entry {
    /// Its whole path.
    pub path: CString,
    /// Its metadata, once somebody asked.
    pub stat: Option<Stat>,
}

impl Entry {
    /// Asks for its metadata.
    pub fn ask(&self) -> Option<Stat> {
        stat::entry(CWD, &self.path).ok()
    }
}

impl Listing {
    /// Lists what is below a folder on its own file system, without asking for metadata of files.
    /// Folders are taken in a random order, so that a part of a tree is a fair part of it.
    pub fn below(root: &Path, until: Instant, rng: &mut Rng, control: &Control) -> Self {
        let mut listing = Self::default();
        let c_path = |path: &Path| CString::new(path.as_os_str().as_bytes()).unwrap_or_default();
        let Ok(top) = stat::target(CWD, &c_path(root)) else {
            return listing;
        };
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            let is_late = Instant::now() >= until || control.is_cancelled();
            if is_late || listing.entries.len() >= MOST_FILES {
                listing.is_partial = true;
                break;
            }
            // Subvolumes have device numbers of their own, and are reached through the same mount.
            let elsewhere = folder != root
                && stat::entry(CWD, &c_path(&folder))
                    .is_ok_and(|here| here.dev != top.dev && !here.is_in_mount(top.mount));
            if !elsewhere {
                let mut inner = listing.folder(&folder);
                rng.shuffle(&mut inner);
                folders.append(&mut inner);
            }
        }
        listing
    }

    /// A listing of one file.
    pub fn of_file(path: &Path) -> Self {
        let mut listing = Self::default();
        if let Ok(name) = CString::new(path.as_os_str().as_bytes()) {
            listing.entries.push(Entry {
                path: name,
                stat: None,
            });
        }
        listing
    }

    /// Takes a folder's files; returns its folders.
    fn folder(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut inner = Vec::new();
        let Ok(entries) = fs::read_dir(folder) else {
            self.unreadable += 1;
            return inner;
        };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => inner.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    if let Ok(path) = CString::new(entry.path().into_os_string().into_vec()) {
                        self.entries.push(Entry { path, stat: None });
                    }
                }
                _ => {}
            }
        }
        inner
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn files_are_listed_and_links_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("inner")).expect("made");
        for name in ["a", "inner/b", "inner/c"] {
            fs::write(folder.path().join(name), name).expect("written");
        }
        std::os::unix::fs::symlink("a", folder.path().join("link")).expect("made");
        let until = Instant::now() + Duration::from_secs(600);
        let control = Control::default();
        let listing = Listing::below(folder.path(), until, &mut Rng::new(1), &control);
        assert_eq!(listing.entries.len(), 3);
        assert!(!listing.is_partial && listing.unreadable == 0);
        let sizes = listing
            .entries
            .iter()
            .map(|entry| entry.ask().map(|stat| stat.size));
        assert_eq!(sizes.flatten().sum::<u64>(), 1 + 7 + 7);
        control.cancel();
        let listing = Listing::below(folder.path(), until, &mut Rng::new(1), &control);
        assert!(listing.is_partial && listing.entries.is_empty());
    }
}
