//! Crowds: told apart by stretches of them before any is read whole.

use crate::decide::crowds::{CrowdRule, Crowds, Step};
use crate::decide::keyed_join::ClassId;
use crate::decide::same_blocks::SampleClass;
use crate::file::FileIndex;
use crate::hash::SampleDigest;

use super::{Machine, Want};

impl Machine {
    /// Lets crowds be told apart by stretches.
    pub fn tell_crowds_apart(&mut self, rule: CrowdRule) {
        self.crowds = Crowds::new(Some(rule));
    }

    /// True if so many files like these would be a crowd, and reading stretches of them costs less than
    /// reading all: no seek for each, and no look at blocks that may spare even that.
    pub(super) fn is_crowd(&self, so_many: usize, like: &[FileIndex]) -> bool {
        let mut like = like.iter();
        so_many > 0
            && like.all(|&file| {
                let (bytes, volume) = (self.file_table.size(file), self.file_table.volume(file));
                self.crowds.are(so_many, bytes)
                    && !self.tail_rule.seeks(volume)
                    && !self.same_blocks.may_spare(bytes, volume)
            })
    }

    /// Has stretches of all these files read.
    pub(super) fn look_at_crowd(&mut self, size: ClassId, class: ClassId, files: Vec<FileIndex>) {
        let bytes = files.first().map_or(0, |&file| self.file_table.size(file));
        let step = self.crowds.begin(class, bytes, files);
        self.take_step(size, step);
    }

    /// Takes the digests of stretches of a file.
    pub fn stretches_read(&mut self, file: FileIndex, digests: [Option<SampleDigest>; 2]) {
        let size = self.size_class(file);
        self.seen_in_crowd(size, file, Some(digests));
        self.settle(size);
    }

    pub(super) fn seen_in_crowd(
        &mut self,
        size: ClassId,
        file: FileIndex,
        seen: Option<[Option<SampleDigest>; 2]>,
    ) {
        let counting = self.counting;
        let matters = |files: usize| counting.sample_matters(files as u64);
        let step = self.crowds.seen(file, seen, matters);
        self.take_step(size, step);
    }

    fn take_step(&mut self, size: ClassId, step: Step) {
        self.alone_in_crowds.extend(step.alone);
        for (file, stretches) in step.look {
            self.want(size, file, Want::Stretches(stretches));
        }
        for (class, file) in step.read {
            self.want_whole(size, SampleClass::Tail(class), file);
        }
    }
}
