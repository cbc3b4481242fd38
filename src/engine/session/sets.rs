//! Delivers the sets of final sizes: settles the names of their files, and has them compared first if requested.

use std::collections::{HashSet, VecDeque};
use std::io;

use crate::decide::{ClassId, Want};
use crate::engine::deliver::{Deliverer, Draft, Known};
use crate::event::ProblemKind;
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
    pub comparing: Vec<Draft>,
    /// Their files that are equal to the other files of their set.
    pub equal: HashSet<FileIndex>,
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
            for draft in &unverified {
                let position = self.machine.file_table().ino(draft.files[0]);
                self.ask_for_set(position, &draft.files, Want::Verify);
            }
            self.sets.comparing.extend(unverified);
            self.request();
        }
        if self.reads.scheduler.is_idle() {
            let equal = std::mem::take(&mut self.sets.equal);
            for mut draft in std::mem::take(&mut self.sets.comparing) {
                draft.files.retain(|file| equal.contains(file));
                self.deliver(|deliverer, known| deliverer.verified(draft, known))?;
            }
        }
        Ok(())
    }

    /// Takes the result of comparing a file with the others of its set.
    pub fn verified(&mut self, file: FileIndex, outcome: Outcome) {
        match outcome {
            Outcome::Verified { equal: true, .. } => {
                self.sets.equal.insert(file);
            }
            Outcome::Failed(failure) => self.not_read(file, failure),
            _ => {
                let path = self.path_of_first_name(file);
                self.leave_out(path, ProblemKind::NotVerified, None);
            }
        }
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
