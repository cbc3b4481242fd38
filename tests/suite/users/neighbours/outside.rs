//! What lies outside the tree and must not change: a record of all that can be seen of it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{lgetxattr, llistxattr};

/// All that can be seen of a file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub inode: (u64, u64),
    pub links: u64,
    pub size: u64,
    pub mode: u32,
    pub owner: (u32, u32),
    pub changed: (i64, i64),
    pub modified: (i64, i64),
    pub attributes: Vec<(String, Vec<u8>)>,
    pub content: Vec<u8>,
}

impl Seen {
    pub fn of(path: &Path) -> Self {
        let now = fs::symlink_metadata(path).expect("it is there");
        Self {
            inode: (now.dev(), now.ino()),
            links: now.nlink(),
            size: now.size(),
            mode: now.mode(),
            owner: (now.uid(), now.gid()),
            changed: (now.ctime(), now.ctime_nsec()),
            modified: (now.mtime(), now.mtime_nsec()),
            attributes: attributes(path),
            content: match now.is_file() {
                true => fs::read(path).expect("root may read it"),
                false => Vec::new(),
            },
        }
    }
}

/// Extended attributes: ACLs, capabilities and others.
fn attributes(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut names = vec![0; 4096];
    let length = llistxattr(path, &mut names[..]).unwrap_or(0);
    let names = names[..length].split(|&b| b == 0);
    let names = names.filter(|name| !name.is_empty());
    let value = |name: &[u8]| {
        let name = String::from_utf8_lossy(name).into_owned();
        let mut value = vec![0; 4096];
        let length = lgetxattr(path, name.as_str(), &mut value[..]).unwrap_or(0);
        value.truncate(length);
        (name, value)
    };
    names.map(value).collect()
}

/// Everything from here on down.
pub fn record(top: &Path) -> BTreeMap<PathBuf, Seen> {
    let entries = walkdir::WalkDir::new(top).into_iter();
    let entries = entries.map(|entry| entry.expect("root may look at it").into_path());
    entries
        .map(|path| (path.clone(), Seen::of(&path)))
        .collect()
}
