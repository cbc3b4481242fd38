//! The stages of heads and tails: files with a sample in common go on to the next stage.

use crate::decide::by_file::removed;
use crate::decide::keyed_join::{
    Awaited, ClassId, ClassState, Content, Offered, SampleClass, SampleKey,
};
use crate::decide::rules::Want;
use crate::file::FileIndex;
use crate::hash::{ContentDigest, SampleDigest};

use super::Machine;

impl Machine {
    /// Takes the digest of a file's head, and of its tail if both were read together.
    pub fn sampled(&mut self, file: FileIndex, head: SampleDigest, tail: Option<SampleDigest>) {
        let size = self.size_class(file);
        let key = SampleKey {
            parent: size,
            digest: head,
        };
        if let Some(tail) = tail {
            self.early_tails.insert(file, tail);
        }
        let offered = self.by_head.offer(key, file, &mut self.chain);
        let (Offered::Held(class) | Offered::Passed(class)) = offered;
        self.learn_head(size, class, file);
        match offered {
            Offered::Passed(_) => self.after_head(size, class, file),
            Offered::Held(_) => self.open_head_if_due(size, class),
        }
        self.settle(size);
    }

    /// Takes the digests of a file's head and of its whole content, read at once. The content identifies this file
    /// completely; the head lets other files go on.
    pub fn read_whole(&mut self, file: FileIndex, head: SampleDigest, content: ContentDigest) {
        let size = self.size_class(file);
        let key = SampleKey {
            parent: size,
            digest: head,
        };
        let class = self.by_head.count(key, &mut self.chain);
        self.learn_head(size, class, file);
        if let Some(ClassState::ByTail) = self.by_head.state(class) {
            // The others are told apart by their tails first, and so must this one be, lest one of them waits for it.
            // It happens only where a disk turned out to have a head meanwhile: then it is read twice.
            self.want_tail(size, class, file);
        } else {
            self.is_whole(size, SampleClass::Head(class));
            self.open_head_if_due(size, class);
            self.join_content(size, file, Content::Digest(content));
        }
        self.settle(size);
    }

    /// The chance that another file has the same head, so that the file's content has to be read next; `None` where its
    /// tail or its blocks come first.
    pub fn odds(&self, file: FileIndex) -> Option<f64> {
        let size = self.file_table.size(file);
        let volume = self.file_table.volume(file);
        let sharing = self.by_size.class(self.size_class(file)).files;
        let content_is_next =
            !self.rules.tails.pays(size, std::iter::once(volume)) && !self.may_spare(size, volume);
        content_is_next.then(|| self.odds.of(size, sharing))
    }

    /// The head that a file must have if another file is to have the same content: that of all others of its size.
    /// `None` if some of their heads differ or are not known yet.
    pub fn only_head(&self, file: FileIndex) -> Option<SampleDigest> {
        let of = self.by_size.class(self.size_class(file));
        let head = of.head?;
        let is_of_all = of.heads + 1 == of.files && self.by_head.files(head) == of.heads;
        is_of_all.then(|| self.by_head.key(head).digest)
    }

    fn learn_head(&mut self, size: ClassId, class: ClassId, file: FileIndex) {
        self.by_size.class_mut(size).head = Some(class);
        self.learn(size, self.by_head.files(class) > 1, file);
    }

    /// Records the result of comparing a file's head with the heads of similar files.
    pub(super) fn learn(&mut self, size: ClassId, equal: bool, file: FileIndex) {
        let class = self.by_size.class_mut(size);
        let (with, sharing) = (class.heads, class.files);
        class.heads += 1;
        self.odds
            .compared(self.file_table.size(file), sharing, with, equal);
    }

    pub(super) fn open_head_if_due(&mut self, size: ClassId, class: ClassId) {
        let (files, open) = (self.by_head.files(class), self.by_head.is_open(class));
        if open || !self.rules.counting.sample_matters(files.into()) {
            return;
        }
        let held = self.by_head.held(class, &self.chain);
        // Where one was read as a whole already, the others must be too.
        let any = held.len() < files as usize;
        let bytes = self.by_size.class(size).size();
        let volumes = held.iter().map(|&file| self.file_table.volume(file));
        let state = if !any && self.rules.tails.pays(bytes, volumes) {
            ClassState::ByTail
        } else {
            ClassState::Whole { any }
        };
        self.by_head.open(class, state);
        for file in held {
            self.after_head(size, class, file);
        }
    }

    pub(super) fn after_head(&mut self, size: ClassId, class: ClassId, file: FileIndex) {
        let early = removed(&mut self.early_tails, &file);
        match (self.by_head.state(class), early) {
            (Some(ClassState::ByTail), Some(tail)) => self.join_tail(size, class, file, tail),
            (Some(ClassState::ByTail), None) => self.want_tail(size, class, file),
            _ => self.want_whole(size, SampleClass::Head(class), file),
        }
    }

    fn want_tail(&mut self, size: ClassId, class: ClassId, file: FileIndex) {
        self.awaited.insert(file, Awaited::Tail(class));
        self.want(size, file, Want::Tail);
    }

    /// Takes the digest of a file's tail.
    pub fn tail_sampled(&mut self, file: FileIndex, tail: SampleDigest) {
        let size = self.size_class(file);
        if let Some(Awaited::Tail(class)) = removed(&mut self.awaited, &file) {
            self.join_tail(size, class, file, tail);
        }
        self.settle(size);
    }

    pub(super) fn join_tail(
        &mut self,
        size: ClassId,
        class: ClassId,
        file: FileIndex,
        tail: SampleDigest,
    ) {
        let key = SampleKey {
            parent: class,
            digest: tail,
        };
        match self.by_tail.offer(key, file, &mut self.chain) {
            Offered::Passed(class) => self.after_tail(size, class, vec![file]),
            Offered::Held(class) => {
                if self
                    .rules
                    .counting
                    .sample_matters(self.by_tail.files(class).into())
                {
                    let held = self.by_tail.held(class, &self.chain);
                    let state = self.state_of(size, class, &held);
                    self.by_tail.open(class, state);
                    self.after_tail(size, class, held);
                }
            }
        }
    }
}
