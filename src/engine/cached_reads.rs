//! Reads that an earlier run did: asked before a read is, and told what each came to.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cache::{
    CacheError, CacheFolder, KnownRows, Learned, NotCached, Part, Row, State, Store, VolumeKey,
    Writer, is_settled,
};
use crate::decide::{FIRST_STRETCH, FirstSample, Unread, Want};
use crate::event::{Notice, Problem, ProblemKind};
use crate::file::{DevIndex, FileIndex};
use crate::hash::Digest;

use super::config::CacheUse;
use super::requests::{SMALL, wanted_bytes};
use super::session::Session;

/// The cache of one run.
pub struct CachedReads {
    folder: CacheFolder,
    /// When the run began, nanoseconds since 1970: no read began before.
    began_ns: i64,
    /// Rows answer. If not, what is read is kept all the same.
    answers: bool,
    /// By UUID; none if the file cannot be used.
    files: HashMap<[u8; 16], Option<RowFile>>,
    /// By the file table's number of a device number.
    places: Vec<Option<VolumeKey>>,
    /// What was not read.
    spared: Unread,
}

/// The file of rows of one file system.
struct RowFile {
    known: KnownRows,
    writer: Writer,
}

impl CachedReads {
    /// Keeps its files in this folder, which it makes if it is missing.
    pub fn open(wanted: &CacheUse) -> io::Result<Self> {
        Ok(Self {
            folder: CacheFolder::at(&wanted.folder)?,
            began_ns: now_ns().saturating_add(wanted.ahead.as_nanos() as i64),
            answers: wanted.answers,
            files: HashMap::new(),
            places: Vec::new(),
            spared: Unread::default(),
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

    /// Makes the file of rows ready for the file system that this folder is on, whose device number gets the file table's
    /// next number.
    fn place(&mut self, st_dev: u64, folder: &Path) -> Result<(), Unfit> {
        let key = VolumeKey::of(folder, st_dev);
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

    fn file(&mut self, volume: DevIndex) -> Option<(VolumeKey, &mut RowFile)> {
        let key = (*self.places.get(usize::from(volume))?)?;
        let file = self.files.get_mut(&key.uuid)?.as_mut()?;
        Some((key, file))
    }

    /// The row that holds for a file in this state.
    fn row(
        &mut self,
        volume: DevIndex,
        inode: u64,
        state: &State,
    ) -> Result<Option<Row>, CacheError> {
        let (began_ns, answers) = (self.began_ns, self.answers);
        match self.file(volume).filter(|_| answers) {
            Some((key, file)) => file.known.row(key.subvolume, inode, state, began_ns),
            None => Ok(None),
        }
    }

    fn learned(&mut self, volume: DevIndex, inode: u64, state: State, part: Part) {
        if let Some((key, file)) = self.file(volume) {
            file.writer.learned(Learned {
                subvolume: key.subvolume,
                inode,
                state,
                part,
            });
        }
    }

    /// Uses the file of rows of a volume no more; returns its path.
    fn give_up(&mut self, volume: DevIndex) -> Option<PathBuf> {
        let key = (*self.places.get(usize::from(volume))?)?;
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
                let said = format!("{}: nothing is kept in the cache: {why}", folder.display());
                self.observer.notice(Notice(said));
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
        let Some(cache) = &mut self.cache else {
            return false;
        };
        let file_table = self.machine.file_table();
        let (volume, inode) = (file_table.volume(file), file_table.ino(file));
        let state = State::from(&file_table.fingerprint(file));
        if !file_table.numbering(volume).tells_files() {
            return false;
        }
        let row = match cache.row(volume, inode, &state) {
            Ok(row) => row,
            Err(error) => {
                let path = cache.give_up(volume).unwrap_or_default();
                self.observer.problem(unusable(path, error));
                None
            }
        };
        let Some(row) = row.filter(|row| self.tell(file, want, row)) else {
            return false;
        };
        debug_assert_eq!(row.state, state, "only rows that hold answer");
        if let Some(cache) = &mut self.cache {
            let is_first = want.is_first_sample() || want == Want::Whole;
            cache.spared.files += u64::from(is_first);
            let bytes = wanted_bytes(want, state.size);
            cache.spared.bytes = cache.spared.bytes.saturating_add(bytes);
        }
        true
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
        let Some(cache) = &mut self.cache else {
            return;
        };
        let file_table = self.machine.file_table();
        let (volume, inode) = (file_table.volume(file), file_table.ino(file));
        let state = State::from(&file_table.fingerprint(file));
        if !is_settled(&state, cache.began_ns) || !file_table.numbering(volume).tells_files() {
            return;
        }
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
        for part in ends.into_iter().flatten() {
            cache.learned(volume, inode, state, part);
        }
    }
}
