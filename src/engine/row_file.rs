//! The file of rows of one file system, as a run uses it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::cache::{
    CacheError, CacheFolder, Day, KnownRows, Learned, Row, RunMark, Store, VolumeKey, Writer,
};
use crate::file::within;

/// The file of rows of one file system.
pub struct RowFile {
    path: PathBuf,
    known: KnownRows,
    writer: Writer,
    run: RunMark,
    patience: Option<Duration>,
}

impl RowFile {
    /// Opens it, if it exists. It will be created when there is a row to write.
    ///
    /// # Errors
    /// If it cannot be used, if its file system does not answer in this time, or if it does not exist and the user may
    /// not create it.
    pub fn open(
        folder: &Arc<CacheFolder>,
        key: &VolumeKey,
        run: RunMark,
        patience: Duration,
    ) -> Result<Self, CacheError> {
        let patience = folder.may_not_answer().then_some(patience);
        let (place, key, today) = (Arc::clone(folder), *key, Day::of(run.began_ns));
        let opened = within(patience, move || {
            let store = Store::existing(&place, &key)?;
            KnownRows::new(store, today, patience)
        });
        let known = opened??;
        let path = folder.path().join(key.file_name());
        Ok(Self {
            writer: Writer::new(Arc::clone(folder), key, run.clone()),
            path,
            known,
            patience,
            run,
        })
    }

    /// Where it is.
    pub fn into_path(self) -> PathBuf {
        self.path
    }

    /// True if it has any row.
    pub fn any(&self) -> bool {
        self.known.any()
    }

    /// Replaces `row` by the row of a file, for any state of the file. Returns false, with `row` in any state, if there is
    /// none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read_row(&mut self, numbers: (u64, u64), row: &mut Row) -> Result<bool, CacheError> {
        self.known.read_row(numbers, row)
    }

    /// Drops the rows in memory.
    pub fn forget(&mut self) {
        self.known.forget();
    }

    /// Queues a result to be written.
    pub fn learned(&mut self, learned: Learned) {
        self.writer.learned(learned);
    }

    /// Hands the results so far over to the writer.
    pub fn hand_over(&mut self) {
        self.writer.hand_over();
    }

    /// Waits until all rows are written, and removes rows that have not been used for long, unless the run was cut short.
    ///
    /// # Errors
    /// What is not written, with the path of the file.
    pub fn finish(self, cut_short: bool) -> Result<(), (PathBuf, CacheError)> {
        let Self {
            path,
            known,
            writer,
            run,
            patience,
        } = self;
        let (read, used) = known.into_used();
        let end = move |written: Option<Store>| match written.or(read) {
            Some(mut store) if !cut_short => store.prune(&used, Day::of(run.began_ns)),
            _ => Ok(()),
        };
        let written = writer.finish();
        let ended = written.and_then(|written| within(patience, move || end(written))?);
        ended.map_err(|error| (path, error))
    }
}
