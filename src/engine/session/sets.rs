//! Delivers the sets of final sizes: settles the names of their files, and has them compared first if requested.

use std::collections::{HashMap, VecDeque};
use std::io;

use crate::decide::{ClassId, Want};
use crate::engine::deliver::{Deliverer, Draft, Known};
use crate::event::{Problem, ProblemKind};
use crate::file::FileIndex;
use crate::read::Outcome;
use crate::tree::Scope;

use super::Session;

/// The sets of a run on their way to the receiver.
pub struct Sets<'a> {
    /// Sizes that are final and have not been handed over yet.
    pub to_deliver: VecDeque<ClassId>,
    /// Makes sets of final sizes, and keeps the totals.
    pub deliverer: Deliverer<'a>,
    /// Sets whose members are being compared.
    pub verification: Verification,
}

impl Session<'_> {
    /// Hands over this many of the final sizes.
    pub(super) fn deliver_finished(&mut self, count: usize) -> io::Result<()> {
        self.sets.to_deliver.extend(self.machine.finished());
        if self.config.every_entry || self.knows_too_little() {
            self.sets.to_deliver.clear();
        }
        let count = count.min(self.sets.to_deliver.len());
        if count > 0 {
            let sizes: Vec<ClassId> = self.sets.to_deliver.drain(..count).collect();
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
        let unverified = std::mem::take(&mut self.sets.deliverer.unverified);
        if self.reading_ended {
            let files = unverified.iter().map(|draft| draft.files.len() as u64);
            self.sets.deliverer.summary.left_out.memory_short += files.sum::<u64>();
        } else if !unverified.is_empty() && !self.control.is_cancelled() {
            self.verify(unverified);
            self.request();
        }
        for draft in std::mem::take(&mut self.sets.verification.done) {
            self.deliver(|deliverer, known| deliverer.verified(draft, known))?;
        }
        Ok(())
    }

    fn deliver<R>(&mut self, act: impl FnOnce(&mut Deliverer<'_>, &Known<'_>) -> R) -> R {
        let dirs = self.dirs.read();
        let known = Known {
            machine: &self.machine,
            dirs: &dirs,
            volumes: &self.reads.volumes,
            scheduler: &self.reads.scheduler,
        };
        act(&mut self.sets.deliverer, &known)
    }

    pub(super) fn deliver_rest(&mut self) -> io::Result<()> {
        self.deliver_finished(usize::MAX)?;
        self.sets.deliverer.summary.interrupted = self.control.is_cancelled();
        if self.config.every_entry {
            return Ok(());
        }
        self.check_folders(Scope::AcrossRoots);
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
                if reports_single_files {
                    deliverer.alone(known)
                } else {
                    Ok(())
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
        if !self.machine.file_table().has_doubts() {
            return;
        }
        let fewest = self.config.counting().fewest_inodes() as usize;
        for &size in sizes {
            let contents = self.machine.contents(size).map(|(_, files)| files);
            let reported = contents.filter(|files| files.len() >= fewest);
            let files: Vec<FileIndex> = reported.flatten().collect();
            self.settle_names(files);
        }
    }

    /// True if nothing can be reported: equal files are certainly equal, but a content that seems to have few copies may
    /// have one that was not found or not read.
    fn knows_too_little(&self) -> bool {
        let is_limited = self.config.copies.most.is_some();
        let is_complete = !self.control.is_cancelled()
            && !self.arrivals.listing_ended
            && self.sets.deliverer.summary.left_out.unanswered == 0;
        is_limited && !is_complete
    }
}

/// The sets that are being compared.
#[derive(Default)]
pub struct Verification {
    /// Each set, and the number of its files of which nothing was heard, by its first file.
    comparing: HashMap<FileIndex, (Draft, usize)>,
    /// The first file of the set of each of their files.
    first: HashMap<FileIndex, FileIndex>,
    /// Sets that were compared.
    done: Vec<Draft>,
}

impl Session<'_> {
    /// Starts the comparison of the members of sets.
    fn verify(&mut self, drafts: Vec<Draft>) {
        for draft in drafts {
            let first = draft.files[0];
            let position = self.machine.file_table().ino(first);
            self.ask_for_set(position, &draft.files, Want::Verify);
            let verification = &mut self.sets.verification;
            let files = draft.files.iter().map(|&file| (file, first));
            verification.first.extend(files);
            let count = draft.files.len();
            verification.comparing.insert(first, (draft, count));
        }
    }

    /// Takes the result of comparing a file with the others of its set.
    pub fn verified(&mut self, file: FileIndex, outcome: Outcome) {
        let verification = &mut self.sets.verification;
        let first = verification.first.remove(&file).unwrap_or(file);
        let Some((draft, left)) = verification.comparing.get_mut(&first) else {
            return;
        };
        let is_member = matches!(outcome, Outcome::Verified { equal: true, .. });
        if !is_member {
            draft.files.retain(|member| *member != file);
        }
        *left -= 1;
        if *left == 0 {
            let compared = verification.comparing.remove(&first);
            verification.done.extend(compared.map(|(draft, _)| draft));
        }
        if let Outcome::Failed(failure) = outcome {
            self.leave_out(file, failure);
        } else if !is_member {
            self.sets.deliverer.summary.left_out.changed += 1;
            self.observer.problem(Problem {
                path: self.path_of_first_name(file),
                kind: ProblemKind::NotVerified,
                cause: None,
            });
        }
    }
}
