//! Tests of rows in memory.

use super::*;
use crate::cache::pack::Numbered;
use crate::cache::{CacheFolder, FileState, RowPart, VolumeKey};
use crate::hash::SampleDigest;

const KEY: VolumeKey = VolumeKey {
    uuid: [7; 16],
    subvolume: 0,
    by_path: false,
};

fn row(inode: u64) -> Row {
    let mut row = Row::new(FileState::default(), 9);
    row.add(RowPart::Head(SampleDigest::of(&inode.to_le_bytes())));
    row
}

/// The rows of these inodes, and none that is in memory.
fn known(place: &tempfile::TempDir, inodes: impl Iterator<Item = u64>) -> KnownRows {
    let folder = CacheFolder::at(&place.path().join("cache")).expect("is made");
    let mut store = Store::open(&folder, &KEY).expect("is made");
    let rows = inodes.map(|inode| {
        vec![Numbered {
            subvolume: 0,
            inode,
            row: row(inode),
        }]
    });
    let written = store.write(rows, MARKED, |_, new| new.clone());
    written.expect("is written");
    KnownRows::new(Some(store), TODAY, None).expect("is read")
}

const MARKED: Day = Day::from_number(20_000);
const TODAY: Day = Day::from_number(20_030);

#[test]
fn requested_rows_are_to_be_marked_also_when_their_packs_have_left_memory() {
    let place = tempfile::tempdir().expect("a folder");
    let mut known = known(&place, [3, 5, 70, 100].into_iter());
    for inode in [3, 5, 6, 200] {
        found(&mut known, inode);
    }
    known.forget();
    for inode in [5, 70] {
        found(&mut known, inode);
    }
    let (_, mut used) = known.into_used();
    used.sort_by_key(|used| (used.number, used.bits));
    let used = used.iter().map(|used| (used.number, used.bits));
    let expected = [(0, 1 << 5), (0, 1 << 3 | 1 << 5), (2, 1 << 6)];
    assert_eq!(used.collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_marked_already_is_not_to_be_marked_again() {
    let place = tempfile::tempdir().expect("a folder");
    let mut known = known(&place, [3].into_iter());
    known.today = MARKED;
    assert!(found(&mut known, 3).is_some());
    assert_eq!(known.into_used().1, []);
}

fn found(known: &mut KnownRows, inode: u64) -> Option<Row> {
    found_in(known, 0, inode)
}

fn found_in(known: &mut KnownRows, subvolume: u64, inode: u64) -> Option<Row> {
    let mut row = Row::default();
    let is_found = known.read_row((subvolume, inode), &mut row);
    is_found.expect("is read").then_some(row)
}

#[test]
fn every_row_is_found_in_any_order_and_no_other_one() {
    let place = tempfile::tempdir().expect("a folder");
    let inodes = || (0..400_u32).map(|nth| u64::from(nth) * 50);
    let mut known = known(&place, inodes());
    for inode in inodes().chain(inodes().rev()) {
        assert_eq!(found(&mut known, inode), Some(row(inode)));
        assert_eq!(found(&mut known, inode + 1), None);
        assert_eq!(found(&mut known, inode + 40_000), None);
    }
    assert_eq!(found_in(&mut known, 1, 50), None);
}

#[test]
fn what_is_requested_in_order_is_read_ahead_and_scattered_rows_are_not() {
    let place = tempfile::tempdir().expect("a folder");
    let mut in_order = known(&place, (0..32_000).step_by(32));
    for inode in (0..32_000).step_by(32) {
        found(&mut in_order, inode);
    }
    assert_eq!(in_order.ahead, AHEAD);
    let place = tempfile::tempdir().expect("a folder");
    let mut scattered = known(&place, (0..320_000).step_by(32));
    for inode in (0..320_000).step_by(32 * 100) {
        found(&mut scattered, inode);
    }
    assert_eq!(scattered.requested, 100);
    assert!(scattered.read <= 200 + AHEAD, "{}", scattered.read);
}
