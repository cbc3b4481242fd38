//! Tests of the file of rows.

use rusqlite::StatementStatus;

use super::*;
use crate::cache::pack::PackKey;
use crate::cache::{FileState, RowPart};
use crate::hash::SampleDigest;

const KEY: VolumeKey = VolumeKey {
    uuid: [7; 16],
    subvolume: 0,
    by_path: false,
};

fn row(byte: u8) -> Row {
    let state = FileState {
        size: 3,
        mtime_ns: 1,
        ctime_ns: 2,
    };
    let mut row = Row::new(state, 9);
    row.add(RowPart::Head(SampleDigest::of(&[byte])));
    row
}

fn stored(store: &Store, subvolume: u64, inode: u64) -> Option<Row> {
    let number = PackKey::of(subvolume, inode).table_number();
    let mut found = Vec::new();
    store.packs(number, 1, &mut found).expect("is read");
    let mut row = Row::default();
    pack::find(&found, subvolume, inode, &mut row).map(|_| row)
}

fn newest(_: Option<Row>, new: &Row) -> Row {
    new.clone()
}

/// A search reads thousands of packs. To compile the statement takes longer than to run it.
#[test]
fn the_statement_that_reads_packs_is_compiled_once() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = CacheFolder::at(&place.path().join("cache")).expect("is made");
    let mut store = Store::open(&folder, &KEY).expect("is made");
    let rows = (0..100).map(|nth| {
        let (subvolume, inode, row) = (0, nth * 40, row(1));
        vec![Numbered {
            subvolume,
            inode,
            row,
        }]
    });
    store.write(rows, Day::of(0), newest).expect("is written");
    for (number, most) in [(0, 1), (3, 2), (40, 64), (7, 1)] {
        let packs = store.packs(number, most, &mut Vec::new());
        assert_eq!(packs.expect("is read").len(), most);
    }
    let select = store.sqlite.prepare_cached(FROM).expect("is compiled");
    assert_eq!(select.get_status(StatementStatus::Run), 4);
    assert_eq!(select.get_status(StatementStatus::RePrepare), 0);
}

#[test]
fn rows_are_found_by_subvolume_and_inode_again() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = CacheFolder::at(&place.path().join("cache")).expect("is made");
    let rows = [(0, 5, 1), (0, 6, 2), (0, 300, 3), (9, 5, 4)];
    let rows = rows.map(|(subvolume, inode, byte)| Numbered {
        subvolume,
        inode,
        row: row(byte),
    });
    Store::open(&folder, &KEY)
        .expect("is made")
        .write(rows.clone().map(|row| vec![row]), Day::of(0), newest)
        .expect("is written");
    let store = Store::open(&folder, &KEY).expect("is there");
    for numbered in rows {
        let found = stored(&store, numbered.subvolume, numbered.inode);
        assert_eq!(found, Some(numbered.row));
    }
    assert_eq!(stored(&store, 9, 300), None);
}

#[test]
fn a_file_of_another_version_is_left_alone() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = CacheFolder::at(place.path()).expect("is ours");
    let store = Store::open(&folder, &KEY).expect("is made");
    store
        .sqlite
        .pragma_update(None, "user_version", format::VERSION + 1)
        .expect("is set");
    drop(store);
    let again = Store::open(&folder, &KEY);
    assert!(matches!(again, Err(CacheError::OtherVersion)));
}

#[test]
fn a_file_without_its_tables_is_told_as_damaged() {
    for change in [
        "DROP TABLE pack",
        "DROP TABLE searched",
        "ALTER TABLE pack DROP COLUMN rows",
    ] {
        let place = tempfile::tempdir().expect("a folder");
        let folder = CacheFolder::at(place.path()).expect("is ours");
        let store = Store::open(&folder, &KEY).expect("is made");
        store.sqlite.execute_batch(change).expect("is changed");
        drop(store);
        let again = Store::open(&folder, &KEY);
        assert!(matches!(again, Err(CacheError::Altered)), "{change}");
        let listed = Store::contents(&folder, &KEY.file_name());
        let error = listed.expect_err("is not whole");
        assert!(error.needs_removal(), "{change}: {error}");
    }
}

#[test]
fn a_pack_without_a_valid_day_takes_rows_and_gets_a_day() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = CacheFolder::at(place.path()).expect("is ours");
    let mut store = Store::open(&folder, &KEY).expect("is made");
    for (inode, byte) in [(5, 1), (6, 2)] {
        let (subvolume, row) = (0, row(byte));
        let new = vec![Numbered {
            subvolume,
            inode,
            row,
        }];
        store
            .write([new], Day::from_number(7), newest)
            .expect("is written");
        let used = "SELECT used FROM pack";
        let used = store.sqlite.query_row(used, [], |found| found.get(0));
        assert_eq!(used, Ok(7));
        let change = "UPDATE pack SET used = x'00'";
        store.sqlite.execute_batch(change).expect("is changed");
    }
    assert_eq!(
        [5, 6].map(|inode| stored(&store, 0, inode)),
        [1, 2].map(|byte| Some(row(byte)))
    );
}

#[test]
fn a_file_that_is_cut_anywhere_is_told_as_damaged() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = CacheFolder::at(place.path()).expect("is ours");
    drop(Store::open(&folder, &KEY).expect("is made"));
    let path = folder.path().join(KEY.file_name());
    let whole = std::fs::read(&path).expect("is read");
    for length in [512, 1000, 16_384, 20_000] {
        std::fs::write(&path, &whole[..length]).expect("is written");
        let error = Store::contents(&folder, &KEY.file_name()).expect_err("is cut");
        assert!(
            error.to_string().starts_with("damaged ("),
            "{length}: {error}"
        );
        assert!(error.needs_removal(), "{length}: {error}");
    }
}

#[test]
fn a_file_beside_it_that_is_not_ours_alone_is_not_opened() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = CacheFolder::at(place.path()).expect("is ours");
    drop(Store::open(&folder, &KEY).expect("is made"));
    for end in ["-journal", "-wal", "-shm"] {
        let beside = folder.path().join(format!("{}{end}", KEY.file_name()));
        let pipe = rustix::fs::FileType::Fifo;
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(rustix::fs::CWD, &beside, pipe, mode, 0).expect("a pipe");
        let refused = Store::open(&folder, &KEY);
        assert!(matches!(refused, Err(CacheError::Occupied { .. })), "{end}");
        std::fs::remove_file(&beside).expect("is removed");
        assert!(Store::existing(&folder, &KEY).is_ok_and(|store| store.is_some()));
    }
}

#[test]
fn a_file_that_is_no_database_is_told_as_damaged() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = CacheFolder::at(place.path()).expect("is ours");
    let path = folder.make(&KEY.file_name()).expect("is made");
    std::fs::write(path, [b'x'; 5000]).expect("is written");
    let damaged = Store::open(&folder, &KEY);
    assert!(matches!(damaged, Err(CacheError::Damaged(_))));
}
