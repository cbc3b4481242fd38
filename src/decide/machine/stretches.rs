//! Large classes: told apart by stretches of them before any is read whole.

use crate::decide::class_id::ClassId;
use crate::decide::same_blocks::SampleClass;
use crate::decide::stretches::{LargeClasses, StretchRule, StretchStep};
use crate::file::FileIndex;
use crate::hash::SampleDigest;

use super::{Machine, Want};

impl Machine {
    /// Lets large classes be told apart by stretches.
    pub fn read_stretches(&mut self, rule: StretchRule) {
        self.large_classes = LargeClasses::new(Some(rule));
    }

    /// True if so many files like these would be a large class, and reading stretches of them costs less than
    /// reading all: no seek for each, and no look at blocks that may spare even that.
    pub(super) fn is_large(&self, so_many: usize, like: &[FileIndex]) -> bool {
        let mut like = like.iter();
        so_many > 0
            && like.all(|&file| {
                let (bytes, volume) = (self.file_table.size(file), self.file_table.volume(file));
                self.large_classes.are(so_many, bytes)
                    && !self.tail_rule.seeks(volume)
                    && !self.same_blocks.may_spare(bytes, volume)
            })
    }

    /// Has stretches of all these files read.
    pub(super) fn want_stretches(&mut self, size: ClassId, class: ClassId, files: Vec<FileIndex>) {
        let bytes = files.first().map_or(0, |&file| self.file_table.size(file));
        let step = self.large_classes.begin(class, bytes, files);
        self.take_step(size, step);
    }

    /// Takes the digests of stretches of a file.
    pub fn stretches_read(&mut self, file: FileIndex, digests: [Option<SampleDigest>; 2]) {
        let size = self.size_class(file);
        self.stretches_seen(size, file, Some(digests));
        self.settle(size);
    }

    pub(super) fn stretches_seen(
        &mut self,
        size: ClassId,
        file: FileIndex,
        seen: Option<[Option<SampleDigest>; 2]>,
    ) {
        let counting = self.counting;
        let matters = |files: usize| counting.sample_matters(files as u64);
        let step = self.large_classes.seen(file, seen, matters);
        self.take_step(size, step);
    }

    fn take_step(&mut self, size: ClassId, step: StretchStep) {
        self.alone_by_stretches.extend(step.alone);
        for (file, stretches) in step.look {
            self.want(size, file, Want::Stretches(stretches));
        }
        for (class, file) in step.read {
            self.want_whole(size, SampleClass::Tail(class), file);
        }
    }
}
