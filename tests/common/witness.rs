//! Sees what happens to names while a program runs, as the kernel tells it (inotify).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// Watches every folder below a folder that exists when it starts.
pub struct Witness {
    queue: OwnedFd,
    folders: BTreeMap<i32, PathBuf>,
}

impl Witness {
    pub fn of(top: &Path) -> Self {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
        let queue = queue.expect("a queue");
        let changes = WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO;
        let mut folders = BTreeMap::new();
        for entry in walkdir::WalkDir::new(top) {
            let entry = entry.expect("an entry");
            if entry.file_type().is_dir() {
                let watch = inotify::add_watch(&queue, entry.path(), changes).expect("watched");
                folders.insert(watch, entry.into_path());
            }
        }
        Self { queue, folders }
    }

    /// The paths that were made, changed, moved or removed, with what happened to them. A folder itself is its path.
    pub fn saw(&self) -> Vec<(PathBuf, ReadFlags)> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        let mut saw = Vec::new();
        loop {
            match reader.next() {
                Err(Errno::WOULDBLOCK) => return saw,
                Err(error) => panic!("the queue: {error}"),
                Ok(event) => {
                    let what = event.events();
                    assert!(!what.contains(ReadFlags::QUEUE_OVERFLOW), "too many events");
                    let Some(folder) = self.folders.get(&event.wd()) else {
                        continue;
                    };
                    let name = event
                        .file_name()
                        .map(|name| OsStr::from_bytes(name.to_bytes()));
                    let path = name.map_or_else(|| folder.clone(), |name| folder.join(name));
                    saw.push((path, what));
                }
            }
        }
    }
}
