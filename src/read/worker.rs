//! A reading thread: many scattered reads at a time, whole files one after the other.

use std::os::fd::{AsFd, OwnedFd};

use crossbeam_channel::{Receiver, Sender};

use crate::heartbeat::{Subject, current};
use crate::sys::reads::Ring;

use super::compare;
use super::many::Many;
use super::reader::Reader;
use super::stream::{Stream, Window};
use super::task::Source;
use super::task::{Batch, BatchKind, Completion, Outcome, Task};

/// The limits of reads in flight of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Scattered reads in flight.
    pub slots: usize,
    /// Bytes of each.
    pub slot_size: usize,
    /// How far it reads ahead in whole files.
    pub window: Window,
    /// Completions that are sent at a time while there is more to do.
    pub completions: usize,
}

/// Carries out tasks until their channel closes, or a batch tells the thread to end.
pub fn run(reader: Reader, shape: Shape, tasks: &Receiver<Batch>, done: &Sender<Vec<Completion>>) {
    let heartbeat = reader.settings.watchlist.admit(Subject::Volume);
    current::watched(Some(heartbeat), || work(reader, shape, tasks, done));
}

fn work(mut reader: Reader, shape: Shape, tasks: &Receiver<Batch>, done: &Sender<Vec<Completion>>) {
    let recalls = reader.settings.recalls.clone();
    let mut many = Means::Unmade;
    let mut stream = Stream::new(shape.window);
    let mut next = None;
    loop {
        let batch = match next.take().or_else(|| tasks.try_recv().ok()) {
            Some(batch) => batch,
            None => {
                reader.read_ranges.drop_pages();
                current::rest();
                match tasks.recv() {
                    Ok(batch) => batch,
                    Err(_) => return,
                }
            }
        };
        let kind = batch.kind;
        if kind == BatchKind::Retire {
            return;
        }
        if kind == BatchKind::Compare {
            if batch.recalls == recalls.count() {
                compare::run(&mut reader, &batch, done);
            }
            continue;
        }
        let mut source = Source::new(batch, tasks, done, shape.completions, &recalls);
        match kind {
            BatchKind::Bulk => stream.run(&mut reader, &mut source),
            _ => many.run(&mut reader, shape, &mut source),
        }
        next = source.end();
    }
}

/// The mechanism for scattered reads.
enum Means {
    /// Not decided yet: a thread for whole files only needs no ring.
    Unmade,
    Ring(Box<Many>),
    /// No ring is available, or it failed.
    OneByOne,
}

impl Means {
    fn run(&mut self, reader: &mut Reader, shape: Shape, source: &mut Source<'_>) {
        if let Self::Unmade = self {
            let ring = (shape.slots > 1).then(|| Ring::new(shape.slots, shape.slot_size));
            *self = match ring.flatten() {
                Some(ring) => Self::Ring(Box::new(Many::new(ring, shape.slots, shape.slot_size))),
                None => Self::OneByOne,
            };
        }
        if let Self::Ring(many) = self {
            if many.run(reader, source) {
                return;
            }
            *self = Self::OneByOne;
        }
        one_by_one(reader, source);
    }
}

/// Carries out tasks as long as there are any, one at a time.
pub fn one_by_one(reader: &mut Reader, source: &mut Source<'_>) {
    while let Some((task, name)) = source.peek() {
        let Some(opened) = reader.open(&task, name, false) else {
            break;
        };
        source.advance();
        match opened {
            // The descriptor is closed after the answer: that call may not return either.
            Ok(fd) => do_task(reader, task, &fd, source),
            Err(failure) => source.complete(&task, Outcome::Failed(failure)),
        }
    }
    reader.complete_unhashed(source);
}

fn do_task(reader: &mut Reader, mut task: Task, fd: &OwnedFd, source: &mut Source<'_>) {
    if !reader.end_known(&mut task, fd.as_fd(), source) {
        source.complete(&task, reader.read_in_time(&task, fd.as_fd()));
    }
}
