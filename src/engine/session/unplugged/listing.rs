//! Lists catalogs: rows take the place of files that are not plugged in.
//!
//! It is done before anything else is listed. So these files come first in the table, and their answers are there when
//! other files of their sizes are found. Nothing of a catalog becomes a path that is opened: all its paths begin with
//! the path of the catalog, which is a file.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::cache::{FileState, Row as CacheRow};
use crate::catalog::{Kind, Row, WholeDigest};
use crate::engine::config::Root;
use crate::file::{
    DevIndex, DirId, FileIndex, FolderId, FolderPlace, FoundFile, Naming, Numbering, leads_to_trash,
};
use crate::hash::ContentDigest;
use crate::scan::count_left_out;
use crate::scan::filter::Verdict;
use crate::tree::{EntryKind, Unseen};

use super::digests::RowDigests;
use crate::engine::session::Session;

/// The first of the device numbers that are made up for the file systems of catalogs; the next ones are lower. The
/// kernel gives out none of 64 bits.
const FIRST_DEVICE: u64 = u64::MAX;

/// Folders on the way to a file at most, as in a search.
const DEPTH: u32 = 1 << 14;

/// File systems and subvolumes of all catalogs at most: numbers of file systems have 16 bits.
const MOST_VOLUMES: usize = 10_000;

/// The files of catalogs.
#[derive(Default)]
pub struct Unplugged {
    /// What is known of the contents of the first files of the table.
    digests: RowDigests,
    /// The file systems by their numbers in the table, which are the first ones: the root, the name if it has one, and
    /// the number of the subvolume.
    volumes: Vec<(u32, Option<String>, Option<i64>)>,
}

impl Unplugged {
    /// What is known of a file, and not yet by the tables; `None` if it is of no catalog.
    pub fn digests(&self, file: FileIndex) -> Option<CacheRow> {
        self.digests.get(file)
    }

    /// True if a file is of a catalog.
    pub fn has(&self, file: FileIndex) -> bool {
        (file.0 as usize) < self.digests.len()
    }

    /// True if a file is of a catalog that lacks the digest of the whole. It is in no class: no read of it will end.
    pub fn is_open(&self, file: FileIndex) -> bool {
        self.digests.lacks_content(file)
    }

    /// All files for which that is so.
    pub fn open(&self) -> impl Iterator<Item = FileIndex> {
        self.open_among((0..self.digests.len() as u32).map(FileIndex))
    }

    /// Those of some files for which that is so.
    pub fn open_among(
        &self,
        files: impl Iterator<Item = FileIndex>,
    ) -> impl Iterator<Item = FileIndex> {
        files.filter(|&file| self.is_open(file))
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.digests.len() == 0
    }

    /// The name of the file system with this number.
    pub fn volume(&self, number: DevIndex) -> Option<&str> {
        self.volumes.get(usize::from(number))?.1.as_deref()
    }

    /// True if these numbers are of one file system that has a name, as two catalogs saw it.
    pub fn are_one(&self, one: DevIndex, other: DevIndex) -> bool {
        let place = |number| self.volumes.get(usize::from(number));
        let (Some((_, name, subvolume)), Some(other)) = (place(one), place(other)) else {
            return false;
        };
        name.is_some() && (name, subvolume) == (&other.1, &other.2)
    }
}

impl Session<'_> {
    /// Takes the rows of all catalogs among the roots.
    ///
    /// # Errors
    /// The path of one that cannot be read to its end, or is damaged, and why.
    pub(in crate::engine::session) fn list_catalogs(&mut self) -> Result<(), (PathBuf, io::Error)> {
        let config = self.config;
        self.machine.gather();
        for (number, root) in (0..).zip(&config.roots) {
            let Some(catalog) = &root.catalog else {
                continue;
            };
            let mut listing = Listing::new(number, root, &catalog.dir);
            let mut wrong = None;
            let read = catalog.rows.each(&mut |row| {
                if wrong.is_none() && !self.control.is_cancelled() {
                    wrong = listing.row(self, row).err();
                }
            });
            let cause = wrong.map(io::Error::other).or(read.err());
            if let Some(cause) = cause {
                return Err((root.path.clone(), cause));
            }
        }
        self.know_open_sizes();
        self.machine.open_gathered();
        // Without other files, nothing else can have the size of one that is alone with it.
        let is_all = config.roots.iter().all(|root| root.catalog.is_some());
        for block in self.unplugged.digests.blocks() {
            let files = block.clone().map(|at| FileIndex(at as u32));
            for file in files.filter(|&file| !self.unplugged.is_open(file)) {
                self.machine.start_gathered(file);
            }
            self.request();
            let (machine, probable) = (&self.machine, &self.probable);
            self.unplugged.digests.let_go(block, |file| {
                let is_over = machine.is_recalled(file) || is_all && !machine.is_size_open(file);
                is_over && !probable.is_open_size(file, machine.file_table())
            });
        }
        Ok(())
    }

    /// What a catalog says of a file, like a row of the cache; `None` if it is of no catalog.
    pub(in crate::engine::session) fn row_of_catalog(&self, file: FileIndex) -> Option<CacheRow> {
        Some(CacheRow {
            state: FileState::of(file, self.machine.file_table()),
            ..self.unplugged.digests(file)?
        })
    }
}

/// The listing of a catalog.
struct Listing<'c> {
    root: u32,
    path: &'c Path,
    /// The folder that paths start from.
    start: &'c [u8],
    /// The path of the last row's folder, and the folder; `None` for one that is left out.
    at: Option<(Vec<u8>, Option<DirId>)>,
    /// The folders that were left out, by those that they are in.
    left_out: HashMap<DirId, HashSet<Vec<u8>>>,
    /// The start of folders' numbers: users choose names, and must not be able to choose numbers.
    secret: RandomState,
    /// The number of the device of the row, and of the last file that got a number of its own.
    device: u64,
    last_number: u64,
}

/// A row that no seekless writes.
const NO_PATH: &str = "a row of this catalog names no place on a disk";

impl<'c> Listing<'c> {
    fn new(root: u32, given: &'c Root, start: &'c [u8]) -> Self {
        Self {
            root,
            path: &given.path,
            start: start.strip_suffix(b"/").unwrap_or(start),
            at: None,
            left_out: HashMap::new(),
            secret: RandomState::new(),
            device: FIRST_DEVICE,
            last_number: 0,
        }
    }

    fn row(&mut self, session: &mut Session<'_>, row: &Row<'_>) -> Result<(), &'static str> {
        let number = self.volume(session, row)?;
        let Some(dir) = self.folder(session, row.dir)? else {
            return Ok(());
        };
        if row.name.is_empty() {
            if row.kind != Kind::Folder {
                let why = row.error.map_or(Unseen::Unreadable, Unseen::of_words);
                session.account.unseen(dir, b"", why);
            }
            return Ok(());
        }
        if !is_name(row.name) {
            return Err(NO_PATH);
        }
        match row.kind {
            Kind::File => self.file(session, row, dir, number),
            kind => {
                let summary = &mut session.sets.deliverer.summary.left_out;
                let kind = match kind {
                    Kind::Link => {
                        summary.symlinks += 1;
                        EntryKind::Link(row.target.unwrap_or_default().into())
                    }
                    Kind::Special(special) => {
                        summary.special += 1;
                        EntryKind::Special(special)
                    }
                    _ => EntryKind::Unseen(row.error.map_or(Unseen::Unreadable, Unseen::of_words)),
                };
                session.account.other(dir, row.name, kind);
            }
        }
        Ok(())
    }

    fn file(&mut self, session: &mut Session<'_>, row: &Row<'_>, dir: DirId, number: DevIndex) {
        let why = row.error.map(Unseen::of_words);
        let Some(size) = row.size.and_then(|size| u64::try_from(size).ok()) else {
            return session
                .account
                .unseen(dir, row.name, why.unwrap_or(Unseen::Unreadable));
        };
        let mtime_ns = row.mtime_ns.unwrap_or_default();
        let mut verdict = self.verdict(session, dir, row.name, false);
        if verdict == Verdict::Keep {
            verdict = session.config.filter.metadata(size, mtime_ns);
        }
        let summary = &mut session.sets.deliverer.summary;
        if let Some(unseen) = count_left_out(&mut summary.left_out, verdict) {
            return session.account.unseen(dir, row.name, unseen);
        }
        let blocks = row.allocated.map_or(0, |bytes| bytes.max(0) as u64 / 512);
        let found = FoundFile {
            // A list has no inode numbers: each of its names is a file.
            ino: row
                .inode
                .map_or_else(|| self.next_number(), i64::cast_unsigned),
            size,
            mtime_ns,
            ctime_ns: row.ctime_ns.unwrap_or_default(),
            blocks,
            links: row.links.and_then(|it| it.try_into().ok()).unwrap_or(1),
            name_len: row.name.len() as u16,
            via_link: false,
            mounted: false,
        };
        let mut digests = CacheRow {
            head: row.head,
            tail: row.tail,
            content: match row.digest {
                Some(WholeDigest::Blake3(digest)) => Some(digest),
                _ => None,
            },
            ..CacheRow::default()
        };
        if size == 0 {
            digests.content = Some(ContentDigest::of_nothing());
        }
        let machine = &mut session.machine;
        let naming = if digests.content.is_some() {
            machine.found(&found, row.name, dir, self.root, number, None)
        } else {
            machine.set_aside(&found, row.name, dir, number)
        };
        match naming {
            Naming::First => {
                let summary = &mut session.sets.deliverer.summary;
                summary.files += 1;
                summary.bytes_present = summary.bytes_present.saturating_add(size);
                let file = FileIndex(session.machine.file_table().len() as u32 - 1);
                session.unplugged.digests.push(&digests);
                match (digests.content, digests.head.zip(digests.tail), why) {
                    (Some(_), None, _) => session.machine.only_whole(file),
                    (None, _, Some(why)) => session.account.leave_open(file, why),
                    _ => {}
                }
            }
            Naming::Further => session.sets.deliverer.summary.extra_names += 1,
            Naming::Known => {}
        }
    }

    /// The number of the row's file system in the table.
    fn volume(
        &mut self,
        session: &mut Session<'_>,
        row: &Row<'_>,
    ) -> Result<DevIndex, &'static str> {
        // Two catalogs may be of one file system at different times.
        let is_it = |known: &(u32, Option<String>, Option<i64>)| {
            (known.0, known.1.as_deref(), known.2) == (self.root, row.volume, row.subvolume)
        };
        let known = session.unplugged.volumes.iter().position(is_it);
        let at = known.unwrap_or(session.unplugged.volumes.len());
        if at >= MOST_VOLUMES {
            return Err("the catalogs are of more than 10,000 file systems and subvolumes");
        }
        self.device = FIRST_DEVICE - at as u64;
        if known.is_none() {
            let number = session.machine.volume_number(self.device);
            session.machine.trust_numbers(number, Numbering::Listed);
            let reads = &mut session.reads;
            let scheduler = &mut reads.scheduler;
            reads
                .volumes
                .place_unplugged(self.device, (self.path, row.volume), scheduler);
            let volume = row.volume.map(str::to_owned);
            let place = (self.root, volume, row.subvolume);
            session.unplugged.volumes.push(place);
        }
        Ok(DevIndex(at as u16))
    }

    /// The folder at this path on its file system; `None` if it is left out.
    fn folder(
        &mut self,
        session: &mut Session<'_>,
        dir: &[u8],
    ) -> Result<Option<DirId>, &'static str> {
        if let Some((path, folder)) = &self.at
            && path == dir
        {
            return Ok(*folder);
        }
        let below = dir.strip_prefix(self.start);
        let below = below.filter(|below| matches!(below.first(), None | Some(b'/')));
        let below = below.unwrap_or(dir);
        let below = below.strip_prefix(b"/").unwrap_or(below);
        let mut names = below.split(|&byte| byte == b'/');
        if below.is_empty() {
            names.next();
        }
        let path = self.path.as_os_str().as_bytes();
        let mut at = self.found(session, FolderPlace::Root(path, self.root), true);
        for (depth, name) in (1..).zip(names) {
            if !is_name(name) {
                return Err(NO_PATH);
            }
            if depth > DEPTH {
                return Err("a row of this catalog names more than 16,384 folders");
            }
            let is_listed = session.config.max_depth.is_none_or(|most| depth < most);
            at = at
                .and_then(|above| self.found(session, FolderPlace::Below(above, name), is_listed));
        }
        self.at = Some((dir.to_owned(), at));
        Ok(at)
    }

    /// The folder at this place; `None` if it is left out.
    fn found(
        &mut self,
        session: &mut Session<'_>,
        place: FolderPlace<'_>,
        is_listed: bool,
    ) -> Option<DirId> {
        let (above, name) = match place {
            FolderPlace::Root(path, _) => (None, path),
            FolderPlace::Below(above, name) => (Some(above), name),
        };
        let mut id = FolderId {
            dev: FIRST_DEVICE,
            ino: self.secret.hash_one((above, name)),
            mount: self.root.into(),
        };
        let dirs = session.dirs.read();
        while let Some(&known) = dirs.met(id).first() {
            if dirs.parent(known) == above && dirs.name(known) == name {
                return Some(known);
            }
            id.ino = id.ino.wrapping_add(1);
        }
        drop(dirs);
        let Some(above) = above else {
            return session.dirs.write().add(place, id, 0).ok();
        };
        if self
            .left_out
            .get(&above)
            .is_some_and(|names| names.contains(name))
        {
            return None;
        }
        let mut path = Vec::new();
        session.dirs.read().path_of(above, name, &mut path);
        let is_trash = leads_to_trash(&path);
        let verdict = match self.verdict(session, above, name, true) {
            Verdict::Keep if !is_listed => Verdict::Filtered,
            verdict => verdict,
        };
        let summary = &mut session.sets.deliverer.summary;
        let mut unseen = count_left_out(&mut summary.left_out, verdict);
        if unseen.is_none() && is_trash && session.config.skip_trash {
            summary.left_out.trash += 1;
            unseen = Some(Unseen::Trash);
        }
        if let Some(unseen) = unseen {
            session.account.unseen(above, name, unseen);
            self.left_out
                .entry(above)
                .or_default()
                .insert(name.to_owned());
            return None;
        }
        summary.folders += 1;
        let mut dirs = session.dirs.write();
        let dir = dirs.add(place, id, 0).ok();
        if let (Some(dir), true) = (dir, is_trash) {
            dirs.mark_trash(dir);
        }
        dir
    }

    fn verdict(&self, session: &Session<'_>, dir: DirId, name: &[u8], is_folder: bool) -> Verdict {
        let filter = &session.config.filter;
        let verdict = filter.entry(name, is_folder);
        if verdict != Verdict::Keep || !filter.needs_path() {
            return verdict;
        }
        let mut path = Vec::new();
        session.dirs.read().path_of(dir, name, &mut path);
        filter.path(&path, is_folder)
    }

    /// A number that nothing else of this catalog has: inodes are numbered from below.
    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        u64::MAX - (u64::from(self.root) << 40) - self.last_number
    }
}

/// True for bytes that can be the name of an entry.
fn is_name(name: &[u8]) -> bool {
    let has_wrong = name.iter().any(|byte| matches!(byte, b'/' | 0));
    !name.is_empty() && name.len() <= 1024 && !has_wrong && name != b"." && name != b".."
}
