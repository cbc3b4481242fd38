//! How a folder is opened: from where, and by which names.
//!
//! A route is read from the table under its lock and followed without the lock. Otherwise a file system that does not
//! answer would keep all threads from the table.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, Result};

use crate::sys::{open, parent, stat};

use super::{DirId, DirTable, SharedDirs};

/// Longest path handed to the kernel at once; `PATH_MAX` is 4096 with its NUL.
const LONGEST_CALL: usize = 4000;

/// The way to a folder.
struct Route<'fd> {
    start: Start<'fd>,
    /// Relative paths, each one step.
    steps: Vec<CString>,
    follow: bool,
}

enum Start<'fd> {
    Held(BorrowedFd<'fd>),
    /// A root, its path, and its device and inode number if it must have these.
    Root(DirId, CString, Option<(u64, u64)>),
}

/// A folder that was opened.
pub(super) struct Opened {
    pub(super) folder: OwnedFd,
    /// Its root, if that was opened on the way to it.
    pub(super) root: Option<(DirId, OwnedFd)>,
}

impl Route<'_> {
    fn open(self) -> Result<Opened> {
        let root = match &self.start {
            Start::Held(_) => None,
            Start::Root(root, path, id) => Some((*root, open_root(path, *id)?)),
        };
        let mut reached = None;
        for step in &self.steps {
            let at = match (&reached, &root, &self.start) {
                (Some(reached), ..) => AsFd::as_fd(reached),
                (None, Some((_, root)), _) => root.as_fd(),
                (None, None, Start::Held(held)) => *held,
                (None, None, Start::Root(..)) => return Err(Errno::BADF),
            };
            reached = Some(match self.follow {
                true => open::folder_handle(at, step)?,
                // What was a folder when it was listed may be a link by now, which leads anywhere.
                false => parent::open_below(at, step)?,
            });
        }
        match (reached, root) {
            (Some(folder), root) => Ok(Opened { folder, root }),
            (None, Some((_, folder))) => Ok(Opened { folder, root: None }),
            (None, None) => Err(Errno::BADF),
        }
    }
}

/// Opens a root by the path that the user gave, with the links on it.
fn open_root(path: &CString, id: Option<(u64, u64)>) -> Result<OwnedFd> {
    let opened = open::folder_handle(open::CWD, path)?;
    if let Some(id) = id {
        let now = stat::descriptor(&opened)?;
        if id != (now.dev, now.ino) {
            return Err(Errno::STALE);
        }
    }
    Ok(opened)
}

impl DirTable {
    /// Opens a folder as a starting point for relative system calls, whatever the length of its path.
    pub fn open(&self, dir: DirId) -> Result<OwnedFd> {
        Ok(self.route(dir, |_| None)?.open()?.folder)
    }

    /// The way from the nearest folder above it that is `held` open. From the root, each folder of a deep path would be
    /// looked up again for every folder below it: quadratic time.
    fn route<'fd>(
        &self,
        dir: DirId,
        held: impl Fn(DirId) -> Option<BorrowedFd<'fd>>,
    ) -> Result<Route<'fd>> {
        let mut chain = vec![dir];
        let mut above = None;
        while let Some(parent) = self.parent(chain[chain.len() - 1]) {
            above = held(parent);
            if above.is_some() {
                break;
            }
            chain.push(parent);
        }
        let start = match above {
            Some(held) => Start::Held(held),
            None => self.start(chain.pop().unwrap_or(dir))?,
        };
        let mut steps = Vec::new();
        let mut path: Vec<u8> = Vec::new();
        for &dir in chain.iter().rev() {
            let name = self.name(dir);
            if !path.is_empty() && path.len() + name.len() > LONGEST_CALL {
                steps.push(c_path(std::mem::take(&mut path))?);
            }
            path.extend_from_slice(name);
            path.push(b'/');
        }
        if !path.is_empty() {
            steps.push(c_path(path)?);
        }
        Ok(Route {
            start,
            steps,
            follow: self.path_rules().follow,
        })
    }

    fn start<'fd>(&self, root: DirId) -> Result<Start<'fd>> {
        let path = self.name(root);
        let path = if path.is_empty() { b"." } else { path };
        // Folders that are only above a named file are not listed.
        let is_tied = self.path_rules().tied_roots && self.met(self.id(root)).contains(&root);
        let id = is_tied.then(|| self.identity(root));
        Ok(Start::Root(root, c_path(path.to_vec())?, id))
    }
}

fn c_path(path: Vec<u8>) -> Result<CString> {
    CString::new(path).map_err(|_| Errno::INVAL)
}

impl SharedDirs {
    /// Opens a folder as a starting point for relative system calls, whatever the length of its path.
    pub fn open(&self, dir: DirId) -> Result<OwnedFd> {
        Ok(self.open_from(dir, |_| None)?.folder)
    }

    /// The same, from the nearest folder above it that is `held` open.
    pub(super) fn open_from<'fd>(
        &self,
        dir: DirId,
        held: impl Fn(DirId) -> Option<BorrowedFd<'fd>>,
    ) -> Result<Opened> {
        let route = self.read().route(dir, held)?;
        route.open()
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
        let mut dirs = DirTable::default();
        dirs.open_by(PathRules {
            follow: false,
            tied_roots: true,
        });
        let link = CString::new(top.join("link").as_os_str().as_bytes()).expect("no NUL");
        let seen = stat::target(open::CWD, &link).expect("is there");
        let root = dirs.add_root(link.to_bytes(), 0, &seen);
        let a = dirs
            .add(FolderPlace::Below(root, b"a"), (1, 1), 0)
            .expect("new");
        let b = dirs
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
        dirs.open_by(PathRules {
            follow: true,
            tied_roots: true,
        });
        assert!(dirs.open(b).is_ok(), "links are to be followed");
    }

    /// Three times as deep as a path may be for the kernel.
    #[test]
    fn a_folder_deeper_than_any_path_is_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut dirs = DirTable::default();
        let path = folder.path().as_os_str().as_bytes();
        let mut at = dirs.add_root(path, 0, (1, 1));
        let mut all = vec![at];
        let mut handle = dirs.open(at).expect("is there");
        for depth in 0..60_usize {
            // Lengths that end right before, at and behind each limit.
            let name = vec![b'd'; 200 + depth % 50];
            let c_name = CString::new(name.clone()).expect("no NUL");
            rustix::fs::mkdirat(&handle, &c_name, rustix::fs::Mode::RWXU).expect("made");
            handle = open::folder_handle(&handle, &c_name).expect("is there");
            let s = stat::descriptor(&handle).expect("is open");
            at = dirs.add(FolderPlace::Below(at, &name), &s, 0).expect("new");
            all.push(at);
        }
        for &dir in &all[1..] {
            let opened = dirs.open(dir).expect("is there");
            let s = stat::descriptor(&opened).expect("is open");
            assert_eq!((s.dev, s.ino), dirs.identity(dir));
        }
        let mut path = Vec::new();
        dirs.path(at, &mut path);
        assert!(path.len() > 3 * 4096, "{}", path.len());
    }
}
