//! Threads that take tasks from one queue.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::fold::Fold;
use super::parts::Team;
use super::reader::{Reader, Settings};
use super::task::{Batch, Completion};
use super::worker::{self, Shape};

/// Threads of one kind, started when the first task comes.
pub struct Pool<F: Fold> {
    name: Arc<str>,
    threads: usize,
    shape: Shape,
    team: Option<Team<F>>,
    settings: Settings,
    fold: F,
    queue: Sender<Batch>,
    tasks: Receiver<Batch>,
    done: Sender<Vec<Completion<F::Digest>>>,
    running: Vec<JoinHandle<()>>,
}

impl<F: Fold> Pool<F> {
    /// A pool of so many threads, each of this shape.
    ///
    /// The queue has no bound of its own: whoever sends keeps within the device's window.
    pub fn new(
        name: &str,
        threads: usize,
        shape: Shape,
        settings: Settings,
        fold: F,
        done: Sender<Vec<Completion<F::Digest>>>,
    ) -> Self {
        let (queue, tasks) = unbounded();
        Self {
            name: name.into(),
            threads,
            shape,
            team: None,
            settings,
            fold,
            queue,
            tasks,
            done,
            running: Vec::new(),
        }
    }

    /// Lets its threads help each other with long files.
    #[must_use]
    pub fn with_team(self, team: Option<Team<F>>) -> Self {
        Self { team, ..self }
    }

    /// What its threads are called.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Makes sure that there are so many threads and reads in flight at least.
    pub fn widen(&mut self, threads: usize, slots: usize) {
        self.threads = self.threads.max(threads);
        if slots > self.shape.slots && !self.running.is_empty() {
            // Those that run go on as they are.
            self.threads += self.running.len();
        }
        self.shape.slots = self.shape.slots.max(slots);
        if !self.running.is_empty() {
            while self.running.len() < self.threads {
                self.start();
            }
        }
    }

    /// Hands over tasks.
    pub fn send(&mut self, batch: Batch) {
        if self.running.is_empty() {
            for _ in 0..self.threads.max(1) {
                self.start();
            }
        }
        if self.running.is_empty() {
            return self.do_now(batch);
        }
        // We hold a receiver ourselves, so this cannot fail.
        let _ignored = self.queue.send(batch);
    }

    /// There is no thread to be had: the asker itself reads.
    fn do_now(&self, batch: Batch) {
        let (queue, tasks) = unbounded();
        let _ignored = queue.send(batch);
        drop(queue);
        let reader = Reader::new(self.settings.clone(), self.fold.clone());
        worker::run(reader, self.shape, None, &tasks, &self.done);
    }

    fn start(&mut self) {
        let tasks = self.tasks.clone();
        let done = self.done.clone();
        let reader = Reader::new(self.settings.clone(), self.fold.clone());
        let (shape, team) = (self.shape, self.team.clone());
        let work = move || worker::run(reader, shape, team, &tasks, &done);
        let thread = thread::Builder::new().name(self.name.to_string());
        // Without one more thread those that run do the work.
        if let Ok(handle) = thread.spawn(work) {
            self.running.push(handle);
        }
    }

    /// Lets the threads finish what they have and waits for them.
    pub fn join(self) {
        drop(self.queue);
        drop(self.tasks);
        for thread in self.running {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}
