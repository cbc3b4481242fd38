//! The whole scan: has the roots looked at and the folders among them walked, and reports the result.
//!
//! The thread that does this makes no calls to file systems itself, so it can always be told to end.

use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, SendTimeoutError, Sender, bounded};

use crate::pulse::{Pulse, Subject};

use super::follow::Following;
use super::found::ScanMessage;
use super::hands::{Hands, TICK};
use super::roots::{Given, Roots};
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
        let mut looked = self.look(roots, &mut hands);
        let mut walked = Walked::default();
        let mut linked = Vec::new();
        // Roots on file systems that do not answer may still come when the others are done.
        loop {
            for roots in &looked {
                walked.left_out.add(&roots.left_out);
            }
            let folders = looked
                .iter_mut()
                .flat_map(|l| std::mem::take(&mut l.folders));
            let mut folders: Vec<Folder> = folders.collect();
            folders.sort_by_key(|folder| self.walk.dirs.read().root(folder.dir));
            let devices = looked.iter().flat_map(|l| l.devices.iter().copied());
            let mut devices: Vec<_> = devices.collect();
            devices.sort_by_key(|&(_, root)| root);
            linked.extend(looked.drain(..).filter(Roots::has_linked));
            let _ignored = self.to.send(ScanMessage::Rooted(devices));
            // Only a run that is over does not answer.
            let Ok(crews) = self.crews.recv() else { break };
            walked.add(self.walk_below(folders, &crews));
            match hands.next(|_| ()) {
                Some(roots) => looked.push(roots),
                None => break,
            }
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
    fn look(&self, roots: impl Iterator<Item = Given>, hands: &mut Hands<Roots>) -> Vec<Roots> {
        let (to, given) = bounded(ROOTS_AHEAD);
        let mut pulses = vec![self.start(hands, &given)];
        if hands.at_work() == 0 {
            let mut looked = Roots::new(&self.walk, self.follow_links, &self.to, &pulses[0]);
            roots.for_each(|root| looked.look_at(&root));
            return vec![looked];
        }
        let mut go_on = |hands: &mut Hands<Roots>| {
            let silent = pulses.iter().filter(|pulse| pulse.is_silent()).count();
            if silent == pulses.len() {
                pulses.push(self.start(hands, &given));
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
        let mut looked = Vec::new();
        // Whoever is silent is not waited for now.
        while go_on(hands).is_some_and(|silent| silent < hands.at_work()) {
            looked.extend(hands.within_a_tick());
        }
        looked
    }

    fn start(&self, hands: &mut Hands<Roots>, given: &Receiver<Given>) -> Arc<Pulse> {
        let pulse = self.walk.ward.admit(Subject::Path);
        let roots = Roots::new(&self.walk, self.follow_links, &self.to, &pulse);
        let (given, own) = (given.clone(), Arc::clone(&pulse));
        hands.start("roots", &pulse, move || roots.look_at_all(&given, &own));
        pulse
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
    fn hand_over(&self, linked: Vec<Roots>) {
        for roots in linked {
            let mut hands = Hands::new(&self.walk.ward, &self.walk.stop);
            let pulse = self.walk.ward.admit(Subject::Path);
            let roots = Arc::new(Mutex::new(Some(roots)));
            let work = {
                let roots = Arc::clone(&roots);
                move || take(&roots).into_iter().for_each(Roots::hand_over_linked)
            };
            if hands.start("roots", &pulse, work) {
                let _ended = hands.next(|_| ());
            } else {
                take(&roots).into_iter().for_each(Roots::hand_over_linked);
            }
        }
    }
}

fn take<T>(shared: &Mutex<Option<T>>) -> Option<T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner).take()
}
