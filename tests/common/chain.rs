//! A chain of nested folders, longer than any path may be.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::write;

/// Folders of one name, each in the one before. Made and removed step by step from the folder
/// above: the system takes no path of this length.
#[derive(Debug)]
pub struct Chain {
    top: OwnedFd,
    link: String,
    depth: usize,
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

impl Chain {
    /// Nests `depth` folders called `link` below `top`.
    pub fn new(top: &Path, link: &str, depth: usize) -> Self {
        let top = openat(CWD, top, FOLDER, Mode::empty()).expect("the top folder can be opened");
        let chain = Self {
            top,
            link: link.to_owned(),
            depth,
        };
        let mut here = chain.top.try_clone().expect("a descriptor can be copied");
        for _ in 0..depth {
            mkdirat(&here, link, Mode::from_raw_mode(0o755)).expect("a folder can be made");
            here = openat(&here, link, FOLDER, Mode::empty()).expect("a folder can be opened");
        }
        chain
    }

    /// Writes a file into the deepest folder.
    pub fn write(&self, name: &str, content: &[u8]) {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o644);
        let file = openat(self.deepest(), name, flags, mode).expect("a file can be made");
        assert_eq!(write(&file, content), Ok(content.len()));
    }

    /// The deepest folder's path below the top, with a slash at its end.
    pub fn path(&self) -> String {
        format!("{}/", self.link).repeat(self.depth)
    }

    fn deepest(&self) -> OwnedFd {
        let mut here = self.top.try_clone().expect("a descriptor can be copied");
        for _ in 0..self.depth {
            let below = openat(&here, self.link.as_str(), FOLDER, Mode::empty());
            here = below.expect("a folder can be opened");
        }
        here
    }
}

impl Drop for Chain {
    /// Climbs from the bottom: deleting by path, or with a descriptor a level, would not get far.
    fn drop(&mut self) {
        let mut here = self.deepest();
        if let Ok(folder) = rustix::fs::Dir::read_from(&here) {
            for entry in folder.flatten() {
                let _ = unlinkat(&here, entry.file_name(), AtFlags::empty());
            }
        }
        for _ in 0..self.depth {
            let Ok(above) = openat(&here, "..", FOLDER, Mode::empty()) else {
                return;
            };
            here = above;
            let _ = unlinkat(&here, self.link.as_str(), AtFlags::REMOVEDIR);
        }
    }
}
