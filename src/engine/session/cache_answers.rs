//! Answers from the cache: the engine asks the cache before each read, and records the result of each read in it.

use std::collections::HashSet;
use std::ffi::CString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use crate::cache::{
    Cache, CacheUse, Choice as CacheChoice, FileState, Row, RowKey, ShownRow, Trust,
};
use crate::decide::{Effect, Told, Unread, Want};
use crate::event::{Notice, Observer};
use crate::file::{FileIndex, Fingerprint};
use crate::hash::{Digest, SampleDigest};
use crate::heartbeat::current;
use crate::sys::stat;

use super::Session;
use super::requests::SMALL;
use crate::engine::config::Config;
use crate::engine::limits;

/// The cache of a run, and what it has done for the run.
#[derive(Default)]
pub struct Cached<'a> {
    pub cache: Option<Box<Cache<'a>>>,
    /// Files that the cache answered for, and the bytes that were not read for this reason.
    pub spared: Unread,
    /// Files of which nothing is stored: some of their bytes were not on the disk yet when they were read.
    not_stored: HashSet<FileIndex>,
}

impl<'a> Cached<'a> {
    /// The cache of a run, if there is one and it can be used.
    pub fn open(config: &'a Config, observer: &'a dyn Observer) -> Self {
        let wanted = config.cache.as_ref();
        // What is scarce is left to the reads, unless the user wants the cache.
        let is_scarce =
            |wanted: &&CacheUse| wanted.choice == CacheChoice::Default && !limits::are_plenty();
        if wanted.filter(is_scarce).is_some() {
            let said = "no cache is used: open files or file sizes are limited";
            observer.notice(Notice(said.to_owned()));
            return Self::default();
        }
        let folders = || config.roots.iter().filter(|root| root.catalog.is_none());
        let searched = || folders().map(|root| &*root.path);
        let open = |wanted| Cache::open(wanted, searched(), config.patience(), observer);
        Self {
            cache: wanted.and_then(open).map(Box::new),
            ..Self::default()
        }
    }
}

/// Room for the row of a file.
#[derive(Default)]
pub struct KnownRow {
    row: Row,
    /// How far the state of the file is known to be unchanged; `None` if the row does not apply.
    applies: Option<Trust>,
}

impl Session<'_> {
    /// Reads the rows of the files of these effects. `known` gets as many rows; its memory is used again.
    pub fn read_rows(&mut self, effects: &[Effect], known: &mut Vec<KnownRow>) {
        known.resize_with(effects.len(), KnownRow::default);
        let cache = self.cached.cache.as_ref();
        if !cache.is_some_and(|cache| cache.can_answer()) && self.unplugged.is_empty() {
            return;
        }
        for (effect, known) in effects.iter().zip(&mut *known) {
            known.applies = self.lookup(effect.file, &mut known.row);
        }
        let contents = effects.iter().zip(known).filter_map(|(effect, known)| {
            known.applies?;
            Some((effect.size, known.row.content?))
        });
        self.machine.prefetch_contents(contents);
    }

    /// Replaces `row` by the row of a file; `None` if none applies.
    pub(super) fn lookup(&mut self, file: FileIndex, row: &mut Row) -> Option<Trust> {
        if let Some(known) = self.row_of_catalog(file) {
            *row = known;
            return Some(Trust::Change);
        }
        let at = self.row_key(file)?;
        let is = FileState::of(file, self.machine.file_table());
        let mut cache = self.cached.cache.take()?;
        let birth_ns = || self.birth_of(file).map(|(birth_ns, _)| birth_ns);
        let trust = cache.lookup(at, &is, birth_ns, row);
        self.cached.cache = Some(cache);
        trust
    }

    /// Replaces a read with an answer from the cache, if an earlier run read the same part of the file in its present
    /// state. Returns false if the file has to be read.
    pub fn answer_from_cache(&mut self, effect: &Effect, known: &KnownRow) -> bool {
        let (row, want) = (&known.row, effect.want);
        let Some(trust) = known.applies else {
            return false;
        };
        if !self.tell(effect, (row, trust)) {
            return false;
        }
        if self.unplugged.has(effect.file) {
            return true;
        }
        let is_first = want.is_first_sample() || want == Want::Whole;
        let spared = Unread {
            files: u64::from(is_first),
            bytes: want.bytes(row.state.size),
        };
        self.cached.spared.add(spared);
        true
    }

    /// Passes the data of a row to the machine; false if the row lacks the requested data.
    fn tell(&mut self, effect: &Effect, (row, trust): (&Row, Trust)) -> bool {
        let Effect { file, want, size } = *effect;
        match want {
            Want::Head | Want::HeadAndTail => {
                let was_whole = match (row.head, row.content) {
                    (None, Some(_)) if row.state.size <= SMALL => Some(true),
                    (Some(_), None) => Some(false),
                    _ => None,
                };
                let is_whole = self.machine.are_first_read_whole(size, was_whole);
                match (is_whole, row.head, row.content) {
                    (true, _, Some(content)) => {
                        self.machine.content_recalled(size, file, content);
                    }
                    (false, Some(head), _) if want == Want::Head || row.tail.is_some() => {
                        self.tell_token(file, row, trust);
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
                Some(content) => self.machine.content_recalled(size, file, content),
                None => return false,
            },
            _ => return false,
        }
        true
    }

    /// Passes the result of an earlier comparison of a file to the machine.
    fn tell_token(&mut self, file: FileIndex, row: &Row, trust: Trust) {
        let Some(token) = row.token else {
            return;
        };
        let told = Told {
            token,
            has_digest: row.content.is_some(),
            is_sure: trust == Trust::Change,
            was_compared: false,
        };
        self.machine.token_recalled(file, told);
    }

    /// Stores the results of comparisons, also for files that are only known to be equal to a compared file.
    pub fn keep_equalities(&mut self) {
        for equality in self.machine.equalities() {
            let file = equality.file;
            if !equality.was_compared && self.cached.cache.is_some() {
                let bytes = self.machine.file_table().size(file);
                self.cached.spared.add(Unread { files: 0, bytes });
            }
            let (Some(token), Some(at)) = (equality.found, self.row_key(file)) else {
                continue;
            };
            // Rows by path answer only where others need not be sure.
            if equality.is_sure || at.by_path {
                let row = Row {
                    token: Some(token),
                    ..Row::default()
                };
                self.learn(file, at, row);
            }
        }
    }

    /// Stores nothing of this file in this run: before it was read, some of its bytes were not on the disk yet. Later
    /// changes of these bytes through a memory map may leave its state as it is.
    pub fn keep_nothing_of(&mut self, file: FileIndex) {
        let file_table = self.machine.file_table();
        let is = FileState::of(file, file_table);
        let learns = |cache: &Cache<'_>| cache.learns(file_table.volume(file), &is);
        if self.cached.cache.as_deref().is_some_and(learns) {
            self.cached.not_stored.insert(file);
        }
    }

    /// Stores the data that was read of a file.
    pub fn keep_in_cache(&mut self, file: FileIndex, want: Want, digests: [Option<Digest>; 2]) {
        let Some(at) = self.row_key(file) else {
            return;
        };
        self.learn(file, at, row_of(want, digests));
    }

    /// Stores what a file shows.
    pub(super) fn keep_shown(&mut self, file: FileIndex, shown: ShownRow) {
        if let Some(at) = self.row_key(file) {
            let shown = Some(Box::new(shown));
            self.learn(
                file,
                at,
                Row {
                    shown,
                    ..Row::default()
                },
            );
        }
    }

    fn learn(&mut self, file: FileIndex, at: RowKey, mut row: Row) {
        let is = FileState::of(file, self.machine.file_table());
        let is_learned = |cache: &Cache<'_>| cache.learns(at.volume, &is);
        let Some(cache) = self.cached.cache.as_ref().filter(|cache| is_learned(cache)) else {
            return;
        };
        if self.cached.not_stored.contains(&file) {
            return;
        }
        let asks = cache.is_by_mtime() && !at.by_path;
        let birth = asks.then(|| self.birth_of(file)).flatten();
        // After it was asked for, the name led to the file that was read.
        let is_it = |now: &Fingerprint| *now == self.machine.file_table().fingerprint(file);
        let birth = birth.filter(|(_, now)| now.as_ref().is_some_and(is_it));
        row.birth_ns = birth.map(|(birth_ns, _)| birth_ns);
        if let Some(cache) = &mut self.cached.cache {
            cache.learn(at, &is, row);
        }
    }

    /// The place of a file's row; `None` if nothing is stored for the file.
    fn row_key(&mut self, file: FileIndex) -> Option<RowKey> {
        let cache = self.cached.cache.as_ref()?;
        let file_table = self.machine.file_table();
        let volume = file_table.volume(file);
        let key = cache.key(volume)?;
        let numbers = if key.by_path {
            self.path_numbers(file)?
        } else if file_table.numbering(volume).tells_files() {
            (key.subvolume, file_table.ino(file))
        } else {
            // A number that two files may have is the key of neither.
            return None;
        };
        Some(RowKey {
            volume,
            numbers,
            by_path: key.by_path,
        })
    }

    /// Two numbers for the place of a file on its file system.
    fn path_numbers(&mut self, file: FileIndex) -> Option<(u64, u64)> {
        let file_table = self.machine.file_table();
        let (dir, name) = (file_table.dir(file), file_table.first_name(file).to_owned());
        let st_dev = file_table.fingerprint(file).dev;
        // A link, or a mount on the name, may lead to another file by the next run, and nothing about it says so.
        let is_entry = file_table.sighting(file, &self.dirs.read()).is_entry;
        if !is_entry && !self.config.follow_links {
            return None;
        }
        let path = self.real_path(dir, &name)?;
        let mounts = self.cached.cache.as_ref()?.mounts();
        let place = mounts.place_on(st_dev, path.as_os_str().as_bytes())?;
        let digest = u128::from_le_bytes(*SampleDigest::of(&place).as_bytes());
        Some((digest as u64, (digest >> 64) as u64))
    }

    /// When the file was created that the first name leads to now, and the state of the file right after; `None` if its
    /// file system does not say.
    ///
    /// On copies of a disk, two files may get one number, but not at one moment.
    fn birth_of(&mut self, file: FileIndex) -> Option<(i64, Option<Fingerprint>)> {
        let _call = current::call(&self.path_of_first_name(file));
        let file_table = self.machine.file_table();
        let (dir, name) = (file_table.dir(file), file_table.first_name(file));
        let name = CString::new(name).ok()?;
        let follow = self.config.follow_links;
        let folder = self.names.handles.get(dir, &self.dirs).ok()?;
        let birth_ns = stat::birth_ns(folder, &name, follow)?;
        let now = if follow {
            stat::target(folder, &name)
        } else {
            stat::entry(folder.as_fd(), &name)
        };
        let now = now.ok().map(|now| Fingerprint::from(&now));
        Some((birth_ns, now))
    }
}

/// What a read found out, as a row.
pub fn row_of(want: Want, digests: [Option<Digest>; 2]) -> Row {
    let [first, second] = digests.map(|digest| digest.and_then(Digest::sample));
    let (head, tail) = if want == Want::Tail {
        (None, first)
    } else {
        (first, second)
    };
    Row {
        head,
        tail,
        content: digests.into_iter().flatten().find_map(Digest::content),
        ..Row::default()
    }
}
