//! A thread that reads files one after the other, and keeps the disk busy ahead of itself.
//!
//! Where it is the only thread that reads the disk, it announces the next bytes of this file and of the following files
//! to the kernel (`POSIX_FADV_WILLNEED`), up to a window of bytes ahead. Then it reads, mostly from the page cache. The
//! disk thus has many requests in the order of the files, and the pieces need no buffers of their own. Where there are
//! many such threads, the kernel reads ahead for each.

mod file;
mod spacing;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use crate::sys::page_cache::{self, Advice};

use super::reader::{Reader, expected, may_be_stored, refused};
use super::task::Source;
use super::task::{Failure, Outcome, Task};

use file::{File, Piece, STEP};
use spacing::Spacing;

/// Bytes of a long file after which their pages are given back.
const GIVEN_BACK: u64 = 32 << 20;

/// The window that a thread reads ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Maximum number of bytes that are announced and not yet read when the next are announced.
    pub bytes: u64,
    /// Files open at most.
    pub files: usize,
}

impl Window {
    /// One file at a time, without announcements.
    pub const NONE: Self = Self { bytes: 0, files: 1 };
}

/// Reads whole files. Lives as long as its thread.
pub struct Stream {
    window: Window,
    /// Files in the order in which they are read; the last one is being announced.
    files: VecDeque<File>,
    /// Bytes of `files` that were announced and not read.
    ahead: u64,
    spacing: Spacing,
}

impl Stream {
    /// A stream without files.
    pub fn new(window: Window) -> Self {
        Self {
            window,
            files: VecDeque::new(),
            ahead: 0,
            spacing: Spacing::default(),
        }
    }

    /// Carries out tasks as long as there are any.
    pub fn run(&mut self, reader: &mut Reader, source: &mut Source<'_>) {
        loop {
            self.announce(reader, source);
            let Some((piece, failure)) = self.read_on(reader) else {
                return;
            };
            // The disk is to be busy while the processor is.
            if !self.files.front().is_some_and(File::may_end) {
                self.announce(reader, source);
            }
            self.take(piece, failure, reader, source);
        }
    }

    /// Announces as much as the window allows.
    fn announce(&mut self, reader: &mut Reader, source: &mut Source<'_>) {
        while (self.files.is_empty()
            || reader.settings.read_ahead && self.ahead < self.window.bytes)
            && self.look_ahead(reader, source)
        {}
    }

    /// Announces one step more; false if there is nothing to announce.
    fn look_ahead(&mut self, reader: &mut Reader, source: &mut Source<'_>) -> bool {
        let mut files = self.files.iter_mut();
        if let Some(file) = files.find(|file| file.announced < file.len()) {
            let Piece { offset, len, .. } = file.next_to_announce(STEP);
            if reader.spend(&file.task, len) {
                page_cache::advise(&file.open.fd, offset, len, Advice::WillNeed);
            }
            file.announced += len;
            self.ahead += len;
            return true;
        }
        if self.files.len() >= self.window.files.max(1) {
            return false;
        }
        let Some((task, name)) = source.peek() else {
            return false;
        };
        let bytes = self.window.bytes;
        let is_beyond = |first: &File| task.position.saturating_sub(first.head()) >= bytes;
        if self.spacing.is_dense() && self.files.front().is_some_and(is_beyond) {
            return false;
        }
        let Some(opened) = reader.open(&task, name, !self.files.is_empty()) else {
            return false;
        };
        source.advance();
        let len = task.spans.iter().map(|span| span.len).max();
        self.spacing.add(task.position, len.unwrap_or_default());
        match opened.map(Arc::new) {
            // The descriptor is closed after the answer: that call may not return either.
            Ok(fd) => {
                if let Err(outcome) = self.begin(reader, task, &fd) {
                    source.complete(&task, outcome);
                }
            }
            Err(failure) => source.complete(&task, Outcome::Failed(failure)),
        }
        true
    }

    /// Begins a file, unless its answer is known already.
    fn begin(
        &mut self,
        reader: &mut Reader,
        mut task: Task,
        fd: &Arc<OwnedFd>,
    ) -> Result<(), Outcome> {
        let now = expected(&task, fd.as_fd()).map_err(Outcome::Failed)?;
        task.is_stored = may_be_stored(&task, fd.as_fd());
        if let Some(outcome) = reader.look(&task, fd.as_fd()) {
            return Err(outcome);
        }
        let is_thin = reader.is_thin(fd, &now);
        reader.announce(&task, fd.as_fd());
        let is_direct = self.window == Window::NONE && reader.goes_past_cache(&task, fd.as_fd());
        let file = File::new(task, Arc::clone(fd), (is_direct, is_thin));
        self.push(reader, file);
        Ok(())
    }

    fn push(&mut self, reader: &mut Reader, mut file: File) {
        file.prepare(reader, self.window.bytes > 0);
        self.ahead += file.announced;
        self.files.push_back(file);
    }

    /// Reads the next piece of the first file into the reader's buffer.
    fn read_on(&mut self, reader: &mut Reader) -> Option<(Piece, Option<Failure>)> {
        let file = self.files.front_mut()?;
        let piece = file.next_to_read();
        // What was announced was paid for then, and what is cached costs nothing.
        let unpaid = (file.read + piece.len).saturating_sub(file.announced.max(file.read));
        let read = if piece.is_hole {
            Ok(piece.len as usize)
        } else {
            file.read_piece(reader, piece, unpaid)
        };
        let failure = match read {
            // Shorter than the scan said: cut off meanwhile.
            Ok(n) if n < piece.len as usize => Some(Failure::Changed),
            Ok(_) if reader.stopped() => Some(Failure::Refused(Errno::CANCELED)),
            Ok(_) => None,
            Err(e) => Some(refused(&file.task, file.open.fd.as_fd(), e)),
        };
        let before = file.read.min(file.announced);
        file.read += piece.len;
        self.ahead -= file.read.min(file.announced) - before;
        // A hole may end far behind what was announced.
        file.announced = file.announced.max(file.read);
        Some((piece, failure))
    }

    /// Processes the piece that was read, and ends the file after the last piece.
    fn take(
        &mut self,
        piece: Piece,
        failure: Option<Failure>,
        reader: &mut Reader,
        source: &mut Source<'_>,
    ) {
        let Some(file) = self.files.front_mut() else {
            return;
        };
        if failure.is_none() {
            file.fold(reader, piece);
        }
        if failure.is_none() && !file.is_done() {
            if file.read - file.given_back >= GIVEN_BACK {
                file.give_back(reader);
            }
            return;
        }
        let Some(mut file) = self.files.pop_front() else {
            return;
        };
        // A failure leaves some of the file announced and not read.
        self.ahead -= file.announced - file.read.min(file.announced);
        source.complete(&file.task, file.outcome(failure));
        // What was long to read may be what others wait for.
        source.flush();
        file.give_back(reader);
    }
}
