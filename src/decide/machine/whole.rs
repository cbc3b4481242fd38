//! The stage of whole contents: a content is read, or known from the blocks of the file.

use std::hint::black_box;

use crate::decide::by_file::{Chain, removed};
use crate::decide::by_size::SameSize;
use crate::decide::keyed_join::{
    Awaited, ClassId, ClassState, Content, ContentKey, Key, KeyedJoin, Offered, SampleClass,
};
use crate::decide::rules::Want;
use crate::decide::shared_blocks::BlocksClass;
use crate::decide::summary::Unread;
use crate::file::FileIndex;
use crate::hash::{ContentDigest, PlacesDigest};

use super::Machine;

impl Machine {
    /// The state of an open class.
    fn state(&mut self, class: SampleClass) -> Option<&mut ClassState> {
        match class {
            SampleClass::Head(class) => self.by_head.state(class),
            SampleClass::Tail(class) => self.by_tail.state(class),
        }
    }

    /// Requests a file to its end, unless a query of its blocks may be enough.
    pub(super) fn want_whole(&mut self, size: ClassId, class: SampleClass, file: FileIndex) {
        let (bytes, volume) = (self.file_table.size(file), self.file_table.volume(file));
        if self.may_spare(bytes, volume) {
            self.query_blocks(size, class);
            self.awaited.insert(file, Awaited::Blocks(class));
            self.want(size, file, Want::Blocks);
        } else {
            self.is_whole(size, class);
            self.want(size, file, Want::Content);
        }
    }

    /// Records that a file of the class is read as a whole.
    pub(super) fn is_whole(&mut self, size: ClassId, class: SampleClass) {
        match self.state(class) {
            Some(ClassState::Whole { any }) => *any = true,
            Some(ClassState::Blocks) => {
                let file = self.blocks.get_mut(&class).and_then(BlocksClass::reads);
                self.read_for_others(size, class, file);
            }
            _ => {}
        }
    }

    /// Makes a class one whose files are checked for shared blocks, if it is not.
    fn query_blocks(&mut self, size: ClassId, class: SampleClass) {
        let any = match self.state(class) {
            Some(ClassState::Blocks) => return,
            Some(&mut ClassState::Whole { any }) => any,
            _ => false,
        };
        let rule = self.rules.shared_blocks;
        let all_spared = !any && rule.is_some_and(|rule| !rule.digests);
        self.blocks.insert(class, BlocksClass::new(all_spared));
        if let Some(state) = self.state(class) {
            *state = ClassState::Blocks;
        }
        self.blocks_of_size.entry(size).or_default().push(class);
    }

    /// Requests files that lie in the same blocks as others.
    fn read_for_others(
        &mut self,
        size: ClassId,
        class: SampleClass,
        files: impl IntoIterator<Item = FileIndex>,
    ) {
        for file in files {
            self.awaited.insert(file, Awaited::Blocks(class));
            self.want(size, file, Want::Content);
        }
    }

    /// The next read of files that are equal as far as samples show.
    pub(super) fn after_tail(&mut self, size: ClassId, class: ClassId, files: Vec<FileIndex>) {
        if let Some(ClassState::Waiting) = self.by_tail.state(class)
            && let Some(waiting) = self.waiting.get_mut(&class)
        {
            return waiting.files.extend(files);
        }
        for file in files {
            self.want_whole(size, SampleClass::Tail(class), file);
        }
    }

    /// Called when no read of a size is in progress: the waiting files are complete; if no file waits either, the size
    /// is final.
    pub(super) fn end_if_idle(&mut self, size: ClassId) {
        if !self.scan_done || self.by_size.class(size).pending > 0 {
            return;
        }
        for class in removed(&mut self.waiting_of_size, &size).unwrap_or_default() {
            self.is_complete(size, class);
        }
        if self.by_size.class(size).pending == 0 {
            self.advance_blocks(size);
        }
        if self.by_size.class(size).pending == 0 {
            self.finished.push(size);
        }
    }

    /// Continues with files that may lie in the same blocks.
    fn advance_blocks(&mut self, size: ClassId) {
        let mut classes = removed(&mut self.blocks_of_size, &size).unwrap_or_default();
        classes.retain(|&class| {
            let Some(files) = self.blocks.get_mut(&class) else {
                return false;
            };
            let step = files.idle(&mut self.first_contents);
            if files.is_over() {
                self.blocks.remove(&class);
            }
            for file in step.look_again {
                self.awaited.insert(file, Awaited::Blocks(class));
                self.want(size, file, Want::BlocksAgain);
            }
            self.read_for_others(size, class, step.read);
            for (file, content) in step.have {
                if content != Content::Of(file) {
                    self.unread.count(self.file_table.size(file));
                }
                self.join_content(size, file, content);
            }
            self.blocks.contains_key(&class)
        });
        if !classes.is_empty() {
            self.blocks_of_size.insert(size, classes);
        }
    }

    /// Takes the digest of the blocks that a file lies in, `None` if there is none.
    pub fn blocks_seen(&mut self, file: FileIndex, blocks: Option<PlacesDigest>) {
        let size = self.size_class(file);
        if let Some(Awaited::Blocks(class)) = removed(&mut self.awaited, &file)
            && let Some(files) = self.blocks.get_mut(&class)
        {
            let read = files.seen(file, blocks);
            self.read_for_others(size, class, read);
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

    /// Loads the classes of these contents into the processor's caches, before files with them arrive. Each lookup
    /// waits for memory. Those of one call do not depend on each other, so they wait together.
    pub fn prefetch_contents(&self, contents: impl Iterator<Item = (ClassId, ContentDigest)>) {
        for (size, digest) in contents {
            let key = ContentKey::new(size, Content::Digest(digest));
            black_box(self.by_content.find(key));
        }
    }

    /// Takes the digest of the whole content of a file of this size that an earlier run read.
    pub fn content_recalled(&mut self, size: ClassId, file: FileIndex, digest: ContentDigest) {
        self.recalled.insert(file);
        self.join_content(size, file, Content::Digest(digest));
        self.settle(size);
    }

    /// True if an earlier run read the file's content, and this one did not.
    pub fn is_recalled(&self, file: FileIndex) -> bool {
        self.recalled.contains(file)
    }

    pub(super) fn join_content(&mut self, size: ClassId, file: FileIndex, content: Content) {
        if let Some(Awaited::Blocks(_)) = removed(&mut self.awaited, &file) {
            self.first_contents.insert(file, content);
        }
        let key = ContentKey::new(size, content);
        let (Offered::Held(class) | Offered::Passed(class)) =
            self.by_content.offer(key, file, &mut self.chain);
        let nth = self.by_content.files(class);
        if self.by_size.class(size).whole == Some(true) {
            self.learn(size, nth > 1, file);
        }
        // Most contents have one file: to pass over them would take a cache miss for each.
        if nth == self.rules.counting.fewest_inodes()
            && let Some(before) = self.by_size.class_mut(size).contents.replace(class)
        {
            self.by_content.link_to(class, before);
        }
        self.join_represented(size, file, content);
    }
}

impl Machine {
    /// Sizes whose sets have become final since the last call.
    pub fn finished(&mut self) -> Vec<ClassId> {
        std::mem::take(&mut self.finished)
    }

    /// Sizes with reads still requested, which an interrupted run leaves unfinished.
    pub fn unfinished(&self) -> Vec<ClassId> {
        let pending = |id: &ClassId| self.by_size.class(*id).pending > 0;
        self.by_size.ids().filter(pending).collect()
    }

    /// The files of equal content of one size, by content, in the order in which the contents came. Contents of too few
    /// files to be reported are left out.
    pub fn contents(&self, size: ClassId) -> impl Iterator<Item = (ClassId, Vec<FileIndex>)> {
        let last = self.by_size.class(size).contents;
        // Of one size there may be very many, so only their numbers are gathered.
        let mut classes: Vec<ClassId> =
            std::iter::successors(last, |&class| self.by_content.link(class)).collect();
        classes.sort_unstable_by_key(|class| class.0);
        classes
            .into_iter()
            .map(|class| (class, self.by_content.held(class, &self.chain)))
    }

    /// Number of contents of several files so far.
    pub fn repeated_contents(&self) -> usize {
        self.by_content.of_several()
    }

    /// The files of each content, of all sizes, including contents with one file only.
    pub fn all_contents(&self) -> impl Iterator<Item = Vec<FileIndex>> {
        let classes = self.by_content.ids();
        classes.map(|class| self.by_content.held(class, &self.chain))
    }

    /// True if files of this one's size still have reads requested.
    pub fn is_unfinished(&self, file: FileIndex) -> bool {
        let size = self
            .by_size
            .find(self.file_table.size(file), &self.file_table);
        matches!(size, Some(SameSize::Class(id)) if self.by_size.class(id).pending > 0)
    }

    /// The digest of a content, if it was computed.
    pub fn digest(&self, content: ClassId) -> Option<ContentDigest> {
        self.by_content.key(content).digest()
    }

    /// Files that turned out to be unique before they were read to the end.
    pub fn alone(&self) -> impl Iterator<Item = FileIndex> {
        let by_size = self.by_size.closed(&self.chain).into_iter();
        let by_head = closed(&self.by_head, &self.chain);
        let by_tail = closed(&self.by_tail, &self.chain);
        by_size.chain(by_head).chain(by_tail)
    }
}

fn closed<K: Key>(join: &KeyedJoin<K>, chain: &Chain) -> impl Iterator<Item = FileIndex> {
    let classes = join.ids().filter(|&id| !join.is_open(id));
    classes.flat_map(|id| join.held(id, chain))
}
