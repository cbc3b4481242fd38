//! The file of rows of one file system, as a run uses it.

use std::path::{Path, PathBuf};
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
    /// Writes to it, if the user may.
    writer: Option<Writer>,
    run: RunMark,
    /// Start times of runs of the same paths that did not end, nanoseconds since 1970.
    unended: Vec<i64>,
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
    ) -> Result<(Self, Option<ReadOnly>), CacheError> {
        let patience = folder.may_not_answer().then_some(patience);
        let (place, key, mark) = (Arc::clone(folder), *key, run.clone());
        let opened = within(patience, move || {
            let store = Store::existing(&place, &key)?;
            let unended = match &store {
                Some(store) => store.unended(&mark)?,
                None => Vec::new(),
            };
            let known = KnownRows::new(store, Day::of(mark.began_ns), patience)?;
            Ok::<_, CacheError>((known, unended))
        });
        let (known, unended) = opened??;
        let path = folder.path().join(key.file_name());
        let read_only = known.is_read_only().or_else(|| folder.is_read_only());
        let read_only = read_only.map(|why| ReadOnly(path.clone(), why));
        if let Some(ReadOnly(_, why)) = &read_only
            && !known.any()
        {
            return Err(CacheError::Useless(why.clone()));
        }
        let writer = || Writer::new(Arc::clone(folder), key, run.clone());
        let file = Self {
            writer: read_only.is_none().then(writer),
            path,
            known,
            unended,
            patience,
            run,
        };
        Ok((file, read_only))
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

    /// True if the run that began at this time searched the same paths, and did not end.
    pub fn is_unended(&self, began_ns: i64) -> bool {
        self.unended.contains(&began_ns)
    }

    /// True if results are written to it.
    pub fn is_written(&self) -> bool {
        self.writer.is_some()
    }

    /// Drops the rows in memory.
    pub fn forget(&mut self) {
        self.known.forget();
    }

    /// Queues a result to be written.
    pub fn learned(&mut self, learned: Learned) {
        if let Some(writer) = &mut self.writer {
            writer.learned(learned);
        }
    }

    /// Hands the results so far over to the writer.
    pub fn hand_over(&mut self) {
        if let Some(writer) = &mut self.writer {
            writer.hand_over();
        }
    }

    /// Waits until all rows and the end of the run, unless it was cut short, are written, and rows are removed that have
    /// not been used for long.
    ///
    /// # Errors
    /// What is not written, with the path of the file.
    pub fn finish(self, cut_short: bool) -> Result<(), (PathBuf, CacheError)> {
        let Self {
            path,
            known,
            writer: Some(writer),
            run,
            patience,
            ..
        } = self
        else {
            return Ok(());
        };
        let (read, used) = known.into_used();
        let end = move |written: Option<Store>| match written.or(read) {
            Some(mut store) if !cut_short => {
                store.end_run(&run)?;
                store.prune(&used, Day::of(run.began_ns))
            }
            _ => Ok(()),
        };
        let written = writer.finish();
        let ended = written.and_then(|written| within(patience, move || end(written))?);
        ended.map_err(|error| (path, error))
    }
}

/// A file of rows that the user may only read, and why.
pub struct ReadOnly(PathBuf, String);

impl ReadOnly {
    /// One line about it.
    pub fn line(&self) -> String {
        let Self(path, why) = self;
        let path: &Path = path;
        format!(
            "{}: used without being written to, so files that it does not know are read each time: {why}",
            path.display()
        )
    }
}
