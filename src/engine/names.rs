//! Which names lead to which file: where inode numbers do not say it, and once more before names are reported.
//!
//! A file is read through one of its names, and compared with what the scan saw. Its further names are only what
//! the scan saw of them, at other moments: a file may have been moved in between, or its inode number given to
//! another one. So each name of a file that has several is looked up a last time before it is reported.

use std::ffi::CString;
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::io::{Errno, Result};

use crate::event::{Problem, ProblemKind};
use crate::file::{DirId, FileIndex, Fingerprint, FoundFile, Numbering};
use crate::scan::numbering_of;
use crate::sys::open;
use crate::sys::stat::{self, Stat};

use super::answers::to_path;
use super::run::Run;

/// Times that the names of a file are looked up before it counts as being moved about.
const LOOKS: usize = 3;

/// A name of a file.
type Name = (DirId, Vec<u8>);

/// A name that was looked up.
struct Entry {
    name: Name,
    /// Device and inode of its folder, at that moment.
    folder: (u64, u64),
    stat: Stat,
}

impl Run<'_> {
    /// What inode numbers are worth on the file system of a file.
    pub fn numbering(&self, dir: DirId, name: &[u8]) -> Numbering {
        let Ok(folder) = self.dirs.read().open(dir) else {
            return Numbering::Arbitrary;
        };
        let file = CString::new(name).map_err(|_| Errno::INVAL);
        let file = file.and_then(|name| open::any_handle(&folder, &name, self.config.follow_links));
        match file {
            Ok(file) => numbering_of(file),
            Err(_) => numbering_of(folder),
        }
    }

    /// True if a name was met before, on a file system whose inode numbers do not say so.
    pub fn is_met_again(
        &mut self,
        found: &FoundFile,
        name: &[u8],
        dir: DirId,
        volume: u16,
    ) -> bool {
        if self.machine.catalog().numbering(volume) == Numbering::Unique {
            return false;
        }
        if self.config.needs_every_file() && !self.met_entries.insert((dir, name.into())) {
            return true;
        }
        let alike = self.machine.may_be(found, dir, volume);
        let catalog = self.machine.catalog();
        let candidates = alike.into_iter().filter(|&file| {
            // Another name in another folder is no second way to one name, unless it is a link.
            !found.is_entry() || catalog.first_name(file) == name
        });
        let candidates: Vec<FileIndex> = candidates.collect();
        if candidates.is_empty() {
            return false;
        }
        let Some(this) = self.real_path(dir, name) else {
            return false;
        };
        candidates.into_iter().any(|file| {
            let catalog = self.machine.catalog();
            let known = (catalog.dir(file), catalog.first_name(file).to_owned());
            self.real_path(known.0, &known.1).as_ref() == Some(&this)
        })
    }

    /// A name's path without links and `..`.
    fn real_path(&mut self, dir: DirId, name: &[u8]) -> Option<PathBuf> {
        let mut path = Vec::new();
        if self.config.follow_links {
            self.dirs.read().path_of(dir, name, &mut path);
            return std::fs::canonicalize(to_path(path)).ok();
        }
        let folder = match self.real_folders.get(&dir) {
            Some(folder) => folder.clone(),
            None => {
                self.dirs.read().path_of(dir, b".", &mut path);
                let folder = std::fs::canonicalize(to_path(path)).ok()?;
                self.real_folders.insert(dir, folder.clone());
                folder
            }
        };
        Some(folder.join(to_path(name.to_owned())))
    }

    /// Looks up the names of those of the files that have several, and forgets those that lead elsewhere by now.
    pub fn settle_names(&mut self, files: impl IntoIterator<Item = FileIndex>) {
        for file in files {
            if self.machine.catalog().is_in_doubt(file) {
                self.settle_names_of(file);
            }
        }
    }

    fn settle_names_of(&mut self, file: FileIndex) {
        let catalog = self.machine.catalog();
        let (volume, ino, size) = (catalog.volume(file), catalog.ino(file), catalog.size(file));
        let mut records: Vec<FileIndex> = catalog.records(volume, ino, size).collect();
        if records.is_empty() {
            records.push(file);
        }
        records.sort_unstable();
        let own = |file| {
            catalog
                .names(file)
                .map(|(dir, name)| (dir, name.to_owned()))
        };
        let names: Vec<Name> = records.iter().copied().flat_map(own).collect();
        let mut lost = Vec::new();
        for look in 1..=LOOKS {
            let mut entries = Vec::new();
            lost.clear();
            for name in &names {
                match self.look_up(name) {
                    Ok(entry) => entries.push(entry),
                    Err(e) => lost.push((name.clone(), e)),
                }
            }
            let catalog = self.machine.catalog();
            let expected: Vec<Fingerprint> =
                records.iter().map(|&r| catalog.fingerprint(r)).collect();
            let (entries, elsewhere): (Vec<Entry>, Vec<Entry>) = entries
                .into_iter()
                .partition(|entry| expected.contains(&Fingerprint::from(&entry.stat)));
            lost.extend(
                elsewhere
                    .into_iter()
                    .map(|entry| (entry.name, Errno::STALE)),
            );
            let mut kept = Vec::new();
            let mut too_many = false;
            for (&record, expected) in records.iter().zip(&expected) {
                let its = entries
                    .iter()
                    .filter(|e| Fingerprint::from(&e.stat) == *expected);
                let its = self.distinct(its.collect());
                too_many |=
                    its.len() as u64 > u64::from(self.machine.catalog().links(record).max(1));
                let its: Vec<Name> = its.iter().map(|entry| entry.name.clone()).collect();
                kept.push((record, its));
            }
            if too_many && look < LOOKS {
                continue;
            }
            for (record, its) in kept {
                let its = if too_many { Vec::new() } else { its };
                let as_found = its.iter().map(|(dir, name)| (*dir, name.as_slice()));
                if !as_found.eq(self.machine.catalog().names(record)) {
                    self.machine.settle_names(record, its);
                }
            }
            if too_many {
                lost = names
                    .iter()
                    .map(|name| (name.clone(), Errno::STALE))
                    .collect();
            }
            break;
        }
        for ((dir, name), error) in lost {
            self.lost(dir, &name, error);
        }
    }

    fn look_up(&mut self, name: &Name) -> Result<Entry> {
        let (dir, bytes) = name;
        let c_name = CString::new(bytes.as_slice()).map_err(|_| Errno::INVAL)?;
        let folder = match self.handles.get(*dir, &self.dirs) {
            Err(Errno::MFILE | Errno::NFILE) => {
                self.handles.close_all();
                self.handles.get(*dir, &self.dirs)?
            }
            opened => opened?,
        };
        let above = stat::descriptor(folder)?;
        let stat = match self.config.follow_links {
            true => stat::target(folder, &c_name)?,
            false => stat::entry(folder.as_fd(), &c_name)?,
        };
        Ok(Entry {
            name: name.clone(),
            folder: (above.dev, above.ino),
            stat,
        })
    }

    /// One name for each directory entry: a folder may have been reached on several ways. A name on which the file
    /// is mounted counts only if there is no other.
    fn distinct<'e>(&self, mut entries: Vec<&'e Entry>) -> Vec<&'e Entry> {
        let place = |entry: &Entry| (entry.folder, entry.name.1.clone());
        let mut places = std::collections::HashSet::new();
        let is_repeated = entries.iter().any(|entry| !places.insert(place(entry)));
        if is_repeated {
            let dirs = self.dirs.read();
            let rank = |entry: &Entry| (dirs.root(entry.name.0), dirs.depth(entry.name.0));
            entries.sort_by(|a, b| {
                let by_folder = || dirs.compare(a.name.0, b.name.0);
                rank(a)
                    .cmp(&rank(b))
                    .then_with(by_folder)
                    .then_with(|| a.name.1.cmp(&b.name.1))
            });
            places.clear();
            entries.retain(|entry| places.insert(place(entry)));
        }
        if entries.iter().any(|entry| !entry.stat.mount_root) {
            entries.retain(|entry| !entry.stat.mount_root);
        }
        entries
    }

    fn lost(&mut self, dir: DirId, name: &[u8], error: Errno) {
        let kind = match error {
            Errno::NOENT | Errno::NOTDIR => ProblemKind::Vanished,
            _ => ProblemKind::Changed,
        };
        self.left_out.changed += 1;
        let mut path = Vec::new();
        self.dirs.read().path_of(dir, name, &mut path);
        self.observer.problem(Problem {
            path: to_path(path),
            kind,
            cause: None,
        });
    }
}
