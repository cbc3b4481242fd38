//! Delivers the sets of final sizes: settles the names of their files, and has them compared first if requested.

use std::collections::{HashMap, HashSet, VecDeque};
use std::{io, iter};

use crate::decide::{ClassId, Want};
use crate::engine::config::IgnoreTags;
use crate::engine::deliver::{Deliverer, SetDraft};
use crate::engine::tables::Tables;
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
    pub comparing: Vec<SetDraft>,
    /// What came of the comparison of their files.
    pub compared: Compared,
}

/// Maximum number of files of a set that are compared at a time: each is open.
const COMPARED: usize = 8;

/// Where a pool has fewer open files, two are compared at a time.
const SCARCE: usize = 16 * COMPARED;

/// For each file of the sets that were compared, the first file of those that it is equal to; `None` if it could not be
/// read. Files of which nothing was heard are missing.
#[derive(Default)]
pub struct Compared {
    with: HashMap<FileIndex, Option<FileIndex>>,
}

impl Compared {
    /// Leaves the files of a set that are equal to the first one, and returns the readable others. If the first one
    /// could not be read, nothing is known of the readable ones yet, and they stay; then the result is false.
    fn judge(&self, files: &mut Vec<FileIndex>) -> (bool, Vec<FileIndex>) {
        let first = files.first().copied();
        let with = |file: &FileIndex| self.with.get(file).copied().flatten();
        if first.is_some_and(|first| self.with.get(&first) == Some(&None)) {
            files.retain(|file| with(file).is_some());
            return (false, Vec::new());
        }
        let is_other = |file: &FileIndex| with(file).is_some() && with(file) != first;
        let others = files.iter().copied().filter(is_other).collect();
        files.retain(|file| first.is_some() && with(file) == first);
        (true, others)
    }
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
            self.deliver(|deliverer, tables| deliverer.sizes(&sizes, tables))?;
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
        }
        if !self.reads.scheduler.is_idle() {
            return Ok(());
        }
        let compared = std::mem::take(&mut self.sets.compared);
        let mut again = Vec::new();
        for mut draft in std::mem::take(&mut self.sets.comparing) {
            let (has_first, others) = compared.judge(&mut draft.files);
            for file in others {
                let path = self.path_of_first_name(file);
                self.leave_out(path, ProblemKind::NotVerified, None);
            }
            if has_first {
                self.deliver(|deliverer, tables| deliverer.verified(draft, tables))?;
            } else if draft.files.len() > 1 {
                again.push(draft);
            }
        }
        if !again.is_empty() {
            self.verify(again);
        }
        Ok(())
    }

    /// Starts the comparison of the files of sets, of each with the first one of its set, and some at a time.
    fn verify(&mut self, drafts: Vec<SetDraft>) {
        let others = if self.share.files < SCARCE {
            1
        } else {
            COMPARED - 1
        };
        for draft in &drafts {
            let first = draft.files[0];
            let position = self.machine.file_table().ino(first);
            for others in draft.files[1..].chunks(others) {
                let files: Vec<FileIndex> =
                    iter::once(first).chain(others.iter().copied()).collect();
                self.ask_for_set(position, &files, Want::Verify);
            }
        }
        self.sets.comparing.extend(drafts);
        self.request();
    }

    /// Takes the result of comparing a file with others of its set.
    pub fn verified(&mut self, file: FileIndex, outcome: Outcome) {
        let compared = &mut self.sets.compared.with;
        if let Outcome::Compared { with, .. } = outcome {
            compared.entry(file).or_insert(Some(with));
        }
        // The first file of a large set is compared several times.
        if let Outcome::Failed(failure) = outcome
            && compared.insert(file, None) != Some(None)
        {
            self.not_read(file, failure);
        }
    }

    fn deliver<R>(&mut self, act: impl FnOnce(&mut Deliverer<'_>, &Tables<'_>) -> R) -> R {
        let dirs = self.dirs.read();
        let tables = Tables {
            machine: &self.machine,
            dirs: &dirs,
            volumes: &self.reads.volumes,
            scheduler: &self.reads.scheduler,
        };
        act(&mut self.sets.deliverer, &tables)
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
            self.deliver(|deliverer, tables| {
                deliverer.sizes(&unfinished, tables)?;
                if reports_single_files {
                    deliverer.alone(tables)
                } else {
                    Ok(())
                }
            })?;
        }
        if self.config.verify {
            self.deliver_verified()?;
        }
        let alike = self.alike_sets();
        let probable = self.probable_sets();
        let joins = self.config.ignore_tags == IgnoreTags::Joined;
        let joined = alike.iter().filter(|_| joins).flatten();
        let joined: HashSet<FileIndex> = joined.flat_map(|it| &it.files).copied().collect();
        self.deliver(|deliverer, tables| {
            deliverer.finish(|file| joined.contains(&file), tables)?;
            deliverer.alike(alike, tables)?;
            deliverer.probable(probable, tables)
        })
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

    /// True if nothing can be reported: equal files are certainly equal, but a content that seems to have few copies
    /// may have one that was not found or not read.
    fn knows_too_little(&self) -> bool {
        let is_limited = self.config.copies.most.is_some();
        let is_complete = !self.control.is_cancelled()
            && !self.arrivals.listing_ended
            && self.sets.deliverer.summary.left_out.unanswered == 0;
        is_limited && !is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_what_is_equal_to_its_first_file_that_can_be_read() {
        let file = FileIndex;
        let judge = |with: &[(u32, Option<u32>)]| {
            let with = with.iter().map(|&(of, with)| (file(of), with.map(file)));
            let compared = Compared {
                with: with.collect(),
            };
            let mut files = [0, 1, 2, 3].map(file).to_vec();
            let (has_first, others) = compared.judge(&mut files);
            let numbers = |files: Vec<FileIndex>| files.into_iter().map(|file| file.0).collect();
            let both: [Vec<u32>; 2] = [numbers(files), numbers(others)];
            (has_first, both)
        };
        let all = [(0, Some(0)), (1, Some(0)), (2, Some(2)), (3, None)];
        assert_eq!(judge(&all), (true, [vec![0, 1], vec![2]]));
        // In another comparison than the third file, the first one could not be read any more.
        let first_failed = [(0, None), (1, Some(1)), (2, Some(0)), (3, None)];
        assert_eq!(judge(&first_failed), (false, [vec![1, 2], vec![]]));
        assert_eq!(
            judge(&[(1, Some(0))]),
            (true, [vec![1], vec![]]),
            "interrupted"
        );
    }
}
