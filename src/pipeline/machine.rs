//! The stages put together: found files and digests in, reads and sets out.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::file::{Catalog, DirId, FileIndex, FoundFile, SharedDirs};
use crate::hash::{ContentDigest, SampleDigest};

use super::by_size::{BySize, SameSize};
use super::chain::Chain;
use super::first_visit::FirstVisit;
use super::keyed_join::{ClassId, Key, KeyedJoin, Offered};
use super::keys::{Content, ContentKey, SampleKey};
use super::kinship::{Kinship, SampleClass, SharedBlocks};
use super::odds::Odds;
use super::rules::{Counting, TailRule};
use super::summary::Unread;

/// Bytes of the head sample. Files no longer than this are done with one read.
pub const HEAD: u64 = 4096;

/// Bytes of the tail sample.
pub const TAIL: u64 = 4096;

/// A read that the machine wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The file to read.
    pub file: FileIndex,
    /// What of it.
    pub want: Want,
}

/// What to read of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The first [`HEAD`] bytes.
    Head,
    /// The first [`HEAD`] and the last [`TAIL`] bytes at one go.
    HeadAndTail,
    /// The last [`TAIL`] bytes.
    Tail,
    /// Everything, with nothing read before.
    Whole,
    /// Everything, after samples.
    Content,
    /// Everything, compared with the other files of its group.
    Comparison,
    /// The head, and everything at one go. The machine never asks for this: whoever reads may
    /// choose it in place of [`Want::Head`].
    HeadAndContent,
    /// Nothing but where its blocks lie.
    Blocks,
    /// The same once more.
    BlocksAgain,
}

/// Which files may be compared with each other instead of being digested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparing {
    /// Files from this size on, bytes.
    pub from: u64,
    /// Groups of so many files at most.
    pub most: usize,
}

/// Where a file stands in its way through the stages.
pub struct Machine {
    catalog: Catalog,
    dirs: Arc<SharedDirs>,
    counting: Counting,
    tail_rule: TailRule,
    first_visit: FirstVisit,
    chain: Chain,
    by_size: BySize,
    by_head: KeyedJoin<SampleKey>,
    by_tail: KeyedJoin<SampleKey>,
    by_content: KeyedJoin<ContentKey>,
    /// Tail digests that came with the head of a file that is held by its head.
    early_tails: HashMap<FileIndex, SampleDigest>,
    /// Contents that were read with the heads of files whose tails are wanted nevertheless.
    early_contents: HashMap<FileIndex, ContentDigest>,
    /// Head classes whose members are to be told apart by their tails too.
    tail_classes: HashSet<ClassId>,
    /// Files whose tail is being read, and their head class.
    awaiting_tail: HashMap<FileIndex, ClassId>,
    odds: Odds,
    effects: Vec<Effect>,
    comparing: Option<Comparing>,
    kinship: Kinship,
    unread: Unread,
    /// Files whose samples were in the page cache.
    cached: HashSet<FileIndex>,
    /// By tail class the files that wait to be compared, all of one size; empty once they are.
    groups: HashMap<ClassId, Vec<FileIndex>>,
    /// Sizes with files that wait to be compared, each with their tail classes.
    grouped: HashMap<ClassId, Vec<ClassId>>,
    comparisons: Vec<Vec<FileIndex>>,
    scan_done: bool,
    finished: Vec<ClassId>,
}

impl Machine {
    /// A machine without files.
    pub fn new(
        dirs: Arc<SharedDirs>,
        counting: Counting,
        tail_rule: TailRule,
        first_visit: FirstVisit,
    ) -> Self {
        Self {
            catalog: Catalog::default(),
            dirs,
            counting,
            tail_rule,
            first_visit,
            chain: Chain::default(),
            by_size: BySize::default(),
            by_head: KeyedJoin::default(),
            by_tail: KeyedJoin::default(),
            by_content: KeyedJoin::default(),
            early_tails: HashMap::new(),
            early_contents: HashMap::new(),
            tail_classes: HashSet::new(),
            awaiting_tail: HashMap::new(),
            odds: Odds::default(),
            effects: Vec::new(),
            comparing: None,
            kinship: Kinship::new(None),
            unread: Unread::default(),
            cached: HashSet::new(),
            groups: HashMap::new(),
            grouped: HashMap::new(),
            comparisons: Vec::new(),
            scan_done: false,
            finished: Vec::new(),
        }
    }

    /// All files taken into account so far.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The small number that stands for an `st_dev`.
    pub fn volume_number(&mut self, dev: u64) -> u16 {
        self.catalog.volume_number(dev)
    }

    /// How replicas are counted.
    pub fn counting(&self) -> Counting {
        self.counting
    }

    /// Says that reads from this volume cost seeks, so that fewer samples pay.
    pub fn seeks_cost(&mut self, volume: u16) {
        self.tail_rule.seeks_turned_out(volume, true);
    }

    /// Says that reads from this volume turned out to cost seeks, or none.
    pub fn seeks_turned_out(&mut self, volume: u16, cost: bool) {
        self.tail_rule.seeks_turned_out(volume, cost);
    }

    /// Lets files be compared where their samples were in the page cache; nobody asks for digests.
    pub fn compare(&mut self, comparing: Comparing) {
        self.comparing = Some(comparing);
    }

    /// Lets files that lie in the same blocks be known as equal, on the volumes where that is possible.
    pub fn share_blocks(&mut self, rule: SharedBlocks) {
        self.kinship = Kinship::new(Some(rule));
    }

    /// Says that files on this volume may share blocks.
    pub fn blocks_are_shared_on(&mut self, volume: u16) {
        self.kinship.is_possible_on(volume);
    }

    /// Takes note that a file's samples were in the page cache.
    pub fn was_cached(&mut self, file: FileIndex) {
        if self
            .comparing
            .is_some_and(|comparing| self.catalog.size(file) >= comparing.from)
        {
            self.cached.insert(file);
        }
    }

    /// The groups of files that are to be compared, wanted since the last call.
    pub fn comparisons(&mut self) -> Vec<Vec<FileIndex>> {
        std::mem::take(&mut self.comparisons)
    }

    /// The reads wanted since the last call.
    pub fn effects(&mut self) -> std::vec::Drain<'_, Effect> {
        self.effects.drain(..)
    }

    /// Takes a found file, or a further name of a known one; true if it is a new file.
    pub fn found(
        &mut self,
        found: &FoundFile,
        name: &[u8],
        dir: DirId,
        root: u32,
        volume: u16,
    ) -> bool {
        let class = self.class_of_size(found.size);
        if class.is_some()
            && let Some(file) = self.catalog.find(volume, found.ino, found.size)
        {
            // A link to a file is not one more name of it: removing one would not leave the other.
            if let (Some(class), false) = (class, found.via_link) {
                self.further_name(class, file, name, dir, root);
            }
            return false;
        }
        let file = self.catalog.push(found, name, dir, volume);
        self.odds.found(found.size);
        let Some(class) = class else {
            self.by_size.insert(file, &self.catalog);
            return true;
        };
        self.catalog.identify(file);
        self.by_size.add(class, file, &mut self.chain);
        self.by_size.class_mut(class).count_name(root);
        match self.by_size.class(class).open {
            true => self.start(class, file),
            false => self.open_size_if_due(class),
        }
        true
    }

    /// The class of a size that some file has; none if no file has it.
    fn class_of_size(&mut self, size: u64) -> Option<ClassId> {
        match self.by_size.find(size, &self.catalog)? {
            SameSize::Class(class) => Some(class),
            SameSize::Alone(file) => {
                // Nobody had to look for it so far.
                self.catalog.identify(file);
                let root = self.dirs.read().root(self.catalog.dir(file));
                let by_size = &mut self.by_size;
                Some(by_size.promote(file, root, &self.catalog, &mut self.chain))
            }
        }
    }

    fn further_name(
        &mut self,
        class: ClassId,
        file: FileIndex,
        name: &[u8],
        dir: DirId,
        root: u32,
    ) {
        let dirs = Arc::clone(&self.dirs);
        if self.catalog.add_name(file, name, dir, &dirs.read()) {
            self.by_size.class_mut(class).count_name(root);
            self.open_size_if_due(class);
        }
    }

    fn open_size_if_due(&mut self, class: ClassId) {
        let of = self.by_size.class(class);
        let (files, names) = (of.files.into(), of.names.into());
        if !of.open && self.counting.size_matters(files, names, of.spans_roots) {
            let held = self.by_size.open(class, &self.chain);
            let size = held.first().map_or(0, |&file| self.catalog.size(file));
            let odds = self.odds.of(size, held.len() as u32);
            self.by_size.class_mut(class).whole = self.first_visit.reads_whole(size, odds);
            for file in held {
                self.start(class, file);
            }
        }
    }

    /// The first read of a file whose size is shared.
    fn start(&mut self, class: ClassId, file: FileIndex) {
        let size = self.catalog.size(file);
        if size == 0 {
            self.join_content(class, file, Content::Digest(ContentDigest::of_nothing()));
        } else if self.by_size.class(class).whole {
            self.want(class, file, Want::Whole);
        } else if self.tail_rule.read_at_once(size, self.catalog.volume(file)) {
            self.want(class, file, Want::HeadAndTail);
        } else {
            self.want(class, file, Want::Head);
        }
    }

    fn want(&mut self, size: ClassId, file: FileIndex, want: Want) {
        self.by_size.class_mut(size).pending += 1;
        self.effects.push(Effect { file, want });
    }

    fn size_class(&self, file: FileIndex) -> ClassId {
        match self.by_size.find(self.catalog.size(file), &self.catalog) {
            Some(SameSize::Class(class)) => class,
            _ => unreachable!("only files that share their size are asked for"),
        }
    }

    fn settle(&mut self, size: ClassId) {
        self.by_size.class_mut(size).pending -= 1;
        self.end_if_idle(size);
    }

    /// When nothing of a size is being read any more, what waits to be compared is complete; when
    /// nothing waits either, the size is final.
    fn end_if_idle(&mut self, size: ClassId) {
        if !self.scan_done || self.by_size.class(size).pending > 0 {
            return;
        }
        let most = self.comparing.map_or(0, |comparing| comparing.most);
        for class in self.grouped.remove(&size).unwrap_or_default() {
            let group = self.groups.insert(class, Vec::new()).unwrap_or_default();
            if group.len() > most {
                for file in group {
                    self.want_whole(size, SampleClass::Tail(class), file);
                }
            } else {
                self.by_size.class_mut(size).pending += group.len() as u32;
                self.comparisons.push(group);
            }
        }
        if self.by_size.class(size).pending == 0 {
            self.settle_kin(size);
        }
        if self.by_size.class(size).pending == 0 {
            self.finished.push(size);
        }
    }

    fn settle_kin(&mut self, size: ClassId) {
        let step = self.kinship.idle(size);
        for file in step.look_again {
            self.want(size, file, Want::BlocksAgain);
        }
        for file in step.read {
            self.want(size, file, Want::Content);
        }
        for (file, content) in step.have {
            if content != Content::Of(file) {
                self.unread.count(self.catalog.size(file));
            }
            self.join_content(size, file, content);
        }
    }

    /// Has a file read to its end, unless a look at its blocks may do.
    fn want_whole(&mut self, size: ClassId, class: SampleClass, file: FileIndex) {
        let (bytes, volume) = (self.catalog.size(file), self.catalog.volume(file));
        match self.kinship.takes(class, file, bytes, volume) {
            Ok(()) => self.want(size, file, Want::Blocks),
            Err(held) => {
                for file in held.into_iter().chain([file]) {
                    self.want(size, file, Want::Content);
                }
            }
        }
    }

    /// Takes note that a file of the class was read as a whole.
    fn is_whole(&mut self, size: ClassId, class: SampleClass) {
        if let Some(held) = self.kinship.reads(class) {
            self.want(size, held, Want::Content);
        }
    }

    /// Takes what stands for the blocks that a file lies in, `None` if nothing does.
    pub fn blocks_seen(&mut self, file: FileIndex, blocks: Option<ContentDigest>) {
        let size = self.size_class(file);
        for file in self.kinship.seen(size, file, blocks) {
            self.want(size, file, Want::Content);
        }
        self.settle(size);
    }

    /// Files that were not read since they lie in the same blocks as others.
    pub fn unread(&self) -> Unread {
        self.unread
    }

    /// The next read of files that are equal as far as samples show.
    fn after_tail(&mut self, size: ClassId, class: ClassId, files: Vec<FileIndex>) {
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

    /// Decides, when a class opens, whether its files are compared or digested.
    fn choose(&mut self, size: ClassId, class: ClassId, files: &[FileIndex]) {
        let compare = files.iter().all(|file| {
            self.cached.remove(file) && !self.tail_rule.seeks(self.catalog.volume(*file))
        });
        if compare {
            self.groups.insert(class, Vec::new());
            self.grouped.entry(size).or_default().push(class);
        }
    }

    /// Takes the digest of a file's head, and of its tail if that was read along.
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
        let equal = self.by_head.class(class).files > 1;
        self.learn(size, equal, file);
        match offered {
            Offered::Passed(_) => self.after_head(size, class, file),
            Offered::Held(_) => self.open_head_if_due(size, class),
        }
        self.settle(size);
    }

    /// Takes the digests of a file's head and of its whole content, read at one go. The content
    /// says all there is to say of this file; the head opens the way for others.
    pub fn read_whole(&mut self, file: FileIndex, head: SampleDigest, content: ContentDigest) {
        let size = self.size_class(file);
        let class = self.by_head.count(SampleKey {
            parent: size,
            digest: head,
        });
        let equal = self.by_head.class(class).files > 1;
        self.learn(size, equal, file);
        if self.tail_classes.contains(&class) {
            // The others are told apart by their tails first, and so must this one be, lest one
            // of them waits for it. Its tail is in the page cache now.
            self.early_contents.insert(file, content);
            self.awaiting_tail.insert(file, class);
            self.want(size, file, Want::Tail);
        } else {
            self.is_whole(size, SampleClass::Head(class));
            self.open_head_if_due(size, class);
            self.join_content(size, file, Content::Digest(content));
        }
        self.settle(size);
    }

    /// The chance that a file's head turns out to be that of another one, so that its content has
    /// to be read next; `None` where its tail or its blocks are looked at before.
    pub fn odds(&self, file: FileIndex) -> Option<f64> {
        let size = self.catalog.size(file);
        let volume = self.catalog.volume(file);
        let sharing = self.by_size.class(self.size_class(file)).files;
        let content_is_next = !self.tail_rule.pays(size, std::iter::once(volume))
            && !self.kinship.may_spare(size, volume);
        content_is_next.then(|| self.odds.of(size, sharing))
    }

    /// Takes note of what a file's head says about heads of files like it. The first of a size
    /// has nothing to be compared with.
    fn learn(&mut self, size: ClassId, equal: bool, file: FileIndex) {
        if std::mem::replace(&mut self.by_size.class_mut(size).sampled, true) {
            let sharing = self.by_size.class(size).files;
            self.odds.compared(self.catalog.size(file), sharing, equal);
        }
    }

    fn open_head_if_due(&mut self, size: ClassId, class: ClassId) {
        let (files, open) = {
            let c = self.by_head.class(class);
            (c.files, c.open)
        };
        if open || !self.counting.sample_matters(files.into()) {
            return;
        }
        let held = self.by_head.open(class, &self.chain);
        // Where one was read as a whole already, the others must be too.
        let all_held = held.len() == files as usize;
        if let (Some(&first), true) = (held.first(), all_held) {
            let bytes = self.catalog.size(first);
            let volumes = held.iter().map(|&f| self.catalog.volume(f));
            if self.tail_rule.pays(bytes, volumes) {
                self.tail_classes.insert(class);
            }
        }
        for file in held {
            self.after_head(size, class, file);
        }
    }

    fn after_head(&mut self, size: ClassId, class: ClassId, file: FileIndex) {
        let early = self.early_tails.remove(&file);
        match (self.tail_classes.contains(&class), early) {
            (true, Some(tail)) => self.join_tail(size, class, file, tail),
            (true, None) => {
                self.awaiting_tail.insert(file, class);
                self.want(size, file, Want::Tail);
            }
            (false, _) => self.want_whole(size, SampleClass::Head(class), file),
        }
    }

    /// Takes the digest of a file's tail.
    pub fn tail_sampled(&mut self, file: FileIndex, tail: SampleDigest) {
        let size = self.size_class(file);
        if let Some(class) = self.awaiting_tail.remove(&file) {
            self.join_tail(size, class, file, tail);
        }
        self.settle(size);
    }

    fn join_tail(&mut self, size: ClassId, class: ClassId, file: FileIndex, tail: SampleDigest) {
        let key = SampleKey {
            parent: class,
            digest: tail,
        };
        match self.by_tail.offer(key, file, &mut self.chain) {
            Offered::Passed(class) => self.after_tail(size, class, vec![file]),
            Offered::Held(class) => {
                if self
                    .counting
                    .sample_matters(self.by_tail.class(class).files.into())
                {
                    let held = self.by_tail.open(class, &self.chain);
                    self.choose(size, class, &held);
                    self.after_tail(size, class, held);
                }
            }
        }
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
            self.unread.count(self.catalog.size(file));
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

    fn join_content(&mut self, size: ClassId, file: FileIndex, content: Content) {
        self.kinship.has(file, content);
        let key = ContentKey { size, content };
        let (Offered::Held(class) | Offered::Passed(class)) =
            self.by_content.offer(key, file, &mut self.chain);
        let nth = self.by_content.class(class).files;
        if self.by_size.class(size).whole {
            self.learn(size, nth > 1, file);
        }
        if nth == 1
            && let Some(before) = self.by_size.class_mut(size).contents.replace(class)
        {
            self.by_content.link_to(class, before);
        }
    }

    /// Takes note that a read failed: the file is in no set from now on.
    pub fn failed(&mut self, file: FileIndex) {
        self.awaiting_tail.remove(&file);
        self.early_contents.remove(&file);
        let size = self.size_class(file);
        self.settle(size);
    }

    /// Takes note that no further file will be found.
    pub fn scan_done(&mut self) {
        self.scan_done = true;
        let open = self.by_size.ids().filter(|&id| self.by_size.class(id).open);
        for size in open.collect::<Vec<_>>() {
            self.end_if_idle(size);
        }
    }

    /// Sizes whose sets have become final since the last call.
    pub fn finished(&mut self) -> Vec<ClassId> {
        std::mem::take(&mut self.finished)
    }

    /// Sizes with reads still wanted, which an interrupted run leaves unfinished.
    pub fn unfinished(&self) -> Vec<ClassId> {
        let pending = |id: &ClassId| self.by_size.class(*id).pending > 0;
        self.by_size.ids().filter(pending).collect()
    }

    /// The files of equal content of one size, each class with its digest if that was computed.
    pub fn contents(&self, size: ClassId) -> Vec<(Option<ContentDigest>, Vec<FileIndex>)> {
        let mut classes = Vec::new();
        let mut at = self.by_size.class(size).contents;
        while let Some(class) = at {
            let digest = match self.by_content.class(class).key.content {
                Content::Digest(digest) => Some(digest),
                Content::Of(_) => None,
            };
            classes.push((digest, self.by_content.held(class, &self.chain)));
            at = self.by_content.link(class);
        }
        classes.reverse();
        classes
    }

    /// Files that turned out to be alone before all of them was read.
    pub fn alone(&self) -> impl Iterator<Item = FileIndex> {
        let by_size = self.by_size.closed(&self.chain).into_iter();
        let by_head = closed(&self.by_head, &self.chain);
        let by_tail = closed(&self.by_tail, &self.chain);
        by_size.chain(by_head).chain(by_tail)
    }
}

fn closed<K: Key>(join: &KeyedJoin<K>, chain: &Chain) -> impl Iterator<Item = FileIndex> {
    let classes = join.ids().filter(|&id| !join.class(id).open);
    classes.flat_map(|id| join.held(id, chain))
}
