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
use crate::file::{DirHandles, DirId, DirTable, FileIndex, SharedDirs, TrashPaths};
use crate::hash::Digest;
use crate::heartbeat::{Watchlist, current};
use crate::read::{Completion, InProgress, Scheduler};
use crate::scan::{
    Given, Group, OtherEntry, ScanMessage, Search, Stamp, Walk, is_memory_exhausted,
};

use super::account::Account;
use super::blake3_fold::{Blake3, Heads};
use super::cached_reads::CachedReads;
use super::config::Config;
use super::control::Control;
use super::deliver::{Deliverer, Known};
use super::process_limits::Share;
use super::silence::Silence;
use super::tally::{EndedStages, Tally};
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
    /// Names of the volumes, by their numbers.
    pub names: Vec<String>,
    /// Sizes that are final and have not been handed over yet.
    pub to_deliver: VecDeque<ClassId>,
    pub summary: Summary,
    pub left_out: LeftOut,
    pub started: Instant,
    pub published: Instant,
    /// Number of batches that walkers may be ahead of the tables.
    pub scan_ahead: usize,
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
    pub cache: Option<CachedReads>,
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

    pub fn drive(&mut self, deliverer: &mut Deliverer<'_>, share: &Share) -> io::Result<()> {
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
                open_folders: share.folders,
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
            let result = self.turn(&scanned, &groups_to, share, deliverer);
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
        share: &Share,
        deliverer: &mut Deliverer<'_>,
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
                        let _ignored = groups_to.send(self.groups(&devices, share));
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
            self.deliver_finished(PORTION, deliverer)?;
            self.look_around();
        }
        self.deliver_rest(deliverer)
    }

    /// True if no work is left.
    fn is_over(&self) -> bool {
        // Sets that are final may have to be compared.
        let is_delivered = !self.config.verify || self.to_deliver.is_empty();
        self.scheduler.is_idle() && is_delivered
    }

    /// Takes the jobs that ended without a reader; true if there were any.
    fn take_ended(&mut self) -> bool {
        let mut stages = EndedStages::default();
        let mut has_ended = false;
        while let Some(finished) = self.scheduler.next_ended() {
            stages.add(self.finished(&finished));
            has_ended = true;
        }
        self.tally.tick(stages);
        has_ended
    }

    fn completed(&mut self, completions: Vec<Completion<Digest>>) {
        self.watchlist.moved();
        let mut stages = EndedStages::default();
        for completion in completions {
            if let Some(finished) = self.scheduler.completed(completion) {
                stages.add(self.finished(&finished));
            }
        }
        self.tally.tick(stages);
        self.heed_changes();
    }

    /// Handles an interruption, and checks now and then which threads get no answer.
    fn look_around(&mut self) {
        if self.control.is_cancelled() {
            self.scheduler.forget_waiting();
        }
        if self.reading_ended {
            self.left_out.memory_short += self.scheduler.forget_waiting() as u64;
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
    fn deliver_finished(&mut self, count: usize, deliverer: &mut Deliverer<'_>) -> io::Result<()> {
        self.to_deliver.extend(self.machine.finished());
        if self.config.every_entry || self.knows_too_little() {
            self.to_deliver.clear();
        }
        let count = count.min(self.to_deliver.len());
        if count > 0 {
            let sizes: Vec<ClassId> = self.to_deliver.drain(..count).collect();
            self.settle_sizes(&sizes);
            let dirs = self.dirs.read();
            deliverer.sizes(&sizes, &self.known(&dirs))?;
        }
        match self.config.verify {
            true => self.deliver_verified(deliverer),
            false => Ok(()),
        }
    }

    /// Starts the comparison of sets that need it, and hands over the compared ones.
    fn deliver_verified(&mut self, deliverer: &mut Deliverer<'_>) -> io::Result<()> {
        let unverified = deliverer.take_unverified();
        if self.reading_ended {
            let files = unverified.iter().map(|draft| draft.files.len() as u64);
            self.left_out.memory_short += files.sum::<u64>();
        } else if !unverified.is_empty() && !self.control.is_cancelled() {
            self.verify(unverified);
            self.request();
        }
        let done = self.verification.take_done();
        let dirs = self.dirs.read();
        for draft in done {
            deliverer.verified(draft, &self.known(&dirs))?;
        }
        Ok(())
    }

    fn known<'r>(&'r self, dirs: &'r DirTable) -> Known<'r> {
        Known {
            machine: &self.machine,
            dirs,
            volumes: &self.volumes,
        }
    }

    fn deliver_rest(&mut self, deliverer: &mut Deliverer<'_>) -> io::Result<()> {
        self.deliver_finished(usize::MAX, deliverer)?;
        self.summary.interrupted = self.control.is_cancelled();
        if self.config.every_entry {
            return Ok(());
        }
        let reports_single_files = self.config.counting().fewest_inodes() == 1;
        self.machine.join_waiting();
        let unfinished = self.machine.unfinished();
        self.settle_sizes(&unfinished);
        if reports_single_files {
            let alone: Vec<FileIndex> = self.machine.alone().collect();
            self.settle_names(alone);
        }
        if !self.knows_too_little() {
            let dirs = self.dirs.read();
            deliverer.sizes(&unfinished, &self.known(&dirs))?;
            if reports_single_files {
                for file in self.machine.alone() {
                    deliverer.alone(file, &self.known(&dirs))?;
                }
            }
        }
        if self.config.verify {
            self.deliver_verified(deliverer)?;
        }
        let dirs = self.dirs.read();
        deliverer.finish(&self.known(&dirs))
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
        let is_complete =
            !self.control.is_cancelled() && !self.listing_ended && self.left_out.unanswered == 0;
        is_limited && !is_complete
    }
}
