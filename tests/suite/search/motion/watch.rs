//! Knows which folders a run has opened, by inotify.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

#[derive(Debug)]
pub struct Watch {
    inotify: OwnedFd,
    folders: HashMap<i32, String>,
}

impl Watch {
    pub fn new() -> Self {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC);
        Self {
            inotify: inotify.expect("inotify is there"),
            folders: HashMap::new(),
        }
    }

    /// Watches a folder, which is called so from now on.
    pub fn add(&mut self, path: &Path, name: &str) {
        let flags = WatchFlags::OPEN | WatchFlags::ONLYDIR;
        let wd = inotify::add_watch(&self.inotify, path, flags).expect("a watch");
        self.folders.insert(wd, name.to_owned());
    }

    /// Waits a while for something to be opened; returns the folders, and how many openings there were of
    /// folders and files.
    pub fn wait(&self, milliseconds: i64) -> (Vec<String>, usize) {
        let mut fds = [PollFd::new(&self.inotify, PollFlags::IN)];
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: milliseconds * 1_000_000,
        };
        let _ = poll(&mut fds, Some(&timeout));
        let mut buffer = [MaybeUninit::uninit(); 1 << 14];
        let mut reader = inotify::Reader::new(&self.inotify, &mut buffer);
        let (mut opened, mut openings) = (Vec::new(), 0);
        loop {
            match reader.next() {
                Ok(event) => {
                    assert!(!event.events().contains(ReadFlags::QUEUE_OVERFLOW));
                    let is_opening = event.events().contains(ReadFlags::OPEN);
                    openings += usize::from(is_opening);
                    if is_opening
                        && event.file_name().is_none()
                        && event.events().contains(ReadFlags::ISDIR)
                        && let Some(folder) = self.folders.get(&event.wd())
                    {
                        opened.push(folder.clone());
                    }
                }
                Err(Errno::AGAIN) => return (opened, openings),
                Err(error) => panic!("{error}"),
            }
        }
    }
}
