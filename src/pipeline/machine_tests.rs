//! The machine in random orders of arrival, against a comparison of every pair.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;

use crate::file::{DirId, FileIndex, FoundFile, SharedDirs};
use crate::hash::{ContentDigest, SampleDigest};

use super::crowds::CrowdRule;
use super::first_visit::FirstVisit;
use super::kinship::SharedBlocks;
use super::machine::{Comparing, Effect, HEAD, Machine, TAIL, Want};
use super::rules::{Counting, Replication, TailRule};

/// Tails are read from these sizes on, without and with seeks.
const FROM: u64 = 3 * HEAD;
const FROM_WITH_SEEKS: u64 = 5 * HEAD;

/// What a second visit costs: nothing, so that longer files are always sampled, or about as much as
/// reading most of them.
const VISITS: [u64; 2] = [0, FROM];

const SIZES: [u64; 12] = [
    0,
    1,
    100,
    HEAD - 1,
    HEAD,
    HEAD + 1,
    HEAD + TAIL - 1,
    FROM - 1,
    FROM,
    FROM + 1,
    FROM_WITH_SEEKS - 1,
    FROM_WITH_SEEKS,
];

/// Larger groups are not compared.
const MOST: usize = 3;

/// So many files are a crowd, and their stretches meet in the middle of the longest after a few looks.
const CROWD: CrowdRule = CrowdRule {
    files: 3,
    from: FROM,
    first: HEAD / 4,
};

const ROOTS: usize = 3;
/// Two folders below each root.
const DIRS: usize = 2 * ROOTS;
/// The last one costs seeks.
const VOLUMES: u16 = 3;
/// Files on it share no blocks.
const ALL_APART: u16 = 1;

/// A file of the made-up world.
#[derive(Clone, Debug)]
struct Inode {
    size: u64,
    /// First byte, middle byte, last byte; the others are zero.
    marks: [u8; 3],
    volume: u16,
    /// Folders of its names (the name is the number of its place here, so each is another name).
    dirs: Vec<usize>,
    /// Which of its reads fails, if it comes to it.
    fails: Option<u8>,
    /// Which blocks it lies in: none that could be shared, or those of all files with its content and
    /// this number on its volume.
    blocks: u8,
    /// Its blocks are elsewhere when they are looked at again.
    moves: bool,
}

impl Inode {
    fn content(&self) -> Vec<u8> {
        let mut content = vec![0; self.size as usize];
        if let Some(last) = content.len().checked_sub(1) {
            content[self.size as usize / 2] = self.marks[1];
            content[last] = self.marks[2];
            content[0] = self.marks[0];
        }
        content
    }

    fn place(&self, again: bool) -> Option<ContentDigest> {
        let mut place = self.content();
        place.extend([self.blocks, self.volume as u8, (self.moves && again).into()]);
        (self.blocks > 0).then(|| blake3::hash(&place).into())
    }

    fn head(&self) -> Vec<u8> {
        self.content()[..HEAD.min(self.size) as usize].to_vec()
    }

    fn tail(&self) -> Vec<u8> {
        self.content()[self.size.saturating_sub(TAIL) as usize..].to_vec()
    }
}

fn inode(kinds: usize) -> impl Strategy<Value = Inode> {
    let mark = || prop_oneof![4 => Just(0_u8), 1 => Just(1_u8)];
    let names = prop_oneof![4 => Just(1_usize), 1 => 2_usize..4];
    (
        0..kinds,
        [mark(), mark(), mark()],
        prop_oneof![3 => Just(0), 1 => 0..VOLUMES],
        names.prop_flat_map(|n| prop::collection::vec(0..DIRS, n)),
        prop_oneof![8 => Just(None), 1 => (0_u8..4).prop_map(Some)],
        (0_u8..3, prop::bool::weighted(0.1)),
    )
        .prop_map(
            move |(kind, marks, volume, dirs, fails, (blocks, moves))| Inode {
                // Few kinds of size make large classes, all of them make small ones.
                size: SIZES[kind * SIZES.len() / kinds],
                marks,
                volume,
                dirs,
                fails,
                blocks,
                moves,
            },
        )
}

fn world() -> impl Strategy<Value = Vec<Inode>> {
    (1..=SIZES.len()).prop_flat_map(|kinds| prop::collection::vec(inode(kinds), 0..30))
}

fn counting() -> impl Strategy<Value = Counting> {
    let replication = prop_oneof![
        4 => Just(Replication::Over(1)),
        2 => (0_u64..4).prop_map(Replication::Over),
        2 => Just(Replication::Under(2)),
        1 => (0_u64..5).prop_map(Replication::Under),
    ];
    (replication, any::<bool>(), any::<bool>()).prop_map(|(replication, hard_links, isolate)| {
        Counting {
            replication,
            hard_links,
            isolate,
        }
    })
}

/// A small generator for the order of events (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// A machine, its world and what happened.
struct Drive<'a> {
    world: &'a [Inode],
    machine: Machine,
    /// The world's number of each file in the catalog.
    numbers: HashMap<FileIndex, usize>,
    wanted: Vec<Effect>,
    groups: Vec<Vec<FileIndex>>,
    all_wanted: Vec<(usize, Want)>,
    failed: HashSet<usize>,
    /// Volumes turn out to be other than was thought.
    fickle: bool,
    finished: Vec<super::ClassId>,
}

impl<'a> Drive<'a> {
    fn new(world: &'a [Inode], counting: Counting, visit: u64, digests: bool) -> Self {
        let dirs = SharedDirs::default();
        for dir in 0..DIRS {
            let root = (dir % ROOTS) as u32;
            let name = format!("d{dir}");
            dirs.write().add_root(name.as_bytes(), root, 1, dir as u64);
        }
        let mut tail_rule = TailRule::default();
        tail_rule.from = FROM;
        tail_rule.from_with_seeks = FROM_WITH_SEEKS;
        let first_visit = FirstVisit { visit };
        let mut machine = Machine::new(Arc::new(dirs), counting, tail_rule, first_visit);
        for dev in 0..VOLUMES {
            assert_eq!(machine.volume_number(1000 + u64::from(dev)), dev);
        }
        machine.seeks_cost(VOLUMES - 1);
        if !digests {
            machine.compare(Comparing {
                from: FROM,
                most: MOST,
            });
        }
        machine.tell_crowds_apart(CROWD);
        machine.share_blocks(SharedBlocks {
            from: FROM,
            digests,
        });
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

    fn blocks_are_shared(&mut self) {
        for volume in (0..VOLUMES).filter(|&volume| volume != ALL_APART) {
            self.machine.blocks_are_shared_on(volume);
        }
    }

    /// The same numbers on all volumes.
    fn ino(&self, number: usize) -> u64 {
        let before = self.world[..number].iter();
        let same_volume = before.filter(|i| i.volume == self.world[number].volume);
        same_volume.count() as u64
    }

    fn find(&mut self, number: usize, name: usize) {
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
        };
        let before = self.machine.catalog().len();
        let root = (dir % ROOTS) as u32;
        let dir = DirId(dir as u32);
        let volume = inode.volume;
        let new = self
            .machine
            .found(&found, text.as_bytes(), dir, root, volume);
        assert_eq!(new, self.machine.catalog().len() > before);
        if new {
            let earlier = self.numbers.values().any(|&n| n == number);
            assert!(!earlier, "one inode is one file");
            self.numbers.insert(FileIndex(before as u32), number);
        }
        self.collect();
    }

    fn collect(&mut self) {
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

    /// Takes note that something else is read than what was wanted.
    fn read_instead(&mut self, number: usize, wanted: Want, want: Want) -> Want {
        let all = &mut self.all_wanted;
        if let Some(entry) = all.iter_mut().find(|w| **w == (number, wanted)) {
            entry.1 = want;
        }
        want
    }

    fn answer(&mut self, which: usize) {
        let Effect { file, want } = self.wanted.swap_remove(which);
        let number = self.numbers[&file];
        let want = match want.is_first_sample() && self.machine.is_read_whole(file) {
            true => self.read_instead(number, want, Want::Whole),
            false => want,
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
            let head = || SampleDigest::of(&inode.head());
            let tail = || SampleDigest::of(&inode.tail());
            match want {
                // Whoever reads may choose so.
                Want::Head if number.is_multiple_of(3) => {
                    self.read_instead(number, want, Want::HeadAndContent);
                    let digest = ContentDigest::from(blake3::hash(&inode.content()));
                    self.machine.read_whole(file, head(), digest);
                }
                Want::Head => self.machine.sampled(file, head(), None),
                Want::HeadAndTail => self.machine.sampled(file, head(), Some(tail())),
                Want::Tail => self.machine.tail_sampled(file, tail()),
                Want::Stretches(stretches) => {
                    let content = inode.content();
                    let spans = stretches.spans(inode.size, CROWD.first);
                    let digests = spans.map(|(offset, len)| {
                        let bytes = &content[offset as usize..][..len as usize];
                        (len > 0).then(|| SampleDigest::of(bytes))
                    });
                    assert!(digests[0].is_some(), "something to be read");
                    self.machine.stretches_read(file, digests);
                }
                Want::Comparison => unreachable!("wanted of groups only"),
                Want::HeadAndContent => unreachable!("never wanted"),
                Want::Blocks | Want::BlocksAgain => unreachable!("looked at above"),
                Want::Content | Want::Whole => {
                    let digest = ContentDigest::from(blake3::hash(&inode.content()));
                    self.machine.content_read(file, digest);
                }
            }
        }
        self.collect();
    }

    /// Compares a group, or finds that it cannot.
    fn compare(&mut self, group: &[FileIndex], possible: bool) {
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
    fn run(&mut self, dice: &mut Dice, eagerness: usize) {
        let mut names: Vec<(usize, usize)> = Vec::new();
        for (number, inode) in self.world.iter().enumerate() {
            names.extend((0..inode.dirs.len()).map(|name| (number, name)));
            // Found twice under one name, as by overlapping roots.
            if number % 7 == 3 {
                names.push((number, 0));
            }
        }
        while !names.is_empty() {
            let name = names.swap_remove(dice.below(names.len()));
            self.find(name.0, name.1);
            if self.fickle && dice.below(8) == 0 {
                let volume = dice.below(VOLUMES.into()) as u16;
                self.machine.seeks_turned_out(volume, dice.below(2) == 0);
            }
            while !self.wanted.is_empty() && dice.below(4) < eagerness {
                self.answer(dice.below(self.wanted.len()));
            }
        }
        assert!(self.finished.is_empty(), "nothing is final during the scan");
        self.machine.scan_done();
        self.collect();
        while !self.wanted.is_empty() || !self.groups.is_empty() {
            match self.groups.pop() {
                Some(group) if dice.below(2) == 0 || self.wanted.is_empty() => {
                    self.compare(&group, dice.below(4) > 0);
                }
                group => {
                    self.groups.extend(group);
                    self.answer(dice.below(self.wanted.len()));
                }
            }
        }
    }

    /// The sets as the engine would report them.
    fn sets(&self) -> BTreeSet<BTreeSet<usize>> {
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
        if matches!(counting.replication, Replication::Under(_)) || counting.hard_links {
            self.machine.alone().for_each(|file| report(vec![file]));
        }
        sets
    }
}

fn is_reported(counting: Counting, world: &[Inode], numbers: &BTreeSet<usize>) -> bool {
    let dirs = || numbers.iter().flat_map(|&n| &world[n].dirs);
    let roots: BTreeSet<usize> = dirs().map(|dir| dir % ROOTS).collect();
    let inodes = numbers.len() as u64;
    let replicas = counting.replicas(inodes, dirs().count() as u64, roots.len() as u64);
    counting.reported(inodes, replicas)
}

/// Compares every pair of the files whose reads did not fail.
fn oracle(
    counting: Counting,
    world: &[Inode],
    failed: &HashSet<usize>,
) -> BTreeSet<BTreeSet<usize>> {
    let good = || (0..world.len()).filter(|n| !failed.contains(n));
    let equal_to = |a: usize| -> BTreeSet<usize> {
        good()
            .filter(|&b| world[a].content() == world[b].content())
            .collect()
    };
    let sets = good().map(equal_to);
    sets.filter(|set| is_reported(counting, world, set))
        .collect()
}

/// How many files of the world have what this one has.
fn sharing<T: PartialEq>(world: &[Inode], number: usize, of: impl Fn(&Inode) -> T) -> usize {
    let mine = of(&world[number]);
    world.iter().filter(|inode| of(inode) == mine).count()
}

fn check_reads(drive: &Drive<'_>, counting: Counting, visit: u64) {
    let world = drive.world;
    // Fewer files than this are never a set.
    let enough = match counting.replication {
        Replication::Over(n) if !counting.hard_links && !counting.isolate => n as usize + 1,
        _ => 2,
    };
    let enough = enough.max(2);
    for &(number, want) in &drive.all_wanted {
        let inode = &world[number];
        let of_file = drive.all_wanted.iter().filter(|(n, _)| *n == number);
        let of_file = of_file.map(|&(_, want)| want);
        let (looks, wants): (Vec<Want>, Vec<Want>) =
            of_file.partition(|want| matches!(want, Want::Blocks | Want::BlocksAgain));
        assert!(
            [&[][..], &[Want::Blocks], &[Want::Blocks, Want::BlocksAgain]].contains(&&looks[..])
        );
        let (stretches, wants): (Vec<Want>, Vec<Want>) = wants
            .into_iter()
            .partition(|want| matches!(want, Want::Stretches(_)));
        for (nth, want) in stretches.iter().enumerate() {
            let round =
                |want: &Want| matches!(want, Want::Stretches(s) if usize::from(s.round) == nth);
            assert!(
                round(want) && inode.size >= CROWD.from,
                "{inode:?}: {stretches:?}"
            );
        }
        let allowed: &[&[Want]] = &[
            &[Want::Whole],
            &[Want::Head],
            &[Want::Head, Want::Content],
            &[Want::Head, Want::Tail],
            &[Want::Head, Want::Tail, Want::Content],
            &[Want::HeadAndTail],
            &[Want::HeadAndTail, Want::Content],
            &[Want::Head, Want::Tail, Want::Comparison],
            &[Want::HeadAndTail, Want::Comparison],
            &[Want::HeadAndContent],
            // Others of its head are told apart by their tails.
            &[Want::HeadAndContent, Want::Tail],
            &[Want::HeadAndContent, Want::Tail, Want::Comparison],
            // They were to be compared with each other, and could not.
            &[Want::HeadAndContent, Want::Tail, Want::Content],
        ];
        assert!(allowed.contains(&&wants[..]), "{inode:?}: {wants:?}");
        assert_ne!(inode.size, 0, "nothing to read");
        let same_size = sharing(world, number, |i| i.size);
        assert!(
            same_size >= enough,
            "{inode:?}: read though {same_size} of its size"
        );
        if inode.size <= HEAD {
            assert_eq!(wants, [Want::Whole], "{inode:?}");
        }
        if wants == [Want::Whole] {
            assert!(inode.size <= HEAD || visit > 0, "{inode:?}");
            continue;
        }
        let same_head = sharing(world, number, |i| (i.size, i.head()));
        let further = !matches!(want, Want::Head | Want::HeadAndTail | Want::HeadAndContent);
        assert!(
            !further || same_head >= enough,
            "{inode:?}: read on though {same_head} of its head"
        );
        let seeks = world
            .iter()
            .any(|i| i.size == inode.size && i.volume == VOLUMES - 1);
        let same_tail = sharing(world, number, |i| (i.size, i.head(), i.tail()));
        let from = if seeks { FROM_WITH_SEEKS } else { FROM };
        let whole = further && want != Want::Tail;
        // One that was read whole has no tail for the others to be told from.
        let one_is_whole = drive.all_wanted.iter().any(|&(n, w)| {
            let other = &world[n];
            w == Want::HeadAndContent && (other.size, other.head()) == (inode.size, inode.head())
        });
        if inode.size >= from && whole && !one_is_whole {
            assert!(
                same_tail >= enough,
                "{inode:?}: read whole though {same_tail} of its tail"
            );
        }
        let reads_tail = matches!(want, Want::Tail | Want::HeadAndTail);
        assert!(!reads_tail || inode.size >= FROM, "{inode:?}");
        if inode.volume == VOLUMES - 1 {
            assert!(!reads_tail || inode.size >= FROM_WITH_SEEKS || want == Want::Tail);
            assert_ne!(want, Want::HeadAndTail, "a seek too many");
        }
    }
}

fn check(world: &[Inode], counting: Counting, visit: u64, seed: u64, eagerness: usize) {
    let mut drive = Drive::new(world, counting, visit, seed & 2 == 0);
    if seed & 4 == 0 {
        drive.blocks_are_shared();
    }
    drive.run(&mut Dice(seed | 1), eagerness);
    assert_eq!(drive.sets(), oracle(counting, world, &drive.failed));
    check_reads(&drive, counting, visit);
    assert!(drive.machine.unfinished().is_empty(), "all is answered");
    let mut sizes: Vec<u32> = drive.finished.iter().map(|class| class.0).collect();
    let count = sizes.len();
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes.len(), count, "a size is final once");
    let names = drive.machine.catalog();
    for (&file, &number) in &drive.numbers {
        assert_eq!(names.names(file).count(), world[number].dirs.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn sets_are_those_of_comparing_every_pair(
        world in world(),
        counting in counting(),
        visit in prop::sample::select(&VISITS),
        seed in any::<u64>(),
        eagerness in 0_usize..4,
    ) {
        check(&world, counting, visit, seed, eagerness);
    }

    /// The order of events changes which reads are wanted first, never the answer.
    #[test]
    fn the_order_of_arrival_does_not_matter(
        world in world(),
        counting in counting(),
        seeds in prop::collection::vec(any::<u64>(), 4),
    ) {
        let world: Vec<Inode> = world
            .into_iter()
            .map(|inode| Inode { fails: None, ..inode })
            .collect();
        let mut answers = seeds.iter().enumerate().map(|(i, seed)| {
            let mut drive = Drive::new(&world, counting, VISITS[i % 2], seed & 2 == 0);
            drive.fickle = i % 2 == 1;
            if i < 2 {
                drive.blocks_are_shared();
            }
            drive.run(&mut Dice(seed | 1), i);
            drive.sets()
        });
        let first = answers.next();
        for other in answers {
            prop_assert_eq!(Some(other), first.clone());
        }
    }
}

/// "More than none" below one root only.
#[test]
fn over_none_counts_a_single_root() {
    let inode = Inode {
        size: 100,
        marks: [0; 3],
        volume: 0,
        dirs: vec![0],
        fails: None,
        blocks: 0,
        moves: false,
    };
    let counting = Counting {
        replication: Replication::Over(0),
        hard_links: false,
        isolate: true,
    };
    check(&[inode.clone(), inode], counting, 0, 1, 2);
}

/// What is wanted of files with one content, on one volume, in these blocks; from 10 on they are
/// elsewhere at the second look.
fn wanted_of(blocks: &[u8], digests: bool) -> Vec<Want> {
    let inode = |&blocks: &u8| Inode {
        size: FROM,
        // Not cached, so that none is compared.
        marks: [1, 0, 0],
        volume: 0,
        dirs: vec![0],
        fails: None,
        blocks: blocks % 10,
        moves: blocks >= 10,
    };
    let world: Vec<Inode> = blocks.iter().map(inode).collect();
    let counting = Counting {
        replication: Replication::Over(1),
        hard_links: false,
        isolate: false,
    };
    let mut drive = Drive::new(&world, counting, 0, digests);
    drive.blocks_are_shared();
    drive.run(&mut Dice(1), 0);
    assert_eq!(drive.sets(), oracle(counting, &world, &drive.failed));
    let wants = drive.all_wanted.iter().map(|&(_, want)| want);
    wants.filter(|&want| want != Want::HeadAndTail).collect()
}

#[test]
fn of_files_in_the_same_blocks_none_is_read_or_one_for_its_digest() {
    let read = |blocks: &[u8], digests| {
        let wants = wanted_of(blocks, digests);
        wants.iter().filter(|want| **want == Want::Content).count()
    };
    assert_eq!(read(&[1, 1, 1, 1], false), 0);
    assert_eq!(read(&[1, 1, 1, 1], true), 1);
    assert_eq!(read(&[1, 1, 2, 2, 2], false), 2, "two may be different");
    assert_eq!(read(&[1, 1, 2, 2, 2], true), 2);
    assert_eq!(read(&[1, 1, 0, 0], true), 3, "in blocks of their own");
    assert_eq!(read(&[1, 1, 0, 0], false), 3);
    assert!(read(&[1, 1, 11], false) >= 2, "one was not there again");
    assert_eq!(read(&[1, 11], true), 2);
    let looks = |want: &&Want| **want == Want::BlocksAgain;
    assert_eq!(wanted_of(&[1, 1, 2], false).iter().filter(looks).count(), 2);
}

fn file(ino: u64, size: u64, via_link: bool) -> FoundFile {
    FoundFile {
        ino,
        size,
        mtime_ns: 1,
        ctime_ns: 1,
        blocks: 8,
        links: 3,
        name_len: 1,
        via_link,
    }
}

fn machine() -> Machine {
    let dirs = SharedDirs::default();
    dirs.write().add_root(b"r", 0, 1, 1);
    let counting = Counting {
        replication: Replication::Over(1),
        hard_links: false,
        isolate: false,
    };
    let mut machine = Machine::new(
        Arc::new(dirs),
        counting,
        TailRule::default(),
        FirstVisit::default(),
    );
    machine.volume_number(1);
    machine
}

/// A file with several names grows while the scan comes across them: it must never become its own
/// duplicate.
#[test]
fn names_of_a_growing_inode_are_not_duplicates() {
    let mut machine = machine();
    let mut found = |ino, size, name: &[u8]| {
        machine.found(&file(ino, size, false), name, DirId(0), 0, 0);
    };
    found(1, 10, b"a");
    found(2, 10, b"x");
    found(3, 20, b"y");
    found(1, 20, b"b");
    found(1, 20, b"c");
    found(1, 10, b"d");
    let of_one: Vec<_> = (0..machine.catalog().len() as u32)
        .map(FileIndex)
        .filter(|&f| machine.catalog().ino(f) == 1)
        .map(|f| {
            (
                machine.catalog().size(f),
                machine.catalog().names(f).count(),
            )
        })
        .collect();
    assert_eq!(of_one, [(10, 2), (20, 2)]);
}

/// As many names as ext4 allows for one file, and more on other file systems.
#[test]
fn a_hundred_thousand_names_of_one_inode_take_no_time() {
    let mut machine = machine();
    let started = std::time::Instant::now();
    for i in 0..100_000 {
        let name = format!("{i}");
        let new = machine.found(&file(1, 10, false), name.as_bytes(), DirId(0), 0, 0);
        assert_eq!(new, i == 0);
    }
    assert_eq!(machine.catalog().names(FileIndex(0)).count(), 100_000);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

/// The scan brings links last; a file that has names of its own keeps to them.
#[test]
fn a_link_is_no_further_name() {
    let mut machine = machine();
    for (name, via_link) in [(b"f", false), (b"m", true), (b"g", false), (b"n", true)] {
        machine.found(&file(1, 10, via_link), name, DirId(0), 0, 0);
    }
    let names: Vec<_> = machine.catalog().names(FileIndex(0)).collect();
    assert_eq!(names, [(DirId(0), &b"f"[..]), (DirId(0), b"g")]);
}

/// What is wanted, after their ends, of files that differ in their middle as these numbers say.
fn wants_of_crowd(middles: &[u8]) -> Vec<(usize, Want)> {
    let inode = |&middle: &u8| Inode {
        size: FROM_WITH_SEEKS,
        marks: [1, middle, 0],
        volume: 0,
        dirs: vec![0],
        fails: None,
        blocks: 0,
        moves: false,
    };
    let world: Vec<Inode> = middles.iter().map(inode).collect();
    let counting = Counting {
        replication: Replication::Over(1),
        hard_links: false,
        isolate: false,
    };
    let mut drive = Drive::new(&world, counting, 0, false);
    drive.run(&mut Dice(1), 0);
    assert_eq!(drive.sets(), oracle(counting, &world, &drive.failed));
    let wants = drive.all_wanted.into_iter();
    wants
        .filter(|(_, want)| *want != Want::HeadAndTail)
        .collect()
}

#[test]
fn of_a_crowd_only_what_stretches_leave_equal_is_read_whole() {
    let wants = wants_of_crowd(&[1, 2, 3, 4, 5, 6, 7, 7]);
    let whole = wants.iter().filter(|w| w.1 == Want::Content);
    let whole: BTreeSet<usize> = whole.map(|w| w.0).collect();
    assert_eq!(whole, BTreeSet::from([6, 7]));
}

#[test]
fn copies_are_looked_at_once_before_they_are_read() {
    let wants = wants_of_crowd(&[9; 6]);
    let looks = wants.iter().filter(|w| matches!(w.1, Want::Stretches(_)));
    assert_eq!((looks.count(), wants.len()), (6, 12));
}

#[test]
fn fewer_than_a_crowd_are_read_at_once() {
    assert_eq!(
        wants_of_crowd(&[1, 2]),
        [(0, Want::Content), (1, Want::Content)]
    );
}
