//! Reads that an earlier run did: asked before a read is, and told what each came to.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cache::{
    CacheError, CacheFolder, KnownRows, Learned, NotCached, Part, Row, State, Store, Trust,
    VolumeKey, Writer, holds, holds_by_mtime, holds_by_path, is_settled, seen,
};
use crate::decide::{FIRST_STRETCH, FirstSample, Unread, Want};
use crate::device::Mounts;
use crate::event::{Problem, ProblemKind};
use crate::file::{DevIndex, FileIndex};
use crate::hash::Digest;

use super::config::CacheUse;
use super::requests::{SMALL, wanted_bytes};
use super::row_keys::RowKey;
use super::session::Session;

/// The cache of one run.
pub struct CachedReads {
    folder: CacheFolder,
    /// When the run began, nanoseconds since 1970: no read began before.
    began_ns: i64,
    /// How far its clock is ahead of the system's, nanoseconds.
    ahead_ns: i64,
    /// Rows answer. If not, what is read is kept all the same.
    answers: bool,
    /// What must be as it was for a row to answer.
    trust: Trust,
    /// By UUID; none if the file cannot be used.
    files: HashMap<[u8; 16], Option<RowFile>>,
    /// By the file table's number of a device number.
    places: Vec<Option<VolumeKey>>,
    /// Where file systems are mounted whose files are known by their paths.
    mounts: Mounts,
    /// What was not read.
    spared: Unread,
    /// What of that was not read although it may have been changed under a time that was set.
    spared_by_mtime: Unread,
}

/// The file of rows of one file system.
struct RowFile {
    known: KnownRows,
    writer: Writer,
}

impl CachedReads {
    /// Keeps its files in this folder, which it makes if it is missing.
    pub fn open(wanted: &CacheUse) -> io::Result<Self> {
        let ahead_ns = wanted.ahead.as_nanos() as i64;
        Ok(Self {
            folder: CacheFolder::at(&wanted.folder)?,
            began_ns: now_ns().saturating_add(ahead_ns),
            ahead_ns,
            answers: wanted.answers,
            trust: wanted.trust,
            files: HashMap::new(),
            places: Vec::new(),
            mounts: Mounts::default(),
            spared: Unread::default(),
            spared_by_mtime: Unread::default(),
        })
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// True if this is the folder: its files change during each run, and are nobody's duplicates.
    pub fn is_in(&self, folder: (u64, u64)) -> bool {
        self.folder.identity() == Some(folder)
    }

    /// Files that were answered for, and bytes that were not read for that.
    pub fn spared(&self) -> Unread {
        self.spared
    }

    /// Those of them whose time of the last change is another one, or is not known.
    pub fn spared_by_mtime(&self) -> Unread {
        self.spared_by_mtime
    }

    /// What the files of a volume are known by.
    pub fn key(&self, volume: DevIndex) -> Option<VolumeKey> {
        *self.places.get(usize::from(volume))?
    }

    /// Where file systems were mounted when the last one was met.
    pub fn mounts(&self) -> &Mounts {
        &self.mounts
    }

    /// Makes the file of rows ready for the file system that this folder is on, whose device number gets the file table's
    /// next number.
    fn place(&mut self, st_dev: u64, folder: &Path) -> Result<(), Unfit> {
        let key = match (VolumeKey::of(folder, st_dev), self.trust) {
            (Err(NotCached::Unknown), Trust::Modification) => {
                self.mounts = Mounts::read();
                VolumeKey::by_path(folder, st_dev, &self.mounts)
            }
            (key, _) => key,
        };
        self.places.push(key.ok());
        let key = key.map_err(Unfit::Volume)?;
        if !self.files.contains_key(&key.uuid) {
            let opened = self.open_file(&key);
            let (file, told) = match opened {
                Ok(file) => (Some(file), Ok(())),
                Err(error) => (None, Err(Unfit::File(error))),
            };
            self.files.insert(key.uuid, file);
            return told;
        }
        Ok(())
    }

    fn open_file(&self, key: &VolumeKey) -> Result<RowFile, CacheError> {
        let known = KnownRows::new(Store::open(&self.folder, key)?);
        let writer = Writer::start(Store::open(&self.folder, key)?, self.began_ns)?;
        Ok(RowFile { known, writer })
    }

    fn file(&mut self, volume: DevIndex) -> Option<&mut RowFile> {
        let key = self.key(volume)?;
        self.files.get_mut(&key.uuid)?.as_mut()
    }

    /// The row of a file, in whatever state the file was.
    fn row(&mut self, at: RowKey) -> Result<Option<Row>, CacheError> {
        let (first, second) = at.numbers;
        match self.file(at.volume) {
            Some(file) => file.known.row(first, second),
            None => Ok(None),
        }
    }

    fn learned(&mut self, at: RowKey, state: State, part: Part) {
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

    /// Tells those who write down what was learned so far.
    pub fn hand_over(&mut self) {
        let files = self.files.values_mut().flatten();
        files.for_each(|file| file.writer.hand_over());
    }

    /// Uses the file of rows of a volume no more; returns its path.
    fn give_up(&mut self, volume: DevIndex) -> Option<PathBuf> {
        let key = self.key(volume)?;
        let file = self.files.insert(key.uuid, None)??;
        Some(file.known.store().path().to_owned())
    }

    /// Waits until all is written down; returns what could not be.
    pub fn finish(self) -> Vec<Problem> {
        let files = self.files.into_values().flatten();
        let ended = files.map(|file| {
            let path = file.known.store().path().to_owned();
            (path, file.writer.finish())
        });
        let failed = ended.filter_map(|(path, result)| Some((path, result.err()?)));
        failed.map(|(path, error)| unusable(path, error)).collect()
    }
}

/// Why nothing is kept of the files of a volume.
enum Unfit {
    Volume(NotCached),
    File(CacheError),
}

/// The one line that says why a cache is not used.
pub fn unusable(path: PathBuf, error: impl Into<CacheError>) -> Problem {
    let cause = match error.into() {
        CacheError::Io(error) => error,
        other => io::Error::other(other),
    };
    Problem {
        path,
        kind: ProblemKind::UnusableCache,
        cause: Some(cause),
    }
}

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_nanos()).unwrap_or(i64::MAX))
}

impl Session<'_> {
    /// Looks for the rows of the file system that the file table numbered last.
    pub fn place_in_cache(&mut self, st_dev: u64, folder: &Path) {
        let Some(cache) = &mut self.cache else {
            return;
        };
        match cache.place(st_dev, folder) {
            Ok(()) => {}
            Err(Unfit::Volume(why)) => {
                self.observer.problem(Problem {
                    path: folder.to_owned(),
                    kind: ProblemKind::NotCached,
                    cause: Some(io::Error::other(why)),
                });
            }
            Err(Unfit::File(error)) => {
                let path = cache.folder.path().to_owned();
                self.observer.problem(unusable(path, error));
            }
        }
    }

    /// Answers in the place of a read, if an earlier run read the same of the file in the state in which it is. Returns
    /// false if it has to be read.
    pub fn answer_from_cache(&mut self, file: FileIndex, want: Want) -> bool {
        if !self.cache.as_ref().is_some_and(|cache| cache.answers) {
            return false;
        }
        let Some((row, trust)) = self.row_that_holds(file) else {
            return false;
        };
        if !self.tell(file, want, &row) {
            return false;
        }
        if let Some(cache) = &mut self.cache {
            let is_first = want.is_first_sample() || want == Want::Whole;
            let spared = Unread {
                files: u64::from(is_first),
                bytes: wanted_bytes(want, row.state.size),
            };
            cache.spared.add(spared);
            if trust == Trust::Modification {
                cache.spared_by_mtime.add(spared);
            }
        }
        true
    }

    /// The row that answers for a file, and what is as it was.
    fn row_that_holds(&mut self, file: FileIndex) -> Option<(Row, Trust)> {
        let at = self.row_key(file)?;
        let row = self.row_at(at)?;
        let is = State::from(&self.machine.file_table().fingerprint(file));
        let cache = self.cache.as_ref()?;
        let (now_ns, trust) = (cache.began_ns, cache.trust);
        let holds_by = match trust {
            Trust::Modification if at.by_path => {
                holds_by_path(&row, &is, now_ns).then_some(Trust::Modification)
            }
            _ if holds(&row.state, row.began_ns, &is, now_ns) => Some(Trust::Change),
            Trust::Modification if row.handle.is_some() => {
                let handle = self.handle_now(file);
                holds_by_mtime(&row, &is, handle, now_ns).then_some(Trust::Modification)
            }
            _ => None,
        };
        holds_by.map(|trust| (row, trust))
    }

    /// The row at a place. If the file of rows cannot be read, it is used no more, and the user hears why.
    fn row_at(&mut self, at: RowKey) -> Option<Row> {
        let cache = self.cache.as_mut()?;
        cache.row(at).unwrap_or_else(|error| {
            let path = cache.give_up(at.volume).unwrap_or_default();
            self.observer.problem(unusable(path, error));
            None
        })
    }

    /// Tells the machine what a row says; false if that is not what is wanted.
    fn tell(&mut self, file: FileIndex, want: Want, row: &Row) -> bool {
        match want {
            Want::Head | Want::HeadAndTail => {
                let only_content =
                    row.head.is_none() && row.content.is_some() && row.state.size <= SMALL;
                let wanted = self.machine.first_sample(file, only_content);
                match (wanted, row.head, row.content) {
                    (FirstSample::Whole, _, Some(content)) => {
                        self.machine.content_recalled(file, content);
                    }
                    (FirstSample::Ends, Some(head), _)
                        if want == Want::Head || row.tail.is_some() =>
                    {
                        if self.volumes.cost_seeks() {
                            self.heads.met(row.state.size, &head);
                        }
                        let tail = row.tail.filter(|_| want == Want::HeadAndTail);
                        self.machine.sampled(file, head, tail);
                    }
                    _ => return false,
                }
            }
            Want::Tail => match row.tail {
                Some(tail) => self.machine.tail_sampled(file, tail),
                None => return false,
            },
            Want::Whole | Want::Content => match row.content {
                Some(content) => self.machine.content_recalled(file, content),
                None => return false,
            },
            Want::Stretches(stretches) => {
                let places = stretches.numbers(row.state.size, FIRST_STRETCH);
                let known = places.map(|place| place.map(|place| row.stretch(place)));
                if known.contains(&Some(None)) {
                    return false;
                }
                self.machine
                    .stretches_read(file, known.map(Option::flatten));
            }
            _ => return false,
        }
        true
    }

    /// Keeps what was read of a file.
    pub fn keep_in_cache(&mut self, file: FileIndex, want: Want, digests: [Option<Digest>; 2]) {
        let Some((at, state)) = self.kept_as(file) else {
            return;
        };
        let parts = match want {
            Want::Stretches(stretches) => {
                let places = stretches.numbers(state.size, FIRST_STRETCH);
                let part = |(place, digest): (Option<u8>, Option<Digest>)| {
                    Some(Part::Stretch(place?, digest?.sample()?))
                };
                let [first, second] = places;
                [part((first, digests[0])), part((second, digests[1]))]
            }
            _ => digests.map(|digest| match (want, digest?) {
                (_, Digest::Content(content)) => Some(Part::Content(content)),
                (Want::Tail, Digest::Sample(tail)) => Some(Part::Tail(tail)),
                (Want::Head | Want::HeadAndContent, Digest::Sample(head)) => Some(Part::Head(head)),
                _ => None,
            }),
        };
        let ends = match (want, digests) {
            (Want::HeadAndTail, [Some(Digest::Sample(head)), Some(Digest::Sample(tail))]) => {
                [Some(Part::Head(head)), Some(Part::Tail(tail))]
            }
            _ => parts,
        };
        let by_mtime = |cache: &CachedReads| cache.trust == Trust::Modification && !at.by_path;
        let asks = self.cache.as_ref().is_some_and(by_mtime);
        let handle = asks.then(|| self.handle_of(file)).flatten();
        let parts = ends.into_iter().flatten();
        if let Some(cache) = &mut self.cache {
            let parts = parts.chain(handle.map(Part::Handle));
            parts.for_each(|part| cache.learned(at, state, part));
        }
    }

    /// Where what is read of a file is kept, and as the answer for what state; `None` if it is not kept.
    fn kept_as(&mut self, file: FileIndex) -> Option<(RowKey, State)> {
        let at = self.row_key(file)?;
        let is = State::from(&self.machine.file_table().fingerprint(file));
        let cache = self.cache.as_ref()?;
        let (began_ns, now_ns) = (cache.began_ns, now_ns().saturating_add(cache.ahead_ns));
        let state = match at.by_path {
            true => seen(&is, self.row_at(at).as_ref(), now_ns),
            false => is_settled(&is, began_ns).then_some(is),
        };
        state.map(|state| (at, state))
    }
}
