//! The whole scan: checks the roots, walks the folders among them, and reports the result.
//!
//! Other threads do the work. The thread that directs them makes no calls to file systems itself, so it can always be
//! told to end.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, SendTimeoutError, Sender, bounded};

use crate::heartbeat::Subject;

use super::found::ScanMessage;
use super::linked;
use super::roots::{Given, Roots};
use super::walk::{Group, Known, Walk, Walked};
use super::workers::{TICK, Workers};

/// Maximum number of roots that wait to be checked.
const ROOTS_AHEAD: usize = 256;

/// Maximum number of threads that check roots.
const LOOKERS: usize = 64;

/// After this time without an answer, other threads check the next roots. It is not shorter, since a root that is
/// reached twice counts for the path that is checked first: threads on a busy machine must not overtake each other.
const ALONE: Duration = Duration::from_secs(1);

/// A scan.
pub struct Search {
    /// The walk.
    pub walk: Arc<Walk>,
    /// The channel for the results.
    pub to: Sender<ScanMessage>,
    /// The groups of walkers: the answer to [`ScanMessage::Rooted`].
    pub groups: Receiver<Vec<Group>>,
}

impl Search {
    /// Checks these roots and walks the folders among them.
    pub fn run(self, roots: impl Iterator<Item = Given>) {
        let mut workers = Workers::new(&self.walk.watchlist, &self.walk.stop);
        let mut lookers = Vec::new();
        let mut walked = self.look(roots, &mut workers, &mut lookers);
        // Roots on file systems that do not answer may still come when the others are done.
        loop {
            let mut folders = std::mem::take(&mut walked.roots);
            folders.sort_by_key(|folder| self.walk.dirs.read().root(folder.dir));
            let mut devices = std::mem::take(&mut walked.devices);
            devices.sort_by_key(|&(_, root)| root);
            let _ignored = self.to.send(ScanMessage::Rooted(devices));
            // Only a run that is over does not answer.
            let Ok(groups) = self.groups.recv() else {
                break;
            };
            // The first root is walked first.
            folders.reverse();
            walked.add(self.walk.run(folders, &groups, &self.to));
            if !workers.next(|_| ()) {
                break;
            }
            self.take(&lookers, &mut walked);
        }
        walked.left_out.unanswered += workers.at_work() as u64;
        let mut last = self.walk.take_linked();
        last.append(&mut walked.linked);
        let mut workers = Workers::new(&self.walk.watchlist, &self.walk.stop);
        linked::start(last, &mut workers, &self.to);
        let _ended = workers.next(|_| ());
        let _ignored = self.to.send(ScanMessage::Done {
            folders: walked.folders,
            left_out: walked.left_out,
            listed: walked.listed,
            others: walked.others,
            roots: walked.unseen,
        });
    }

    /// Has roots checked, one after the other. If a thread gets no answer, others take the next roots.
    fn look(
        &self,
        roots: impl Iterator<Item = Given>,
        workers: &mut Workers,
        lookers: &mut Vec<Known>,
    ) -> Walked {
        let (to, given) = bounded(ROOTS_AHEAD);
        lookers.extend(self.start(workers, &given));
        if workers.at_work() == 0 {
            let kept = Arc::default();
            let mut looking = Roots::new(&self.walk, &self.to, &kept);
            let heartbeat = workers.do_here(Subject::Path, || {
                roots.for_each(|root| looking.look_at(&root));
            });
            return Known { heartbeat, kept }.take(&self.to);
        }
        let mut go_on = |workers: &mut Workers| {
            if lookers.iter().all(|l| l.heartbeat.quiet() >= ALONE) {
                // One for each root, so that the run waits for several dead servers at the same time.
                let more = given.len().min(LOOKERS.saturating_sub(lookers.len()));
                lookers.extend((0..more).map_while(|_| self.start(workers, &given)));
            }
            let silent = lookers.iter().filter(|l| l.is_silent()).count();
            (!workers.is_over()).then_some(silent)
        };
        'roots: for root in roots {
            let mut root = root;
            while let Err(SendTimeoutError::Timeout(back)) = to.send_timeout(root, TICK) {
                if go_on(workers).is_none() {
                    break 'roots;
                }
                root = back;
            }
        }
        drop(to);
        // Threads that get no answer are not waited for now.
        while go_on(workers).is_some_and(|silent| silent < workers.at_work()) {
            let _ended = workers.within_a_tick();
        }
        let mut found = Walked::default();
        self.take(lookers, &mut found);
        found
    }

    /// Takes what was found since the last call, also by threads that are blocked now.
    fn take(&self, lookers: &[Known], found: &mut Walked) {
        for looker in lookers {
            found.add(looker.take(&self.to));
        }
    }

    /// Starts a thread that checks roots; none if the system provides none.
    fn start(&self, workers: &mut Workers, given: &Receiver<Given>) -> Option<Known> {
        let kept = Arc::default();
        let mut roots = Roots::new(&self.walk, &self.to, &kept);
        let given = given.clone();
        let look = move || roots.look_at_all(&given);
        let heartbeat = workers.start("roots", Subject::Path, look)?;
        Some(Known { heartbeat, kept })
    }
}
