//! The expected results: sets from a comparison of every pair, and no unnecessary read.

use std::collections::{BTreeSet, HashSet};

use crate::decide::machine::{HEAD, Want};
use crate::decide::rules::Counting;

use super::drive::Drive;
use super::world::*;

pub fn is_reported(counting: Counting, world: &[Inode], numbers: &BTreeSet<usize>) -> bool {
    let dirs = || numbers.iter().flat_map(|&n| &world[n].dirs);
    let roots: BTreeSet<usize> = dirs().map(|dir| dir % ROOTS).collect();
    let inodes = numbers.len() as u64;
    let replicas = counting.replicas(inodes, dirs().count() as u64, roots.len() as u64);
    counting.reported(inodes, replicas)
}

/// Compares every pair of the files whose reads did not fail.
pub fn oracle(
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
pub fn sharing<T: PartialEq>(world: &[Inode], number: usize, of: impl Fn(&Inode) -> T) -> usize {
    let mine = of(&world[number]);
    world.iter().filter(|inode| of(inode) == mine).count()
}

pub fn check_reads(drive: &Drive<'_>, counting: Counting, visit: u64) {
    let world = drive.world;
    // Fewer files than this are never a set.
    let enough = match counting.hard_links || counting.isolate {
        true => 2,
        false => (counting.copies.least as usize).max(2),
    };
    for &(number, want) in &drive.all_wanted {
        let inode = &world[number];
        let of_file = drive.all_wanted.iter().filter(|(n, _)| *n == number);
        let of_file = of_file.map(|&(_, want)| want);
        let (looks, wants): (Vec<Want>, Vec<Want>) =
            of_file.partition(|want| matches!(want, Want::Blocks | Want::BlocksAgain));
        assert!(
            [&[][..], &[Want::Blocks], &[Want::Blocks, Want::BlocksAgain]].contains(&&looks[..])
        );
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
        // It was compared once more in place of another one that failed.
        let is_again = |pair: &[Want]| pair == [Want::Comparison; 2];
        let mut once = wants.clone();
        if wants.windows(2).any(is_again) || wants.ends_with(&[Want::Comparison, Want::Content]) {
            once.retain(|want| *want != Want::Comparison);
            let last = wants.last().copied();
            once.extend(last.filter(|last| *last == Want::Comparison));
        }
        assert!(allowed.contains(&&once[..]), "{inode:?}: {wants:?}");
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

/// Checks that the results of this run about contents are right for the next run.
fn check_tokens(drive: &mut Drive<'_>) {
    let found: Vec<_> = drive.machine.equalities();
    for one in &found {
        for other in &found {
            let (Some(own), Some(others)) = (one.found, other.found) else {
                continue;
            };
            let content = |file| drive.world[drive.numbers[&file]].content();
            let is_equal = content(one.file) == content(other.file);
            assert!(own.comparison() > RUN);
            assert!(own != others || is_equal);
            let is_same = own.comparison() == others.comparison();
            assert!(!is_same || own == others || !is_equal);
        }
    }
}

pub fn check(world: &[Inode], counting: Counting, visit: u64, seed: u64, eagerness: usize) {
    let mut drive = Drive::new(world, counting, visit, seed & 2 == 0);
    if seed & 4 == 0 {
        drive.blocks_are_shared();
    }
    drive.run(&mut Rng(seed | 1), eagerness);
    assert_eq!(drive.sets(), oracle(counting, world, &drive.failed));
    check_reads(&drive, counting, visit);
    assert!(drive.machine.unfinished().is_empty(), "all is answered");
    check_tokens(&mut drive);
    let mut sizes: Vec<u32> = drive.finished.iter().map(|class| class.0).collect();
    let count = sizes.len();
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes.len(), count, "a size is final once");
    let names = drive.machine.file_table();
    for (&file, &number) in &drive.numbers {
        assert_eq!(names.names(file).count(), world[number].dirs.len());
    }
}
