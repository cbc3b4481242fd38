//! Lists catalogs: rows take the place of files that are not plugged in.
//!
//! It is done before anything else is listed. So these files come first in the table, and their answers are there when
//! other files of their sizes are found. Nothing of a catalog becomes a path that is opened: all its paths begin with
//! the path of the catalog, which is a file.

use std::collections::HashMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::cache::{FileState, Row as CacheRow};
use crate::catalog::{Kind, Row, WholeDigest};
use crate::engine::config::Root;
use crate::file::{
    DevIndex, DirId, FileIndex, FolderId, FolderPlace, FoundFile, Naming, Numbering, leads_to_trash,
};
use crate::hash::{ContentDigest, SampleDigest};
use crate::scan::count_left_out;
use crate::scan::filter::Verdict;
use crate::tree::{EntryKind, Unseen};

use crate::engine::session::Session;

/// The first of the device numbers that are made up for the file systems of catalogs; the next ones are lower. The
/// kernel gives out none of 64 bits.
const FIRST_DEVICE: u64 = u64::MAX;

/// Folders on the way to a file at most, as in a search.
const DEPTH: usize = 1 << 14;

/// File systems and subvolumes of all catalogs at most: numbers of file systems have 16 bits.
const MOST_VOLUMES: usize = 10_000;

/// The files of catalogs.
#[derive(Default)]
pub struct Unplugged {
    /// What is known of the contents of the first files of the table.
    digests: RowDigests,
    /// Files of which a digest of the whole is missing. They are in no class: no read of them will end.
    pub without_digest: Vec<FileIndex>,
    /// The file systems by their numbers in the table, which are the first ones: the root, the name if it has one, and
    /// the number of the subvolume.
    volumes: Vec<(u32, Option<String>, Option<i64>)>,
}

/// What a catalog says of a content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digests {
    /// Digests of the first and of the last bytes.
    pub samples: Option<(SampleDigest, SampleDigest)>,
    /// Digest of all bytes.
    pub content: Option<ContentDigest>,
}

/// Digests of many files: 5 bytes for a file, and the digests that it has.
#[derive(Default)]
struct RowDigests {
    /// Where those of a file begin, and what they are: 1 for samples, 2 for the content.
    starts: Vec<u32>,
    kinds: Vec<u8>,
    parts: Vec<[u8; 16]>,
}

impl RowDigests {
    fn push(&mut self, digests: Digests) {
        self.starts.push(self.parts.len() as u32);
        let mut kind = 0;
        if let Some((head, tail)) = digests.samples {
            kind |= 1;
            self.parts.extend([*head.as_bytes(), *tail.as_bytes()]);
        }
        if let Some(content) = digests.content {
            kind |= 2;
            let (halves, _) = content.as_bytes().as_chunks();
            self.parts.extend(halves);
        }
        self.kinds.push(kind);
    }

    fn get(&self, at: usize) -> Option<Digests> {
        let (&start, &kind) = (self.starts.get(at)?, self.kinds.get(at)?);
        let mut parts = self.parts[start as usize..].iter().copied();
        let mut next = || parts.next().unwrap_or_default();
        let mut digests = Digests::default();
        if kind & 1 > 0 {
            let sample = SampleDigest::from_bytes;
            digests.samples = Some((sample(next()), sample(next())));
        }
        if kind & 2 > 0 {
            let mut whole = [0; 32];
            whole[..16].copy_from_slice(&next());
            whole[16..].copy_from_slice(&next());
            digests.content = Some(ContentDigest::from_bytes(whole));
        }
        Some(digests)
    }
}

impl Unplugged {
    /// What is known of a file; `None` if it is of no catalog.
    pub fn digests(&self, file: FileIndex) -> Option<Digests> {
        self.digests.get(file.0 as usize)
    }

    /// True if a file is of a catalog.
    pub fn has(&self, file: FileIndex) -> bool {
        (file.0 as usize) < self.digests.kinds.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.digests.kinds.is_empty()
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
        Ok(())
    }

    /// What a catalog says of a file, like a row of the cache; `None` if it is of no catalog.
    pub(in crate::engine::session) fn row_of_catalog(&self, file: FileIndex) -> Option<CacheRow> {
        let digests = self.unplugged.digests(file)?;
        Some(CacheRow {
            state: FileState::of(file, self.machine.file_table()),
            head: digests.samples.map(|(head, _)| head),
            tail: digests.samples.map(|(_, tail)| tail),
            content: digests.content,
            ..CacheRow::default()
        })
    }
}

/// The listing of a catalog.
struct Listing<'c> {
    root: u32,
    path: &'c Path,
    /// The folder that paths start from.
    start: &'c [u8],
    /// The folders met so far; `None` for one that is left out.
    folders: HashMap<Vec<u8>, Option<DirId>>,
    /// The number of the device of the row, and of the last folder or file that got a number of its own.
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
            folders: HashMap::new(),
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
        let mut digests = Digests {
            samples: row.head.zip(row.tail),
            content: match row.digest {
                Some(WholeDigest::Blake3(digest)) => Some(digest),
                _ => None,
            },
        };
        if size == 0 {
            digests.content = Some(ContentDigest::of_nothing());
        }
        let machine = &mut session.machine;
        let naming = if digests.content.is_some() {
            if digests.samples.is_none() {
                machine.only_whole(size);
            }
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
                session.unplugged.digests.push(digests);
                if digests.content.is_none() {
                    session.unplugged.without_digest.push(file);
                    if let Some(why) = why {
                        session.account.leave_open(file, why);
                    }
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
            session.machine.trust_numbers(number, Numbering::Unique);
            session.machine.names_count_on(number);
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
        let below = dir.strip_prefix(self.start);
        let below = below.filter(|below| matches!(below.first(), None | Some(b'/')));
        let below = below.unwrap_or(dir);
        if let Some(&known) = self.folders.get(below) {
            return Ok(known);
        }
        let mut at = Some(self.top(session));
        // The longest known way is mostly that to the folder above.
        let mut ends: Vec<usize> = Vec::new();
        let mut end = below.len();
        while end > 0 {
            if let Some(&known) = self.folders.get(&below[..end]) {
                at = known;
                break;
            }
            ends.push(end);
            let parent = below[..end].iter().rposition(|&byte| byte == b'/');
            end = parent.unwrap_or(0);
        }
        if ends.len() > DEPTH {
            return Err("a row of this catalog names more than 16,384 folders");
        }
        for end in ends.into_iter().rev() {
            let name = below[..end].rsplit(|&byte| byte == b'/').next();
            let name = name.unwrap_or_default();
            // The root of a file system is `/`.
            let is_root = name.is_empty() && end == 1;
            if !is_root && !is_name(name) {
                return Err(NO_PATH);
            }
            let depth = below[..end]
                .split(|&byte| byte == b'/')
                .filter(|part| !part.is_empty());
            let is_listed = session
                .config
                .max_depth
                .is_none_or(|most| (depth.count() as u32) < most);
            at = match at {
                Some(above) if !is_root => self.enter(session, above, name, is_listed),
                at => at,
            };
            self.folders.insert(below[..end].to_owned(), at);
        }
        Ok(at)
    }

    /// The folder that stands for the root.
    fn top(&mut self, session: &mut Session<'_>) -> DirId {
        if let Some(&Some(top)) = self.folders.get(&b""[..]) {
            return top;
        }
        let path = self.path.as_os_str().as_bytes();
        let id = self.next_folder();
        let top = session.dirs.write().add_root(path, self.root, id);
        self.folders.insert(Vec::new(), Some(top));
        top
    }

    fn enter(
        &mut self,
        session: &mut Session<'_>,
        above: DirId,
        name: &[u8],
        is_listed: bool,
    ) -> Option<DirId> {
        let verdict = match self.verdict(session, above, name, true) {
            Verdict::Keep if !is_listed => Verdict::Filtered,
            verdict => verdict,
        };
        let summary = &mut session.sets.deliverer.summary;
        if let Some(unseen) = count_left_out(&mut summary.left_out, verdict) {
            session.account.unseen(above, name, unseen);
            return None;
        }
        let mut path = Vec::new();
        let id = self.next_folder();
        let mut dirs = session.dirs.write();
        dirs.path_of(above, name, &mut path);
        let is_trash = leads_to_trash(&path);
        if is_trash && session.config.skip_trash {
            drop(dirs);
            summary.left_out.trash += 1;
            session.account.unseen(above, name, Unseen::Trash);
            return None;
        }
        summary.folders += 1;
        let dir = dirs.add(FolderPlace::Below(above, name), id, 0).ok();
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

    fn next_folder(&mut self) -> FolderId {
        FolderId {
            dev: self.device,
            ino: self.next_number(),
            mount: self.root.into(),
        }
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
