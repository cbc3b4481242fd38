//! A thread that reads whole files, one after the other, and keeps the disk busy ahead of itself.
//!
//! What comes next, of this file and of the following ones, is announced to the kernel
//! (`POSIX_FADV_WILLNEED`) up to a window of bytes ahead; then it is read, mostly from the page
//! cache. So the disk has many requests in the order of the files, and the pieces need no
//! buffers of their own.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use crate::sys::fadvise::{self, Advice};
use crate::sys::pread;

use super::behind::{Behind, Range};
use super::fold::Fold;
use super::reader::{PIECE, Reader, finished, is_expected, is_whole, refused};
use super::source::Source;
use super::task::{Failure, Outcome, SPANS, Task};

/// Bytes announced with one call: with the usual readahead settings the kernel would cut off more.
const STEP: u64 = PIECE as u64;

/// Bytes of a long file after which their pages are given back.
const GIVEN_BACK: u64 = 32 << 20;

/// How far a thread looks ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Bytes that are announced and not yet read, when the next are announced.
    pub bytes: u64,
    /// Files open at most.
    pub files: usize,
}

/// Reads whole files. Lives as long as its thread.
pub struct Stream<F: Fold> {
    window: Window,
    /// In the order in which they are read; the last is the one being announced.
    files: VecDeque<File<F>>,
    /// Bytes of `files` that were announced and not read.
    ahead: u64,
}

/// A file under way.
struct File<F: Fold> {
    task: Task,
    fd: Arc<OwnedFd>,
    announced: u64,
    read: u64,
    /// Of these, bytes whose pages are given back or about to be.
    given_back: u64,
    state: F::State,
    drop_behind: bool,
}

impl<F: Fold> File<F> {
    fn len(&self) -> u64 {
        self.task.spans[0].len
    }

    /// Has the pages read so far given back.
    fn give_back(&mut self, behind: &Behind) {
        if self.drop_behind {
            behind.push(Range {
                file: Arc::clone(&self.fd),
                offset: self.task.spans[0].offset + self.given_back,
                len: self.read - self.given_back,
            });
            self.given_back = self.read;
        }
    }
}

impl<F: Fold> Stream<F> {
    /// A stream with nothing under way.
    pub fn new(window: Window) -> Self {
        Self {
            window,
            files: VecDeque::new(),
            ahead: 0,
        }
    }

    /// Does tasks as long as there are any.
    pub fn run(&mut self, reader: &mut Reader<F>, source: &mut Source<'_, F>) {
        loop {
            while (self.files.is_empty() || self.ahead < self.window.bytes)
                && self.look_ahead(reader, source)
            {}
            if self.files.is_empty() {
                return;
            }
            self.read_on(reader, source);
        }
    }

    /// Announces one step more; false if there is nothing to announce.
    fn look_ahead(&mut self, reader: &mut Reader<F>, source: &mut Source<'_, F>) -> bool {
        if let Some(file) = self.files.back_mut()
            && file.announced < file.len()
        {
            let len = STEP.min(file.len() - file.announced);
            fadvise::advise(
                &file.fd,
                file.task.spans[0].offset + file.announced,
                len,
                Advice::WillNeed,
            );
            file.announced += len;
            self.ahead += len;
            return true;
        }
        if !self.files.is_empty() && self.files.len() >= self.window.files {
            return false;
        }
        let Some((task, name)) = source.peek() else {
            return false;
        };
        let opened = match reader.stopped() {
            true => Err(Failure::Refused(Errno::CANCELED)),
            false => match reader.try_open(&task, name) {
                Some(opened) => opened,
                // Descriptors are short: ours come free when what we have is read.
                None if !self.files.is_empty() => return false,
                None => reader.open(&task, name),
            },
        };
        source.advance();
        if let Err(failure) = opened.and_then(|fd| self.begin(reader, task, fd)) {
            source.complete(&task, Outcome::Failed(failure));
        }
        true
    }

    fn begin(&mut self, reader: &Reader<F>, task: Task, fd: OwnedFd) -> Result<(), Failure> {
        is_expected(&task, fd.as_fd())?;
        let missing = reader.uncached_bytes(&task, fd.as_fd());
        let drop_behind = reader.drops_behind(&task, missing);
        let mut file = File {
            task,
            fd: Arc::new(fd),
            announced: 0,
            read: 0,
            given_back: 0,
            state: F::State::default(),
            drop_behind,
        };
        if missing == Some(0) {
            file.announced = file.len();
            self.ahead += file.len();
        }
        self.files.push_back(file);
        Ok(())
    }

    /// Reads the next piece of the first file.
    fn read_on(&mut self, reader: &mut Reader<F>, source: &mut Source<'_, F>) {
        let Some(file) = self.files.front_mut() else {
            return;
        };
        let want = (file.len() - file.read).min(PIECE as u64);
        let piece = reader.piece(want as usize);
        let at = file.task.spans[0].offset + file.read;
        let result = match pread::full(file.fd.as_fd(), piece, at) {
            Ok(n) if n as u64 == want => Ok(()),
            // Shorter than the scan said: cut off meanwhile.
            Ok(_) => Err(Failure::Changed),
            Err(e) => Err(refused(&file.task, file.fd.as_fd(), e)),
        };
        let whole = is_whole(&file.task, file.task.spans[0]);
        let failure = match result {
            Ok(()) if reader.stopped() => Some(Failure::Refused(Errno::CANCELED)),
            Ok(()) => None,
            Err(failure) => Some(failure),
        };
        let digest = match failure {
            Some(_) => None,
            None if want == file.len() => Some(reader.digest_of_piece(want as usize, whole)),
            None => {
                reader.feed_piece(&mut file.state, want as usize);
                (file.read + want == file.len()).then(|| {
                    let state = std::mem::take(&mut file.state);
                    reader.fold.finish(state, whole)
                })
            }
        };
        let read_now = file.announced.min(file.read + want) - file.read.min(file.announced);
        file.read += want;
        self.ahead -= read_now;
        if failure.is_none() && digest.is_none() {
            if file.read - file.given_back >= GIVEN_BACK {
                file.give_back(&reader.settings.behind);
            }
            return;
        }
        let Some(mut file) = self.files.pop_front() else {
            return;
        };
        // A failure leaves some of the file announced and not read.
        self.ahead -= file.announced - file.read.min(file.announced);
        let mut digests = [None; SPANS];
        digests[0] = digest;
        let outcome = match failure {
            Some(failure) => Outcome::Failed(failure),
            None => finished(&file.task, file.fd.as_fd(), digests, file.read),
        };
        source.complete(&file.task, outcome);
        // Each was long to read, and what it brings may be what others wait for.
        source.flush();
        file.give_back(&reader.settings.behind);
    }
}
