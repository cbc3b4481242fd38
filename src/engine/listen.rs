//! Detects threads that get no answer from a file system, and decides when the run gives up on them.

use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use crate::device::{Mounts, VolumeId};
use crate::event::{Problem, ProblemKind};
use crate::file::DirId;
use crate::heartbeat::{Heartbeat, Subject};

use super::session::Session;
use super::silence::Silence;

/// Time within which threads end after Ctrl-C, unless the kernel blocks them.
const INTERRUPTED: Duration = Duration::from_millis(500);

impl Session<'_> {
    /// Finds the threads that get no answer, reports their file systems and starts other threads as substitutes. Gives
    /// up on them when nothing else has progressed for long enough.
    pub fn listen(&mut self) {
        let heartbeats = self.watchlist.heartbeats();
        for at in self.silence.counts.look(&heartbeats) {
            let (place, device) = self.place_of(&heartbeats[at]);
            self.silence.counts.set_device(at, device);
            heartbeats[at].set_silent(true);
            if heartbeats[at].subject == Subject::Volume {
                self.scheduler
                    .add_workers(VolumeId(heartbeats[at].at() as u16));
            }
            if !self.watchlist.is_given_up() {
                self.name(place, ProblemKind::NotAnswering);
            }
        }
        self.watchlist.set_devices(self.silence.counts.devices());
        if self.silence.counts.is_too_long() && !self.silence.is_over {
            self.silence.is_over = true;
            if !self.watchlist.is_given_up() {
                self.silence.named.clear();
            }
            self.silence.mounts = Mounts::read();
            self.watchlist.give_up();
            for heartbeat in heartbeats.iter().filter(|heartbeat| heartbeat.is_silent()) {
                let (place, _) = self.place_of(heartbeat);
                self.name(place, ProblemKind::Unanswered);
            }
        }
        if self.control.is_cancelled() {
            let since = self.silence.interrupted.get_or_insert_with(Instant::now);
            self.silence.is_over |= since.elapsed() >= INTERRUPTED;
        }
    }

    /// Which of the roots lie on a file system that does not answer, or have one below them. If none is known to, all
    /// of them may.
    pub fn silent_roots(&self) -> Vec<bool> {
        let mounts = Mounts::read();
        let is_silent = |path: &Path| {
            let path = without_dots(&absolute(path));
            let point = mounts.point_above(&path);
            let mut named = self.silence.named.iter();
            named.any(|named| named.starts_with(&path) || Some(named) == point.as_ref())
        };
        let roots = self.config.roots.iter();
        let silent: Vec<bool> = roots.map(|root| is_silent(&root.path)).collect();
        match silent.contains(&true) {
            true => silent,
            false => vec![true; silent.len()],
        }
    }

    /// True if the run gave up on the file system of a folder, or on one that the path of the folder leads through.
    pub fn is_silent(&self, dir: DirId) -> bool {
        if !self.watchlist.is_given_up() {
            return false;
        }
        let device = self.dirs.read().identity(dir).0;
        let Silence { named, mounts, .. } = &self.silence;
        if self.watchlist.is_silent(device) || mounts.is_at(device, named) {
            return true;
        }
        let path = absolute(&crate::scan::path_of(&self.dirs, dir, None));
        let path = without_dots(&path);
        // The kernel knows the folders on the way to another mount. It asks nothing but servers and daemons about them.
        let mut on_the_way = named.iter().filter(|named| named.parent().is_some());
        on_the_way.any(|named| path.starts_with(named))
    }

    /// Reports a file system, once.
    fn name(&mut self, path: PathBuf, kind: ProblemKind) {
        if self.silence.named.insert(path.clone()) {
            self.observer.problem(Problem {
                path,
                kind,
                cause: None,
            });
        }
    }

    /// The mount point of the file system that a thread waits for, and its device number if it is known. Makes no call
    /// to any of these file systems.
    fn place_of(&self, heartbeat: &Heartbeat) -> (PathBuf, Option<u64>) {
        let at = heartbeat.at();
        let mounts = Mounts::read();
        match heartbeat.subject {
            Subject::Volume => {
                let name = self.names.get(at as usize).map(PathBuf::from);
                (name.unwrap_or_default(), None)
            }
            Subject::Path => {
                let path = path_from(&heartbeat.name());
                (mounts.point_above(&absolute(&path)).unwrap_or(path), None)
            }
            // No name holds a slash: it is the path that a link leads to.
            Subject::Folder if heartbeat.name().contains(&b'/') => {
                let path = without_dots(&absolute(&path_from(&heartbeat.name())));
                (mounts.point_above(&path).unwrap_or(path), None)
            }
            Subject::Folder => {
                let name = std::ffi::CString::new(heartbeat.name().clone()).unwrap_or_default();
                let name = (!name.is_empty()).then_some(name);
                let path = crate::scan::path_of(&self.dirs, DirId(at), name.as_deref());
                let path = absolute(&path);
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

fn path_from(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).into()
}

/// The absolute path; nothing on it is examined.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A path without `..`, computed without a call to a file system.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
