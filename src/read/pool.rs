//! Pools: threads that take tasks from one queue.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::device::{Order, Policy};

use super::reader::{ReadSettings, Reader};
use super::stream::Window;
use super::task::{Batch, BatchKind, Completion};
use super::worker::{self, Shape};
use crate::hash::Fold;

/// Threads of one kind, started when the first tasks arrive: one for each batch, up to the full number. A search of a
/// few files thus starts few of them.
pub struct Pool {
    name: Arc<str>,
    threads: usize,
    shape: Shape,
    settings: ReadSettings,
    fold: Fold,
    queue: Sender<Batch>,
    tasks: Receiver<Batch>,
    done: Sender<Vec<Completion>>,
    /// Batches that were sent.
    sent: usize,
    /// Threads in the place of others.
    substitutes: usize,
    running: Vec<JoinHandle<()>>,
}

impl Pool {
    /// A pool of this many threads, each of this shape.
    ///
    /// The queue has no bound of its own: senders keep within the device's window.
    pub fn new(
        name: &str,
        threads: usize,
        shape: Shape,
        settings: ReadSettings,
        fold: Fold,
        done: Sender<Vec<Completion>>,
    ) -> Self {
        let (queue, tasks) = unbounded();
        Self {
            name: name.into(),
            threads,
            shape,
            settings,
            fold,
            queue,
            tasks,
            done,
            sent: 0,
            substitutes: 0,
            running: Vec::new(),
        }
    }

    /// The name of its threads.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The number of threads that it has, or will have.
    pub fn threads(&self) -> usize {
        self.threads.max(1)
    }

    /// Raises the number of threads and of reads in flight to at least these values.
    pub fn widen(&mut self, threads: usize, slots: usize) {
        self.threads = self.threads.max(threads);
        if slots > self.shape.slots && !self.running.is_empty() {
            // Those that run go on as they are.
            self.threads += self.running.len();
        }
        self.shape.slots = self.shape.slots.max(slots);
        // Batches may be waiting for the threads that were missing.
        self.start_wanted();
    }

    /// Hands over tasks.
    pub fn send(&mut self, batch: Batch) {
        self.sent += 1;
        self.start_wanted();
        if self.running.is_empty() {
            return self.do_now(batch);
        }
        // We hold a receiver ourselves, so this cannot fail.
        let _ignored = self.queue.send(batch);
    }

    /// Carries out tasks in the calling thread, if no thread can be started.
    fn do_now(&self, batch: Batch) {
        let (queue, tasks) = unbounded();
        let _ignored = queue.send(batch);
        drop(queue);
        let reader = Reader::new(self.settings.clone(), self.fold.clone());
        worker::run(reader, self.shape, &tasks, &self.done);
    }

    /// Starts the threads that are missing, as far as the system provides them.
    pub fn start_wanted(&mut self) {
        let wanted = self.threads().min(self.sent);
        while self.running.len() < wanted + self.substitutes && self.start() {}
    }

    /// Starts a thread; returns false if the system provides none.
    fn start(&mut self) -> bool {
        let tasks = self.tasks.clone();
        let done = self.done.clone();
        let reader = Reader::new(self.settings.clone(), self.fold.clone());
        let shape = self.shape;
        let work = move || worker::run(reader, shape, &tasks, &done);
        let thread = thread::Builder::new().name(self.name.to_string());
        // Without one more thread those that run do the work.
        let Ok(handle) = thread.spawn(work) else {
            return false;
        };
        self.running.push(handle);
        true
    }

    /// Starts one more thread as a substitute for one that gets no answer.
    pub fn add_thread(&mut self) {
        if !self.running.is_empty() {
            let (ended, running) = self.running.drain(..).partition(JoinHandle::is_finished);
            self.running = running;
            join_all(ended);
            self.substitutes += 1;
            self.start_wanted();
        }
    }

    /// Ends one thread after its batch: the one that got no answer has it now.
    pub fn retire_thread(&mut self) {
        if self.substitutes > 0 {
            self.substitutes -= 1;
            // As in `send`.
            let _ignored = self.queue.send(Batch {
                kind: BatchKind::Retire,
                ..Batch::default()
            });
        }
    }

    /// Waits until the threads have finished their tasks and ended.
    pub fn join(self) {
        drop(self.queue);
        drop(self.tasks);
        join_all(self.running);
    }
}

fn join_all(threads: Vec<JoinHandle<()>>) {
    for thread in threads {
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Bytes of a slot for random reads: a file that fits is read with one request to the kernel.
pub(super) const RANDOM_SLOT: usize = 32 << 10;

/// Bytes announced ahead on a disk with a head. On a simulated disk of 7,200 rpm, 353
/// photos took 9.4 s with 128 or 256 KiB, 9.6 s with 512 and 11.4 s with 1 or 2 MiB: the drive then
/// goes back and forth between the end of one file and the next.
const SWEPT: u64 = 256 << 10;

impl Policy {
    /// The policy of a pool that serves no volume yet.
    pub const NOTHING: Self = Self {
        order: Order::Arrival,
        random_threads: 0,
        depth: 0,
        sequential_threads: 0,
        sequential_depth: 0,
        metadata_threads: 0,
    };

    /// The window of the thread of a disk with a head: enough short files to give the drive a choice, but hardly more
    /// than the next piece of long ones.
    pub(super) fn disk_window(self) -> Window {
        Window {
            bytes: self.sequential_depth as u64 * SWEPT,
            files: self.depth,
        }
    }
}
