//! The whole scan: has the roots looked at and the folders among them walked, and reports the result.
//!
//! The thread that does this makes no calls to file systems itself, so it can always be told to end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, SendTimeoutError, Sender, bounded};

use crate::pulse::{Pulse, Subject};

use super::follow::Following;
use super::found::ScanMessage;
use super::hands::{Hands, TICK};
use super::roots::{self, Found, Given, Linked, Roots};
use super::walk::{Crew, Folder, Walk, Walked};

/// Roots that may wait to be looked at.
const ROOTS_AHEAD: usize = 256;

/// Scans.
pub struct Search {
    /// What is walked and how.
    pub walk: Arc<Walk>,
    /// Links are followed.
    pub follow_links: bool,
    /// Where what is found goes.
    pub to: Sender<ScanMessage>,
    /// Who walks what: the answer to [`ScanMessage::Rooted`].
    pub crews: Receiver<Vec<Crew>>,
}

impl Search {
    /// Looks at these roots and walks the folders among them.
    pub fn run(self, roots: impl Iterator<Item = Given>) {
        let mut hands = Hands::new(&self.walk.ward, &self.walk.stop);
        let mut lookers = Vec::new();
        let mut found = self.look(roots, &mut hands, &mut lookers);
        let mut walked = Walked::default();
        let mut linked = Vec::new();
        // Roots on file systems that do not answer may still come when the others are done.
        loop {
            walked.left_out.add(&found.left_out);
            let mut folders = found.folders;
            folders.sort_by_key(|folder| self.walk.dirs.read().root(folder.dir));
            let mut devices = found.devices;
            devices.sort_by_key(|&(_, root)| root);
            linked.extend(found.linked);
            let _ignored = self.to.send(ScanMessage::Rooted(devices));
            // Only a run that is over does not answer.
            let Ok(crews) = self.crews.recv() else { break };
            walked.add(self.walk_below(folders, &crews));
            if hands.next(|_| ()).is_none() {
                break;
            }
            found = found_so_far(&lookers);
        }
        walked.left_out.unanswered += hands.at_work() as u64;
        self.hand_over(linked);
        let _ignored = self.to.send(ScanMessage::Done {
            folders: walked.folders,
            left_out: walked.left_out,
            listed_again: walked.changed,
        });
    }

    /// Has roots looked at, one after the other. If a thread gets no answer, another one takes the next roots.
    fn look(
        &self,
        roots: impl Iterator<Item = Given>,
        hands: &mut Hands<()>,
        lookers: &mut Vec<Looker>,
    ) -> Found {
        let (to, given) = bounded(ROOTS_AHEAD);
        lookers.push(self.start(hands, &given));
        if hands.at_work() == 0 {
            let mut looked = locked(&lookers[0].roots);
            roots.for_each(|root| looked.look_at(&root));
            return looked.take();
        }
        let mut go_on = |hands: &mut Hands<()>| {
            let silent = lookers.iter().filter(|l| l.pulse.is_silent()).count();
            if silent == lookers.len() {
                lookers.push(self.start(hands, &given));
            }
            (!hands.is_over()).then_some(silent)
        };
        'roots: for root in roots {
            let mut root = root;
            while let Err(SendTimeoutError::Timeout(back)) = to.send_timeout(root, TICK) {
                if go_on(hands).is_none() {
                    break 'roots;
                }
                root = back;
            }
        }
        drop(to);
        // Whoever is silent is not waited for now.
        while go_on(hands).is_some_and(|silent| silent < hands.at_work()) {
            let _ended = hands.within_a_tick();
        }
        found_so_far(lookers)
    }

    fn start(&self, hands: &mut Hands<()>, given: &Receiver<Given>) -> Looker {
        let pulse = self.walk.ward.admit(Subject::Path);
        let roots = Roots::new(&self.walk, self.follow_links, &self.to, &pulse);
        let roots = Arc::new(Mutex::new(roots));
        let looker = Looker { pulse, roots };
        let (given, own) = (given.clone(), looker.clone());
        hands.start("roots", &looker.pulse, move || {
            Roots::look_at_all(&own.roots, &given, &own.pulse);
        });
        looker
    }

    fn walk_below(&self, folders: Vec<Folder>, crews: &[Crew]) -> Walked {
        if !self.follow_links {
            // The first root is walked first.
            return self
                .walk
                .run(folders.into_iter().rev().collect(), crews, &self.to);
        }
        let mut hands = Hands::new(&self.walk.ward, &self.walk.stop);
        let pulse = self.walk.ward.admit(Subject::Path);
        let (walk, to, own) = (Arc::clone(&self.walk), self.to.clone(), Arc::clone(&pulse));
        let given = folders.clone();
        if !hands.start("walk", &pulse, move || {
            Following::new(&walk, &to, &own).run(given)
        }) {
            // There is no thread to be had.
            return Following::new(&self.walk, &self.to, &pulse).run(folders);
        }
        let walked = hands.next(|_| ());
        walked.unwrap_or_else(|| {
            let mut none = Walked::default();
            none.left_out.unanswered += 1;
            none
        })
    }

    /// Hands over the files that were named through links, which come last.
    fn hand_over(&self, linked: Vec<Linked>) {
        if linked.is_empty() {
            return;
        }
        let mut hands = Hands::new(&self.walk.ward, &self.walk.stop);
        let pulse = self.walk.ward.admit(Subject::Path);
        let linked = Arc::new(Mutex::new(linked));
        let work = {
            let (to, own) = (self.to.clone(), Arc::clone(&pulse));
            let linked = Arc::clone(&linked);
            move || roots::hand_over(std::mem::take(&mut locked(&linked)), &to, &own)
        };
        if hands.start("roots", &pulse, work) {
            let _ended = hands.next(|_| ());
        } else {
            roots::hand_over(std::mem::take(&mut locked(&linked)), &self.to, &pulse);
        }
    }
}

/// A thread that looks at roots.
#[derive(Clone)]
struct Looker {
    pulse: Arc<Pulse>,
    roots: Arc<Mutex<Roots>>,
}

/// What has been found since the last call, also by threads that get no answer now.
fn found_so_far(lookers: &[Looker]) -> Found {
    let mut all = Found::default();
    // One that is locked is at work between two looks; what it has comes when it ends.
    for mut roots in lookers.iter().filter_map(|l| l.roots.try_lock().ok()) {
        let found = roots.take();
        all.devices.extend(found.devices);
        all.folders.extend(found.folders);
        all.left_out.add(&found.left_out);
        all.linked.extend(found.linked);
    }
    all
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
