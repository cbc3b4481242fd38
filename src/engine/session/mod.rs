//! A run: one thread owns the tables; walkers and readers send it their results.

mod after_reads;
mod alike;
mod answers;
mod arrivals;
mod begin;
mod cache_answers;
mod classify;
mod entries;
mod inventory;
mod listen;
mod names;
mod places;
mod requests;
mod sets;
mod unplugged;

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, never, select};

use crate::decide::{DeviceTally, Machine, Summary};
use crate::device::VolumeId;
use crate::event::{LeftOut, Observer, Problem, ProblemKind};
use crate::file::{SharedDirs, TrashPaths};
use crate::heartbeat::current;
use crate::read::Completion;
use crate::scan::{Given, Group, OtherEntry, ScanMessage, Search, Walk, is_memory_exhausted};
use crate::sys::process;

use super::config::Config;
use super::limits::Share;
use super::progress::{Control, ProgressLine};

use after_reads::Account;
use alike::Alike;
use arrivals::Arrivals;
use cache_answers::Cached;
use inventory::Inventory;
use listen::Silence;
use names::Names;
use requests::Reads;
use sets::Sets;
use unplugged::{Probable, Unplugged};

pub use begin::{Error, find};
pub use classify::classify;
pub use entries::{Entries, inventory};

/// Interval between two updates of the progress.
const PROGRESS: Duration = Duration::from_millis(100);

/// Number of batches that walkers may be ahead of the tables. With 64 instead of 16 nothing was faster, and 300,000
/// files took 0.9 MB more.
const SCAN_AHEAD: usize = 16;

/// Number of sizes that are handed over before the readers get new work: they have work for some hundred microseconds
/// only.
const PORTION: usize = 32;

/// All data of the one thread.
pub struct Session<'a> {
    config: &'a Config,
    observer: &'a dyn Observer,
    control: &'a Control,
    machine: Machine,
    dirs: Arc<SharedDirs>,
    /// What is read.
    reads: Reads,
    /// What is delivered.
    sets: Sets<'a>,
    /// Files that show the same under other tags.
    alike: Alike,
    /// Files that may be equal to files of catalogs.
    probable: Probable,
    /// What the scan brings.
    arrivals: Arrivals,
    /// The results of earlier runs.
    cached: Cached<'a>,
    /// The files of catalogs.
    unplugged: Unplugged,
    /// What is known of every file, if every file is read.
    inventory: Option<Inventory<'a>>,
    /// The folders and names that were looked up.
    names: Names,
    /// The entries that were not seen, if every entry counts.
    account: Account,
    /// The state of the threads that call file systems.
    silence: Silence,
    started: Instant,
    published: Instant,
    /// The shares of the descriptors.
    share: Share,
    /// The idle I/O class. The threads of the run start from here, and inherit it.
    _idle: Option<process::Idle>,
    /// Files are not read, since memory was used up.
    reading_ended: bool,
}

impl Session<'_> {
    /// The trash folders that paths lead into.
    fn trash(&self) -> TrashPaths {
        let _call = current::call(Path::new("/"));
        TrashPaths::with_own()
    }

    /// Runs the search to its end.
    pub fn drive(&mut self) -> io::Result<()> {
        let config = self.config;
        let (to, scanned) = bounded(SCAN_AHEAD);
        let (groups_to, groups) = bounded(1);
        let search = Search {
            walk: Arc::new(Walk {
                dirs: Arc::clone(&self.dirs),
                filter: config.filter.clone(),
                max_depth: config.max_depth,
                one_file_system: config.one_file_system,
                skip_trash: config.skip_trash,
                trash: self.trash(),
                tell_times: config.needs_every_file(),
                tied_roots: config.has_tied_roots(),
                ignore_files: config.ignore_files.clone(),
                open_folders: self.share.folders,
                watchlist: Arc::clone(&self.silence.watchlist),
                stop: self.control.stop_flag(),
                follow_links: config.follow_links,
                links: Mutex::default(),
                aside: Mutex::default(),
                full: Arc::clone(&self.arrivals.full),
                tell_others: config.every_entry,
                tell_links: config.tell_links,
            }),
            to,
            groups,
        };
        let given = (0..).zip(&config.roots);
        let given = given.filter(|(_, root)| root.catalog.is_none());
        let given = given.map(|(number, root)| Given {
            number,
            path: root.path.clone(),
            id: root.id,
            keep_apart: config.isolate || config.every_entry,
        });
        let result = thread::scope(|scope| {
            let scanner = thread::Builder::new().name("scan".to_owned());
            // It asks no file system, so it always comes back.
            let spawned = scanner.spawn_scoped(scope, || search.run(given));
            spawned?;
            let result = self.turn(&scanned, &groups_to);
            if result.is_err() {
                // The walkers must not wait for a reader that is gone.
                self.control.cancel();
            }
            drop((scanned, groups_to));
            result
        });
        self.sum_up();
        result
    }

    fn turn(
        &mut self,
        from_scan: &Receiver<ScanMessage>,
        groups_to: &Sender<Vec<Group>>,
    ) -> io::Result<()> {
        let over = never();
        let mut scanned = from_scan;
        let completions = self.reads.scheduler.completions().clone();
        while !(self.arrivals.scan_done && self.is_over() && !self.look_further()) {
            let has_ended = self.take_ended();
            let patience = if has_ended || !self.sets.to_deliver.is_empty() {
                Duration::ZERO
            } else {
                PROGRESS
            };
            select! {
                recv(scanned) -> message => match message {
                    Ok(ScanMessage::Found(batch)) => {
                        self.silence.watchlist.moved();
                        self.found(&batch);
                    }
                    Ok(ScanMessage::Problem(problem)) => {
                        self.arrivals.listing_ended |= problem.kind == ProblemKind::MemoryShort;
                        self.observer.problem(problem);
                    }
                    Ok(ScanMessage::Rooted(devices)) => {
                        // Send fails only after the run ended.
                        let _ignored = groups_to.send(self.groups(&devices));
                    }
                    Ok(ScanMessage::Walked { group }) => self.walked(group),
                    Ok(ScanMessage::Done { folders, left_out, listed, others, roots }) => {
                        self.arrivals.listed = listed;
                        if self.config.tell_links {
                            let path = |link: &OtherEntry| self.path_of(link.dir, &link.name);
                            others.iter().for_each(|link| self.observer.link(path(link)));
                        } else {
                            self.account.others.extend(others);
                        }
                        self.account.roots.extend(roots);
                        self.scanned(folders, &left_out);
                        scanned = &over;
                    }
                    Err(_) => {
                        self.scanned(0, &LeftOut::default());
                        scanned = &over;
                    }
                },
                recv(completions) -> message => self.completed(message.unwrap_or_default()),
                default(patience) => {}
            }
            self.request();
            self.deliver_finished(PORTION)?;
            self.look_around();
        }
        self.deliver_rest()
    }

    /// True if no work is left.
    fn is_over(&self) -> bool {
        // Sets that are final may have to be compared.
        let is_delivered = !self.config.verify || self.sets.to_deliver.is_empty();
        self.reads.scheduler.is_idle() && is_delivered
    }

    /// Takes the jobs that ended without a reader; true if there were any.
    fn take_ended(&mut self) -> bool {
        let mut has_ended = false;
        while let Some(finished) = self.reads.scheduler.next_ended() {
            self.finished(&finished);
            has_ended = true;
        }
        has_ended
    }

    fn completed(&mut self, completions: Vec<Completion>) {
        self.silence.watchlist.moved();
        for completion in completions {
            if let Some(finished) = self.reads.scheduler.completed(completion) {
                self.finished(&finished);
            }
        }
        self.heed_changes();
    }

    /// Handles an interruption, and checks now and then which threads get no answer.
    fn look_around(&mut self) {
        if self.control.is_cancelled() {
            self.reads.scheduler.forget_waiting();
        }
        if self.reading_ended {
            let forgotten = self.reads.scheduler.forget_waiting() as u64;
            self.sets.deliverer.summary.left_out.memory_short += forgotten;
        }
        if self.published.elapsed() >= PROGRESS {
            self.publish();
            self.look_at_memory();
            self.listen();
            self.cached.cache.iter_mut().for_each(|cache| cache.flush());
        }
    }

    /// Ends listing and reading when memory is used up: what was found so far is reported.
    fn look_at_memory(&mut self) {
        if self.reading_ended || !is_memory_exhausted(self.machine.repeated_contents()) {
            return;
        }
        self.reading_ended = true;
        self.arrivals.full.store(true, Ordering::Relaxed);
        if !std::mem::replace(&mut self.arrivals.listing_ended, true)
            && let Some(root) = self.config.roots.first()
        {
            self.observer.problem(Problem {
                path: root.path.clone(),
                kind: ProblemKind::MemoryShort,
                cause: None,
            });
        }
    }

    /// Waits for the readers, and returns the totals.
    pub fn close(mut self) -> Summary {
        if self.reads.scheduler.outstanding() == 0 && self.do_readers_rest() {
            self.reads.scheduler.join();
        }
        // Otherwise, a thread that waits for a file system that does not answer ends when its call returns.
        let mut summary = self.sets.deliverer.summary.clone();
        summary.cached = self.cached.spared;
        if let Some(cache) = self.cached.cache.take() {
            // Indexing rows takes memory as well.
            drop((self.machine, self.dirs, self.names, self.sets));
            cache.end(summary.interrupted);
        }
        summary
    }

    /// Shows the progress.
    fn publish(&mut self) {
        self.published = Instant::now();
        let summary = &self.sets.deliverer.summary;
        let mut lines = vec![ProgressLine {
            stage: "scan",
            device: String::new(),
            files_done: summary.files,
            files_total: summary.files,
            bytes_done: summary.bytes_present,
            bytes_total: summary.bytes_present,
            total_is_final: self.arrivals.scan_done,
        }];
        let name = |volume: VolumeId| self.reads.volumes.name(volume);
        let in_progress = |volume: VolumeId| self.reads.scheduler.in_progress(volume);
        let tally = &self.reads.tally;
        lines.extend(tally.lines(name, self.arrivals.scan_done, in_progress));
        self.control.publish(lines);
    }

    /// Completes the totals.
    fn sum_up(&mut self) {
        let summary = &mut self.sets.deliverer.summary;
        summary.total_time = self.started.elapsed();
        summary.unread = self.machine.unread();
        summary.stages = self.reads.tally.stages();
        let devices = self.reads.volumes.in_use().map(|(id, volume)| DeviceTally {
            name: self.reads.volumes.name(id),
            class: volume.class.word().to_owned(),
            bytes_read: self.reads.tally.bytes_read(id),
        });
        summary.devices = devices.collect();
    }
}
