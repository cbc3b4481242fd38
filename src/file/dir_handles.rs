//! Opens folders, and keeps a few open, so that most files are opened by name alone.
//!
//! The way to a folder is read from the table under its lock and followed without the lock. Otherwise a file system
//! that does not answer would keep all threads from the table.

use std::ffi::CString;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, Result};

use crate::sys::stat::{self, Stat};
use crate::sys::{open, way};

use super::{DirId, DirTable, SharedDirs};

/// Longest path handed to the kernel at once; `PATH_MAX` is 4096 with its NUL.
const LONGEST_CALL: usize = 4000;

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
            let way = dirs.read().way_below(dir, |above| self.held(above));
            let opened = match way {
                Some(way) => go(way)?,
                None => {
                    let (opened, root) = open_from_root(|| dirs.read(), dir)?;
                    if root.is_some() && self.slots.len() >= PLENTY {
                        self.root = root;
                    }
                    opened
                }
            };
            self.slots[slot] = Some((dir, opened));
        }
        Ok(self.held(dir).expect("just opened"))
    }

    /// The same, for one thread that needs no other folder meanwhile: when descriptors have run out, its own are
    /// closed.
    pub fn get_alone(&mut self, dir: DirId, dirs: &SharedDirs) -> Result<BorrowedFd<'_>> {
        match self.get(dir, dirs).map(|_| ()) {
            Ok(()) => {}
            Err(Errno::MFILE | Errno::NFILE) => self.close_all(),
            Err(error) => return Err(error),
        }
        self.get(dir, dirs)
    }

    /// The metadata of a folder that need not be opened for it: it is reached from its root in one call.
    pub fn stat(&mut self, dir: DirId, dirs: &SharedDirs) -> Result<Stat> {
        let root = self.root.as_ref();
        let held = |above| {
            root.filter(|(id, _)| *id == above)
                .map(|(_, fd)| fd.as_fd())
        };
        let way = dirs.read().way_below(dir, held);
        if let Some((root, steps, _)) = way
            && let [step] = &steps[..]
        {
            let step = CString::new(&step[..]).map_err(|_| Errno::INVAL)?;
            return stat::entry(root, &step);
        }
        stat::descriptor(self.get_alone(dir, dirs)?)
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

/// A root, its path, and its device and inode number if it must have these.
type Root = (DirId, CString, Option<(u64, u64)>);

/// An open folder, relative paths from there, each one step, and whether links are followed.
type Way<'fd> = (BorrowedFd<'fd>, Vec<Vec<u8>>, bool);

/// Opens a root by the path that the user gave, with the links on it.
fn open_root((_, path, id): &Root) -> Result<OwnedFd> {
    let opened = open::folder_handle(open::CWD, path)?;
    if let Some(id) = *id {
        let now = stat::descriptor(&opened)?;
        if id != (now.dev, now.ino) {
            return Err(Errno::STALE);
        }
    }
    Ok(opened)
}

fn go((start, steps, follow): Way<'_>) -> Result<OwnedFd> {
    let mut reached: Option<OwnedFd> = None;
    for step in steps {
        let at = reached.as_ref().map_or(start, AsFd::as_fd);
        let step = CString::new(step).map_err(|_| Errno::INVAL)?;
        reached = Some(if follow {
            open::folder_handle(at, &step)?
        } else {
            // What was a folder when it was listed may be a link by now, which leads anywhere.
            way::open_below(at, &step)?
        });
    }
    reached.ok_or(Errno::BADF)
}

impl SharedDirs {
    /// Opens a folder as a starting point for relative system calls, whatever the length of its path.
    pub fn open(&self, dir: DirId) -> Result<OwnedFd> {
        Ok(open_from_root(|| self.read(), dir)?.0)
    }
}

/// Opens a folder; also returns the root that was opened on the way to it. The table is not used while a call waits.
fn open_from_root<T: Deref<Target = DirTable>>(
    table: impl Fn() -> T,
    dir: DirId,
) -> Result<(OwnedFd, Option<(DirId, OwnedFd)>)> {
    let root = table().root_of(dir)?;
    let opened = open_root(&root)?;
    let held = |above| (above == root.0).then(|| opened.as_fd());
    let way = table().way_below(dir, held);
    match way {
        Some(way) => Ok((go(way)?, Some((root.0, opened)))),
        None => Ok((opened, None)),
    }
}

impl DirTable {
    /// As [`SharedDirs::open`].
    pub fn open(&self, dir: DirId) -> Result<OwnedFd> {
        Ok(open_from_root(|| self, dir)?.0)
    }

    fn root_of(&self, dir: DirId) -> Result<Root> {
        let root = self.upwards(dir).last().unwrap_or(dir);
        let path = match self.name(root) {
            b"" => b".",
            path => path,
        };
        // Folders that are only above a named file are not listed.
        let is_tied = self.path_rules().tied_roots && self.is_listed(root);
        let id = is_tied.then(|| self.identity(root));
        let path = CString::new(path).map_err(|_| Errno::INVAL)?;
        Ok((root, path, id))
    }

    /// The way from the nearest folder above that is `held` open; `None` if none is. From the root, each folder of a
    /// deep path would be looked up again for every folder below it: quadratic time.
    fn way_below<'fd>(
        &self,
        dir: DirId,
        held: impl Fn(DirId) -> Option<BorrowedFd<'fd>>,
    ) -> Option<Way<'fd>> {
        let mut chain = vec![dir];
        let start = loop {
            let above = self.parent(chain[chain.len() - 1])?;
            match held(above) {
                Some(held) => break held,
                None => chain.push(above),
            }
        };
        let mut steps = vec![Vec::new()];
        for &dir in chain.iter().rev() {
            let name = self.name(dir);
            let is_full = |step: &Vec<u8>| step.len() + name.len() > LONGEST_CALL;
            if steps.last().is_some_and(is_full) {
                steps.push(Vec::new());
            }
            let step = steps.last_mut()?;
            step.extend_from_slice(name);
            step.push(b'/');
        }
        Some((start, steps, self.path_rules().follow))
    }
}

#[cfg(test)]
mod tests {

    use std::os::unix::ffi::OsStrExt;

    use super::*;
    use crate::file::{FolderPlace, PathRules};

    #[test]
    fn no_path_leads_through_a_link_that_took_a_folders_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path();
        for name in ["root/a/b", "other/a/b"] {
            std::fs::create_dir_all(top.join(name)).expect("folders");
        }
        std::os::unix::fs::symlink("root", top.join("link")).expect("a link");
        let dirs = SharedDirs::default();
        dirs.write().open_by(PathRules {
            follow: false,
            tied_roots: true,
        });
        let link = CString::new(top.join("link").as_os_str().as_bytes()).expect("no NUL");
        let seen = stat::target(open::CWD, &link).expect("is there");
        let root = dirs.write().add_root(link.to_bytes(), 0, &seen);
        let a = dirs
            .write()
            .add(FolderPlace::Below(root, b"a"), (1, 1), 0)
            .expect("new");
        let b = dirs
            .write()
            .add(FolderPlace::Below(a, b"b"), (1, 2), 0)
            .expect("new");
        assert!(dirs.open(b).is_ok());
        // The root leads elsewhere.
        std::fs::remove_file(top.join("link")).expect("removed");
        std::os::unix::fs::symlink("other", top.join("link")).expect("a link");
        assert_eq!(dirs.open(root).err(), Some(Errno::STALE));
        assert_eq!(dirs.open(b).err(), Some(Errno::STALE));
        std::fs::remove_file(top.join("link")).expect("removed");
        std::os::unix::fs::symlink("root", top.join("link")).expect("a link");
        // A folder below it does.
        std::fs::rename(top.join("root/a"), top.join("away")).expect("renamed");
        std::os::unix::fs::symlink("../other/a", top.join("root/a")).expect("a link");
        assert_eq!(dirs.open(b).err(), Some(Errno::LOOP));
        dirs.write().open_by(PathRules {
            follow: true,
            tied_roots: true,
        });
        assert!(dirs.open(b).is_ok(), "links are to be followed");
    }
}
