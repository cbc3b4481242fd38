//! Removes rows that no run has used for long: of deleted files, and of files that no other file can equal any more.
//!
//! Nothing tells that a file was deleted: a search sees a part of a file system, and no call looks a file up by its inode
//! number without privileges. So rows go by the day of their last use alone, which costs a read at most.

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use super::day::Day;
use super::error::CacheError;
use super::neighbours::UsedRows;
use super::pack;
use super::store::{Store, UPDATE, written};

/// Number of packs that one transaction marks: another run waits for its end.
const MARKED_AT_ONCE: usize = 1 << 10;

/// Maximum number of packs that a run removes, with the rows of half a million files at most. The next run goes on.
const REMOVED: i64 = 1 << 14;

/// Maximum number of pages by which a run makes the file smaller, 64 MiB.
const SHRUNK: i64 = 1 << 12;

/// The file gets smaller if this share of its pages is free: new rows use free pages as well.
const FREE_SHARE: i64 = 4;

impl Store {
    /// Marks rows as used today, removes rows that have not been used for long, and makes the file smaller. Most runs find
    /// nothing to do, and write nothing. If another run is writing, the next run does it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn prune(&mut self, used: &[UsedRows], today: Day) -> Result<(), CacheError> {
        let mut pruned = || {
            for used in used.chunks(MARKED_AT_ONCE) {
                self.mark(used, today)?;
            }
            self.remove_unused(today)?;
            self.shrink()
        };
        match pruned() {
            Err(CacheError::Busy) => Ok(()),
            pruned => pruned,
        }
    }

    fn mark(&mut self, used: &[UsedRows], today: Day) -> Result<(), CacheError> {
        let mode = TransactionBehavior::Immediate;
        let batch = self.sqlite.transaction_with_behavior(mode)?;
        {
            let mut update = batch.prepare_cached(UPDATE)?;
            for UsedRows { number, bits } in used {
                let stored = written(&batch, *number)?;
                if let Some(pack) = stored.and_then(|pack| pack::renewed(&pack.rows, *bits, today))
                {
                    update.execute(params![number, today.number(), pack])?;
                }
            }
        }
        Ok(batch.commit()?)
    }

    fn remove_unused(&self, today: Day) -> Result<(), CacheError> {
        let first = today.first_kept().number();
        let any = "SELECT 1 FROM pack WHERE used < ?1 LIMIT 1";
        let any = self.sqlite.query_row(any, [first], |_| Ok(())).optional()?;
        if any.is_some() {
            let delete = "DELETE FROM pack WHERE number IN (SELECT number FROM pack WHERE used < ?1 LIMIT ?2)";
            self.sqlite.execute(delete, params![first, REMOVED])?;
        }
        Ok(())
    }

    fn shrink(&self) -> Result<(), CacheError> {
        let pages = |of: &str| self.sqlite.pragma_query_value(None, of, |row| row.get(0));
        let (free, all): (i64, i64) = (pages("freelist_count")?, pages("page_count")?);
        if free > all / FREE_SHARE {
            let vacuum = format!("PRAGMA incremental_vacuum({SHRUNK})");
            let mut vacuum = self.sqlite.prepare(&vacuum)?;
            // Each step frees a page.
            let mut steps = vacuum.query([])?;
            while steps.next()?.is_some() {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::cache::pack::{Numbered, PackKey};
    use crate::cache::{CacheFolder, FileState, KnownRows, Row, RowPart, VolumeKey};
    use crate::hash::SampleDigest;

    const KEY: VolumeKey = VolumeKey {
        uuid: [7; 16],
        subvolume: 0,
        by_path: false,
    };
    /// The day of the first run.
    const FIRST: u16 = 20_000;
    /// Number of packs.
    const PACKS: u64 = 400;

    /// A day so many days after the first run.
    fn after(days: u16) -> Day {
        Day::from_number(FIRST + days)
    }

    /// A file of rows with a pack for each number. A run on the first day wrote it.
    struct Rows {
        place: tempfile::TempDir,
    }

    impl Rows {
        fn new() -> Self {
            let rows = Self {
                place: tempfile::tempdir().expect("a folder"),
            };
            let packs = (0..PACKS).map(|pack| (0..32).map(|at| numbered(pack * 32 + at)).collect());
            let written = rows
                .open()
                .write(packs, after(0), |_, new: &Row| new.clone());
            written.expect("is written");
            rows
        }

        fn folder(&self) -> CacheFolder {
            CacheFolder::at(&self.place.path().join("cache")).expect("is made")
        }

        fn open(&self) -> Store {
            Store::open(&self.folder(), &KEY).expect("is opened")
        }

        /// A run that requests these inodes so many days after the first.
        fn run(&self, days: u16, inodes: impl IntoIterator<Item = u64>) -> usize {
            let known = KnownRows::new(Some(self.open()), after(days), None);
            let mut known = known.expect("is read");
            let mut found = 0;
            for inode in inodes {
                let is_found = known.read_row((0, inode), &mut Row::default());
                found += usize::from(is_found.expect("is read"));
            }
            let (store, used) = known.into_used();
            if let Some(mut store) = store {
                store.prune(&used, after(days)).expect("is pruned");
            }
            found
        }

        fn count(&self) -> u64 {
            let contents = Store::contents(&self.folder(), &KEY.file_name());
            contents.expect("is read").files
        }

        fn bytes(&self) -> u64 {
            let path = self.folder().path().join(KEY.file_name());
            fs::metadata(path).expect("is there").len()
        }
    }

    fn numbered(inode: u64) -> Numbered {
        let mut row = Row::new(FileState::default(), 9);
        row.add(RowPart::Head(SampleDigest::of(&inode.to_le_bytes())));
        Numbered {
            subvolume: 0,
            inode,
            row,
        }
    }

    #[test]
    fn rows_that_no_run_has_used_for_half_a_year_go_and_the_file_gets_smaller() {
        let rows = Rows::new();
        let all = rows.bytes();
        // One row of each of the first hundred packs.
        let used = || (0..100).map(|pack| pack * 32 + 5);
        for days in [10, 100, 200, 213] {
            assert_eq!(rows.run(days, used()), 100);
            assert_eq!(rows.count(), PACKS * 32, "after {days} days");
        }
        // All packs without a used row. A pack is only read again if a row has to be marked.
        assert_eq!(rows.run(214, []), 0);
        assert_eq!(rows.count(), 100 * 32);
        assert!(rows.bytes() < all / 2, "{} of {all}", rows.bytes());
        assert_eq!(rows.run(260, used()), 100);
        assert_eq!(rows.count(), 100);
        assert_eq!(rows.run(500, []), 0);
        assert_eq!(rows.count(), 0);
        assert!(rows.bytes() < 10 * 16_384, "{}", rows.bytes());
    }

    #[test]
    fn a_run_writes_nothing_on_most_days() {
        let rows = Rows::new();
        let state = || {
            let path = rows.folder().path().join(KEY.file_name());
            (fs::read(path).expect("is read"), rows.count())
        };
        let before = state();
        rows.run(29, 0..PACKS * 32);
        assert!(state() == before, "something was written");
        rows.run(30, 0..PACKS * 32);
        assert!(state() != before, "nothing was marked");
        assert_eq!(rows.count(), PACKS * 32);
    }

    #[test]
    fn while_another_run_writes_nothing_is_pruned_and_nobody_is_told() {
        let rows = Rows::new();
        let other = rows.open();
        other
            .sqlite
            .execute_batch("BEGIN IMMEDIATE")
            .expect("has begun");
        let mut store = rows.open();
        store
            .sqlite
            .busy_timeout(std::time::Duration::ZERO)
            .expect("is set");
        store
            .prune(&[], after(300))
            .expect("is left to the next run");
        assert_eq!(rows.count(), PACKS * 32);
        drop(other);
        store.prune(&[], after(300)).expect("is pruned");
        assert_eq!(rows.count(), 0);
    }

    #[test]
    fn packs_are_found_by_their_day_without_a_look_at_the_others() {
        let store = Rows::new().open();
        let plan = "EXPLAIN QUERY PLAN SELECT number FROM pack WHERE used < 5";
        let plan: String = store
            .sqlite
            .query_row(plan, [], |row| row.get(3))
            .expect("a plan");
        assert!(plan.contains("COVERING INDEX pack_used"), "{plan}");
    }

    #[test]
    fn rows_of_a_pack_that_another_run_has_removed_are_not_marked() {
        let rows = Rows::new();
        let mut store = rows.open();
        store
            .sqlite
            .execute("DELETE FROM pack", [])
            .expect("is done");
        let number = PackKey::of(0, 5).table_number();
        let used = [UsedRows {
            number,
            bits: 1 << 5,
        }];
        store.prune(&used, after(40)).expect("is pruned");
        assert_eq!(rows.count(), 0);
    }
}
