//! Drives a machine through a world of made-up files.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::decide::ClassId;
use crate::decide::machine::{Machine, Told};
use crate::decide::rules::{
    Comparing, Counting, Effect, FirstVisit, Rules, SharedBlocks, TailRule, Want,
};
use crate::file::{DevIndex, DirId, FileIndex, FoundFile, Naming, Numbering, SharedDirs};
use crate::hash::{ContentDigest, SampleDigest};

use super::oracle::*;

/// A machine, its world and what happened.
pub struct Drive<'a> {
    pub world: &'a [Inode],
    pub machine: Machine,
    /// The world's number of each file in the file_table.
    pub numbers: HashMap<FileIndex, usize>,
    pub wanted: Vec<Effect>,
    pub groups: Vec<Vec<FileIndex>>,
    pub all_wanted: Vec<(usize, Want)>,
    pub failed: HashSet<usize>,
    /// Volumes turn out to lie on disks with a head.
    pub fickle: bool,
    pub finished: Vec<ClassId>,
}

impl<'a> Drive<'a> {
    pub fn new(world: &'a [Inode], counting: Counting, visit: u64, digests: bool) -> Self {
        let dirs = SharedDirs::default();
        for dir in 0..DIRS {
            let root = (dir % ROOTS) as u32;
            let name = format!("d{dir}");
            dirs.write()
                .add_root(name.as_bytes(), root, (1, dir as u64));
        }
        let mut tail_rule = TailRule::default();
        tail_rule.from = FROM;
        tail_rule.from_with_seeks = FROM_WITH_SEEKS;
        let rules = Rules {
            counting,
            newer_ns: None,
            tails: tail_rule,
            first_visit: FirstVisit { visit },
            comparing: (!digests).then_some(Comparing {
                from: FROM,
                most: MOST,
                run: RUN,
            }),
            shared_blocks: Some(SharedBlocks {
                from: FROM,
                digests,
            }),
        };
        let mut machine = Machine::new(Arc::new(dirs), rules);
        for dev in 0..VOLUMES {
            let volume = DevIndex(dev);
            assert_eq!(machine.volume_number(1000 + u64::from(dev)), volume);
            machine.trust_numbers(volume, Numbering::Unique);
        }
        machine.seeks_cost(DevIndex(VOLUMES - 1));
        Self {
            world,
            machine,
            numbers: HashMap::new(),
            wanted: Vec::new(),
            groups: Vec::new(),
            all_wanted: Vec::new(),
            failed: HashSet::new(),
            fickle: false,
            finished: Vec::new(),
        }
    }

    pub fn blocks_are_shared(&mut self) {
        for volume in (0..VOLUMES).filter(|&volume| volume != ALL_APART) {
            self.machine.blocks_are_shared_on(DevIndex(volume));
        }
    }

    /// The same numbers on all volumes.
    pub fn ino(&self, number: usize) -> u64 {
        let before = self.world[..number].iter();
        let same_volume = before.filter(|i| i.volume == self.world[number].volume);
        same_volume.count() as u64
    }

    pub fn find(&mut self, number: usize, name: usize) {
        let inode = &self.world[number];
        let dir = inode.dirs[name];
        let text = format!("{number} {name}");
        let found = FoundFile {
            ino: self.ino(number),
            size: inode.size,
            mtime_ns: 1,
            ctime_ns: 1,
            blocks: 8,
            links: inode.dirs.len() as u32,
            name_len: text.len() as _,
            via_link: false,
            mounted: false,
        };
        let before = self.machine.file_table().len();
        let root = (dir % ROOTS) as u32;
        let dir = DirId(dir as u32);
        let volume = DevIndex(inode.volume);
        let mut classes = Vec::new();
        self.machine.look_up_sizes(&[found], &mut classes);
        let name = text.as_bytes();
        let new = self
            .machine
            .found(&found, name, dir, root, volume, classes[0])
            == Naming::First;
        assert_eq!(new, self.machine.file_table().len() > before);
        if new {
            let earlier = self.numbers.values().any(|&n| n == number);
            assert!(!earlier, "one inode is one file");
            self.numbers.insert(FileIndex(before as u32), number);
        }
        self.collect();
    }

    pub fn collect(&mut self) {
        let effects: Vec<_> = self.machine.effects().collect();
        for &effect in &effects {
            self.all_wanted
                .push((self.numbers[&effect.file], effect.want));
        }
        self.wanted.extend(effects);
        for group in self.machine.comparisons() {
            let number = |file: &FileIndex| self.numbers[file];
            let wants = group.iter().map(|file| (number(file), Want::Comparison));
            self.all_wanted.extend(wants);
            self.groups.push(group);
        }
        self.finished.extend(self.machine.finished());
    }

    /// Records that another read is done than the requested one.
    pub fn read_instead(&mut self, number: usize, wanted: Want, want: Want) -> Want {
        let all = &mut self.all_wanted;
        if let Some(entry) = all.iter_mut().find(|w| **w == (number, wanted)) {
            entry.1 = want;
        }
        want
    }

    pub fn answer(&mut self, which: usize) {
        let Effect { file, want, .. } = self.wanted.swap_remove(which);
        let number = self.numbers[&file];
        let want = if want.is_first_sample() && self.machine.is_read_whole(file) {
            self.read_instead(number, want, Want::Whole)
        } else {
            want
        };
        let inode = &self.world[number];
        let reads = self.all_wanted.iter().filter(|(n, _)| *n == number).count();
        let looks = matches!(want, Want::Blocks | Want::BlocksAgain);
        let fails = inode.fails.is_some_and(|at| usize::from(at) + 1 == reads);
        if looks {
            assert_ne!(inode.volume, ALL_APART);
            let place = inode.place(want == Want::BlocksAgain);
            self.machine.blocks_seen(file, place.filter(|_| !fails));
        } else if fails {
            self.failed.insert(number);
            self.machine.failed(file);
        } else {
            if inode.marks[0] == 0 {
                self.machine.was_cached(file);
            }
            if let (true, Some((token, has_digest))) =
                (want.is_first_sample(), token(self.world, number))
            {
                let told = Told {
                    token,
                    has_digest,
                    is_sure: true,
                    was_compared: false,
                };
                self.machine.token_recalled(file, told);
            }
            let head = || SampleDigest::of(&inode.head());
            let tail = || SampleDigest::of(&inode.tail());
            match want {
                // The reader may choose so.
                Want::Head if number.is_multiple_of(3) && self.may_go_on(file, head()) => {
                    self.read_instead(number, want, Want::HeadAndContent);
                    let digest = ContentDigest::from(blake3::hash(&inode.content()));
                    self.machine.read_whole(file, head(), digest);
                }
                Want::Head => self.machine.sampled(file, head(), None),
                Want::HeadAndTail => self.machine.sampled(file, head(), Some(tail())),
                Want::Tail => self.machine.tail_sampled(file, tail()),
                Want::Comparison => unreachable!("wanted of groups only"),
                Want::HeadAndContent
                | Want::Verify
                | Want::ShownKey
                | Want::ShownParts
                | Want::ShownTags => {
                    unreachable!("never wanted")
                }
                Want::Blocks | Want::BlocksAgain => unreachable!("looked at above"),
                Want::Content | Want::Whole => {
                    let digest = ContentDigest::from(blake3::hash(&inode.content()));
                    self.machine.content_read(file, digest);
                }
            }
        }
        self.collect();
    }

    /// True if a file with this head may have the content of another one.
    fn may_go_on(&self, file: FileIndex, head: SampleDigest) -> bool {
        let only = self.machine.only_head(file);
        only.is_none_or(|only| only == head)
    }

    /// Compares a group, or finds that it cannot.
    pub fn compare(&mut self, group: &[FileIndex], possible: bool) {
        assert!(group.len() <= MOST);
        for &file in group {
            let number = self.numbers[&file];
            let content = |file: &FileIndex| self.world[self.numbers[file]].content();
            if !possible {
                self.all_wanted.retain(|w| *w != (number, Want::Comparison));
                self.machine.not_compared(file);
            } else if self.world[number].fails == Some(1) {
                self.failed.insert(number);
                self.machine.failed(file);
            } else {
                let first = group.iter().find(|other| content(other) == content(&file));
                let first = *first.expect("it is there itself");
                self.machine.compared(file, first, true);
            }
        }
        self.collect();
    }

    /// Everything in random order, reads in between.
    pub fn run(&mut self, rng: &mut Rng, eagerness: usize) {
        let mut names: Vec<(usize, usize)> = Vec::new();
        for (number, inode) in self.world.iter().enumerate() {
            names.extend((0..inode.dirs.len()).map(|name| (number, name)));
            // Found twice under one name, as by overlapping roots.
            if number % 7 == 3 {
                names.push((number, 0));
            }
        }
        while !names.is_empty() {
            let name = names.swap_remove(rng.below(names.len()));
            self.find(name.0, name.1);
            if self.fickle && rng.below(8) == 0 {
                let volume = DevIndex(rng.below(VOLUMES.into()) as u16);
                self.machine.seeks_cost(volume);
            }
            while !self.wanted.is_empty() && rng.below(4) < eagerness {
                self.answer(rng.below(self.wanted.len()));
            }
        }
        assert!(self.finished.is_empty(), "nothing is final during the scan");
        self.machine.scan_done();
        self.collect();
        while !self.wanted.is_empty() || !self.groups.is_empty() {
            match self.groups.pop() {
                Some(group) if rng.below(2) == 0 || self.wanted.is_empty() => {
                    self.compare(&group, rng.below(4) > 0);
                }
                group => {
                    self.groups.extend(group);
                    self.answer(rng.below(self.wanted.len()));
                }
            }
        }
    }

    /// The sets as the engine would report them.
    pub fn sets(&self) -> BTreeSet<BTreeSet<usize>> {
        let counting = self.machine.counting();
        let mut sets = BTreeSet::new();
        let mut report = |files: Vec<FileIndex>| {
            let numbers: BTreeSet<usize> = files.iter().map(|f| self.numbers[f]).collect();
            if is_reported(counting, self.world, &numbers) {
                assert!(sets.insert(numbers), "reported twice");
            }
        };
        for &size in &self.finished {
            for (_, files) in self.machine.contents(size) {
                report(files);
            }
        }
        if counting.fewest_inodes() == 1 {
            self.machine.alone().for_each(|file| report(vec![file]));
        }
        sets
    }
}
