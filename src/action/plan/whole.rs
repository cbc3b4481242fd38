//! With a report of folders, a hidden or managed folder goes whole or not at all.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::set::{Fate, PlannedFile, PlannedName, SetPlan};
use crate::action::reason::Reason;
use crate::heartbeat::current;

/// The managed folders from which files go.
#[derive(Debug, Default)]
pub struct WholeFolders {
    /// Number of names that go from each.
    going: HashMap<Vec<u8>, u64>,
    /// Those of which a file stays.
    held: HashSet<Vec<u8>>,
}

impl WholeFolders {
    /// Records the names that go in a set.
    pub fn note(&mut self, set: &SetPlan) {
        for folder in set.files.iter().flat_map(going) {
            *self.going.entry(folder.to_vec()).or_default() += 1;
        }
    }

    /// Holds the folders that have more files than go, once all sets were [noted](Self::note). Returns whether there
    /// are any.
    pub fn look(&mut self) -> bool {
        let stay = |folder: &[u8], going| files_in(folder).map_or(true, |files| files != going);
        let folders = self.going.iter();
        let held = folders.filter(|(folder, going)| stay(folder, **going));
        self.held = held.map(|(folder, _)| folder.clone()).collect();
        !self.held.is_empty()
    }

    /// Holds all folders of a file if one of them is held; returns whether that changed anything.
    pub fn spread(&mut self, set: &SetPlan) -> bool {
        let before = self.held.len();
        let files = set.files.iter();
        for file in files.filter(|file| self.holds(file)).collect::<Vec<_>>() {
            self.held.extend(going(file).map(<[u8]>::to_vec));
        }
        self.held.len() > before
    }

    /// Leaves alone what lies in a held folder; returns whether there is any.
    pub fn apply(&self, set: &mut SetPlan) -> bool {
        let mut is_changed = false;
        for file in &mut set.files {
            if let (true, Some(place)) = (self.holds(file), file.managed()) {
                file.fate = Fate::Leave(Reason::managed(place.row));
                is_changed = true;
            }
        }
        is_changed
    }

    fn holds(&self, file: &PlannedFile) -> bool {
        !self.held.is_empty() && going(file).any(|folder| self.held.contains(folder))
    }
}

/// The managed folder of each name of a file that goes. A file that is hidden itself is whole.
fn going(file: &PlannedFile) -> impl Iterator<Item = &[u8]> {
    let goes = matches!(file.fate, Fate::Act { .. });
    let names = file.names.iter().filter(move |_| goes);
    let folder = |name: &PlannedName| name.managed.map(|place| place.end);
    names
        .filter_map(move |name| Some((name, folder(name)?)))
        .filter(|(name, end)| *end < name.path.len())
        .map(|(name, end)| &name.path[..end])
}

/// Number of the files in a folder and all folders in it.
fn files_in(folder: &[u8]) -> io::Result<u64> {
    let mut files = 0;
    let mut waiting = vec![Path::new(OsStr::from_bytes(folder)).to_owned()];
    while let Some(folder) = waiting.pop() {
        current::ask_about(folder.as_os_str().as_bytes());
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                waiting.push(entry.path());
            }
            files += u64::from(kind.is_file());
        }
    }
    Ok(files)
}
