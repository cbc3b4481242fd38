//! Whole contents: read, compared with each other, or known from the blocks they lie in.

use crate::decide::class_id::ClassId;
use crate::decide::keyed_join::Offered;
use crate::decide::keys::{Content, ContentKey};
use crate::decide::same_blocks::SampleClass;
use crate::decide::summary::Unread;
use crate::file::FileIndex;
use crate::hash::{ContentDigest, PlacesDigest};

use super::{Machine, Want};

impl Machine {
    /// Has a file read to its end, unless a look at its blocks may do.
    pub(super) fn want_whole(&mut self, size: ClassId, class: SampleClass, file: FileIndex) {
        let (bytes, volume) = (self.file_table.size(file), self.file_table.volume(file));
        match self.same_blocks.takes(class, file, bytes, volume) {
            Ok(()) => self.want(size, file, Want::Blocks),
            Err(held) => {
                for file in held.into_iter().chain([file]) {
                    self.want(size, file, Want::Content);
                }
            }
        }
    }

    /// Takes note that a file of the class was read as a whole.
    pub(super) fn is_whole(&mut self, size: ClassId, class: SampleClass) {
        if let Some(held) = self.same_blocks.reads(class) {
            self.want(size, held, Want::Content);
        }
    }

    /// The next read of files that are equal as far as samples show.
    pub(super) fn after_tail(&mut self, size: ClassId, class: ClassId, files: Vec<FileIndex>) {
        if let Some(group) = self.groups.get_mut(&class) {
            files.iter().for_each(|file| {
                self.early_contents.remove(file);
            });
            return group.extend(files);
        }
        for file in files {
            match self.early_contents.remove(&file) {
                Some(digest) => {
                    self.is_whole(size, SampleClass::Tail(class));
                    self.join_content(size, file, Content::Digest(digest));
                }
                None => self.want_whole(size, SampleClass::Tail(class), file),
            }
        }
    }

    /// Decides, when a class opens, whether its files wait for each other: to be compared, or since
    /// they may be a large class.
    pub(super) fn choose(&mut self, size: ClassId, class: ClassId, files: &[FileIndex]) {
        let compare = files.iter().all(|file| {
            self.cached.remove(file) && !self.tail_rule.seeks(self.file_table.volume(*file))
        });
        if compare {
            self.comparable.insert(class);
        }
        let of_size = self.by_size.class(size).files as usize;
        if compare || self.is_large(of_size, files) {
            self.groups.insert(class, Vec::new());
            self.grouped.entry(size).or_default().push(class);
        }
    }

    /// When nothing of a size is being read any more, what waits for the others is complete; when
    /// nothing waits either, the size is final.
    pub(super) fn end_if_idle(&mut self, size: ClassId) {
        if !self.scan_done || self.by_size.class(size).pending > 0 {
            return;
        }
        let most = self.comparing.map_or(0, |comparing| comparing.most);
        for class in self.grouped.remove(&size).unwrap_or_default() {
            let group = self.groups.insert(class, Vec::new()).unwrap_or_default();
            let is_comparable = self.comparable.remove(&class);
            if is_comparable && group.len() <= most {
                self.by_size.class_mut(size).pending += group.len() as u32;
                self.comparisons.push(group);
            } else if self.is_large(group.len(), &group) {
                self.want_stretches(size, class, group);
            } else {
                for file in group {
                    self.want_whole(size, SampleClass::Tail(class), file);
                }
            }
        }
        if self.by_size.class(size).pending == 0 {
            self.settle_kin(size);
        }
        if self.by_size.class(size).pending == 0 {
            self.finished.push(size);
        }
    }

    pub(super) fn settle_kin(&mut self, size: ClassId) {
        let step = self.same_blocks.idle(size);
        for file in step.look_again {
            self.want(size, file, Want::BlocksAgain);
        }
        for file in step.read {
            self.want(size, file, Want::Content);
        }
        for (file, content) in step.have {
            if content != Content::Of(file) {
                self.unread.count(self.file_table.size(file));
            }
            self.join_content(size, file, content);
        }
    }

    /// Takes what stands for the blocks that a file lies in, `None` if nothing does.
    pub fn blocks_seen(&mut self, file: FileIndex, blocks: Option<PlacesDigest>) {
        let size = self.size_class(file);
        for file in self.same_blocks.seen(size, file, blocks) {
            self.want(size, file, Want::Content);
        }
        self.settle(size);
    }

    /// Files that were not read since they lie in the same blocks as others.
    pub fn unread(&self) -> Unread {
        self.unread
    }

    /// Takes the digest of a file's whole content.
    pub fn content_read(&mut self, file: FileIndex, digest: ContentDigest) {
        let size = self.size_class(file);
        self.join_content(size, file, Content::Digest(digest));
        self.settle(size);
    }

    /// Takes note that a file has the same content as another of its group (or is that one), and whether
    /// it had to be read for that.
    pub fn compared(&mut self, file: FileIndex, with: FileIndex, was_read: bool) {
        if !was_read && file != with {
            self.unread.count(self.file_table.size(file));
        }
        let size = self.size_class(file);
        self.join_content(size, file, Content::Of(with));
        self.settle(size);
    }

    /// Takes note that a file could not be compared, nor any other of its group.
    pub fn not_compared(&mut self, file: FileIndex) {
        let size = self.size_class(file);
        self.want(size, file, Want::Content);
        self.settle(size);
    }

    pub(super) fn join_content(&mut self, size: ClassId, file: FileIndex, content: Content) {
        self.same_blocks.has(file, content);
        let key = ContentKey::new(size, content);
        let (Offered::Held(class) | Offered::Passed(class)) =
            self.by_content.offer(key, file, &mut self.chain);
        let nth = self.by_content.files(class);
        if self.by_size.class(size).whole == Some(true) {
            self.learn(size, nth > 1, file);
        }
        if nth == 1
            && let Some(before) = self.by_size.class_mut(size).contents.replace(class)
        {
            self.by_content.link_to(class, before);
        }
    }
}
