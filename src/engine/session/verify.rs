//! Compares the members of sets byte by byte before the sets are delivered (`--verify`).

use std::collections::HashMap;

use crate::decide::Want;
use crate::event::{Problem, ProblemKind};
use crate::file::FileIndex;
use crate::hash::Digest;
use crate::read::{Failure, Outcome};

use super::Session;
use crate::engine::deliver::Draft;

/// A set that is being compared.
pub struct Compared {
    pub draft: Draft,
    /// Files of which nothing was heard.
    pub left: usize,
    /// Files that turned out not to be members, and why; `None` if they differ.
    pub refused: HashMap<FileIndex, Option<Failure>>,
}

/// The sets that are being compared.
#[derive(Default)]
pub struct Verification {
    /// By their numbers.
    pub sets: HashMap<usize, Compared>,
    /// The set of each of their files.
    pub of: HashMap<FileIndex, usize>,
    /// Number of the next set.
    pub next: usize,
    /// Sets that were compared.
    pub done: Vec<Draft>,
}

impl Session<'_> {
    /// Starts the comparison of the members of sets.
    pub fn verify(&mut self, drafts: Vec<Draft>) {
        for draft in drafts {
            let number = self.verification.next;
            self.verification.next += 1;
            let file_table = self.machine.file_table();
            let position = draft.files.first().map_or(0, |&file| file_table.ino(file));
            let numbered = draft.files.iter().map(|&file| (file, number));
            self.verification.of.extend(numbered);
            self.ask_for_set(position, &draft.files, Want::Verify);
            let compared = Compared {
                left: draft.files.len(),
                draft,
                refused: HashMap::new(),
            };
            self.verification.sets.insert(number, compared);
        }
    }

    /// Takes the result of comparing a file with the others of its set.
    pub fn verified(&mut self, file: FileIndex, outcome: Outcome<Digest>) {
        let Some(number) = self.verification.of.remove(&file) else {
            return;
        };
        let Some(set) = self.verification.sets.get_mut(&number) else {
            return;
        };
        match outcome {
            Outcome::Verified { equal: true, .. } => None,
            Outcome::Failed(failure) => set.refused.insert(file, Some(failure)),
            _ => set.refused.insert(file, None),
        };
        set.left -= 1;
        if set.left > 0 {
            return;
        }
        if let Some(set) = self.verification.sets.remove(&number) {
            self.end_set(set);
        }
    }

    fn end_set(&mut self, set: Compared) {
        let Compared {
            mut draft, refused, ..
        } = set;
        let is_member = |file: &FileIndex| !refused.contains_key(file);
        let (members, others) = draft.files.into_iter().partition::<Vec<_>, _>(is_member);
        draft.files = members;
        for file in others {
            match refused.get(&file) {
                Some(&Some(failure)) => self.leave_out(file, failure),
                _ => {
                    self.deliverer.summary.left_out.changed += 1;
                    self.observer.problem(Problem {
                        path: self.path_of_first_name(file),
                        kind: ProblemKind::NotVerified,
                        cause: None,
                    });
                }
            }
        }
        self.verification.done.push(draft);
    }
}
