//! A run: one thread owns the tables; walkers and readers send it their results.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, never, select};

use crate::decide::{ClassId, Machine, Summary, Want};
use crate::device::unnamed_trash;
use crate::event::{LeftOut, Observer, Problem, ProblemKind};
use crate::file::{DirHandles, DirId, FileIndex, SharedDirs, TrashPaths};
use crate::hash::Digest;
use crate::heartbeat::{Watchlist, current};
use crate::read::{Completion, InProgress, Scheduler};
use crate::scan::{
    Given, Group, OtherEntry, ScanMessage, Search, Stamp, Walk, is_memory_exhausted,
};
use crate::sys::process;

use super::account::Account;
use super::blake3_fold::{Blake3, Heads};
use super::cached_reads::CachedReads;
use super::config::Config;
use super::control::Control;
use super::deliver::{Deliverer, Known};
use super::process_limits::Share;
use super::silence::Silence;
use super::tally::Tally;
use super::verification::Verification;
use super::volumes::Volumes;

/// Interval between two updates of the progress.
const PROGRESS: Duration = Duration::from_millis(100);

/// Number of sizes that are handed over before the readers get new work: they have work for some hundred microseconds
/// only.
const PORTION: usize = 32;

/// All data of the one thread.
pub struct Session<'a> {
    pub config: &'a Config,
    pub observer: &'a dyn Observer,
    pub control: &'a Control,
    pub machine: Machine,
    pub scheduler: Scheduler<Blake3, Want>,
    pub volumes: Volumes,
    pub dirs: Arc<SharedDirs>,
    pub tally: Tally,
    /// The bytes of files that are being read.
    pub in_progress: Arc<InProgress>,
    /// Heads that were read so far, where they decide whether a file is read on.
    pub heads: Heads,
    /// Files whose read as a whole failed at a time when it was not yet known whether it was necessary.
    pub sample_only: HashSet<FileIndex>,
    /// Sizes that are final and have not been handed over yet.
    pub to_deliver: VecDeque<ClassId>,
    /// Makes sets of final sizes, and keeps the totals.
    pub deliverer: Deliverer<'a>,
    pub started: Instant,
    pub published: Instant,
    /// Number of batches that walkers may be ahead of the tables.
    pub scan_ahead: usize,
    /// The shares of the descriptors.
    pub share: Share,
    /// The idle I/O class. The threads of the run start from here, and inherit it.
    pub _idle: Option<process::Idle>,
    pub scan_done: bool,
    /// Threads that call file systems.
    pub watchlist: Arc<Watchlist>,
    /// Files were not listed, since memory was nearly used up.
    pub listing_ended: bool,
    /// Set for the walkers to list no more files.
    pub full: Arc<AtomicBool>,
    /// Files are not read, since memory was used up.
    pub reading_ended: bool,
    /// The state of the threads that get no answer.
    pub silence: Silence,
    /// Sets whose members are being compared.
    pub verification: Verification,
    /// The executors of the disks that groups of walkers walk, by the number of the group; `None` for a group without
    /// such a disk.
    pub walked_disks: Vec<Option<Arc<str>>>,
    /// Device numbers of the roots.
    pub at_roots: HashSet<u64>,
    /// The results of earlier runs.
    pub cache: Option<CachedReads<'a>>,
    /// Folders kept open for lookups of names.
    pub handles: DirHandles,
    /// Folders that changed after they were listed, and were listed again: entries may have been removed from them.
    pub listed_again: HashSet<DirId>,
    /// Folders and their times when they were listed, if every entry counts.
    pub listed: Vec<(DirId, Stamp)>,
    /// Entries met on file systems whose inode numbers do not identify files, if folders are listed again.
    pub met_entries: HashSet<(DirId, Box<[u8]>)>,
    /// Paths without links of folders on such file systems.
    pub real_folders: HashMap<DirId, PathBuf>,
    /// The entries that were not seen, if every entry counts.
    pub account: Account,
    /// Room for the classes of the files of a batch.
    pub classes: Vec<Option<ClassId>>,
}

impl Session<'_> {
    /// Trash folders that their path does not tell.
    fn unnamed_trash(&self) -> TrashPaths {
        let _call = current::call(Path::new("/"));
        unnamed_trash(&|path| current::ask_about(path.as_os_str().as_bytes()))
    }

    /// Runs the search to its end.
    pub fn drive(&mut self) -> io::Result<()> {
        let config = self.config;
        let (to, scanned) = bounded(self.scan_ahead);
        let (groups_to, groups) = bounded(1);
        let search = Search {
            walk: Arc::new(Walk {
                dirs: Arc::clone(&self.dirs),
                filter: config.filter.clone(),
                max_depth: config.max_depth,
                one_file_system: config.one_file_system,
                skip_trash: config.skip_trash,
                trash: Mutex::new(self.unnamed_trash()),
                list_again: config.needs_every_file(),
                tied_roots: config.has_tied_roots(),
                ignore_files: config.ignore_files.clone(),
                open_folders: self.share.folders,
                remote_names: self.volumes.remote_names(),
                watchlist: Arc::clone(&self.watchlist),
                stop: self.control.stop_flag(),
                follow_links: config.follow_links,
                links: Mutex::default(),
                aside: Mutex::default(),
                full: Arc::clone(&self.full),
                listed: AtomicI64::new(0),
                tell_others: config.every_entry,
                tell_links: config.tell_links,
            }),
            to,
            groups,
        };
        let given = (0..).zip(&config.roots).map(|(number, root)| Given {
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
        let completions = self.scheduler.completions().clone();
        while !(self.scan_done && self.is_over()) {
            let has_ended = self.take_ended();
            let patience = if has_ended || !self.to_deliver.is_empty() {
                Duration::ZERO
            } else {
                PROGRESS
            };
            select! {
                recv(scanned) -> message => match message {
                    Ok(ScanMessage::Found(batch)) => {
                        self.watchlist.moved();
                        self.found(&batch);
                    }
                    Ok(ScanMessage::Problem(problem)) => {
                        self.listing_ended |= problem.kind == ProblemKind::MemoryShort;
                        self.observer.problem(problem);
                    }
                    Ok(ScanMessage::Rooted(devices)) => {
                        // Send fails only after the run ended.
                        let _ignored = groups_to.send(self.groups(&devices));
                    }
                    Ok(ScanMessage::Walked { group }) => self.walked(group),
                    Ok(ScanMessage::Done { folders, left_out, listed_again, listed, others, roots }) => {
                        self.listed = listed;
                        if self.config.tell_links {
                            let path = |link: &OtherEntry| self.path_of(link.dir, &link.name);
                            others.iter().for_each(|link| self.observer.link(path(link)));
                        } else {
                            self.account.others.extend(others);
                        }
                        self.account.roots.extend(roots);
                        self.scanned(folders, &left_out, listed_again);
                        scanned = &over;
                    }
                    Err(_) => {
                        self.scanned(0, &LeftOut::default(), Vec::new());
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
        let is_delivered = !self.config.verify || self.to_deliver.is_empty();
        self.scheduler.is_idle() && is_delivered
    }

    /// Takes the jobs that ended without a reader; true if there were any.
    fn take_ended(&mut self) -> bool {
        let mut has_ended = false;
        while let Some(finished) = self.scheduler.next_ended() {
            self.finished(&finished, Instant::now());
            has_ended = true;
        }
        has_ended
    }

    fn completed(&mut self, completions: Vec<Completion<Digest>>) {
        self.watchlist.moved();
        let now = Instant::now();
        for completion in completions {
            if let Some(finished) = self.scheduler.completed(completion) {
                self.finished(&finished, now);
            }
        }
        self.heed_changes();
    }

    /// Handles an interruption, and checks now and then which threads get no answer.
    fn look_around(&mut self) {
        if self.control.is_cancelled() {
            self.scheduler.forget_waiting();
        }
        if self.reading_ended {
            let forgotten = self.scheduler.forget_waiting() as u64;
            self.deliverer.summary.left_out.memory_short += forgotten;
        }
        if self.published.elapsed() >= PROGRESS {
            self.publish();
            self.look_at_memory();
            self.listen();
            self.cache.iter_mut().for_each(CachedReads::hand_over);
        }
    }

    /// Ends listing and reading when memory is used up: what was found so far is reported.
    fn look_at_memory(&mut self) {
        if self.reading_ended || !is_memory_exhausted(self.machine.repeated_contents()) {
            return;
        }
        self.reading_ended = true;
        self.full.store(true, Ordering::Relaxed);
        self.cache.iter_mut().for_each(CachedReads::forget);
        if !std::mem::replace(&mut self.listing_ended, true)
            && let Some(root) = self.config.roots.first()
        {
            self.observer.problem(Problem {
                path: root.path.clone(),
                kind: ProblemKind::MemoryShort,
                cause: None,
            });
        }
    }

    /// Hands over this many of the final sizes.
    fn deliver_finished(&mut self, count: usize) -> io::Result<()> {
        self.to_deliver.extend(self.machine.finished());
        if self.config.every_entry || self.knows_too_little() {
            self.to_deliver.clear();
        }
        let count = count.min(self.to_deliver.len());
        if count > 0 {
            let sizes: Vec<ClassId> = self.to_deliver.drain(..count).collect();
            self.settle_sizes(&sizes);
            self.deliver(|deliverer, known| deliverer.sizes(&sizes, known))?;
        }
        if self.config.verify {
            self.deliver_verified()?;
        }
        Ok(())
    }

    /// Starts the comparison of sets that need it, and hands over the compared ones.
    fn deliver_verified(&mut self) -> io::Result<()> {
        let unverified = self.deliverer.take_unverified();
        if self.reading_ended {
            let files = unverified.iter().map(|draft| draft.files.len() as u64);
            self.deliverer.summary.left_out.memory_short += files.sum::<u64>();
        } else if !unverified.is_empty() && !self.control.is_cancelled() {
            self.verify(unverified);
            self.request();
        }
        for draft in std::mem::take(&mut self.verification.done) {
            self.deliver(|deliverer, known| deliverer.verified(draft, known))?;
        }
        Ok(())
    }

    fn deliver<R>(&mut self, act: impl FnOnce(&mut Deliverer<'_>, &Known<'_>) -> R) -> R {
        let dirs = self.dirs.read();
        let known = Known {
            machine: &self.machine,
            dirs: &dirs,
            volumes: &self.volumes,
            scheduler: &self.scheduler,
        };
        act(&mut self.deliverer, &known)
    }

    fn deliver_rest(&mut self) -> io::Result<()> {
        self.deliver_finished(usize::MAX)?;
        self.deliverer.summary.interrupted = self.control.is_cancelled();
        if self.config.every_entry {
            return Ok(());
        }
        let reports_single_files = self.config.counting().fewest_inodes() == 1;
        let unfinished = self.machine.unfinished();
        self.settle_sizes(&unfinished);
        if reports_single_files {
            let alone: Vec<FileIndex> = self.machine.alone().collect();
            self.settle_names(alone);
        }
        if !self.knows_too_little() {
            self.deliver(|deliverer, known| {
                deliverer.sizes(&unfinished, known)?;
                match reports_single_files {
                    true => deliverer.alone(known),
                    false => Ok(()),
                }
            })?;
        }
        if self.config.verify {
            self.deliver_verified()?;
        }
        self.deliver(|deliverer, known| deliverer.finish(known))
    }

    /// Looks up the names of files of these sizes that may be reported.
    fn settle_sizes(&mut self, sizes: &[ClassId]) {
        if !self.machine.file_table().has_doubts() && self.listed_again.is_empty() {
            return;
        }
        for &size in sizes {
            let contents = self.machine.contents(size);
            let files: Vec<FileIndex> = contents.flat_map(|(_, files)| files).collect();
            self.settle_names(files);
        }
    }

    /// True if nothing can be reported: equal files are certainly equal, but a content that seems to have few copies may
    /// have one that was not found or not read.
    fn knows_too_little(&self) -> bool {
        let is_limited = self.config.copies.most.is_some();
        let is_complete = !self.control.is_cancelled()
            && !self.listing_ended
            && self.deliverer.summary.left_out.unanswered == 0;
        is_limited && !is_complete
    }

    /// Waits for the readers, and returns the totals.
    pub fn close(mut self) -> Summary {
        if self.scheduler.outstanding() == 0 && self.do_readers_rest() {
            self.scheduler.join();
        }
        // Otherwise, a thread that waits for a file system that does not answer ends when its call returns.
        let mut summary = self.deliverer.summary;
        if let Some(cache) = self.cache.take() {
            summary.cached = cache.spared;
            summary.cached_by_mtime = cache.spared_by_mtime;
            let folder = cache.folder().to_owned();
            let _call = current::limited_call(&folder);
            cache.finish(summary.interrupted);
        }
        summary
    }
}
