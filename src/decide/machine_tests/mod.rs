//! Tests of the machine in random orders of arrival, against a comparison of every pair.

mod drive;
mod oracle;

use std::sync::Arc;

use proptest::prelude::*;

use crate::decide::copies::Copies;
use crate::decide::machine::{Machine, Told};
use crate::decide::rules::{Comparing, Counting, Effect, Rules, Want};
use crate::file::{DevIndex, DirId, FileIndex, FoundFile, Naming, Numbering, SharedDirs};
use crate::hash::{ContentToken, SampleDigest};

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
    machine_with(None)
}

fn machine_with(comparing: Option<Comparing>) -> Machine {
    let dirs = SharedDirs::default();
    dirs.write().add_root(b"r", 0, (1, 1));
    let rules = Rules {
        counting: DUPLICATES,
        comparing,
        ..Rules::default()
    };
    let mut machine = Machine::new(Arc::new(dirs), rules);
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

#[test]
fn the_last_file_of_a_size_is_read_on_with_the_head_of_all_others_only() {
    let [one, other] = [&b"one"[..], b"other"].map(SampleDigest::of);
    for (heads, only) in [
        (&[][..], None),
        (&[one], None),
        (&[one, one], Some(one)),
        // It may have either.
        (&[one, other], None),
    ] {
        let mut machine = machine();
        for (ino, name) in [(1, b"a"), (2, b"b"), (3, b"c")] {
            let found = file(ino, 1 << 20, false);
            machine.found(&found, name, DirId(0), 0, DevIndex(0), None);
        }
        for (number, head) in (0..).zip(heads) {
            machine.sampled(FileIndex(number), *head, None);
        }
        assert_eq!(machine.only_head(FileIndex(2)), only, "{heads:?}");
    }
}

/// What is read of three equal files of which an earlier run compared the first and the last: the files that are read
/// to their ends, and the number of those that are compared.
fn read_again(are_cached: bool, has_digest: bool) -> (Vec<u32>, usize) {
    let mut machine = machine_with(Some(Comparing {
        from: 1,
        most: 8,
        run: 1,
    }));
    for (ino, name) in [(1, b"a"), (2, b"b"), (3, b"c")] {
        let found = file(ino, 1 << 20, false);
        machine.found(&found, name, DirId(0), 0, DevIndex(0), None);
    }
    machine.scan_done();
    let told = Told {
        token: ContentToken::new(7, 0),
        has_digest,
        is_sure: true,
        was_compared: false,
    };
    let sample = SampleDigest::of(b"the same");
    let mut whole = Vec::new();
    loop {
        let effects: Vec<_> = machine.effects().collect();
        if effects.is_empty() {
            let compared = machine.comparisons().iter().map(Vec::len).sum();
            return (whole, compared);
        }
        for Effect { file, want, .. } in effects {
            if are_cached {
                machine.was_cached(file);
            }
            if want.is_first_sample() && file.0 != 1 {
                machine.token_recalled(file, told);
            }
            match want {
                Want::Head => machine.sampled(file, sample, None),
                Want::HeadAndTail => machine.sampled(file, sample, Some(sample)),
                Want::Tail => machine.tail_sampled(file, sample),
                _ => whole.push(file.0),
            }
        }
    }
}

#[test]
fn of_files_that_an_earlier_run_found_equal_one_is_read_for_all() {
    assert_eq!(read_again(true, false), (vec![], 2));
    // The cache answers for the first file.
    assert_eq!(read_again(true, true), (vec![0, 1], 0));
    assert_eq!(read_again(false, false), (vec![0, 1], 0));
}
