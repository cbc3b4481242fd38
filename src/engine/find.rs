//! A run: one thread owns the tables; walkers and readers send it what they find.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, never, select};

use crate::device::{Atlas, BadOverride};
use crate::event::{LeftOut, Notice, Observer, Problem, ProblemKind};
use crate::executor::{
    Answer, Batch, Behind, Failure, Finished, Request, Scheduler, Settings, Span, Task,
};
use crate::file::{FileIndex, SharedDirs};
use crate::hash::Digest;
use crate::pipeline::{Comparing, DeviceTally, HEAD, Machine, Summary, TAIL, TailRule, Want};
use crate::scan::{Following, FoundBatch, Outbox, Roots, ScanMessage, Walk};
use crate::sys::{ring, rlimit};

use super::blake3_fold::Blake3;
use super::config::Config;
use super::control::{Control, ProgressLine};
use super::deliver::{Deliverer, Delivery, Sink};
use super::explain::cores;
use super::tally::{Tally, stage_of};
use super::volumes::Volumes;

/// Why a run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The receiver of sets refused one.
    #[error("the report could not be written: {0}")]
    Refused(#[from] io::Error),
    /// An override names a device that is not there.
    #[error(transparent)]
    Override(#[from] BadOverride),
}

/// Batches that walkers may be ahead of the tables.
const SCAN_AHEAD: usize = 64;

/// Files up to this size are read by the random pool as a whole: their reads are as short and as
/// scattered as samples, and gain as much from many in flight.
const SMALL: u64 = 128 << 10;

/// How often progress is published.
const PROGRESS: Duration = Duration::from_millis(100);

/// Descriptors that are not for reading: standard streams, report, rings, runtime.
const OTHER_DESCRIPTORS: usize = 28;

/// Finds files of equal content and hands each set to `sink`.
///
/// # Errors
/// What `sink` returned, or an override for a device that does not exist. Whatever happens to
/// single files goes to the observer and does not end the run.
pub fn find(
    config: &Config,
    delivery: Delivery,
    observer: &dyn Observer,
    control: &Control,
    sink: &mut Sink<'_>,
) -> Result<Summary, Error> {
    config.overrides.check(&config.system())?;
    let descriptors = usize::try_from(rlimit::raise_open_files()).unwrap_or(usize::MAX);
    let share = Share::of(descriptors.saturating_sub(OTHER_DESCRIPTORS));
    let dirs = Arc::new(SharedDirs::default());
    let settings = Settings {
        dirs: Arc::clone(&dirs),
        follow: config.follow_links,
        open_folders: share.folders,
        behind: Behind::new(config.page_use),
        stop: control.stop_flag(),
    };
    if !ring::is_available() {
        let said = "io_uring is not available here: each thread reads one file at a time";
        observer.notice(Notice(said.to_owned()));
    }
    let atlas = Atlas::new(config.system(), config.overrides.clone(), cores());
    let mut machine = Machine::new(Arc::clone(&dirs), config.counting(), TailRule::default());
    if !config.digests {
        machine.compare(Comparing {
            from: SMALL + 1,
            most: share.files,
        });
    }
    let mut run = Run {
        config,
        observer,
        control,
        machine,
        scheduler: Scheduler::new(settings, Blake3),
        volumes: Volumes::new(atlas, share.files),
        dirs,
        tally: Tally::default(),
        names: Vec::new(),
        summary: Summary::default(),
        left_out: LeftOut::default(),
        started: Instant::now(),
        published: Instant::now(),
        scan_done: false,
        at_roots: HashSet::new(),
    };
    let mut sink = |set: &_| sink(set);
    let mut deliverer = Deliverer::new(config, delivery, observer, control, &mut sink);
    let driven = run.drive(&mut deliverer, &share);
    run.scheduler.join();
    driven?;
    let mut summary = deliverer.summary;
    summary.left_out.add(&run.left_out);
    run.summary.stages.append(&mut summary.stages);
    Ok(Summary {
        sets: summary.sets,
        redundant_files: summary.redundant_files,
        redundant_bytes: summary.redundant_bytes,
        reclaimable: summary.reclaimable,
        left_out: summary.left_out,
        ..run.summary
    })
}

/// How descriptors are shared out.
struct Share {
    /// Open files of each pool.
    files: usize,
    /// Open folders of each thread.
    folders: usize,
    /// Walkers at most.
    walkers: usize,
}

impl Share {
    fn of(descriptors: usize) -> Self {
        Self {
            files: (descriptors / 4).clamp(2, 4096),
            folders: (descriptors / 64).clamp(1, 64),
            walkers: (descriptors / 8).clamp(1, 64),
        }
    }
}

/// Everything that the one thread owns.
struct Run<'a> {
    config: &'a Config,
    observer: &'a dyn Observer,
    control: &'a Control,
    machine: Machine,
    scheduler: Scheduler<Blake3>,
    volumes: Volumes,
    dirs: Arc<SharedDirs>,
    tally: Tally,
    /// Names of the volumes, by their place in the scheduler.
    names: Vec<String>,
    summary: Summary,
    left_out: LeftOut,
    started: Instant,
    published: Instant,
    scan_done: bool,
    /// Device numbers of the roots.
    at_roots: HashSet<u64>,
}

impl Run<'_> {
    fn drive(&mut self, deliverer: &mut Deliverer<'_>, share: &Share) -> io::Result<()> {
        let (config, observer) = (self.config, self.observer);
        let (to, scanned) = bounded(SCAN_AHEAD);
        let dirs = Arc::clone(&self.dirs);
        let files = AtomicU64::new(0);
        let stop = self.control.stop_flag();
        let most = self.walkers(share);
        let walk = Walk {
            dirs: &dirs,
            filter: &config.filter,
            max_depth: config.max_depth,
            one_file_system: config.one_file_system,
            ignore_files: &config.ignore_files,
            walkers: (cores().min(most), most),
            open_folders: share.folders,
            observer,
            stop: &stop,
            files: &files,
        };
        let result = thread::scope(|scope| {
            let scanner = thread::Builder::new().name("scan".to_owned());
            let spawned = scanner.spawn_scoped(scope, || scan(config, &walk, to));
            spawned?;
            let result = self.turn(scanned, deliverer);
            if result.is_err() {
                // The walkers must not wait for a reader that is gone.
                self.control.cancel();
            }
            result
        });
        self.sum_up();
        result
    }

    fn turn(
        &mut self,
        scanned: Receiver<ScanMessage>,
        deliverer: &mut Deliverer<'_>,
    ) -> io::Result<()> {
        let mut scanned = scanned;
        let completions = self.scheduler.completions().clone();
        while !(self.scan_done && self.scheduler.is_idle()) {
            select! {
                recv(scanned) -> message => match message {
                    Ok(ScanMessage::Found(batch)) => self.found(&batch),
                    Ok(ScanMessage::Done { folders, left_out }) => {
                        self.scanned(folders, &left_out);
                        scanned = never();
                    }
                    Err(_) => {
                        self.scanned(0, &LeftOut::default());
                        scanned = never();
                    }
                },
                recv(completions) -> message => {
                    let mut stages = 0;
                    for completion in message.into_iter().flatten() {
                        if let Some(finished) = self.scheduler.completed(completion) {
                            stages |= self.finished(&finished);
                        }
                    }
                    self.tally.tick(stages);
                }
                default(PROGRESS) => {}
            }
            self.request();
            self.deliver_finished(deliverer)?;
            if self.control.is_cancelled() {
                self.scheduler.forget_waiting();
            }
            if self.published.elapsed() >= PROGRESS {
                self.publish();
            }
        }
        self.deliver_rest(deliverer)
    }

    /// Walkers that the roots' devices can use: each device's number, for each device once.
    fn walkers(&mut self, share: &Share) -> usize {
        let mut volumes = Vec::new();
        for root in &self.config.roots {
            if let Ok(metadata) = std::fs::metadata(&root.path)
                && self.at_roots.insert(metadata.dev())
            {
                volumes.push(self.volumes.walkers(metadata.dev(), &root.path));
            }
        }
        volumes.sort_unstable_by_key(|&(id, _)| id.0);
        volumes.dedup();
        let sum: usize = volumes.iter().map(|&(_, walkers)| walkers).sum();
        sum.clamp(1, share.walkers)
    }

    fn found(&mut self, batch: &FoundBatch) {
        let (mut files, mut names) = (batch.files.iter(), &batch.names[..]);
        for run in &batch.runs {
            let volume = self.volume(run.dev, run.dir);
            for file in files.by_ref().take(run.files as usize) {
                let (name, rest) = names.split_at(usize::from(file.name_len));
                names = rest;
                if self.machine.found(file, name, run.dir, run.root, volume) {
                    self.summary.files += 1;
                    self.summary.bytes_present += file.size;
                } else {
                    self.summary.extra_names += u64::from(!file.via_link);
                }
            }
        }
    }

    /// The catalog's number of a file system; places it in the scheduler when it is first met.
    fn volume(&mut self, dev: u64, dir: crate::file::DirId) -> u16 {
        let number = self.machine.volume_number(dev);
        if !self.volumes.knows(number) {
            let path = crate::scan::path_of(&self.dirs, dir, None);
            let path = match path.as_os_str().is_empty() {
                true => PathBuf::from("."),
                false => path,
            };
            if self.volumes.place(dev, &path, &mut self.scheduler) {
                self.machine.seeks_cost(number);
            }
            self.volumes
                .complaints()
                .for_each(|problem| self.observer.problem(problem));
            let volume = self.volumes.volume(number);
            self.names = self
                .volumes
                .in_use()
                .map(|(volume, _)| volume.mount_point.display().to_string())
                .collect();
            if !self.at_roots.contains(&dev) {
                for line in volume.explain().lines() {
                    self.observer.notice(Notice(line.to_owned()));
                }
            }
        }
        number
    }

    fn scanned(&mut self, folders: u64, left_out: &LeftOut) {
        self.scan_done = true;
        self.summary.folders = folders;
        self.summary.scan_time = self.started.elapsed();
        self.left_out.add(left_out);
        self.machine.scan_done();
        self.scheduler.scan_done();
    }

    /// Passes on what the machine wants read.
    fn request(&mut self) {
        let effects: Vec<_> = self.machine.effects().collect();
        let catalog = self.machine.catalog();
        for effect in effects {
            let size = catalog.size(effect.file);
            let lane = self.volumes.lane(catalog.volume(effect.file));
            let stage = stage_of(effect.want, size <= HEAD);
            self.tally
                .wanted(lane, stage, wanted_bytes(effect.want, size));
            let request = Request {
                id: effect.file.0,
                note: effect.want as u8,
                bulk: effect.want == Want::Content && size > SMALL,
            };
            self.scheduler.push(lane, request);
        }
        for group in self.machine.comparisons() {
            self.request_comparison(&group);
        }
        self.scheduler.dispatch(&mut |request, batch| {
            describe(&self.machine, request, batch);
        });
    }

    fn request_comparison(&mut self, group: &[FileIndex]) {
        let Some(&first) = group.first() else { return };
        let catalog = self.machine.catalog();
        let lane = self.volumes.lane(catalog.volume(first));
        let stage = stage_of(Want::Comparison, false);
        let requests = group.iter().map(|&file| {
            self.tally.wanted(lane, stage, catalog.size(file));
            Request {
                id: file.0,
                note: Want::Comparison as u8,
                bulk: true,
            }
        });
        let requests = requests.collect();
        self.scheduler.push_group(lane, requests);
    }

    /// Takes the end of a read; returns the stage it belonged to as a bit.
    fn finished(&mut self, finished: &Finished<Digest>) -> u8 {
        let file = FileIndex(finished.request.id);
        let want = want_of(finished.request.note);
        let size = self.machine.catalog().size(file);
        let stage = stage_of(want, size <= HEAD);
        let wanted = wanted_bytes(want, size);
        let read = match finished.result {
            Ok(Answer::Read { bytes, .. } | Answer::Compared { bytes, .. }) => bytes,
            Ok(Answer::NotCompared) | Err(_) => 0,
        };
        self.tally.done(finished.volume, stage, wanted, read);
        match finished.result {
            Ok(Answer::Read {
                digests, cached, ..
            }) => self.read(file, want, digests, cached),
            Ok(Answer::Compared { with, .. }) => self.machine.compared(file, FileIndex(with)),
            Ok(Answer::NotCompared) => self.machine.not_compared(file),
            Err(failure) => self.failed(file, failure),
        }
        1 << stage
    }

    fn read(&mut self, file: FileIndex, want: Want, digests: [Option<Digest>; 2], cached: bool) {
        if cached {
            self.machine.was_cached(file);
        }
        match (want, digests) {
            (Want::Content, [Some(Digest::Content(digest)), _]) => {
                self.machine.content_read(file, digest);
            }
            (Want::Tail, [Some(Digest::Sample(tail)), _]) => {
                self.machine.tail_sampled(file, tail);
            }
            (Want::Head | Want::HeadAndTail, [Some(Digest::Sample(head)), tail]) => {
                let tail = match tail {
                    Some(Digest::Sample(tail)) => Some(tail),
                    _ => None,
                };
                self.machine.sampled(file, head, tail);
            }
            // A digest of another kind than asked for is as good as none.
            _ => self.failed(file, Failure::Changed),
        }
    }

    fn failed(&mut self, file: FileIndex, failure: Failure) {
        self.machine.failed(file);
        let (kind, cause) = match failure {
            Failure::Refused(rustix::io::Errno::CANCELED) => return,
            Failure::Refused(e) => (ProblemKind::UnreadableFile, Some(e.into())),
            Failure::Vanished => (ProblemKind::Vanished, None),
            Failure::Changed => (ProblemKind::Changed, None),
        };
        match kind {
            ProblemKind::UnreadableFile => self.left_out.unreadable += 1,
            _ => self.left_out.changed += 1,
        }
        let mut path = Vec::new();
        self.machine
            .catalog()
            .path(file, &self.dirs.read(), &mut path);
        self.observer.problem(Problem {
            path: to_path(path),
            kind,
            cause,
        });
    }

    fn deliver_finished(&mut self, deliverer: &mut Deliverer<'_>) -> io::Result<()> {
        let finished = self.machine.finished();
        if finished.is_empty() || self.knows_too_little() {
            return Ok(());
        }
        let dirs = self.dirs.read();
        for size in finished {
            deliverer.size(size, &self.machine, &dirs, &self.volumes)?;
        }
        Ok(())
    }

    fn deliver_rest(&mut self, deliverer: &mut Deliverer<'_>) -> io::Result<()> {
        self.deliver_finished(deliverer)?;
        self.summary.incomplete = self.control.is_cancelled();
        let unique = matches!(self.config.replication, super::Replication::Under(_));
        let dirs = self.dirs.read();
        if !self.knows_too_little() {
            for size in self.machine.unfinished() {
                deliverer.size(size, &self.machine, &dirs, &self.volumes)?;
            }
            if unique || self.config.hard_links {
                for file in self.machine.alone() {
                    deliverer.alone(file, &self.machine, &dirs, &self.volumes)?;
                }
            }
        }
        deliverer.finish(self.machine.catalog(), &dirs, &self.volumes)
    }

    /// True if an interruption leaves nothing that can be said: what is equal is equal, but what
    /// seems alone may only not have been found or read.
    fn knows_too_little(&self) -> bool {
        let unique = matches!(self.config.replication, super::Replication::Under(_));
        self.control.is_cancelled() && unique
    }

    fn publish(&mut self) {
        self.published = Instant::now();
        let mut lines = vec![ProgressLine {
            stage: "scan",
            device: String::new(),
            files_done: self.summary.files,
            files_total: self.summary.files,
            bytes_done: self.summary.bytes_present,
            bytes_total: self.summary.bytes_present,
            total_is_final: self.scan_done,
        }];
        lines.extend(self.tally.lines(&self.names, self.scan_done));
        self.control.publish(lines);
    }

    fn sum_up(&mut self) {
        self.summary.total_time = self.started.elapsed();
        self.summary.stages = self.tally.stages();
        let devices = self.volumes.in_use().map(|(volume, place)| DeviceTally {
            name: volume.mount_point.display().to_string(),
            class: volume.class.word().to_owned(),
            bytes_read: self.tally.bytes_read(place),
            busy: self.scheduler.busy(place),
        });
        self.summary.devices = devices.collect();
    }
}

/// Looks at the roots and walks the folders among them.
fn scan(config: &Config, walk: &Walk<'_>, to: Sender<ScanMessage>) {
    let mut outbox = Outbox::new(&to);
    let list = config.max_depth != Some(0);
    let mut roots = Roots::new(
        walk.dirs,
        &config.filter,
        list,
        config.follow_links,
        walk.observer,
    );
    let mut folders = Vec::new();
    for (number, root) in config.roots.iter().enumerate() {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        folders.extend(roots.enter(number, &root.path, config.isolate, &mut outbox));
    }
    outbox.flush();
    walk.files.fetch_add(roots.files, Ordering::Relaxed);
    // The first root is walked first.
    folders.reverse();
    let (folders, mut left_out) = match config.follow_links {
        true => {
            folders.reverse();
            Following::new(walk, &to).run(folders)
        }
        false => walk.run(folders, &to),
    };
    roots.hand_over_linked(&mut outbox);
    left_out.add(&roots.left_out);
    // Nobody listens any more only when the run is over.
    let _ignored = to.send(ScanMessage::Done { folders, left_out });
}

fn want_of(note: u8) -> Want {
    [
        Want::Head,
        Want::HeadAndTail,
        Want::Tail,
        Want::Content,
        Want::Comparison,
    ][usize::from(note).min(Want::Comparison as usize)]
}

fn spans(want: Want, size: u64) -> [Span; 2] {
    let span = |offset, len| Span { offset, len };
    let tail = span(size.saturating_sub(TAIL), TAIL.min(size));
    match want {
        Want::Head => [span(0, HEAD.min(size)), span(0, 0)],
        Want::HeadAndTail => [span(0, HEAD.min(size)), tail],
        Want::Tail => [tail, span(0, 0)],
        Want::Content | Want::Comparison => [span(0, size), span(0, 0)],
    }
}

fn wanted_bytes(want: Want, size: u64) -> u64 {
    spans(want, size).iter().map(|span| span.len).sum()
}

/// Adds the task for a request to a batch.
fn describe(machine: &Machine, request: Request, batch: &mut Batch) {
    let catalog = machine.catalog();
    let file = FileIndex(request.id);
    let name = batch.add_name(catalog.first_name(file));
    batch.tasks.push(Task {
        ticket: 0,
        dir: catalog.dir(file),
        name,
        expect: catalog.fingerprint(file),
        spans: spans(want_of(request.note), catalog.size(file)),
        only_if_cached: false,
    });
}

/// A path of raw bytes.
pub(super) fn to_path(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}
