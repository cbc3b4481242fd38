//! A thread that keeps many reads in flight through a ring.
//!
//! Files are begun in the order in which their tasks come. Each is read in pieces of one slot's
//! size, several at a time; pieces may arrive in any order and are folded in the right one. What is
//! in the page cache is read at once and never waits behind what is not.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};

use crossbeam_channel::{Receiver, Sender, TryRecvError};
use rustix::io::Errno;

use crate::sys::ring::Ring;

use super::behind::Behind;
use super::fold::Fold;
use super::one::{self, name_of};
use super::reader::{Reader, finished, is_expected, is_whole, refused};
use super::task::{Batch, Completion, Failure, Outcome, SPANS, Span, Task};

/// How much a thread keeps in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Reads in flight.
    pub slots: usize,
    /// Bytes of each.
    pub slot_size: usize,
}

/// Completions sent at a time while there is more to do.
const COMPLETIONS: usize = 64;

/// Does tasks until their channel closes.
pub fn run<F: Fold>(
    reader: Reader<F>,
    ring: Ring,
    shape: Shape,
    tasks: &Receiver<Batch>,
    done: &Sender<Vec<Completion<F::Digest>>>,
) {
    let mut many = Many {
        reader,
        ring,
        shape,
        free: (0..shape.slots).rev().collect(),
        pieces: (0..shape.slots).map(|_| Piece::default()).collect(),
        files: (0..shape.slots).map(|_| None).collect(),
        current: None,
        batch: Batch::default(),
        next: 0,
        behind: Behind::default(),
        completions: Vec::new(),
        done,
    };
    if !many.work(tasks) {
        let reader = many.give_up();
        one::run(reader, tasks, done);
    }
}

/// A file being read.
struct File<F: Fold> {
    task: Task,
    fd: OwnedFd,
    /// Next piece to ask for.
    span: usize,
    offset: u64,
    /// Slots in the order of the file.
    asked: VecDeque<usize>,
    state: F::State,
    folded: u64,
    digests: [Option<F::Digest>; SPANS],
    failure: Option<Failure>,
    drop_behind: bool,
}

/// What a slot is reading.
#[derive(Clone, Copy, Default)]
struct Piece {
    file: usize,
    span: usize,
    offset: u64,
    len: usize,
    filled: usize,
}

struct Many<'a, F: Fold> {
    reader: Reader<F>,
    ring: Ring,
    shape: Shape,
    free: Vec<usize>,
    pieces: Vec<Piece>,
    /// As many places as slots, since each file has one piece in flight at least.
    files: Vec<Option<File<F>>>,
    /// The file with pieces yet to ask for: the next one begins when all of its are asked for.
    current: Option<usize>,
    batch: Batch,
    next: usize,
    behind: Behind,
    completions: Vec<Completion<F::Digest>>,
    done: &'a Sender<Vec<Completion<F::Digest>>>,
}

impl<F: Fold> Many<'_, F> {
    /// Works until no task can come any more; false if the ring failed before.
    fn work(&mut self, tasks: &Receiver<Batch>) -> bool {
        loop {
            let more = self.fill(tasks);
            if self.ring.in_flight() == 0 {
                self.flush();
                self.behind.drop_all();
                if !more {
                    return true;
                }
                // Nothing to do: sleep until there is.
                match tasks.recv() {
                    Ok(batch) => (self.batch, self.next) = (batch, 0),
                    Err(_) => return true,
                }
                continue;
            }
            self.flush();
            if self.ring.wait(1).is_err() {
                return false;
            }
            while let Some((slot, result)) = self.ring.completed() {
                self.arrived(slot, result);
            }
        }
    }

    /// Begins as much as there is room for; false if no task can ever come again.
    fn fill(&mut self, tasks: &Receiver<Batch>) -> bool {
        loop {
            while let (false, Some(file)) = (self.free.is_empty(), self.current) {
                self.ask(file);
            }
            if self.free.is_empty() {
                return true;
            }
            if self.next == self.batch.tasks.len() {
                match tasks.try_recv() {
                    Ok(batch) => (self.batch, self.next) = (batch, 0),
                    Err(TryRecvError::Empty) => return true,
                    Err(TryRecvError::Disconnected) => return false,
                }
                continue;
            }
            let task = self.batch.tasks[self.next];
            let Some(opened) = self.open(&task) else {
                return true;
            };
            self.next += 1;
            self.begin(task, opened);
        }
    }

    /// Opens a task's file; `None` if that must wait until one of ours has been read.
    fn open(&mut self, task: &Task) -> Option<Result<OwnedFd, Failure>> {
        if self.reader.stopped() {
            return Some(Err(Failure::Refused(Errno::CANCELED)));
        }
        let name = name_of(&self.batch, task);
        if let Some(opened) = self.reader.try_open(task, name) {
            return Some(opened);
        }
        self.behind.drop_all();
        (self.ring.in_flight() == 0).then(|| self.reader.open(task, name))
    }

    fn begin(&mut self, task: Task, opened: Result<OwnedFd, Failure>) {
        let fd = match opened {
            Ok(fd) => fd,
            Err(failure) => return self.complete(&task, Outcome::Failed(failure)),
        };
        if task.only_if_cached {
            let outcome = self.reader.cached_or_position(&task, fd.as_fd());
            return self.complete(&task, outcome);
        }
        self.reader.announce(&task, fd.as_fd());
        if let Some(outcome) = self.reader.read_cached(&task, fd.as_fd()) {
            return self.complete(&task, outcome);
        }
        // The ring would take the bytes out of a FIFO that stands in the file's place.
        if let Err(failure) = is_expected(&task, fd.as_fd()) {
            return self.complete(&task, Outcome::Failed(failure));
        }
        let drop_behind = self.reader.drops_behind(&task, fd.as_fd());
        let Some(place) = self.files.iter().position(Option::is_none) else {
            // Cannot be: each file begun before holds a slot, and there was a free one.
            let outcome = self.reader.read_now(&task, fd.as_fd());
            return self.complete(&task, outcome);
        };
        let span = task.spans.iter().position(|span| span.len > 0).unwrap_or(0);
        self.files[place] = Some(File {
            offset: task.spans[span].offset,
            span,
            task,
            fd,
            asked: VecDeque::new(),
            state: F::State::default(),
            folded: 0,
            digests: [None; SPANS],
            failure: None,
            drop_behind,
        });
        self.current = Some(place);
        self.ask(place);
    }

    /// Asks for a file's next piece.
    fn ask(&mut self, place: usize) {
        let (Some(slot), Some(file)) = (self.free.pop(), self.files[place].as_mut()) else {
            return;
        };
        let span = file.task.spans[file.span];
        let left = span.offset + span.len - file.offset;
        let len = left.min(self.shape.slot_size as u64) as usize;
        let piece = Piece {
            file: place,
            span: file.span,
            offset: file.offset,
            len,
            filled: 0,
        };
        self.ring.read(slot, file.fd.as_fd(), piece.offset, 0, len);
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

    fn arrived(&mut self, slot: usize, result: std::io::Result<usize>) {
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
                if piece.filled < piece.len && file.failure.is_none() {
                    let (at, left) = (piece.filled, piece.len - piece.filled);
                    let offset = piece.offset + at as u64;
                    self.ring.read(slot, file.fd.as_fd(), offset, at, left);
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
        if self.reader.stopped() {
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
        self.fold(place);
    }

    /// Folds what has arrived in order, and ends the file when all has.
    fn fold(&mut self, place: usize) {
        let Some(file) = self.files[place].as_mut() else {
            return;
        };
        while let Some(&slot) = file.asked.front() {
            let piece = self.pieces[slot];
            if piece.filled < piece.len {
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
            if piece.len as u64 == span.len {
                file.digests[piece.span] = Some(self.reader.fold.at_once(bytes, whole));
                continue;
            }
            self.reader.fold.feed(&mut file.state, bytes);
            if piece.offset + piece.len as u64 == span.offset + span.len {
                let state = std::mem::take(&mut file.state);
                file.digests[piece.span] = Some(self.reader.fold.finish(state, whole));
            }
        }
        if self.current == Some(place) {
            return;
        }
        if let Some(file) = self.files[place].take() {
            let outcome = match file.failure {
                Some(failure) => Outcome::Failed(failure),
                None => finished(&file.task, file.fd.as_fd(), file.digests, file.folded),
            };
            self.complete(&file.task, outcome);
            if file.drop_behind {
                self.behind.push(file.fd);
            }
        }
    }

    fn complete(&mut self, task: &Task, outcome: Outcome<F::Digest>) {
        self.completions.push(Completion {
            ticket: task.ticket,
            outcome,
        });
        if self.completions.len() >= COMPLETIONS {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if !self.completions.is_empty() {
            // Nobody listens any more only when the run is over.
            let _ignored = self.done.send(std::mem::take(&mut self.completions));
        }
    }

    /// The ring itself failed (the kernel may be out of memory): what it was asked for and the
    /// rest of the batch are read without it.
    fn give_up(mut self) -> Reader<F> {
        for file in std::mem::take(&mut self.files).into_iter().flatten() {
            let outcome = match file.failure {
                Some(failure) => Outcome::Failed(failure),
                None => self.reader.read_now(&file.task, file.fd.as_fd()),
            };
            self.complete(&file.task, outcome);
        }
        let batch = std::mem::take(&mut self.batch);
        for task in &batch.tasks[self.next..] {
            let name = name_of(&batch, task);
            let outcome = one::do_task(&mut self.reader, &mut self.behind, task, name);
            self.complete(task, outcome);
        }
        self.flush();
        self.reader
    }
}
