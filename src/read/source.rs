//! The source of tasks for a reading thread, and the channel for its completions.

use std::ffi::CStr;

use crossbeam_channel::{Receiver, Sender};

use super::fold::Fold;
use super::task::{Batch, Completion, Outcome, Recalls, Task};

/// Number of completions that readers of local disks send at a time while there is more to do.
pub const COMPLETIONS: usize = 64;

/// Tasks of one kind, as long as the queue has any.
pub struct Source<'a, F: Fold> {
    batch: Batch,
    next: usize,
    queue: &'a Receiver<Batch>,
    /// A batch of the other kind that was received.
    other: Option<Batch>,
    completions: Vec<Completion<F::Digest>>,
    /// Maximum number of completions that are sent at a time.
    most: usize,
    done: &'a Sender<Vec<Completion<F::Digest>>>,
    recalls: &'a Recalls,
}

impl<'a, F: Fold> Source<'a, F> {
    /// The tasks of this batch, then those of the batches in the queue.
    pub fn new(
        first: Batch,
        queue: &'a Receiver<Batch>,
        done: &'a Sender<Vec<Completion<F::Digest>>>,
        most: usize,
        recalls: &'a Recalls,
    ) -> Self {
        Self {
            batch: first,
            next: 0,
            queue,
            other: None,
            completions: Vec::new(),
            most,
            done,
            recalls,
        }
    }

    /// The next task and its file's name. The task stays the next one until [`Self::advance`]. Tasks of recalled batches
    /// are passed over.
    pub fn peek(&mut self) -> Option<(Task, &CStr)> {
        while self.next == self.batch.tasks.len() || self.batch.recalls != self.recalls.count() {
            if self.other.is_some() {
                return None;
            }
            match self.queue.try_recv() {
                Ok(batch) if batch.kind == self.batch.kind => (self.batch, self.next) = (batch, 0),
                Ok(batch) => self.other = Some(batch),
                Err(_) => return None,
            }
        }
        let task = self.batch.tasks[self.next];
        Some((task, self.batch.name(&task)))
    }

    /// Takes the task that was peeked at.
    pub fn advance(&mut self) {
        self.next += 1;
    }

    /// Reports the end of a task, together with others.
    pub fn complete(&mut self, task: &Task, outcome: Outcome<F::Digest>) {
        self.completions.push(Completion {
            ticket: task.ticket,
            outcome,
        });
        if self.completions.len() >= self.most {
            self.flush();
        }
    }

    /// Sends the reported completions.
    pub fn flush(&mut self) {
        if !self.completions.is_empty() {
            // Send fails only after the run ended.
            let _ignored = self.done.send(std::mem::take(&mut self.completions));
        }
    }

    /// Ends the source; returns the batch of the other kind, if any.
    pub fn end(mut self) -> Option<Batch> {
        self.flush();
        self.other
    }
}
