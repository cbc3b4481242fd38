//! Records of runs in a file of rows: the folders that they searched, and the runs that did not end.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use super::error::CacheError;
use super::store::Store;
use super::writer::RunMark;

impl Store {
    /// Start times of earlier runs of the same paths that did not end, nanoseconds since 1970.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn unended(&self, run: &RunMark) -> Result<Vec<i64>, CacheError> {
        let select = "SELECT began_ns FROM run WHERE roots = ?1 AND began_ns < ?2 AND NOT ended";
        let mut select = self.sqlite.prepare(select)?;
        let began = select.query_map(params![run.roots, run.began_ns], |row| row.get(0))?;
        Ok(began.collect::<Result<_, _>>()?)
    }

    /// Records that a run begins to write.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn begin_run(&self, run: &RunMark) -> Result<(), CacheError> {
        let replace = "REPLACE INTO run VALUES (?1, ?2, ?3, FALSE)";
        let folder = run.folder.as_os_str().as_bytes();
        self.sqlite
            .execute(replace, params![run.roots, run.began_ns, folder])?;
        Ok(())
    }

    /// Records that a run ended, and with it the runs of the same paths before it. Writes nothing if none of them wrote
    /// anything.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn end_run(&mut self, run: &RunMark) -> Result<(), CacheError> {
        let of_these = "roots = ?1 AND began_ns <= ?2 AND NOT ended";
        let at = params![run.roots, run.began_ns];
        let any = format!("SELECT 1 FROM run WHERE {of_these} LIMIT 1");
        let any = self.sqlite.query_row(&any, at, |_| Ok(())).optional()?;
        if any.is_none() {
            return Ok(());
        }
        let mode = TransactionBehavior::Immediate;
        let batch = self.sqlite.transaction_with_behavior(mode)?;
        let last = "(SELECT MAX(began_ns) FROM run)";
        batch.execute(&format!("UPDATE run SET ended = TRUE WHERE {of_these}"), at)?;
        // One that ended says where the file was used last.
        let past = format!("DELETE FROM run WHERE ended AND began_ns < {last}");
        batch.execute(&past, [])?;
        Ok(batch.commit()?)
    }

    /// The folder that was searched by the last run that wrote a row; `None` if there is none.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn last_folder(&self) -> Result<Option<PathBuf>, CacheError> {
        let select = "SELECT folder FROM run ORDER BY began_ns DESC LIMIT 1";
        let found = self.sqlite.query_row(select, [], |row| row.get(0));
        let bytes = found.optional()?;
        Ok(bytes.map(|bytes| PathBuf::from(OsString::from_vec(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cache::{CacheFolder, VolumeKey};

    fn run(roots: u8, began_ns: i64) -> RunMark {
        RunMark {
            roots: [roots; 16],
            began_ns,
            folder: Path::new("/photos").join(began_ns.to_string()),
        }
    }

    #[test]
    fn a_run_is_unended_for_later_runs_of_its_paths_until_one_of_them_ends() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = CacheFolder::at(&place.path().join("cache")).expect("is made");
        let key = VolumeKey {
            uuid: [7; 16],
            subvolume: 0,
            by_path: false,
        };
        let mut store = Store::open(&folder, &key).expect("is made");
        let unended = |store: &Store, run: &RunMark| store.unended(run).expect("is read");
        assert_eq!(store.last_folder().expect("is read"), None);
        // It wrote nothing.
        store.end_run(&run(1, 5)).expect("is written");
        for killed in [run(1, 10), run(1, 20), run(2, 30)] {
            store.begin_run(&killed).expect("is written");
        }
        assert_eq!(unended(&store, &run(1, 40)), [10, 20]);
        assert_eq!(unended(&store, &run(2, 40)), [30]);
        assert_eq!(unended(&store, &run(3, 40)), Vec::<i64>::new());
        // The run itself, and one that has begun since.
        assert_eq!(unended(&store, &run(1, 20)), [10]);
        store.begin_run(&run(1, 40)).expect("is written");
        store.end_run(&run(1, 40)).expect("is written");
        assert_eq!(unended(&store, &run(1, 50)), Vec::<i64>::new());
        assert_eq!(unended(&store, &run(2, 50)), [30]);
        let last = store.last_folder().expect("is read");
        assert_eq!(last, Some(run(1, 40).folder));
        let kept: i64 = store
            .sqlite
            .query_row("SELECT COUNT(*) FROM run", [], |row| row.get(0))
            .expect("is read");
        assert_eq!(kept, 2);
    }
}
