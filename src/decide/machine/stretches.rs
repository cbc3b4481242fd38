//! The stage of stretches: tells the files of a large class apart before any of them is read whole.

use crate::decide::class::{Awaited, ClassId, LargeId, SampleClass};
use crate::decide::stretches::{LargeClass, Seen, StretchRule};
use crate::file::FileIndex;
use crate::hash::SampleDigest;

use super::{Machine, Want};

impl Machine {
    /// Enables stretches for large classes.
    pub fn read_stretches(&mut self, rule: StretchRule) {
        self.stretch_rule = Some(rule);
    }

    /// True if this many files like these would be a large class, and reading their stretches costs less than reading
    /// all of them: no seek for each, and no query of blocks that may spare even the stretches.
    pub(super) fn is_large(&self, so_many: usize, like: &[FileIndex]) -> bool {
        let Some(rule) = self.stretch_rule else {
            return false;
        };
        let mut like = like.iter();
        so_many > 0
            && like.all(|&file| {
                let (bytes, volume) = (self.file_table.size(file), self.file_table.volume(file));
                rule.are_large(so_many, bytes)
                    && !self.tail_rule.seeks(volume)
                    && !self.sharing.may_spare(bytes, volume)
            })
    }

    /// Requests stretches of all these files.
    pub(super) fn want_stretches(
        &mut self,
        size: ClassId,
        large: LargeClass,
        files: Vec<FileIndex>,
    ) {
        let want = Want::Stretches(large.stretches);
        let id = LargeId(self.large.add(large));
        for file in files {
            self.awaited.insert(file, Awaited::Stretches(id));
            self.want(size, file, want);
        }
    }

    /// Takes the digests of stretches of a file.
    pub fn stretches_read(&mut self, file: FileIndex, digests: [Option<SampleDigest>; 2]) {
        let size = self.size_class(file);
        if let Some(Awaited::Stretches(id)) = self.awaited.remove(&file) {
            self.stretches_seen(size, id, file, Some(digests));
        }
        self.settle(size);
    }

    pub(super) fn stretches_seen(
        &mut self,
        size: ClassId,
        id: LargeId,
        file: FileIndex,
        seen: Option<Seen>,
    ) {
        let large = self.large.get(id.0);
        if !large.is_some_and(|large| large.seen(file, seen)) {
            return;
        }
        let (Some(large), Some(rule)) = (self.large.take(id.0), self.stretch_rule) else {
            return;
        };
        let class = SampleClass::Tail(large.class);
        let counting = self.counting;
        let step = large.split(rule, |files| counting.sample_matters(files as u64));
        self.alone_by_stretches.extend(step.alone);
        for (large, files) in step.look {
            self.want_stretches(size, large, files);
        }
        for file in step.read {
            self.want_whole(size, class, file);
        }
    }
}
