//! Records the times of the folders in which a run changes names, so that they can be restored.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use rustix::io::{Errno, Result};

use super::past::Past;
use crate::action::ways::folder_entry::{Identity, parent};
use crate::heartbeat::current;
use crate::sys::attributes::{self, Time};
use crate::sys::{open, parent as way};

/// A folder, and its times at one moment.
#[derive(Debug)]
pub struct FolderTimes {
    identity: Identity,
    times: [Time; 2],
}

impl FolderTimes {
    /// The times of a folder now.
    pub fn of(folder: &OwnedFd) -> Result<Self> {
        let (now, attributes) = attributes::both(folder)?;
        Ok(Self {
            identity: (now.dev, now.ino),
            times: [attributes.accessed, attributes.modified],
        })
    }

    /// Restores the times, and returns true, if this is still the same folder.
    pub fn give_back(&self, folder: &OwnedFd) -> Result<bool> {
        let (now, attributes) = attributes::both(folder)?;
        let [accessed, modified] = self.times;
        if (now.dev, now.ino) != self.identity {
            return Ok(false);
        }
        if attributes.modified != modified {
            // The descriptor is only a starting point for other calls.
            let folder = open::folder(folder, c".")?;
            attributes::set_times(&folder, accessed, modified)?;
        }
        Ok(true)
    }
}

/// Folders by their absolute paths, and the times that they had before a run or an undo.
#[derive(Debug, Default)]
pub struct Before {
    folders: HashMap<Vec<u8>, FolderTimes>,
}

impl Before {
    /// Records a folder that is about to be changed. Returns its times the first time, for the journal.
    pub fn note(&mut self, path: &[u8], folder: &OwnedFd) -> Option<[Time; 2]> {
        if self.folders.contains_key(path) {
            return None;
        }
        let times = FolderTimes::of(folder).ok()?;
        let before = times.times;
        self.folders.insert(path.to_vec(), times);
        Some(before)
    }

    /// The folders of a past run whose times an undo restores. If another process changed a folder after the run, the
    /// folder keeps its new time. A run that was cut short may have left any time.
    pub(in crate::action) fn undo_of(past: &Past) -> Self {
        let steps = past.steps.iter().map(|step| &step.intent);
        let of_files = steps.map(|intent| (&intent.victim, intent.folder_times));
        let removed = past.folders.values().map(|folder| &folder.intent);
        let of_folders = removed.map(|intent| (&intent.folder, intent.folder_times));
        let mut before = Self::default();
        for (path, times) in of_files.chain(of_folders) {
            let Some(times) = times else { continue };
            let path = parent(&path.0);
            current::ask_about(path);
            let now = way::open(path).and_then(|folder| FolderTimes::of(&folder));
            if let Ok(now) = now
                && (past.cut_short || now.times[1] == times[1])
            {
                let identity = now.identity;
                let times = FolderTimes { identity, times };
                before.folders.entry(path.to_vec()).or_insert(times);
            }
        }
        current::rest();
        before
    }

    /// Restores all times. Returns the folders whose times could not be restored, sorted, and why.
    pub fn give_back(&self) -> Vec<(Vec<u8>, String)> {
        let mut left = Vec::new();
        for (path, times) in &self.folders {
            current::ask_about(path);
            match way::open(path).and_then(|folder| times.give_back(&folder)) {
                // The run removed it, or somebody else.
                Ok(true) | Err(Errno::NOENT) => {}
                Ok(false) => {
                    let why = "its times are not restored: another folder has its name, or its inode number changed";
                    left.push((path.clone(), why.to_owned()));
                }
                Err(error) => {
                    let error = std::io::Error::from(error);
                    left.push((path.clone(), format!("cannot restore its times: {error}")));
                }
            }
        }
        current::rest();
        left.sort_unstable();
        left
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_folder_in_the_place_of_another_keeps_its_times_and_is_named() {
        let above = tempfile::tempdir().expect("a folder");
        let path = above.path().join("f");
        fs::create_dir(&path).expect("created");
        let bytes = path.as_os_str().as_bytes();
        let mut before = Before::default();
        let folder = way::open(bytes).expect("is there");
        assert!(before.note(bytes, &folder).is_some());
        assert_eq!(before.give_back(), []);
        fs::rename(&path, above.path().join("moved")).expect("moved");
        assert_eq!(before.give_back(), [], "it is gone");
        fs::create_dir(&path).expect("created");
        let left = before.give_back();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].0, bytes);
    }
}
