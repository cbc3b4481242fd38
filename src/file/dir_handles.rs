//! A few open folders, so that most files are opened by name alone.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::{DirId, SharedDirs};

/// A small cache of folder descriptors: slot = folder number modulo size.
///
/// Folders are numbered as they are met, so those in use together rarely share a slot, and the
/// look-up costs no more than an array access.
pub struct DirHandles {
    slots: Box<[Option<(DirId, OwnedFd)>]>,
}

impl DirHandles {
    /// Keeps up to `size` folders open (at least one).
    pub fn new(size: usize) -> Self {
        Self {
            slots: (0..size.max(1)).map(|_| None).collect(),
        }
    }

    /// The folder's descriptor, opened if need be.
    pub fn get(&mut self, dir: DirId, dirs: &SharedDirs) -> rustix::io::Result<BorrowedFd<'_>> {
        let slot = dir.0 as usize % self.slots.len();
        let held = matches!(&self.slots[slot], Some((id, _)) if *id == dir);
        if !held {
            // Close first: with few descriptors left there may be no room for two.
            self.slots[slot] = None;
            let fd = dirs.read().open(dir)?;
            self.slots[slot] = Some((dir, fd));
        }
        let (_, fd) = self.slots[slot].as_ref().expect("just filled");
        Ok(fd.as_fd())
    }

    /// Keeps a folder that is open already, in place of what its slot held.
    pub fn put(&mut self, dir: DirId, fd: OwnedFd) {
        let slot = dir.0 as usize % self.slots.len();
        self.slots[slot] = Some((dir, fd));
    }

    /// Closes all of them, to make room for others.
    pub fn close_all(&mut self) {
        self.slots.fill_with(|| None);
    }
}
