//! Keeps many reads in flight through a ring.
//!
//! Files begin in the order of their tasks. Each file is read in pieces of one slot's size, several at a time. Pieces
//! may arrive in any order; they are folded in the order of the file. Cached pieces are read at once and never wait
//! behind pieces from the disk.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use crate::device::VolumeId;
use crate::hash::{Digest, Running};
use crate::heartbeat::current;
use crate::sys::reads::Ring;

use super::reader::{Reader, finished, is_whole, refused};
use super::task::Source;
use super::task::{Failure, Outcome, SPANS, Span, Task};

/// A file being read.
struct RingFile {
    task: Task,
    fd: Arc<OwnedFd>,
    /// Next piece to request.
    span: usize,
    offset: u64,
    /// Slots in the order of the file.
    asked: VecDeque<usize>,
    state: Running,
    folded: u64,
    digests: [Option<Digest>; SPANS],
    /// Its bytes are gathered, and digested later.
    is_unhashed: bool,
    failure: Option<Failure>,
}

impl RingFile {
    fn has_one_span(&self) -> bool {
        self.task.spans.iter().filter(|span| span.len > 0).count() == 1
    }
}

/// The read of a slot.
#[derive(Clone, Copy, Default)]
struct Piece {
    file: usize,
    span: usize,
    offset: u64,
    len: usize,
    filled: usize,
    /// The number of its request.
    request: u64,
}

impl Piece {
    fn is_complete(&self) -> bool {
        self.filled == self.len
    }
}

/// The ring and its reads.
pub struct Many {
    ring: Ring,
    slot_size: usize,
    free: Vec<usize>,
    pieces: Vec<Piece>,
    /// As many places as slots, since each file has at least one piece in flight.
    files: Vec<Option<RingFile>>,
    /// The number of requests so far.
    requests: u64,
    /// The file with pieces to request: the next file begins when all pieces of this one are requested.
    current: Option<usize>,
}

impl Many {
    /// A ring with nothing in flight, of this many slots, each of this many bytes.
    pub fn new(ring: Ring, slots: usize, slot_size: usize) -> Self {
        Self {
            ring,
            slot_size,
            free: (0..slots).rev().collect(),
            pieces: (0..slots).map(|_| Piece::default()).collect(),
            files: (0..slots).map(|_| None).collect(),
            requests: 0,
            current: None,
        }
    }

    /// Carries out tasks as long as there are any; false if the ring failed before.
    pub fn run(&mut self, reader: &mut Reader, source: &mut Source<'_>) -> bool {
        loop {
            self.fill(reader, source);
            reader.complete_unhashed(source);
            source.flush();
            if self.ring.in_flight() == 0 {
                return true;
            }
            if let Some(volume) = self.waits_for() {
                current::ask_of(volume.0);
            }
            let waited = self.ring.wait(1);
            reader.stopped();
            if waited.is_err() {
                self.give_up(reader, source);
                return false;
            }
            while let Some((slot, result)) = self.ring.completed() {
                self.arrived(slot, result, reader, source);
            }
        }
    }

    /// The volume of the read that has waited the longest for its answer.
    fn waits_for(&self) -> Option<VolumeId> {
        let pieces = self.pieces.iter().filter(|piece| !piece.is_complete());
        let oldest = pieces.min_by_key(|piece| piece.request)?;
        let file = self.files[oldest.file].as_ref()?;
        Some(file.task.device.volume)
    }

    /// Begins as many tasks as there is room for.
    fn fill(&mut self, reader: &mut Reader, source: &mut Source<'_>) {
        loop {
            while let (false, Some(file)) = (self.free.is_empty(), self.current) {
                self.ask(file, reader);
            }
            if self.free.is_empty() {
                return;
            }
            let Some((task, name)) = source.peek() else {
                return;
            };
            let Some(opened) = reader.open(&task, name, self.ring.in_flight() > 0) else {
                return;
            };
            source.advance();
            self.begin(task, opened, reader, source);
        }
    }

    fn begin(
        &mut self,
        mut task: Task,
        opened: Result<OwnedFd, Failure>,
        reader: &mut Reader,
        source: &mut Source<'_>,
    ) {
        let fd = match opened {
            Ok(fd) => fd,
            Err(failure) => return source.complete(&task, Outcome::Failed(failure)),
        };
        if reader.end_known(&mut task, fd.as_fd(), source) {
            return;
        }
        let Some(place) = self.files.iter().position(Option::is_none) else {
            // Cannot be: each file begun before holds a slot, and there was a free one.
            let outcome = reader.read_in_time(&task, fd.as_fd());
            return source.complete(&task, outcome);
        };
        let span = task.spans.iter().position(|span| span.len > 0).unwrap_or(0);
        self.files[place] = Some(RingFile {
            offset: task.spans[span].offset,
            span,
            task,
            fd: Arc::new(fd),
            asked: VecDeque::new(),
            state: Running::default(),
            folded: 0,
            digests: [None; SPANS],
            is_unhashed: false,
            failure: None,
        });
        self.current = Some(place);
        self.ask(place, reader);
    }

    /// Requests a file's next piece.
    fn ask(&mut self, place: usize, reader: &Reader) {
        let (Some(slot), Some(file)) = (self.free.pop(), self.files[place].as_mut()) else {
            return;
        };
        let span = file.task.spans[file.span];
        let left = span.offset + span.len - file.offset;
        let len = left.min(self.slot_size as u64) as usize;
        let piece = Piece {
            file: place,
            span: file.span,
            offset: file.offset,
            len,
            filled: 0,
            request: self.requests,
        };
        if !reader.spend(&file.task, len as u64) {
            // The pieces in flight end the file.
            file.failure
                .get_or_insert(Failure::Refused(Errno::CANCELED));
        }
        self.ring.read(slot, &file.fd, piece.offset, 0, len);
        self.requests += 1;
        self.pieces[slot] = piece;
        file.asked.push_back(slot);
        file.offset += len as u64;
        if file.offset == span.offset + span.len {
            file.span += 1;
            match file.task.spans.get(file.span) {
                Some(next) if next.len > 0 => file.offset = next.offset,
                _ => self.current = None,
            }
        }
    }

    fn arrived(
        &mut self,
        slot: usize,
        result: std::io::Result<usize>,
        reader: &mut Reader,
        source: &mut Source<'_>,
    ) {
        let piece = &mut self.pieces[slot];
        let place = piece.file;
        let Some(file) = self.files[place].as_mut() else {
            return;
        };
        let failure = match result {
            // Shorter than the scan said: cut off meanwhile.
            Ok(0) => Some(Failure::Changed),
            Ok(n) => {
                piece.filled += n;
                if !piece.is_complete() && file.failure.is_none() {
                    let (at, left) = (piece.filled, piece.len - piece.filled);
                    let offset = piece.offset + at as u64;
                    self.ring.read(slot, &file.fd, offset, at, left);
                    return;
                }
                None
            }
            Err(e) => {
                let error = Errno::from_io_error(&e).unwrap_or(Errno::IO);
                Some(refused(&file.task, file.fd.as_fd(), error))
            }
        };
        if file.failure.is_none() {
            file.failure = failure;
        }
        if reader.stopped() {
            file.failure
                .get_or_insert(Failure::Refused(Errno::CANCELED));
        }
        if file.failure.is_some() {
            // No more of this file is wanted: neither the rest of this piece nor further ones.
            piece.filled = piece.len;
            if self.current == Some(place) {
                self.current = None;
            }
        }
        self.fold(place, reader, source);
    }

    /// Folds the pieces that have arrived in order, and ends the file when all have arrived.
    fn fold(&mut self, place: usize, reader: &mut Reader, source: &mut Source<'_>) {
        let Some(file) = self.files[place].as_mut() else {
            return;
        };
        while let Some(&slot) = file.asked.front() {
            let piece = self.pieces[slot];
            if !piece.is_complete() {
                return;
            }
            file.asked.pop_front();
            self.free.push(slot);
            if file.failure.is_some() {
                continue;
            }
            let span: Span = file.task.spans[piece.span];
            let bytes = self.ring.bytes(slot, piece.len);
            let whole = is_whole(&file.task, span);
            file.folded += piece.len as u64;
            if piece.len as u64 == span.len && file.has_one_span() {
                reader.unhashed.room(piece.len).copy_from_slice(bytes);
                reader.unhashed.take(piece.len, whole);
                file.is_unhashed = true;
                continue;
            }
            if piece.len as u64 == span.len {
                file.digests[piece.span] = Some(reader.fold.at_once(bytes, whole));
                continue;
            }
            reader.fold.feed(&mut file.state, bytes);
            if piece.offset + piece.len as u64 == span.offset + span.len {
                let state = std::mem::take(&mut file.state);
                file.digests[piece.span] = Some(reader.fold.finish(state, whole));
            }
        }
        if self.current == Some(place) {
            return;
        }
        if let Some(file) = self.files[place].take() {
            // It is looked at, and closed.
            current::ask_of(file.task.device.volume.0);
            let outcome = match file.failure {
                Some(failure) => Outcome::Failed(failure),
                None if file.is_unhashed => {
                    return reader.end_unhashed(&file.task, file.fd.as_fd(), false, source);
                }
                None => {
                    let fd = file.fd.as_fd();
                    finished(&file.task, fd, file.digests, file.folded, false)
                }
            };
            source.complete(&file.task, outcome);
        }
    }

    /// Reads the requested pieces without the ring after the ring itself failed (the kernel may be out of memory).
    fn give_up(&mut self, reader: &mut Reader, source: &mut Source<'_>) {
        for file in self.files.iter_mut().filter_map(Option::take) {
            let outcome = match file.failure {
                Some(failure) => Outcome::Failed(failure),
                None => reader.read_in_time(&file.task, file.fd.as_fd()),
            };
            source.complete(&file.task, outcome);
        }
    }
}
