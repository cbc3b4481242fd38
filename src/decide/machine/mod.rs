//! The machine of all stages: takes found files and digests, and produces reads and sets.

mod compared;
mod gathered;
mod samples;
mod whole;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::file::{
    DevIndex, DirId, FileIndex, FileTable, FoundFile, Naming, Numbering, SharedDirs,
};
use crate::hash::{ContentDigest, SampleDigest};

use super::by_file::{Chain, FileMap, FileSet, removed};
use super::by_size::{BySize, SameSize};
use super::keyed_join::{Awaited, ClassId, Content, ContentKey, KeyedJoin, SampleClass, SampleKey};
use super::odds::Odds;
use super::rules::{Counting, Effect, HEAD, Rules, Want};
use super::shared_blocks::BlocksClass;
use super::summary::Unread;

pub use compared::{Equality, Told};

use compared::WaitingClass;
use gathered::Gathered;

/// All files of a search, and how far each has come.
#[derive(Default)]
pub struct Machine {
    file_table: FileTable,
    dirs: Arc<SharedDirs>,
    rules: Rules,
    chain: Chain,
    by_size: BySize,
    by_head: KeyedJoin<SampleKey>,
    by_tail: KeyedJoin<SampleKey>,
    by_content: KeyedJoin<ContentKey>,
    /// Tail digests that came with the head of a file that is held at the stage of heads.
    early_tails: FileMap<SampleDigest>,
    /// The purpose for which files are read or examined, unless it is their own digest.
    awaited: FileMap<Awaited>,
    odds: Odds,
    effects: Vec<Effect>,
    /// Volumes on which files may share blocks.
    sharing: HashSet<DevIndex>,
    /// Classes whose files may lie in the same blocks.
    blocks: HashMap<SampleClass, BlocksClass>,
    blocks_of_size: HashMap<ClassId, Vec<SampleClass>>,
    /// Contents of files that were read for all that lie in their blocks.
    first_contents: FileMap<Content>,
    unread: Unread,
    /// Files whose content an earlier run read.
    recalled: FileSet,
    /// Files whose samples were in the page cache.
    cached: FileSet,
    /// Tail classes whose files wait for each other.
    waiting: HashMap<ClassId, WaitingClass>,
    waiting_of_size: HashMap<ClassId, Vec<ClassId>>,
    comparisons: Vec<Vec<FileIndex>>,
    /// Number of comparisons requested so far.
    comparisons_begun: u128,
    /// Tokens of files that have no content yet.
    told: FileMap<Told>,
    /// Files with the token of one that is compared or read for them.
    represented: FileMap<Vec<FileIndex>>,
    equalities: Vec<Equality>,
    gathered: Gathered,
    scan_done: bool,
    finished: Vec<ClassId>,
}

impl Machine {
    /// A machine without files.
    pub fn new(dirs: Arc<SharedDirs>, rules: Rules) -> Self {
        Self {
            dirs,
            rules,
            ..Self::default()
        }
    }

    /// All files that were included so far.
    pub fn file_table(&self) -> &FileTable {
        &self.file_table
    }

    /// The small number that stands for an `st_dev`.
    pub fn volume_number(&mut self, dev: u64) -> DevIndex {
        self.file_table.volume_number(dev)
    }

    /// Records how reliable inode numbers on a volume are.
    pub fn trust_numbers(&mut self, volume: DevIndex, numbering: Numbering) {
        self.file_table.trust_numbers(volume, numbering);
    }

    /// How replicas are counted.
    pub fn counting(&self) -> Counting {
        self.rules.counting
    }

    /// True if one of these files makes a set matter.
    pub fn is_any_newer(&self, files: &[FileIndex]) -> bool {
        let is_newer = |since| {
            let mut times = files
                .iter()
                .map(|&file| self.file_table.fingerprint(file).mtime_ns);
            times.any(|mtime_ns| mtime_ns >= since)
        };
        self.rules.newer_ns.is_none_or(is_newer)
    }

    /// Records that reads from this volume cost seeks, so that fewer samples pay off.
    pub fn seeks_cost(&mut self, volume: DevIndex) {
        self.rules.tails.seeks_cost(volume);
    }

    /// Records that files on this volume may share blocks.
    pub fn blocks_are_shared_on(&mut self, volume: DevIndex) {
        self.sharing.insert(volume);
    }

    /// True if a query of the file's blocks may spare its read.
    fn may_spare(&self, bytes: u64, volume: DevIndex) -> bool {
        let rule = self.rules.shared_blocks;
        self.sharing.contains(&volume) && rule.is_some_and(|rule| bytes >= rule.from)
    }

    /// Records that a file's samples were in the page cache.
    pub fn was_cached(&mut self, file: FileIndex) {
        if self
            .rules
            .comparing
            .is_some_and(|comparing| self.file_table.size(file) >= comparing.from)
        {
            self.cached.insert(file);
        }
    }

    /// The groups of files to compare, requested since the last call.
    pub fn comparisons(&mut self) -> Vec<Vec<FileIndex>> {
        std::mem::take(&mut self.comparisons)
    }

    /// The reads requested since the last call.
    pub fn effects(&mut self) -> std::vec::Drain<'_, Effect> {
        self.effects.drain(..)
    }

    /// The classes of the sizes of these files, as far as they have classes. Each lookup waits for memory. Those of one
    /// call do not depend on each other, so they wait together.
    pub fn look_up_sizes(&self, files: &[FoundFile], classes: &mut Vec<Option<ClassId>>) {
        classes.clear();
        if !self.by_size.has_classes() {
            return classes.resize(files.len(), None);
        }
        let find = |file: &FoundFile| self.by_size.find(file.size, &self.file_table);
        classes.extend(files.iter().map(|file| match find(file) {
            Some(SameSize::Class(class)) => Some(class),
            _ => None,
        }));
    }

    /// Takes a found file, or a further name of a known one. `class` is the class of its size, if it was looked up.
    pub fn found(
        &mut self,
        found: &FoundFile,
        name: &[u8],
        dir: DirId,
        root: u32,
        volume: DevIndex,
        class: Option<ClassId>,
    ) -> Naming {
        let class = class.or_else(|| self.class_of_size(found.size));
        let is_met = class.is_some() && self.file_table.has_records(volume, found.ino, found.size);
        if let (Some(class), true) = (class, is_met)
            && let Some(file) = self.known(found, name, dir, volume)
        {
            // A link to a file is not one more name of it: removing one would not leave the other.
            return if found.is_entry() {
                self.further_name(class, file, name, dir, root)
            } else {
                Naming::Known
            };
        }
        let file = self.file_table.push(found, name, dir, volume);
        self.odds.found(found.size);
        let Some(class) = class else {
            self.by_size.insert(file, &self.file_table);
            return Naming::First;
        };
        self.file_table.identify(file, is_met);
        self.by_size.add(class, file, &mut self.chain);
        let is_newer = self.is_any_newer(&[file]);
        let of_size = self.by_size.class_mut(class);
        of_size.count_name(root);
        of_size.any_newer |= is_newer;
        if of_size.open {
            self.start(class, file)
        } else {
            self.open_size_if_due(class)
        }
        Naming::First
    }

    fn known(
        &self,
        found: &FoundFile,
        name: &[u8],
        dir: DirId,
        volume: DevIndex,
    ) -> Option<FileIndex> {
        let dirs = self.dirs.read();
        self.file_table.find(found, name, dir, volume, &dirs)
    }

    /// The files that this name may belong to, where inode numbers do not show it.
    pub fn may_be(&mut self, found: &FoundFile, dir: DirId, volume: DevIndex) -> Vec<FileIndex> {
        if self.class_of_size(found.size).is_none() {
            return Vec::new();
        }
        let dirs = self.dirs.read();
        self.file_table.may_be(found, dir, volume, &dirs).collect()
    }

    /// Replaces the names of a file by those that lead to it.
    pub fn settle_names(&mut self, file: FileIndex, names: Vec<(DirId, Vec<u8>)>) {
        self.file_table.settle_names(file, names);
    }

    /// The class of a size that some file has; none if no file has it.
    fn class_of_size(&mut self, size: u64) -> Option<ClassId> {
        match self.by_size.find(size, &self.file_table)? {
            SameSize::Class(class) => Some(class),
            SameSize::Alone(file) => {
                // It was not looked for so far.
                self.file_table.identify(file, false);
                let root = self.dirs.read().root(self.file_table.dir(file));
                let is_newer = self.is_any_newer(&[file]);
                let by_size = &mut self.by_size;
                let class = by_size.promote(file, root, &self.file_table, &mut self.chain);
                by_size.class_mut(class).any_newer = is_newer;
                Some(class)
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
    ) -> Naming {
        let dirs = Arc::clone(&self.dirs);
        let naming = self.file_table.add_name(file, name, dir, &dirs.read());
        if naming == Naming::Further {
            self.by_size.class_mut(class).count_name(root);
            self.open_size_if_due(class);
        }
        naming
    }

    fn open_size_if_due(&mut self, class: ClassId) {
        for file in self.open_size(class) {
            self.start(class, file);
        }
    }

    /// Opens a size if it is due; returns the files that were held.
    fn open_size(&mut self, class: ClassId) -> Vec<FileIndex> {
        let of = self.by_size.class(class);
        let (files, names) = (of.files.into(), of.names.into());
        let counting = self.rules.counting;
        let is_due = of.any_newer && counting.size_matters(files, names, of.spans_roots);
        if of.open || self.gathered.is_gathering || !is_due {
            return Vec::new();
        }
        let held = self.by_size.open(class, &self.chain);
        self.gathered.opened(class, &held);
        held
    }

    /// The first read of a file whose size is shared.
    fn start(&mut self, class: ClassId, file: FileIndex) {
        let size = self.file_table.size(file);
        if size == 0 {
            self.join_content(class, file, Content::Digest(ContentDigest::of_nothing()));
        } else if size <= HEAD || self.gathered.is_whole(class) {
            self.by_size.class_mut(class).whole = Some(true);
            self.want(class, file, Want::Whole);
        } else if self
            .rules
            .tails
            .read_at_once(size, self.file_table.volume(file))
        {
            self.want(class, file, Want::HeadAndTail);
        } else {
            self.want(class, file, Want::Head);
        }
    }

    /// True if a file that needs a first sample is best read whole at once. All files of its size are then read in this
    /// way. Call it just before the read: by then, more is known than when the file was found.
    pub fn is_read_whole(&mut self, file: FileIndex) -> bool {
        let class = self.size_class(file);
        self.files_are_read_whole(class)
    }

    fn files_are_read_whole(&mut self, class: ClassId) -> bool {
        let of = self.by_size.class(class);
        let (size, files) = (of.size(), of.files);
        of.whole.unwrap_or_else(|| {
            let odds = self.odds.of_any(size, files);
            let whole = self.rules.first_visit.reads_whole(size, odds);
            self.by_size.class_mut(class).whole = Some(whole);
            whole
        })
    }

    /// True if the files of this size are read whole at first, where an earlier run read one of them `whole`, or only
    /// its samples. If it is still open, this decides it: nothing is read again.
    pub fn are_first_read_whole(&mut self, size: ClassId, whole: Option<bool>) -> bool {
        if let Some(whole) = whole {
            self.by_size.class_mut(size).whole.get_or_insert(whole);
        }
        self.files_are_read_whole(size)
    }

    fn want(&mut self, size: ClassId, file: FileIndex, want: Want) {
        self.by_size.class_mut(size).pending += 1;
        self.effects.push(Effect { file, want, size });
    }

    fn size_class(&self, file: FileIndex) -> ClassId {
        match self
            .by_size
            .find(self.file_table.size(file), &self.file_table)
        {
            Some(SameSize::Class(class)) => class,
            _ => unreachable!("only files that share their size are asked for"),
        }
    }

    fn settle(&mut self, size: ClassId) {
        self.by_size.class_mut(size).pending -= 1;
        self.end_if_idle(size);
    }

    /// Records that a read failed: the file is in no set from now on.
    pub fn failed(&mut self, file: FileIndex) {
        let size = self.size_class(file);
        let awaited = removed(&mut self.awaited, &file);
        self.replace(size, file, awaited);
        self.settle(size);
    }

    /// Records that the scan will find no further file.
    pub fn scan_done(&mut self) {
        self.scan_done = true;
        let open = self.by_size.ids().filter(|&id| self.by_size.class(id).open);
        for size in open.collect::<Vec<_>>() {
            self.end_if_idle(size);
        }
    }
}
