//! Determines which real paths lie in hidden folders, or in folders that a program manages.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;

use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use super::managed::{PartKind, RowNumber, by_entries, by_name};
use crate::sys::open::{self, CWD};
use crate::sys::stat;

/// Maximum number of folders whose rows are cached; a guess, since sets jump between folders.
const FOLDERS: usize = 1 << 16;

/// The outermost folder on a path that is hidden or managed, or the file itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManagedPlace {
    /// What it is.
    pub row: RowNumber,
    /// Length of its path.
    pub end: usize,
}

/// Looks at the folders on paths, at each once.
#[derive(Debug, Default)]
pub struct ManagedPaths {
    rows: HashMap<Vec<u8>, Vec<RowNumber>>,
}

impl ManagedPaths {
    /// True if a program manages a folder above a given one, or its own name tells so. The walker that lists
    /// the folder looks at its entries. `beat` is called before each call to a file system.
    pub fn hold_folder(&mut self, path: &[u8], beat: &dyn Fn()) -> bool {
        let cut = path.iter().rposition(|&byte| byte == b'/');
        let (above, name) = path.split_at(cut.map_or(0, |at| at + 1));
        by_name(name, true, true).is_some() || self.find(above, path.len(), beat).is_some()
    }

    /// What holds the file at an absolute path. The first `given` bytes are a path that the user gave, which lifts the
    /// rules that can be lifted.
    pub fn holding(&mut self, path: &[u8], given: usize) -> Option<ManagedPlace> {
        self.find(path, given, &|| ())
    }

    fn find(&mut self, path: &[u8], given: usize, beat: &dyn Fn()) -> Option<ManagedPlace> {
        let slashes = (0..path.len()).filter(|&at| path[at] == b'/');
        let mut start = 0;
        for end in slashes.chain([path.len()]) {
            let (name, is_folder) = (&path[start..end], end < path.len());
            start = end + 1;
            let is_given = end <= given;
            let row = by_name(name, is_folder, is_given).or_else(|| {
                let rows = is_folder.then(|| self.rows(&path[..end.max(1)], beat))?;
                let mut rows = rows.iter().copied();
                rows.find(|row| !(is_given && row.row().is_lifted))
            });
            if let Some(row) = row {
                return Some(ManagedPlace { row, end });
            }
        }
        None
    }

    /// The rows that the entries of a folder tell. A folder that cannot be entered has none.
    fn rows(&mut self, folder: &[u8], beat: &dyn Fn()) -> &[RowNumber] {
        if !self.rows.contains_key(folder) {
            if self.rows.len() >= FOLDERS {
                self.rows.clear();
            }
            beat();
            let opened = CString::new(folder).ok();
            let opened = opened.and_then(|path| open::folder_handle(CWD, &path).ok());
            let rows = opened.map(|folder| {
                by_entries(|name, kind| {
                    beat();
                    has(&folder, name, kind)
                })
            });
            self.rows.insert(folder.to_vec(), rows.unwrap_or_default());
        }
        &self.rows[folder]
    }
}

/// True if a program manages an open folder. A given path lifts the rules that can be lifted.
pub fn is_managed_folder(folder: impl AsFd, is_given: bool) -> bool {
    let rows = by_entries(|name, kind| has(&folder, name, kind));
    rows.iter().any(|row| !(is_given && row.row().is_lifted))
}

/// True if an open folder has an entry of this name, which is what it must be.
fn has(folder: &impl AsFd, name: &str, kind: PartKind) -> bool {
    let Ok(name) = CString::new(name) else {
        return false;
    };
    let found = stat::entry(folder, &name).map(|found| found.kind);
    match kind {
        PartKind::Any => found.is_ok(),
        PartKind::Folder => found == Ok(FileType::Directory),
        PartKind::File => found == Ok(FileType::RegularFile),
        PartKind::Begins(start) => {
            found == Ok(FileType::RegularFile) && begins_with(folder, &name, start.as_bytes())
        }
    }
}

fn begins_with(folder: impl AsFd, name: &CStr, start: &[u8]) -> bool {
    let mut bytes = vec![0; start.len()];
    let file = open::file(folder, name, false);
    file.is_ok_and(|file| File::from(file).read_exact(&mut bytes).is_ok()) && bytes == start
}
