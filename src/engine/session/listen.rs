//! Detects threads that get no answer from a file system, and decides when the run gives up on them.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::device::{Mounts, VolumeId};
use crate::event::{Problem, ProblemKind};
use crate::file::DirId;
use crate::heartbeat::{Heartbeat, Subject, Watchlist};
use crate::scan::path_of;

use super::Session;
use super::answers::to_path;

/// Time within which threads end after Ctrl-C, unless the kernel blocks them.
const INTERRUPTED: Duration = Duration::from_millis(500);

/// Maximum number of substitutes for threads that wait for one volume, in each of its pools.
const FOR_A_VOLUME: usize = 2;

/// Maximum number of substitutes in each kind of pool during a run.
const FOR_A_RUN: usize = 32;

/// What the run knows of file systems that do not answer.
pub struct Silence {
    /// Threads that call file systems.
    pub watchlist: Arc<Watchlist>,
    /// File systems that were reported as waited for.
    pub named: HashSet<PathBuf>,
    /// File systems that the run gave up on.
    pub given_up: HashSet<PathBuf>,
    /// The mounts at the time when the run last gave up on one.
    pub mounts: Mounts,
    /// Threads that have a substitute, and the volumes that they wait for.
    pub substituted: Vec<(Arc<Heartbeat>, VolumeId)>,
    /// When the user interrupted the run.
    pub interrupted: Option<Instant>,
}

impl Silence {
    /// All answer so far.
    pub fn new(watchlist: Arc<Watchlist>) -> Self {
        Self {
            watchlist,
            named: HashSet::new(),
            given_up: HashSet::new(),
            mounts: Mounts::default(),
            substituted: Vec::new(),
            interrupted: None,
        }
    }

    /// True if the run gave up on a file system.
    pub fn is_any_given_up(&self) -> bool {
        !self.given_up.is_empty()
    }
}

impl Session<'_> {
    /// Finds the threads that get no answer, reports their file systems and starts other threads as substitutes. Gives
    /// up on these file systems when nothing else has progressed for long enough.
    pub fn listen(&mut self) {
        let looked = self.silence.watchlist.look();
        for answered in looked.answered {
            let substituted = &mut self.silence.substituted;
            let is_this = |(thread, _): &(Arc<Heartbeat>, _)| Arc::ptr_eq(thread, &answered);
            if let Some(at) = substituted.iter().position(is_this) {
                self.reads
                    .scheduler
                    .retire_workers(substituted.swap_remove(at).1);
            }
        }
        let mut lost = looked.lost;
        for silent in looked.silent {
            let (place, device) = self.place_of(&silent);
            silent.set_device(device);
            // Nobody waits twice for one file system.
            if self.silence.given_up.contains(&place) && self.silence.watchlist.give_up(&silent) {
                lost.push(silent);
                continue;
            }
            if let Some(volume) = volume_of(&silent) {
                let substituted = &mut self.silence.substituted;
                let of_volume = substituted.iter().filter(|(_, of)| *of == volume);
                if of_volume.count() < FOR_A_VOLUME && substituted.len() < FOR_A_RUN {
                    self.reads.scheduler.add_workers(volume);
                    substituted.push((silent, volume));
                }
            }
            if self.silence.named.insert(place.clone()) {
                self.say(place, ProblemKind::NotAnswering);
            }
        }
        if !lost.is_empty() {
            self.give_up(&lost);
        }
        if self.control.is_cancelled() {
            let since = self.silence.interrupted.get_or_insert_with(Instant::now);
            if since.elapsed() >= INTERRUPTED {
                self.reads.scheduler.interrupt();
            }
        }
        self.reads.scheduler.tend();
    }

    /// Gives up on the file systems that threads wait for: reads there fail, and nothing more is listed.
    fn give_up(&mut self, lost: &[Arc<Heartbeat>]) {
        self.silence.mounts = Mounts::read();
        let mut volumes = Vec::new();
        for lost in lost {
            volumes.extend(volume_of(lost));
            let (place, _) = self.place_of(lost);
            if self.silence.given_up.insert(place.clone()) {
                self.say(place, ProblemKind::Unanswered);
            }
        }
        self.reads.scheduler.give_up(&volumes);
    }

    /// True if no reader is in a call to a file system, or soon none is: the answer comes before the file is closed.
    pub fn do_readers_rest(&self) -> bool {
        let since = Instant::now();
        let is_at_work = |heartbeat: &Arc<Heartbeat>| {
            heartbeat.subject == Subject::Volume && heartbeat.is_at_work()
        };
        while self.silence.watchlist.heartbeats().iter().any(is_at_work) {
            if since.elapsed() >= INTERRUPTED {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Which of the roots lie on a file system that does not answer, or have one below them. If none is known to, all
    /// of them may.
    pub fn silent_roots(&self) -> Vec<bool> {
        let mounts = Mounts::read();
        let is_silent = |path: &Path| {
            let path = plain(path);
            let point = mounts.point_above(&path);
            let mut given_up = self.silence.given_up.iter();
            given_up.any(|named| named.starts_with(&path) || Some(named) == point.as_ref())
        };
        let roots = self.config.roots.iter();
        let silent: Vec<bool> = roots.map(|root| is_silent(&root.path)).collect();
        if silent.contains(&true) {
            silent
        } else {
            vec![true; silent.len()]
        }
    }

    /// True if the run gave up on the file system of a folder, or on one that the path of the folder leads through.
    pub fn is_silent(&self, dir: DirId) -> bool {
        if !self.silence.is_any_given_up() {
            return false;
        }
        let device = self.dirs.read().identity(dir).0;
        let Silence {
            given_up, mounts, ..
        } = &self.silence;
        if self.silence.watchlist.is_silent(device) || mounts.is_at(device, given_up) {
            return true;
        }
        let path = plain(&path_of(&self.dirs, dir, None));
        // The kernel knows the folders on the way to another mount. It asks nothing but servers and daemons about them.
        let mut on_the_way = given_up.iter().filter(|place| place.parent().is_some());
        on_the_way.any(|place| path.starts_with(place))
    }

    fn say(&self, path: PathBuf, kind: ProblemKind) {
        self.observer.problem(Problem {
            path,
            kind,
            cause: None,
        });
    }

    /// The mount point of the file system that a thread waits for, and its device number if it is known. Makes no call
    /// to any of these file systems.
    fn place_of(&self, heartbeat: &Heartbeat) -> (PathBuf, Option<u64>) {
        let at = heartbeat.at();
        let (name, mounts) = (heartbeat.name(), Mounts::read());
        match heartbeat.subject {
            Subject::Volume => {
                let volume = self.reads.volumes.get(VolumeId(at as u16));
                (volume.mount_point.clone(), None)
            }
            // No name has a slash.
            Subject::Path if name.contains(&b'/') => {
                let path = plain(&to_path(name));
                (mounts.point_above(&path).unwrap_or(path), None)
            }
            Subject::Path => {
                let name = std::ffi::CString::new(name).unwrap_or_default();
                let name = (!name.is_empty()).then_some(name);
                let path = plain(&path_of(&self.dirs, DirId(at), name.as_deref()));
                // What is mounted there may be another one than what the folder above lies on.
                if mounts.is_point(&path) {
                    return (path, None);
                }
                let device = self.dirs.read().identity(DirId(at)).0;
                let point = mounts.point_of(device, &path);
                (point.unwrap_or(path), Some(device))
            }
        }
    }
}

/// The volume that a reader waits for; none for other threads.
fn volume_of(heartbeat: &Heartbeat) -> Option<VolumeId> {
    (heartbeat.subject == Subject::Volume).then(|| VolumeId(heartbeat.at() as u16))
}

/// The absolute path without `..`, computed without a call to a file system.
fn plain(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
