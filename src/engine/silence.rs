//! Which threads get no answer from a file system, and when the run gives up on them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::device::Mounts;
use crate::event::{Problem, ProblemKind};
use crate::file::DirId;
use crate::pulse::{Pulse, Subject};

use super::run::Run;

/// A file system that does not answer a call for this long is named. A disk takes about as long to spin up.
const NAMED: Duration = Duration::from_secs(10);

/// After Ctrl-C, threads that the kernel lets go end within this time.
const INTERRUPTED: Duration = Duration::from_millis(500);

/// Longest time that counts between two looks. While the run was stopped or the machine slept, no thread could answer.
const STEP: Duration = Duration::from_secs(1);

/// What is known of the threads that make calls to file systems.
pub struct Silence {
    /// How long the run waits when nothing else moves.
    patience: Duration,
    heard: Vec<Heard>,
    looked: Instant,
    /// For how long nothing has moved.
    quiet: Duration,
    /// Something has moved since the last look.
    pub moved: bool,
    named: HashSet<PathBuf>,
    interrupted: Option<Instant>,
    is_over: bool,
}

/// What is known of one thread.
#[derive(Clone, Copy, Default)]
struct Heard {
    count: u32,
    /// For how long the count has stood still.
    quiet: Duration,
    /// The device that does not answer it.
    device: Option<u64>,
}

impl Silence {
    pub fn new(patience: Duration) -> Self {
        Self {
            patience,
            heard: Vec::new(),
            looked: Instant::now(),
            quiet: Duration::ZERO,
            moved: false,
            named: HashSet::new(),
            interrupted: None,
            is_over: false,
        }
    }

    /// True if the run no longer waits for calls in flight.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Compares the counts with those of the last look; returns the threads that have become silent.
    fn look(&mut self, pulses: &[Arc<Pulse>], step: Duration) -> Vec<usize> {
        self.heard.resize(pulses.len(), Heard::default());
        let mut become_silent = Vec::new();
        let mut any_silent = false;
        for (at, (pulse, heard)) in pulses.iter().zip(&mut self.heard).enumerate() {
            let (count, is_at_work) = pulse.count();
            if count != heard.count || !is_at_work {
                self.moved |= count != heard.count;
                *heard = Heard {
                    count,
                    ..Heard::default()
                };
                pulse.set_silent(false);
                continue;
            }
            heard.quiet += step;
            if heard.quiet >= NAMED.min(self.patience) {
                any_silent = true;
                if !pulse.is_silent() {
                    become_silent.push(at);
                }
            }
        }
        match std::mem::take(&mut self.moved) || !any_silent {
            true => self.quiet = Duration::ZERO,
            false => self.quiet += step,
        }
        become_silent
    }
}

impl Run<'_> {
    /// Finds the threads that get no answer, names their file systems and lets others work in their place. Gives up on
    /// them when nothing else has moved for long enough.
    pub fn listen(&mut self) {
        let step = self.silence.looked.elapsed().min(STEP);
        self.silence.looked = Instant::now();
        let pulses = self.ward.pulses();
        for at in self.silence.look(&pulses, step) {
            let (place, device) = self.place_of(&pulses[at]);
            self.silence.heard[at].device = device;
            pulses[at].set_silent(true);
            if pulses[at].subject == Subject::Volume {
                self.scheduler.add_hands();
            }
            self.name(place, ProblemKind::NotAnswering);
        }
        let devices = self.silence.heard.iter().filter_map(|heard| heard.device);
        self.ward.set_devices(devices.collect());
        if self.silence.quiet >= self.silence.patience && !self.silence.is_over {
            self.silence.is_over = true;
            self.silence.named.clear();
            self.ward.give_up();
            for pulse in pulses.iter().filter(|pulse| pulse.is_silent()) {
                let (place, _) = self.place_of(pulse);
                self.name(place, ProblemKind::Unanswered);
            }
        }
        if self.control.is_cancelled() {
            let since = self.silence.interrupted.get_or_insert_with(Instant::now);
            self.silence.is_over |= since.elapsed() >= INTERRUPTED;
        }
    }

    /// Names a file system, once.
    fn name(&mut self, path: PathBuf, kind: ProblemKind) {
        if self.silence.named.insert(path.clone()) {
            self.observer.problem(Problem {
                path,
                kind,
                cause: None,
            });
        }
    }

    /// Where the file system that a thread waits for is mounted, and its device number if it is known. Makes no call to
    /// any of these file systems.
    fn place_of(&self, pulse: &Pulse) -> (PathBuf, Option<u64>) {
        let at = pulse.at();
        let mounts = Mounts::read();
        match pulse.subject {
            Subject::Volume => {
                let name = self.names.get(at as usize).map(PathBuf::from);
                (name.unwrap_or_default(), None)
            }
            Subject::Path => {
                let path = path_from(&pulse.name());
                (mounts.point_above(&absolute(&path)).unwrap_or(path), None)
            }
            Subject::Folder => {
                let name = std::ffi::CString::new(pulse.name().clone()).unwrap_or_default();
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

/// The path from `/` on; nothing on it is looked at.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pulse::Ward;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn who_moves_or_rests_is_not_silent() {
        let ward = Ward::default();
        let [stuck, busy, idle] = [0; 3].map(|_| ward.admit(Subject::Volume));
        let mut silence = Silence::new(60 * SECOND);
        stuck.beat();
        idle.beat();
        idle.rest();
        let mut named = Vec::new();
        for _ in 0..100 {
            busy.beat();
            for at in silence.look(&ward.pulses(), SECOND) {
                named.push(at);
                ward.pulses()[at].set_silent(true);
            }
            assert_eq!(silence.quiet, Duration::ZERO, "one still works");
        }
        assert_eq!(named, [0], "once");
        busy.rest();
        for seconds in 0..60 {
            assert!(silence.quiet <= seconds * SECOND);
            silence.look(&ward.pulses(), SECOND);
        }
        assert!(silence.quiet >= 59 * SECOND);
        stuck.beat();
        silence.look(&ward.pulses(), SECOND);
        assert!(!stuck.is_silent() && silence.quiet == Duration::ZERO);
        for _ in 0..9 {
            assert!(silence.look(&ward.pulses(), SECOND).is_empty());
        }
        assert_eq!(silence.look(&ward.pulses(), SECOND), [0], "again");
        // What is read or found by others counts as well.
        silence.moved = true;
        silence.look(&ward.pulses(), SECOND);
        assert_eq!(silence.quiet, Duration::ZERO);
    }
}
