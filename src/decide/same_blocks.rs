//! Files that are known to be equal because they lie in the same blocks.
//!
//! Every file of a class of equal samples that could share its blocks is looked at: the answer stands for all
//! that it lies in, or says that nothing is known. Files with one answer are kin, and the first of
//! them is read for all. What makes that safe is the second look, when nothing of the size is being read any
//! more: kin count as equal only if all their blocks are the same as before (`docs/explanation/correctness.md`).

use std::collections::{HashMap, HashSet};

use crate::file::{DevIndex, FileIndex};
use crate::hash::PlacesDigest;

use super::class_id::ClassId;
use super::keys::Content;

/// Files with equal samples, as far as samples were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleClass {
    /// By their heads alone.
    Head(ClassId),
    /// By their tails too.
    Tail(ClassId),
}

/// Which files are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedBlocks {
    /// Files from this size on, bytes.
    pub from: u64,
    /// The digest of a content is wanted even if all files that have it lie in the same blocks.
    pub digests: bool,
}

/// What is to be done next.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BlocksStep {
    /// Files whose blocks are to be looked at again.
    pub look_again: Vec<FileIndex>,
    /// Files that are to be read as a whole.
    pub read: Vec<FileIndex>,
    /// Files that have a content.
    pub have: Vec<(FileIndex, Content)>,
}

/// The files of one class of samples that lie in blocks which others may share.
#[derive(Debug, Default)]
struct BlocksClass {
    /// By what the first look said; the first of each is read for all.
    families: HashMap<PlacesDigest, Vec<FileIndex>>,
    /// A file that need not be read as long as all others of the class are its kin.
    held: Option<FileIndex>,
    phase: Phase,
}

/// How far a class is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Files may still come.
    #[default]
    Gathering,
    /// The second look is under way.
    LookingAgain,
    /// What is kin now is equal.
    Settled,
}

/// Everything about shared blocks that a run knows.
#[derive(Debug)]
pub struct SameBlocks {
    rule: Option<SharedBlocks>,
    /// By volume number: true if files there may share blocks.
    volumes: Vec<bool>,
    /// Files that are being looked at, for the first time or again.
    looked_at: HashMap<FileIndex, SampleClass>,
    classes: HashMap<SampleClass, BlocksClass>,
    of_size: HashMap<ClassId, Vec<SampleClass>>,
    /// Classes with files that are read in any case.
    read: HashSet<SampleClass>,
    /// Answers of the second look.
    again: HashMap<FileIndex, PlacesDigest>,
    /// Contents of files that are first among their kin.
    contents: HashMap<FileIndex, Option<Content>>,
}

impl SameBlocks {
    /// Without a rule nothing is looked at.
    pub fn new(rule: Option<SharedBlocks>) -> Self {
        Self {
            rule,
            volumes: Vec::new(),
            looked_at: HashMap::new(),
            classes: HashMap::new(),
            of_size: HashMap::new(),
            read: HashSet::new(),
            again: HashMap::new(),
            contents: HashMap::new(),
        }
    }

    /// Says that files on this volume may share blocks.
    pub fn is_possible_on(&mut self, volume: DevIndex) {
        let at = usize::from(volume);
        if at >= self.volumes.len() {
            self.volumes.resize(at + 1, false);
        }
        self.volumes[at] = true;
    }

    /// True if a look at the file's blocks may spare reading it.
    pub fn may_spare(&self, bytes: u64, volume: DevIndex) -> bool {
        let is_possible = self.volumes.get(usize::from(volume)) == Some(&true);
        is_possible && self.rule.is_some_and(|rule| bytes >= rule.from)
    }

    /// Takes a file that would be read as a whole. True if its blocks are to be looked at first; if not, it
    /// is to be read, and so is the file that this gives.
    pub fn takes(
        &mut self,
        class: SampleClass,
        file: FileIndex,
        bytes: u64,
        volume: DevIndex,
    ) -> Result<(), Option<FileIndex>> {
        if self.rule.is_none_or(|rule| bytes < rule.from) {
            return Err(None);
        }
        if self.may_spare(bytes, volume) {
            self.looked_at.insert(file, class);
            return Ok(());
        }
        Err(self.reads(class))
    }

    /// Takes note that a file of the class is read; returns another that is to be read for that.
    pub fn reads(&mut self, class: SampleClass) -> Option<FileIndex> {
        if self.rule.is_none_or(|rule| rule.digests) {
            return None;
        }
        self.read.insert(class);
        let class = self.classes.get_mut(&class)?;
        class.held.take()
    }

    /// Takes what a look at a file's blocks said, `None` if nothing; returns the files that are to be read.
    pub fn seen(
        &mut self,
        size: ClassId,
        file: FileIndex,
        blocks: Option<PlacesDigest>,
    ) -> Vec<FileIndex> {
        let (Some(rule), Some(at)) = (self.rule, self.looked_at.remove(&file)) else {
            return Vec::new();
        };
        let phase = self.classes.get(&at).map(|class| class.phase);
        if phase == Some(Phase::LookingAgain) {
            self.again.extend(blocks.map(|blocks| (file, blocks)));
            return Vec::new();
        }
        let Some(blocks) = blocks else {
            let held = self.reads(at);
            return held.into_iter().chain([file]).collect();
        };
        let is_read = self.read.contains(&at);
        let class = self.classes.entry(at).or_insert_with(|| {
            self.of_size.entry(size).or_default().push(at);
            BlocksClass::default()
        });
        let family = class.families.entry(blocks).or_default();
        family.push(file);
        if family.len() > 1 {
            return Vec::new();
        }
        self.contents.insert(file, None);
        if !rule.digests && !is_read && class.families.len() == 1 {
            class.held = Some(file);
            return Vec::new();
        }
        let held = class.held.take();
        held.into_iter().chain([file]).collect()
    }

    /// Takes note of a file's content, which its kin may have as well.
    pub fn has(&mut self, file: FileIndex, content: Content) {
        if let Some(known) = self.contents.get_mut(&file) {
            *known = Some(content);
        }
    }

    /// What is to be done for the files of a size, none of which is being read or looked at any more.
    pub fn idle(&mut self, size: ClassId) -> BlocksStep {
        let mut step = BlocksStep::default();
        let classes = self.of_size.remove(&size).unwrap_or_default();
        let mut undecided = Vec::new();
        for at in classes {
            let Some(mut class) = self.classes.remove(&at) else {
                continue;
            };
            if self.advance(at, &mut class, &mut step) {
                self.classes.insert(at, class);
                undecided.push(at);
            }
        }
        if !undecided.is_empty() {
            self.of_size.insert(size, undecided);
        }
        step
    }

    /// Goes on with one class; false if that was all.
    fn advance(&mut self, at: SampleClass, class: &mut BlocksClass, step: &mut BlocksStep) -> bool {
        if class.phase == Phase::Gathering {
            let kin = class.families.values().filter(|family| family.len() > 1);
            let kin: Vec<FileIndex> = kin.flatten().copied().collect();
            class.phase = Phase::LookingAgain;
            if !kin.is_empty() {
                self.looked_at.extend(kin.iter().map(|&file| (file, at)));
                step.look_again.extend(kin);
                return true;
            }
        }
        if class.phase == Phase::LookingAgain {
            class.phase = Phase::Settled;
            let doubtful = self.part(class);
            if !doubtful.is_empty() {
                step.read.extend(class.held.take());
                step.read.extend(doubtful);
                return true;
            }
        }
        self.settle(class, step)
    }

    /// Takes the files out of their families that were not found in the same blocks again.
    fn part(&mut self, class: &mut BlocksClass) -> Vec<FileIndex> {
        let mut doubtful = Vec::new();
        for (blocks, family) in &mut class.families {
            let mut members = std::mem::take(family).into_iter();
            let Some(first) = members.next() else {
                continue;
            };
            let first_is_sure = self.again.remove(&first) == Some(*blocks);
            family.push(first);
            for file in members {
                match self.again.remove(&file) == Some(*blocks) && first_is_sure {
                    true => family.push(file),
                    false => doubtful.push(file),
                }
            }
        }
        doubtful
    }

    /// Gives the content of each family's first file to all of them; false if nothing is left to do.
    fn settle(&mut self, class: &mut BlocksClass, step: &mut BlocksStep) -> bool {
        if let Some(held) = class.held.take() {
            self.contents.insert(held, Some(Content::Of(held)));
            step.have.push((held, Content::Of(held)));
        }
        class.families.retain(|_, family| {
            let first = family.remove(0);
            match self.contents.remove(&first).flatten() {
                Some(content) => {
                    step.have.extend(family.iter().map(|&file| (file, content)));
                    false
                }
                // It could not be read: the next one is read for the others.
                None => match family.first() {
                    Some(&next) => {
                        self.contents.insert(next, None);
                        step.read.push(next);
                        true
                    }
                    None => false,
                },
            }
        });
        !class.families.is_empty()
    }
}
