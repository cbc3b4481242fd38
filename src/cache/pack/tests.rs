//! Tests of packs.

use super::*;
use crate::cache::{FileState, RowPart};
use crate::hash::SampleDigest;

const SUBVOLUME: u64 = 5;
const FIRST: u64 = 7 << PLACES;

fn numbered(inode: u64, byte: u8) -> Numbered {
    let mut row = Row::new(FileState::default(), 9);
    row.add(RowPart::Head(SampleDigest::of(&[byte])));
    Numbered {
        subvolume: SUBVOLUME,
        inode,
        row,
    }
}

const TODAY: Day = Day::from_number(20_000);

fn with(pack: &[u8], new: &[Numbered]) -> Vec<u8> {
    on(TODAY, pack, new)
}

fn on(today: Day, pack: &[u8], new: &[Numbered]) -> Vec<u8> {
    updated(pack, new[0].pack(), new, today, |_, new| new.clone())
}

fn found(pack: &[u8], subvolume: u64, inode: u64) -> Option<Row> {
    let mut row = Row::default();
    find(pack, subvolume, inode, &mut row).map(|_| row)
}

fn day(pack: &[u8], inode: u64) -> Option<u16> {
    find(pack, SUBVOLUME, inode, &mut Row::default()).map(Day::number)
}

#[test]
fn each_row_has_the_day_of_its_last_mark_and_goes_when_that_is_long_ago() {
    let numbers = [FIRST, FIRST + 1, FIRST + 2].map(|inode| numbered(inode, 1));
    let pack = with(&[], &numbers[..2]);
    let soon = Day::from_number(20_100);
    let pack = on(soon, &pack, &numbers[2..]);
    let days = |pack: &[u8]| [0, 1, 2].map(|nth| day(pack, FIRST + nth));
    assert_eq!(days(&pack), [Some(20_000), Some(20_000), Some(20_100)]);
    let marked = |today, used| renewed(&pack, used, Day::from_number(today)).expect("is a pack");
    let second = bit(FIRST + 1);
    assert_eq!(
        days(&marked(20_213, second)),
        [Some(20_000), Some(20_213), Some(20_100)]
    );
    // A row that nothing used goes, and one that was not used for as long until today stays.
    assert_eq!(
        days(&marked(20_214, second)),
        [None, Some(20_214), Some(20_100)]
    );
    assert_eq!(days(&marked(20_314, second)), [None, Some(20_314), None]);
    let last = on(Day::from_number(20_214), &pack, &numbers[1..2]);
    assert_eq!(days(&last), [None, Some(20_214), Some(20_100)]);
    assert_eq!(count(&last), 2);
    assert_eq!(renewed(&pack[..KEY], second, TODAY), None);
}

#[test]
fn a_pack_has_the_newest_row_of_each_inode() {
    let last = FIRST + (1 << PLACES) - 1;
    let pack = with(&[], &[numbered(FIRST, 1), numbered(last, 2)]);
    let pack = with(&pack, &[numbered(FIRST + 3, 3), numbered(last, 4)]);
    let row = |inode| found(&pack, SUBVOLUME, inode);
    assert_eq!(row(FIRST), Some(numbered(FIRST, 1).row));
    assert_eq!(row(FIRST + 1), None);
    assert_eq!(row(FIRST + 3), Some(numbered(FIRST, 3).row));
    assert_eq!(row(last), Some(numbered(last, 4).row));
    // The same place in another pack, or in another subvolume.
    assert_eq!(row(FIRST + (1 << PLACES)), None);
    assert_eq!(found(&pack, SUBVOLUME + 1, FIRST), None);
}

#[test]
fn rows_of_another_pack_with_the_same_number_are_left_out() {
    let pack = with(&[], &[numbered(FIRST, 1), numbered(FIRST + 1, 1)]);
    let next = FIRST + (1 << PLACES);
    let pack = with(&pack, &[numbered(next, 2)]);
    assert_eq!(count(&pack), 1);
    assert_eq!(found(&pack, SUBVOLUME, next), Some(numbered(next, 2).row));
}

#[test]
fn the_rows_of_one_inode_are_joined() {
    let pack = with(&[], &[numbered(FIRST, 1)]);
    let new = [numbered(FIRST, 2), numbered(FIRST + 1, 2)];
    let older = |before: Option<Row>, new: &Row| before.unwrap_or_else(|| new.clone());
    let pack = updated(&pack, new[0].pack(), &new, TODAY, older);
    assert_eq!(found(&pack, SUBVOLUME, FIRST), Some(numbered(FIRST, 1).row));
    assert_eq!(
        found(&pack, SUBVOLUME, FIRST + 1),
        Some(numbered(FIRST, 2).row)
    );
}

#[test]
fn a_damaged_pack_has_right_rows_or_none() {
    let rows = [numbered(FIRST, 1), numbered(FIRST + 5, 2)];
    let whole = with(&[], &rows);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        for pack in [&bytes[..], &whole[..at]] {
            for (nth, numbered) in rows.iter().enumerate() {
                let found = found(pack, SUBVOLUME, numbered.inode);
                assert!(
                    found.is_none() || found.as_ref() == Some(&rows[nth].row),
                    "byte {at}"
                );
            }
            // Nor does it spoil what is added.
            let mended = with(pack, &rows);
            for numbered in &rows {
                let found = found(&mended, SUBVOLUME, numbered.inode);
                assert_eq!(found.as_ref(), Some(&numbered.row), "byte {at}");
            }
        }
    }
}
