//! A few open folders, so that most files are opened by name alone.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, Result};

use super::{DirId, SharedDirs};

/// A process that may open this many folders may also keep a root open.
const PLENTY: usize = 16;

/// A small cache of folder descriptors: slot = folder number modulo size.
///
/// Folders are numbered as they are met, so those in use together rarely share a slot, and the
/// look-up costs no more than an array access.
pub struct DirHandles {
    slots: Box<[Option<(DirId, OwnedFd)>]>,
    /// The root below which a folder was opened last: many ways begin there. None where descriptors are few.
    root: Option<(DirId, OwnedFd)>,
}

impl DirHandles {
    /// Keeps up to `size` folders open (at least one).
    pub fn new(size: usize) -> Self {
        Self {
            slots: (0..size.max(1)).map(|_| None).collect(),
            root: None,
        }
    }

    /// The folder's descriptor, opened if need be.
    pub fn get(&mut self, dir: DirId, dirs: &SharedDirs) -> Result<BorrowedFd<'_>> {
        let slot = dir.0 as usize % self.slots.len();
        if self.held(dir).is_none() {
            // Close first: with few descriptors left there may be no room for two.
            self.slots[slot] = None;
            let opened = dirs.open_from(dir, |above| self.held(above))?;
            self.slots[slot] = Some((dir, opened.folder));
            if opened.root.is_some() && self.slots.len() >= PLENTY {
                self.root = opened.root;
            }
        }
        Ok(self.held(dir).expect("just opened"))
    }

    /// The same, for one thread that needs no other folder meanwhile: when descriptors have run out, its own are closed.
    pub fn get_alone(&mut self, dir: DirId, dirs: &SharedDirs) -> Result<BorrowedFd<'_>> {
        match self.get(dir, dirs).map(|_| ()) {
            Ok(()) => {}
            Err(Errno::MFILE | Errno::NFILE) => self.close_all(),
            Err(error) => return Err(error),
        }
        self.get(dir, dirs)
    }

    fn held(&self, dir: DirId) -> Option<BorrowedFd<'_>> {
        let slot = &self.slots[dir.0 as usize % self.slots.len()];
        let held = [slot, &self.root].into_iter().flatten();
        let mut held = held.filter(|(id, _)| *id == dir);
        held.next().map(|(_, fd)| fd.as_fd())
    }

    /// Keeps a folder that is open already, in place of what its slot held.
    pub fn put(&mut self, dir: DirId, fd: OwnedFd) {
        let slot = dir.0 as usize % self.slots.len();
        self.slots[slot] = Some((dir, fd));
    }

    /// Closes all of them, to make room for others.
    pub fn close_all(&mut self) {
        self.slots.fill_with(|| None);
        self.root = None;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::file::FolderPlace;
    use crate::sys::stat;

    #[test]
    fn a_folder_is_opened_from_the_nearest_one_above_that_is_open() {
        let place = tempfile::tempdir().expect("a folder");
        let top = place.path().join("top");
        fs::create_dir_all(top.join("a/b/c")).expect("made");
        let dirs = SharedDirs::default();
        let look = |path: &str| {
            let m = fs::metadata(top.join(path)).expect("is there");
            (m.dev(), m.ino())
        };
        let (dev, ino) = look(".");
        let mut at = dirs
            .write()
            .add_root(top.as_os_str().as_bytes(), 0, (dev, ino));
        let mut all = vec![at];
        for (name, path) in [("a", "a"), ("b", "a/b"), ("c", "a/b/c")] {
            let (dev, ino) = look(path);
            at = dirs
                .write()
                .add(FolderPlace::Below(at, name.as_bytes()), (dev, ino), 0)
                .expect("new");
            all.push(at);
        }
        for size in [1, 2, 3, 64] {
            let mut handles = DirHandles::new(size);
            for &dir in all.iter().chain(all.iter().rev()).chain([&all[3], &all[1]]) {
                let opened = handles.get(dir, &dirs).expect("is there");
                let s = stat::descriptor(opened).expect("is open");
                assert_eq!((s.dev, s.ino), dirs.read().identity(dir), "{size}");
            }
        }
        // The path no longer leads there.
        let mut handles = DirHandles::new(64);
        handles.get(all[1], &dirs).expect("is there");
        fs::rename(&top, place.path().join("elsewhere")).expect("renamed");
        let opened = handles.get(all[3], &dirs).expect("is below what is open");
        let s = stat::descriptor(opened).expect("is open");
        assert_eq!((s.dev, s.ino), dirs.read().identity(all[3]));
    }
}
