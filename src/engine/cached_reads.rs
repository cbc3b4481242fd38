//! The cache of one run: a file of rows for each file system that the run meets.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, io};

use crate::cache::{
    CacheError, CacheFolder, Choice as CacheChoice, Day, FileState, KnownRows, Learned, NotCached,
    Row, RowPart, RunMark, Store, Trust, VolumeKey, Writer, is_settled,
};
use crate::decide::Unread;
use crate::device::Mounts;
use crate::event::{Notice, Observer, Problem, ProblemKind};
use crate::file::{DevIndex, FileIndex};
use crate::heartbeat::{current, within};

use super::config::{Config, Root};
use super::process_limits;

/// The place of a file's row in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowKey {
    /// The file table's number of the file's device number.
    pub volume: DevIndex,
    /// Subvolume and inode number, or two numbers computed from its path.
    pub numbers: (u64, u64),
    /// The numbers are computed from its path.
    pub by_path: bool,
}

/// The file of rows of one file system. It is created when there is a row to write.
struct RowFile {
    path: PathBuf,
    known: KnownRows,
    writer: Writer,
    /// How long it is waited for, if its file system may not answer.
    patience: Option<Duration>,
}

/// The cache of one run.
pub struct CachedReads<'a> {
    observer: &'a dyn Observer,
    folder: Arc<CacheFolder>,
    /// The start of the run, nanoseconds since 1970: no read began before.
    pub(super) began_ns: i64,
    /// The absolute searched paths.
    searched: Vec<PathBuf>,
    /// Offset of its clock ahead of the system's, nanoseconds.
    pub(super) ahead_ns: i64,
    choice: CacheChoice,
    /// How long its files are waited for.
    patience: Duration,
    /// Rows replace reads. If not, the results of reads are stored all the same.
    answers: bool,
    /// A file of rows had rows when the run began.
    any_rows: bool,
    /// The properties of a file that must be unchanged for a row to apply.
    pub(super) trust: Trust,
    /// Files of rows with their UUIDs; `None` if the file cannot be used.
    files: Vec<([u8; 16], Option<RowFile>)>,
    /// Keys of volumes and the places of their files of rows, by the file table's number of a device number.
    places: Vec<Option<(VolumeKey, usize)>>,
    /// The mount points of file systems whose files are identified by their paths.
    pub(super) mounts: Mounts,
    /// Files that the cache answered for, and the bytes that were not read for this reason.
    pub(super) spared: Unread,
    /// Those of them whose change time differs or is unknown.
    pub(super) spared_by_mtime: Unread,
    /// Files whose tokens apply although the files may have been changed, with the modification time set back
    /// afterwards.
    pub(super) told_by_mtime: HashSet<FileIndex>,
    /// Files of which nothing is stored: some of their bytes were not on the disk yet when they were read.
    pub(super) unwritten: HashSet<FileIndex>,
}

impl<'a> CachedReads<'a> {
    /// The cache of a run, if there is one and it can be used: its folder is created if it is missing.
    pub fn open(config: &Config, observer: &'a dyn Observer) -> Option<Self> {
        let wanted = config.cache.as_ref()?;
        let choice = wanted.choice;
        // What is scarce is left to the reads, unless the user wants the cache.
        if choice == CacheChoice::Default && !process_limits::are_plenty() {
            let said = "no cache is used: open files, file sizes or the address space are limited";
            observer.notice(Notice(said.to_owned()));
            return None;
        }
        let path = wanted.folder.clone();
        let _call = current::limited_call(&path);
        let chosen = within(Some(config.patience), move || {
            CacheFolder::chosen(&path, choice)
        });
        let problem = |error| tell(observer, choice, unusable(wanted.folder.clone(), error));
        let folder = chosen.flatten().map_err(problem).ok()?;
        let ahead_ns = wanted.ahead.as_nanos() as i64;
        Some(Self {
            observer,
            folder: Arc::new(folder),
            choice,
            patience: config.patience,
            began_ns: now_ns().saturating_add(ahead_ns),
            ahead_ns,
            searched: absolute(&config.roots),
            answers: wanted.answers,
            any_rows: false,
            trust: wanted.trust,
            files: Vec::new(),
            places: Vec::new(),
            mounts: Mounts::default(),
            spared: Unread::default(),
            spared_by_mtime: Unread::default(),
            told_by_mtime: HashSet::new(),
            unwritten: HashSet::new(),
        })
    }

    /// True if a row can replace a read.
    pub fn can_answer(&self) -> bool {
        self.answers && self.any_rows
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// True if this is the folder of the cache.
    pub fn is_in(&self, folder: (u64, u64)) -> bool {
        self.folder.identity() == Some(folder)
    }

    /// True if a file in that folder belongs to the cache: it changes during each run, and does not count as a
    /// duplicate. The folder may also contain other files.
    pub fn is_own_file(name: &[u8]) -> bool {
        CacheFolder::is_name_of_kept(name)
    }

    /// The key of the files of a volume.
    pub fn key(&self, volume: DevIndex) -> Option<VolumeKey> {
        self.place_of(volume).map(|(key, _)| key)
    }

    /// True if the results of reads of a file in this state are stored.
    pub fn stores(&self, volume: DevIndex, is: &FileState) -> bool {
        let key = self.key(volume);
        let is_kept = |key: VolumeKey| key.by_path || is_settled(is, self.began_ns);
        self.is_written(volume) && key.is_some_and(is_kept)
    }

    /// True if the results of reads of files of a volume are stored.
    pub(super) fn is_written(&self, volume: DevIndex) -> bool {
        let at = self.place_of(volume).map(|(_, at)| at);
        at.is_some_and(|at| self.files[at].1.is_some())
    }

    fn place_of(&self, volume: DevIndex) -> Option<(VolumeKey, usize)> {
        *self.places.get(usize::from(volume))?
    }

    /// Prepares the file of rows for the file system of this folder, whose device number gets the file table's next
    /// number. Says why nothing is stored for it, if so.
    pub fn place(&mut self, st_dev: u64, folder: &Path) {
        let key = match (VolumeKey::of(folder, st_dev), self.trust) {
            (Err(NotCached::Unknown), Trust::Modification) => {
                self.mounts = Mounts::read();
                VolumeKey::by_path(folder, st_dev, &self.mounts)
            }
            (key, _) => key,
        };
        let known = |key: &VolumeKey| self.files.iter().position(|(uuid, _)| *uuid == key.uuid);
        let at = key.as_ref().ok().and_then(known);
        let place = |key: &VolumeKey| (*key, at.unwrap_or(self.files.len()));
        self.places.push(key.as_ref().ok().map(place));
        match key {
            Err(why) => self.tell(Problem {
                path: folder.to_owned(),
                kind: ProblemKind::NotCached,
                cause: Some(io::Error::other(why)),
            }),
            Ok(_) if at.is_some() => {}
            Ok(key) => {
                let path = || self.folder.path().join(key.file_name());
                let opened = self.open_file(&key, folder);
                let file = opened.map_err(|error| self.tell(unusable(path(), error)));
                self.any_rows |= file.as_ref().is_ok_and(|file| file.known.any());
                self.files.push((key.uuid, file.ok()));
            }
        }
    }

    fn tell(&self, problem: Problem) {
        tell(self.observer, self.choice, problem);
    }

    fn open_file(&self, key: &VolumeKey, folder: &Path) -> Result<RowFile, CacheError> {
        let run = RunMark {
            began_ns: self.began_ns,
            folder: self.searched(folder)?,
        };
        let patience = self.folder.may_not_answer().then_some(self.patience);
        let (place, key, today) = (Arc::clone(&self.folder), *key, Day::of(self.began_ns));
        let known = within(patience, move || {
            let store = Store::existing(&place, &key)?;
            KnownRows::new(store, today, patience)
        })??;
        Ok(RowFile {
            path: self.folder.path().join(key.file_name()),
            known,
            writer: Writer::new(Arc::clone(&self.folder), key, run),
            patience,
        })
    }

    /// The searched path on the file system of this folder, or the folder if none leads there without another mount.
    fn searched(&self, folder: &Path) -> io::Result<PathBuf> {
        let dev = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
        let folder = path::absolute(folder)?;
        let mut above = self.searched.iter().filter(|root| folder.starts_with(root));
        let root = above.find(|root| dev(root) == dev(&folder));
        Ok(root.cloned().unwrap_or(folder))
    }

    fn file(&mut self, volume: DevIndex) -> Option<&mut RowFile> {
        let (_, at) = self.place_of(volume)?;
        self.files.get_mut(at)?.1.as_mut()
    }

    /// Replaces `row` by the row of a file, for any state of the file. Returns false, with `row` in any state, if there is
    /// none. If the file of rows cannot be read, the run stops using it and says why.
    pub(super) fn read_row(&mut self, at: RowKey, row: &mut Row) -> bool {
        let Some((_, place)) = self.place_of(at.volume) else {
            return false;
        };
        let Some(file) = &mut self.files[place].1 else {
            return false;
        };
        match file.known.read_row(at.numbers, row) {
            Ok(is_there) => is_there,
            Err(error) => {
                let path = std::mem::take(&mut file.path);
                self.files[place].1 = None;
                self.tell(unusable(path, error));
                false
            }
        }
    }

    pub(super) fn learned(&mut self, at: RowKey, state: FileState, part: RowPart) {
        let (subvolume, inode) = at.numbers;
        if let Some(file) = self.file(at.volume) {
            file.writer.learned(Learned {
                subvolume,
                inode,
                state,
                part,
            });
        }
    }

    /// Drops the rows in memory.
    pub fn forget(&mut self) {
        self.each(|file| file.known.forget());
    }

    /// Hands the results so far over to the writers.
    pub fn hand_over(&mut self) {
        self.each(|file| file.writer.hand_over());
    }

    fn each(&mut self, act: impl FnMut(&mut RowFile)) {
        let files = self.files.iter_mut().filter_map(|(_, file)| file.as_mut());
        files.for_each(act);
    }

    /// Waits until all rows and the end of the run (if it was not cut short) are written. Says what is not written.
    pub fn finish(self, cut_short: bool) {
        let today = Day::of(self.began_ns);
        for file in self.files.into_iter().filter_map(|(_, file)| file) {
            let (read, used) = file.known.into_used();
            // Rows that have not been used for long go.
            let end = move |written: Option<Store>| match written.or(read) {
                Some(mut store) if !cut_short => store.prune(&used, today),
                _ => Ok(()),
            };
            let written = file.writer.finish();
            let ended = written.and_then(|written| within(file.patience, move || end(written))?);
            if let Err(error) = ended {
                tell(self.observer, self.choice, unusable(file.path, error));
            }
        }
    }
}

/// The one line that says why a cache is not used.
fn unusable(path: PathBuf, error: impl Into<CacheError>) -> Problem {
    let error = error.into();
    let kind = match () {
        () if error.needs_removal() => ProblemKind::DamagedCache,
        () if error.is_occupied() => ProblemKind::OccupiedCache,
        () => ProblemKind::UnusableCache,
    };
    let cause = match error {
        CacheError::Io(error) => error,
        other => io::Error::other(other),
    };
    Problem {
        path,
        kind,
        cause: Some(cause),
    }
}

/// Reports a problem of a cache. If nobody asked for the cache, it is a notice, unless something has to be removed, or the
/// run waited for the cache in vain.
fn tell(observer: &dyn Observer, choice: CacheChoice, problem: Problem) {
    let cause = problem.cause.as_ref();
    let is_silent = cause.is_some_and(|cause| cause.kind() == ErrorKind::TimedOut);
    // Only the user can end it.
    let lasts = matches!(
        problem.kind,
        ProblemKind::DamagedCache | ProblemKind::OccupiedCache
    );
    match choice == CacheChoice::Default && !is_silent && !lasts {
        true => observer.notice(Notice(format!("{}: {problem}", problem.path.display()))),
        false => observer.problem(problem),
    }
}

/// The absolute searched paths, in alphabetical order.
fn absolute(roots: &[Root]) -> Vec<PathBuf> {
    let mut paths: Vec<_> = roots
        .iter()
        .map(|root| path::absolute(&root.path).unwrap_or_else(|_| root.path.clone()))
        .collect();
    paths.sort();
    paths
}

pub fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_nanos()).unwrap_or(i64::MAX))
}
