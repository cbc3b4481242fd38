//! Tests of the machine in random orders of arrival, against a comparison of every pair.

mod drive;
mod oracle;

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use crate::decide::copies::Copies;
use crate::decide::machine::Machine;
use crate::decide::rules::{Counting, FirstVisit, TailRule, Want};
use crate::file::{DevIndex, DirId, FileIndex, FoundFile, Naming, Numbering, SharedDirs};
use crate::hash::SampleDigest;

use drive::Drive;
use oracle::*;

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
            drive.run(&mut Rng(seed | 1), i);
            drive.sets()
        });
        let first = answers.next();
        for other in answers {
            prop_assert_eq!(Some(other), first.clone());
        }
    }
}

/// The usual counting.
const DUPLICATES: Counting = Counting {
    copies: Copies {
        least: 2,
        most: None,
    },
    hard_links: false,
    isolate: false,
};

/// Runs to the end, and returns the reads requested for each file after its ends were read.
fn wanted_after_ends(mut drive: Drive<'_>, blocks_are_shared: bool) -> Vec<(usize, Want)> {
    if blocks_are_shared {
        drive.blocks_are_shared();
    }
    drive.run(&mut Rng(1), 0);
    let expected = oracle(DUPLICATES, drive.world, &drive.failed);
    assert_eq!(drive.sets(), expected);
    let wants = drive.all_wanted.into_iter();
    wants
        .filter(|(_, want)| *want != Want::HeadAndTail)
        .collect()
}

/// The reads requested for files with one content, on one volume, in these blocks. From 10 on, they are elsewhere at
/// the second query.
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
        told: None,
    };
    let world: Vec<Inode> = blocks.iter().map(inode).collect();
    let drive = Drive::new(&world, DUPLICATES, 0, digests);
    let wants = wanted_after_ends(drive, true).into_iter();
    wants.map(|(_, want)| want).collect()
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
        mounted: false,
    }
}

fn machine() -> Machine {
    let dirs = SharedDirs::default();
    dirs.write().add_root(b"r", 0, (1, 1));
    let mut machine = Machine::new(
        Arc::new(dirs),
        DUPLICATES,
        TailRule::default(),
        FirstVisit::default(),
    );
    let volume = machine.volume_number(1);
    machine.trust_numbers(volume, Numbering::Unique);
    machine
}

/// A file with several names grows while the scan comes across them: it must never become its own
/// duplicate.
#[test]
fn names_of_a_growing_inode_are_not_duplicates() {
    let mut machine = machine();
    let mut found = |ino, size, name: &[u8]| {
        machine.found(
            &file(ino, size, false),
            name,
            DirId(0),
            0,
            DevIndex(0),
            None,
        );
    };
    found(1, 10, b"a");
    found(2, 10, b"x");
    found(3, 20, b"y");
    found(1, 20, b"b");
    found(1, 20, b"c");
    found(1, 10, b"d");
    let of_one: Vec<_> = (0..machine.file_table().len() as u32)
        .map(FileIndex)
        .filter(|&f| machine.file_table().ino(f) == 1)
        .map(|f| {
            (
                machine.file_table().size(f),
                machine.file_table().names(f).count(),
            )
        })
        .collect();
    assert_eq!(of_one, [(10, 2), (20, 2)]);
}

/// All sizes are known before anything is read, as in a scan that is faster than the disk.
#[test]
fn whether_a_size_is_read_whole_is_decided_by_what_was_read_before() {
    let mut machine = machine();
    for ino in 0..400 {
        // Too long to be read in vain one time in two.
        machine.found(
            &file(ino, 30_000 + ino / 2, false),
            b"f",
            DirId(0),
            0,
            DevIndex(0),
            None,
        );
    }
    let wanted: Vec<_> = machine.effects().map(|effect| effect.file).collect();
    assert_eq!(wanted.len(), 400);
    assert!(!machine.is_read_whole(wanted[0]), "nothing is known yet");
    let (sampled, rest) = wanted.split_at(200);
    for &file in sampled {
        let whole = machine.is_read_whole(file);
        let content = machine.file_table().size(file).to_le_bytes();
        if whole {
            machine.content_read(file, blake3::hash(&content).into())
        } else {
            machine.sampled(file, SampleDigest::of(&content), None)
        }
    }
    assert!(!machine.is_read_whole(wanted[1]), "all of one size alike");
    assert!(rest.iter().all(|&file| machine.is_read_whole(file)));
}

/// More names than ext4 allows for one file. Comparing each with each would take minutes.
#[test]
fn a_hundred_thousand_names_of_one_inode_are_names_of_one_file() {
    let mut machine = machine();
    for i in 0..100_000 {
        let name = format!("{i}");
        let new = machine.found(
            &file(1, 10, false),
            name.as_bytes(),
            DirId(0),
            0,
            DevIndex(0),
            None,
        );
        assert_eq!(new == Naming::First, i == 0);
    }
    assert_eq!(machine.file_table().names(FileIndex(0)).count(), 100_000);
}

/// The scan brings links last; a file that has names of its own keeps to them.
#[test]
fn a_link_is_no_further_name() {
    let mut machine = machine();
    for (name, via_link) in [(b"f", false), (b"m", true), (b"g", false), (b"n", true)] {
        machine.found(&file(1, 10, via_link), name, DirId(0), 0, DevIndex(0), None);
    }
    let names: Vec<_> = machine.file_table().names(FileIndex(0)).collect();
    assert_eq!(names, [(DirId(0), &b"f"[..]), (DirId(0), b"g")]);
}

/// A file by the byte in its middle, with the comparison of an earlier run that it took part in, and whether its digest is
/// known as well.
type Told = (u8, Option<(u8, bool)>);

/// The reads requested for them after their ends. Files that no comparison knows are cached or not.
fn wants_of_told(files: &[Told], are_cached: bool, fails: Option<usize>) -> Vec<(usize, Want)> {
    let inode = |(nth, &(middle, told)): (usize, &Told)| Inode {
        size: FROM,
        marks: [u8::from(!are_cached), middle, 0],
        volume: 0,
        dirs: vec![0],
        // Its second read.
        fails: (fails == Some(nth)).then_some(1),
        blocks: 0,
        moves: false,
        told,
    };
    let world: Vec<Inode> = files.iter().enumerate().map(inode).collect();
    let mut wants = wanted_after_ends(Drive::new(&world, DUPLICATES, 0, false), false);
    wants.sort_by_key(|want| want.0);
    wants
}

const FIRST: Option<(u8, bool)> = Some((0, false));
const SECOND: Option<(u8, bool)> = Some((1, false));

#[test]
fn files_that_one_comparison_told_apart_are_not_read() {
    for are_cached in [true, false] {
        let wants = wants_of_told(&[(1, FIRST), (1, FIRST), (2, FIRST)], are_cached, None);
        assert_eq!(wants, []);
    }
}

#[test]
fn a_newcomer_is_compared_with_one_file_of_each_content() {
    let files = [(1, FIRST), (1, FIRST), (2, FIRST), (2, FIRST), (2, None)];
    let wants = wants_of_told(&files, true, None);
    let compared: Vec<usize> = wants.iter().map(|want| want.0).collect();
    assert!(wants.iter().all(|want| want.1 == Want::Comparison));
    assert_eq!(compared.len(), 3, "{compared:?}");
    assert!(compared[0] < 2 && (2..4).contains(&compared[1]) && compared[2] == 4);
}

/// Both comparisons have a group with each number, of other contents.
#[test]
fn two_comparisons_say_nothing_about_each_other() {
    for files in [
        [(1, FIRST), (2, SECOND)],
        [(1, SECOND), (2, FIRST)],
        [(1, FIRST), (1, SECOND)],
    ] {
        let wants = wants_of_told(&files, true, None);
        assert_eq!(wants, [(0, Want::Comparison), (1, Want::Comparison)]);
    }
}

#[test]
fn a_newcomer_from_the_disk_is_read_and_one_file_of_each_content() {
    let wants = wants_of_told(&[(1, FIRST), (1, FIRST), (1, None)], false, None);
    assert_eq!(wants.len(), 2, "{wants:?}");
    assert_eq!(wants[1], (2, Want::Content));
    let wants = wants_of_told(&[(1, FIRST), (1, Some((0, true))), (1, None)], true, None);
    let read_before = [(1, Want::Content), (2, Want::Content)];
    assert_eq!(wants, read_before, "its digest is known");
}

#[test]
fn a_file_that_fails_leaves_its_place_to_the_next_one_with_its_token() {
    for are_cached in [true, false] {
        let files = [(1, FIRST), (1, FIRST), (1, FIRST), (1, None)];
        let wants = |fails| {
            let wants = wants_of_told(&files, are_cached, fails).into_iter();
            wants.map(|want| want.0).collect::<Vec<_>>()
        };
        let [first, 3] = wants(None)[..] else {
            panic!("one of those with a token, and the one without");
        };
        let with_failure = wants(Some(first));
        let of_told: BTreeSet<usize> = with_failure.into_iter().filter(|&n| n < 3).collect();
        assert_eq!(of_told.len(), 2, "{of_told:?}");
        assert!(of_told.contains(&first));
    }
}
