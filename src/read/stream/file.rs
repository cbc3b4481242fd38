//! A file in progress: how much of it was announced and read, and the digest so far.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use crate::hash::{Digest, Running};
use crate::read::access::{LARGE, PIECE};
use crate::read::holes::Holes;
use crate::read::open_file::OpenFile;
use crate::read::reader::{Reader, finished, is_whole};
use crate::read::task::{Failure, Outcome, SPANS, Task};
use crate::sys::page_cache::{self, Advice};

/// Bytes read at a time while fewer than `SETTLED` of the file have been read. The kernel's readahead begins with
/// single pages, up to four times as many as the first read requests, and only then takes larger and larger pieces of
/// memory (Linux, `mm/readahead.c`, on file systems with large folios), which many disks fill faster. 2.7 GB of photos,
/// cold, on a network SSD with a readahead of 8 MiB, took 2.1 s when they were read by 256 KiB from the start, and 1.6
/// s in this way; 8 and 32 KiB were no better.
pub(super) const FIRST: u64 = 16 << 10;

/// See `FIRST`. 256 KiB made no difference.
pub(super) const SETTLED: u64 = 64 << 10;

/// Bytes that are announced with one call, and read at a time after that. They are half of the window, so that the disk
/// has the next ones to read while this thread is woken for the last ones. With the usual readahead settings, the kernel
/// would truncate ranges longer than 256 KiB.
pub(super) const STEP: u64 = PIECE as u64 / 2;

/// Bytes of a hole that are hashed between two checks whether the run is over: a fifth of a second, once.
const ZEROS: u64 = 1 << 30;

/// A file in progress.
pub(super) struct File {
    pub task: Task,
    pub open: OpenFile<Arc<OwnedFd>>,
    /// The first span to read. A span that is the beginning of the next one is read together with the next one.
    first: usize,
    /// Bytes of the spans that were announced and that were read.
    pub announced: u64,
    pub read: u64,
    /// Of these, bytes in holes.
    skipped: u64,
    /// Of the bytes read, those whose pages are dropped or about to be.
    pub given_back: u64,
    state: Running,
    digests: [Option<Digest>; SPANS],
    holes: Holes,
    /// It is announced to the kernel step by step.
    is_announced: bool,
    /// The kernel reads it ahead.
    is_left_to_readahead: bool,
    /// All of it was in the page cache.
    is_cached: bool,
}

/// A range of consecutive bytes of a file.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    span: usize,
    pub offset: u64,
    pub len: u64,
    /// They are zeros, and not read.
    pub is_hole: bool,
}

impl File {
    pub fn new(task: Task, fd: Arc<OwnedFd>, (is_direct, is_thin): (bool, bool)) -> Self {
        let [head, whole] = task.spans;
        let along = head.offset == whole.offset && head.len <= whole.len.min(STEP);
        Self {
            first: usize::from(along),
            open: OpenFile::new(fd, task.device.volume, is_direct),
            task,
            announced: 0,
            read: 0,
            skipped: 0,
            given_back: 0,
            state: Running::default(),
            digests: [None; SPANS],
            holes: Holes::of(is_thin),
            is_announced: false,
            is_left_to_readahead: false,
            is_cached: false,
        }
    }

    /// Finds out whether the file is cached, and starts readahead for it unless it is announced step by step.
    pub fn prepare(&mut self, reader: &mut Reader, is_announced: bool) {
        self.is_announced = is_announced;
        let len = self.len();
        if len >= PIECE as u64 || !is_announced {
            let missing = reader.uncached_bytes(&self.task, self.open.fd.as_fd());
            let in_one = len == self.task.spans[self.first].len;
            self.open.drops_behind = in_one && reader.drops_behind(&self.task, missing);
            if missing == Some(0) && !self.open.is_direct {
                self.is_cached = true;
                self.announced = len;
                return;
            }
        }
        // The kernel reads nothing ahead that is not paid for.
        let is_limited = reader.settings.access.budgets.are_limited();
        if is_announced || self.open.is_direct || is_limited {
            return;
        }
        self.is_left_to_readahead = true;
        let advice = if !reader.settings.read_ahead {
            Advice::Random
        } else {
            Advice::Sequential
        };
        page_cache::advise(&self.open.fd, 0, 0, advice);
    }

    /// True if its head says whether it is read on, and is not known yet.
    pub fn may_end(&self) -> bool {
        self.task.go_on_with.is_some() && self.digests[0].is_none()
    }

    /// True if nothing of it is left to read.
    pub fn is_done(&self) -> bool {
        let ends = |only| self.digests[0].is_some_and(|head| head != Digest::Sample(only));
        self.read == self.len() || self.task.go_on_with.is_some_and(ends)
    }

    /// Number of bytes to read.
    pub fn len(&self) -> u64 {
        self.task.spans[self.first..].iter().map(|s| s.len).sum()
    }

    /// The position of the head of its disk, if the file lies there in one piece.
    pub fn head(&self) -> u64 {
        self.task.position + self.read
    }

    /// Number of bytes of the next read.
    fn next_len(&self) -> u64 {
        let begins = self.is_left_to_readahead && self.read < SETTLED;
        let most = if self.open.is_direct {
            LARGE as u64
        } else if self.is_announced {
            STEP
        } else if begins && self.first == 0 {
            FIRST
        } else if begins {
            // What is the beginning comes along with the first piece.
            FIRST.max(self.task.spans[0].len)
        } else {
            PIECE as u64
        };
        most.min(self.len() - self.read)
    }

    /// The next piece to read: of the usual length, or the rest of a hole.
    pub fn next_to_read(&mut self) -> Piece {
        let piece = self.piece_at(self.read, self.next_len());
        let run = self.holes.at(&self.open.fd, piece.offset);
        let left = run.end - piece.offset;
        if run.is_hole {
            let most = left.min(self.len() - self.read).min(ZEROS);
            Piece {
                is_hole: true,
                ..self.piece_at(self.read, most)
            }
        } else {
            Piece {
                len: piece.len.min(left),
                ..piece
            }
        }
    }

    /// The next piece to announce, of at most this many bytes.
    pub fn next_to_announce(&self, most: u64) -> Piece {
        self.piece_at(self.announced, most.min(self.len() - self.announced))
    }

    /// The piece that begins after this many bytes, of this many at most.
    fn piece_at(&self, mut after: u64, most: u64) -> Piece {
        let mut span = self.first;
        while after >= self.task.spans[span].len && span + 1 < SPANS {
            after -= self.task.spans[span].len;
            span += 1;
        }
        Piece {
            span,
            offset: self.task.spans[span].offset + after,
            len: most.min(self.task.spans[span].len - after),
            is_hole: false,
        }
    }

    /// Reads a piece, or a bit more, into the reader's buffer; returns the number of bytes read.
    pub fn read_piece(
        &self,
        reader: &mut Reader,
        piece: Piece,
        unpaid: u64,
    ) -> rustix::io::Result<usize> {
        reader.read(&self.open, unpaid, piece.len as usize, piece.offset)
    }

    /// Folds the piece that was read last from the reader's buffer.
    pub fn fold(&mut self, reader: &Reader, piece: Piece) {
        if piece.is_hole {
            return self.fold_zeros(reader, piece);
        }
        let len = piece.len as usize;
        if len == 0 {
            return;
        }
        let head = self.task.spans[0];
        if self.first == 1 && head.len > 0 && piece.offset == head.offset {
            let digest = reader.digest_of_piece(head.len as usize, is_whole(&self.task, head));
            self.digests[0] = Some(digest);
        }
        let span = self.task.spans[piece.span];
        let whole = is_whole(&self.task, span);
        if piece.len == span.len {
            self.digests[piece.span] = Some(reader.digest_of_piece(len, whole));
            return;
        }
        reader.feed_piece(&mut self.state, len);
        self.end_span(reader, piece);
    }

    fn fold_zeros(&mut self, reader: &Reader, piece: Piece) {
        self.skipped += piece.len;
        self.state.feed_zeros(piece.len);
        self.end_span(reader, piece);
    }

    /// Ends the span of a piece if that was its last.
    fn end_span(&mut self, reader: &Reader, piece: Piece) {
        let span = self.task.spans[piece.span];
        if piece.offset + piece.len == span.offset + span.len {
            let state = std::mem::take(&mut self.state);
            let whole = is_whole(&self.task, span);
            self.digests[piece.span] = Some(reader.fold.finish(state, whole));
        }
    }

    /// The outcome after the read, or its failure.
    pub fn outcome(&self, failure: Option<Failure>) -> Outcome {
        // What failed was read as far as it goes.
        let read = self.read - self.skipped.min(self.read);
        match failure {
            Some(failure) => Outcome::Failed(failure),
            None => {
                let fd = self.open.fd.as_fd();
                finished(&self.task, fd, self.digests, read, self.is_cached)
            }
        }
    }

    /// Lets the reader drop the pages read so far, if they must be dropped.
    pub fn give_back(&mut self, reader: &mut Reader) {
        if self.open.drops_behind {
            let offset = self.task.spans[self.first].offset + self.given_back;
            let file = (&self.open.fd, self.task.device.volume);
            let len = self.read - self.given_back;
            reader.read_ranges.push(file, offset, len);
        }
        self.given_back = self.read;
    }
}
