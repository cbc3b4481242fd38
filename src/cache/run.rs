//! The cache of one run: a file of rows for each file system that the run meets.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::device::Mounts;
use crate::event::{Notice, Observer, Problem, ProblemKind};
use crate::file::DevIndex;
use crate::heartbeat::{current, within};
use crate::units::nanoseconds;

use super::CacheError;
use super::folder::{CacheFolder, Choice};
use super::frame::{Day, Key};
use super::row::{FileState, Row};
use super::rows::Rows;
use super::rule::{self, Storing, Trust};
use super::settle::settle;
use super::volume::{NotCached, VolumeKey};
use super::writer::{Target, Writer};

/// The use of a cache by a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheUse {
    /// The folder of the cache.
    pub folder: PathBuf,
    /// The properties by which a file counts as unchanged.
    pub trust: Trust,
    /// How the folder was chosen. For the default cache, most reasons not to use it are notices, not problems.
    pub choice: Choice,
    /// Offset of the cache's clock ahead of the system's: zero except in tests.
    pub ahead: Duration,
}

/// The place of a file's row in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowKey {
    /// The file table's number of the file's device number.
    pub volume: DevIndex,
    /// Subvolume and inode number, or two numbers computed from its path.
    pub numbers: Key,
    /// The numbers are computed from its path.
    pub by_path: bool,
}

/// The cache of one run.
pub struct Cache<'a> {
    observer: &'a dyn Observer,
    wanted: &'a CacheUse,
    folder: Arc<CacheFolder>,
    /// The start of the run, nanoseconds since 1970: no read began before.
    began_ns: i64,
    /// A page that was dirtied before is clean, by the clock of the system; `None` if the kernel may take longer.
    clean_ns: Option<i64>,
    /// The absolute searched paths, in alphabetical order.
    searched: Vec<PathBuf>,
    /// Files of rows with their UUIDs; `None` if the file cannot be used.
    files: Vec<([u8; 16], Option<RowFile>)>,
    /// Keys of volumes and the places of their files of rows, by the file table's number of a device number.
    places: Vec<Option<(VolumeKey, usize)>>,
    /// The mount points of file systems whose files are identified by their paths.
    mounts: Mounts,
}

/// The file of rows of one file system.
struct RowFile {
    /// Its rows when the run began; `None` if there were none.
    rows: Option<Rows>,
    /// The rows that are to be marked as used today.
    used: Vec<Key>,
    writer: Writer,
    name: String,
}

impl<'a> Cache<'a> {
    /// The cache of a run over these paths, if it can be used: its folder is created if it is missing.
    pub fn open<'p>(
        wanted: &'a CacheUse,
        searched: impl Iterator<Item = &'p Path>,
        patience: Duration,
        observer: &'a dyn Observer,
    ) -> Option<Self> {
        let (path, choice) = (wanted.folder.clone(), wanted.choice);
        let _call = current::limited_call(&path);
        let chosen = within(Some(patience), move || CacheFolder::chosen(&path, choice));
        let folder = chosen.flatten().map_err(CacheError::from);
        let folder =
            folder.map_err(|error| not_used(observer, choice, wanted.folder.clone(), error));
        let absolute = |path: &Path| path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut searched: Vec<PathBuf> = searched.map(absolute).collect();
        searched.sort();
        let setting = |name: &str| fs::read_to_string(Path::new("/proc/sys/vm").join(name)).ok();
        Some(Self {
            observer,
            wanted,
            folder: Arc::new(folder.ok()?),
            began_ns: now_ns(wanted.ahead),
            clean_ns: rule::clean_ns(now_ns(Duration::ZERO), setting),
            searched,
            files: Vec::new(),
            places: Vec::new(),
            mounts: Mounts::default(),
        })
    }

    /// True if a row can replace a read.
    pub fn can_answer(&self) -> bool {
        let mut files = self.files.iter().filter_map(|(_, file)| file.as_ref());
        files.any(|file| file.rows.is_some())
    }

    /// True if this is the folder of the cache.
    pub fn is_in(&self, folder: (u64, u64)) -> bool {
        self.folder.identity() == Some(folder)
    }

    /// True if rows apply although the change times of files differ.
    pub fn is_by_mtime(&self) -> bool {
        self.wanted.trust == Trust::Modification
    }

    /// The mount points of file systems whose files are identified by their paths.
    pub fn mounts(&self) -> &Mounts {
        &self.mounts
    }

    /// The key of the files of a volume.
    pub fn key(&self, volume: DevIndex) -> Option<VolumeKey> {
        self.place_of(volume).map(|(key, _)| key)
    }

    fn place_of(&self, volume: DevIndex) -> Option<(VolumeKey, usize)> {
        *self.places.get(usize::from(volume))?
    }

    fn file(&mut self, volume: DevIndex) -> Option<&mut RowFile> {
        let (_, at) = self.place_of(volume)?;
        self.files.get_mut(at)?.1.as_mut()
    }

    /// Prepares the file of rows for the file system of this folder, whose device number gets the file table's next
    /// number. Says why nothing is stored for it, if so.
    pub fn place(&mut self, st_dev: u64, folder: &Path) {
        let key = match VolumeKey::of(folder, st_dev) {
            Err(NotCached::Unknown) if self.is_by_mtime() => {
                self.mounts = Mounts::read();
                VolumeKey::by_path(folder, st_dev, &self.mounts)
            }
            key => key,
        };
        let known = |key: &VolumeKey| self.files.iter().position(|(uuid, _)| *uuid == key.uuid);
        let at = key.as_ref().ok().and_then(known);
        let place = |key: &VolumeKey| (*key, at.unwrap_or(self.files.len()));
        self.places.push(key.as_ref().ok().map(place));
        match key {
            Err(why) => tell(
                self.observer,
                self.wanted.choice,
                false,
                Problem {
                    path: folder.to_owned(),
                    kind: ProblemKind::NotCached,
                    cause: Some(io::Error::other(why)),
                },
            ),
            Ok(_) if at.is_some() => {}
            Ok(key) => {
                let file = self.open_file(key.file_name(), folder);
                let path = || self.folder.path().join(key.file_name());
                let refused = |error| not_used(self.observer, self.wanted.choice, path(), error);
                self.files.push((key.uuid, file.map_err(refused).ok()));
            }
        }
    }

    fn open_file(&self, name: String, folder: &Path) -> Result<RowFile, CacheError> {
        let rows = Rows::open(&self.folder, &name)?;
        self.folder.mark_used(&name);
        let writer = Writer::new(Target {
            folder: Arc::clone(&self.folder),
            name: name.clone(),
            file: rows.as_ref().map(Rows::end),
            searched: self.searched(folder)?,
        });
        Ok(RowFile {
            rows: rows.filter(Rows::any),
            used: Vec::new(),
            writer,
            name,
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

    /// Replaces `row` by the row of a file in this state, and returns how far the state is known to be unchanged;
    /// `None`, with `row` in any state, if no row applies. `birth_ns` is asked when the file was created.
    pub fn lookup(
        &mut self,
        at: RowKey,
        is: &FileState,
        birth_ns: impl FnOnce() -> Option<i64>,
        row: &mut Row,
    ) -> Option<Trust> {
        let (now_ns, trust, today) = (self.began_ns, self.wanted.trust, Day::of(self.began_ns));
        let file = self.file(at.volume)?;
        let marked = file.rows.as_mut()?.find(at.numbers, row)?;
        if today.renews(marked) && file.used.last() != Some(&at.numbers) {
            file.used.push(at.numbers);
        }
        match trust {
            Trust::Modification if at.by_path => {
                rule::holds_by_path(row, is, now_ns).then_some(Trust::Modification)
            }
            _ if rule::holds(&row.state, row.began_ns, is, now_ns) => Some(Trust::Change),
            Trust::Modification if row.birth_ns.is_some() => {
                rule::holds_by_mtime(row, is, birth_ns(), now_ns).then_some(Trust::Modification)
            }
            _ => None,
        }
    }

    /// Whether the results of reads of a file in this state are stored.
    pub fn storing(&self, volume: DevIndex, is: &FileState) -> Storing {
        match self.place_of(volume) {
            Some((key, at)) if matches!(self.files.get(at), Some((_, Some(_)))) => {
                rule::storing(is, key.by_path, self.began_ns, self.clean_ns)
            }
            _ => Storing::Nothing,
        }
    }

    /// True if they may be stored.
    pub fn learns(&self, volume: DevIndex, is: &FileState) -> bool {
        self.storing(volume, is) != Storing::Nothing
    }

    /// Stores results of reads of a file in this state, if results are stored for it.
    pub fn learn(&mut self, at: RowKey, is: &FileState, mut row: Row) {
        if !self.learns(at.volume, is) {
            return;
        }
        let (began_ns, ahead) = (self.began_ns, self.wanted.ahead);
        let Some(file) = self.file(at.volume) else {
            return;
        };
        let mut state = Some(*is);
        if at.by_path {
            let mut before = Row::default();
            let rows = file.rows.as_mut();
            let is_known = rows.is_some_and(|rows| rows.find(at.numbers, &mut before).is_some());
            state = rule::seen(is, is_known.then_some(&before), now_ns(ahead));
        }
        let Some(state) = state else { return };
        (row.state, row.began_ns) = (state, began_ns);
        file.writer.learned(at.numbers, Day::of(began_ns), &row);
    }

    /// Hands the results so far over to the writers.
    pub fn flush(&mut self) {
        let files = self.files.iter_mut().filter_map(|(_, file)| file.as_mut());
        files.for_each(|file| file.writer.flush());
    }

    /// Writes the rest of the rows. Says what is not written.
    pub fn end(self, cut_short: bool) {
        let _call = current::limited_call(self.folder.path());
        let today = Day::of(self.began_ns);
        for file in self.files.into_iter().filter_map(|(_, file)| file) {
            let path = self.folder.path().join(&file.name);
            if let Err(error) = file.end(&self.folder, today, cut_short) {
                not_used(self.observer, self.wanted.choice, path, error);
            }
        }
    }
}

impl RowFile {
    fn end(self, folder: &CacheFolder, today: Day, cut_short: bool) -> Result<(), CacheError> {
        let appended = self.writer.finish()?;
        if cut_short || appended.is_none() && self.used.is_empty() {
            return Ok(());
        }
        settle(folder, &self.name, self.rows, appended, self.used, today)
    }
}

/// Says in one line why a cache is not used.
fn not_used(observer: &dyn Observer, choice: Choice, path: PathBuf, error: CacheError) {
    // Only the user can end it.
    let lasts = error.is_occupied();
    let cause = match error {
        CacheError::Io(error) => error,
        other => io::Error::other(other),
    };
    tell(
        observer,
        choice,
        lasts,
        Problem {
            path,
            kind: ProblemKind::UnusableCache,
            cause: Some(cause),
        },
    );
}

/// Reports a problem of a cache. If nobody asked for the cache, it is a notice, unless it lasts, or the run waited for
/// the cache in vain.
fn tell(observer: &dyn Observer, choice: Choice, lasts: bool, problem: Problem) {
    let cause = problem.cause.as_ref();
    let is_silent = cause.is_some_and(|cause| cause.kind() == ErrorKind::TimedOut);
    if choice == Choice::Default && !is_silent && !lasts {
        observer.notice(Notice(format!("{}: {problem}", problem.path.display())));
    } else {
        observer.problem(problem);
    }
}

/// The time of a clock that is so far ahead of the system's.
fn now_ns(ahead: Duration) -> i64 {
    nanoseconds(SystemTime::now() + ahead)
}
