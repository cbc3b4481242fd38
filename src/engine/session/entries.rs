//! Every entry that a run saw or missed, in the order of their paths, as rows of a catalog.

use std::io;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::SystemTime;

use rustix::io::Errno;

use super::Session;
use super::begin::{Error, begin};
use super::inventory::Inventory;
use super::places::Places;
use crate::catalog::{Kind, Needs, Row, WholeDigest};
use crate::decide::{Copies, Summary};
use crate::engine::config::Config;
use crate::engine::deliver::Delivery;
use crate::engine::progress::Control;
use crate::event::{Amount, Observer};
use crate::file::{DirId, FileIndex, FileTable};
use crate::sys::attributes::{self, Attributes};
use crate::sys::stat::Stat;
use crate::tree::{EntryKind, Scope, Unseen};
use crate::units::nanoseconds;

/// Reads what is needed of all files below the roots, and lets `take` have every entry at the end. Symbolic links are entries and
/// are not followed; the settings for sets have no effect.
///
/// # Errors
/// Those of `take`, and limits of the process that leave too little to work with. Problems with single files go to the
/// observer, and are in the rows.
pub fn inventory<T>(
    config: &Config,
    needs: &mut Needs,
    observer: &dyn Observer,
    control: &Control,
    take: impl FnOnce(&mut Entries<'_, '_>) -> io::Result<T>,
) -> Result<(T, Summary), Error> {
    let config = Config {
        every_entry: true,
        isolate: false,
        skip_trash: false,
        // No number of copies matters, so the machine requests nothing.
        copies: Copies::at_least(u64::MAX),
        newer_ns: None,
        hard_links: false,
        follow_links: false,
        verify: false,
        digests: true,
        ..config.clone()
    };
    let mut nobody = |_: &_| Ok(());
    let mut session = begin(&config, Delivery::AsFinal, observer, control, &mut nobody)?;
    session.inventory = Some(Inventory::new(needs));
    session.drive()?;
    session.check_folders(Scope::AllFiles);
    let mut entries = Entries {
        session: &mut session,
        places: Places::look(),
    };
    let taken = take(&mut entries);
    let summary = session.close();
    Ok((taken?, summary))
}

/// The entries of a run that is over.
pub struct Entries<'s, 'c> {
    session: &'s mut Session<'c>,
    places: Places,
}

/// An entry of a folder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Entry {
    File(FileIndex),
    Other(u32),
    /// The folder itself, without entries.
    Empty,
}

impl Entries<'_, '_> {
    /// Where the roots lead: the absolute path, the name of the file system if it has one, and the path there. File
    /// systems that are mounted below the roots are roots of their own, if they have a name.
    pub fn roots(&self) -> Vec<(PathBuf, Option<String>, Vec<u8>)> {
        let roots = self.session.config.roots.iter();
        let mut roots: Vec<_> = roots.map(|root| self.places.of_root(&root.path)).collect();
        for top in self.tops() {
            let top = self.places.of_root(&self.session.path_of(top, b""));
            if top.1.is_some() && roots.iter().all(|(_, volume, _)| *volume != top.1) {
                roots.push(top);
            }
        }
        roots
    }

    /// Folders that something is mounted on.
    fn tops(&self) -> Vec<DirId> {
        let dirs = self.session.dirs.read();
        let folders = (0..dirs.len() as u32).map(DirId);
        let tops = folders.filter(|&dir| {
            let is_beyond = |above| {
                dirs.identity(dir).0 != dirs.identity(above).0
                    && (dirs.mount(dir) == 0 || dirs.mount(dir) != dirs.mount(above))
            };
            dirs.parent(dir).is_some_and(is_beyond)
        });
        tops.collect()
    }

    /// What was read of the files that are wanted, and of others.
    pub fn read(&self) -> [Amount; 2] {
        let inventory = self.session.inventory.as_ref();
        inventory.map(|it| it.read).unwrap_or_default()
    }

    /// Hands over a row for each name, each other entry, each empty folder, and each root that was not seen. Looks at
    /// each name once more: its row is of one moment, or says that it changed.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn each(&mut self, take: &mut dyn FnMut(&Row<'_>) -> io::Result<()>) -> io::Result<()> {
        let machine = mem::take(&mut self.session.machine);
        let others = mem::take(&mut self.session.account.others);
        let file_table = machine.file_table();
        self.root_gaps(take)?;
        let (order, ranks) = self.folders();
        let rank = |dir: DirId| ranks[dir.0 as usize];
        let mut names: Vec<(u32, &[u8], Entry)> = Vec::new();
        for file in (0..file_table.len() as u32).map(FileIndex) {
            let of_file = file_table.names(file);
            names.extend(of_file.map(|(dir, name)| (rank(dir), name, Entry::File(file))));
        }
        for (at, other) in (0..).zip(&others) {
            names.push((rank(other.dir), &other.name, Entry::Other(at)));
        }
        let empty = self.empty_folders(&names, &ranks);
        names.extend(empty.map(|rank| (rank, &b""[..], Entry::Empty)));
        names.sort_unstable();
        let mut places = mem::replace(&mut self.places, Places::look());
        for names in names.chunk_by(|one, other| one.0 == other.0) {
            let dir = order[names[0].0 as usize];
            let (path, title) = places.of(self.session, dir);
            let seen_ns = nanoseconds(SystemTime::now());
            for &(_, name, entry) in names {
                let mut row = Row {
                    volume: title.volume.as_deref(),
                    subvolume: title.subvolume,
                    dir: path,
                    name,
                    verified_ns: Some(seen_ns),
                    ..Row::default()
                };
                match entry {
                    Entry::File(file) => self.file(&mut row, file, dir, file_table),
                    Entry::Other(at) => self.other(&mut row, dir, &others[at as usize].kind),
                    Entry::Empty => row.kind = Kind::Folder,
                }
                take(&row)?;
            }
        }
        Ok(())
    }

    /// A row for each reason why a root, or all of them, could not be seen.
    fn root_gaps(&self, take: &mut dyn FnMut(&Row<'_>) -> io::Result<()>) -> io::Result<()> {
        let session = &*self.session;
        let roots = &session.config.roots;
        let all = (0..roots.len() as u32).filter(|_| session.arrivals.listing_ended);
        let all = all.map(|root| (root, Unseen::MemoryShort));
        for (at, unseen) in session.account.roots.iter().copied().chain(all) {
            let path = std::path::absolute(&roots[at as usize].path).unwrap_or_default();
            take(&Row {
                dir: path.as_os_str().as_bytes(),
                error: Some(unseen.words()),
                ..Row::default()
            })?;
        }
        Ok(())
    }

    /// The folders in the order of their paths, and the place of each in it.
    fn folders(&self) -> (Vec<DirId>, Vec<u32>) {
        let dirs = self.session.dirs.read();
        let mut order: Vec<DirId> = (0..dirs.len() as u32).map(DirId).collect();
        order.sort_unstable_by(|&one, &other| dirs.compare(one, other).then(one.cmp(&other)));
        let mut ranks = vec![0; order.len()];
        for (rank, dir) in (0..).zip(&order) {
            ranks[dir.0 as usize] = rank;
        }
        (order, ranks)
    }

    /// The folders in which nothing is.
    fn empty_folders(
        &self,
        names: &[(u32, &[u8], Entry)],
        ranks: &[u32],
    ) -> impl Iterator<Item = u32> + use<> {
        let dirs = self.session.dirs.read();
        let mut is_empty = vec![true; ranks.len()];
        for (rank, ..) in names {
            is_empty[*rank as usize] = false;
        }
        for dir in (0..dirs.len() as u32).map(DirId) {
            if let Some(parent) = dirs.parent(dir) {
                is_empty[ranks[parent.0 as usize] as usize] = false;
            }
        }
        (0..)
            .zip(is_empty)
            .filter(|(_, is_empty)| *is_empty)
            .map(|(rank, _)| rank)
    }

    fn file(&mut self, row: &mut Row<'_>, file: FileIndex, dir: DirId, file_table: &FileTable) {
        row.kind = Kind::File;
        let looked = if self.session.is_silent(dir) {
            Err(Unseen::Unanswered)
        } else {
            match self.look(dir, row.name) {
                Ok((now, attributes)) if file_table.is_met_by(file, &now) => Ok((now, attributes)),
                gone => {
                    let error = gone.err().unwrap_or(Errno::STALE);
                    Err(self.session.lost(dir, row.name, error))
                }
            }
        };
        match looked {
            Ok((now, attributes)) => {
                describe(row, &now, &attributes);
                let size = file_table.size(file);
                row.size = signed(size);
                let Some(inventory) = &self.session.inventory else {
                    return;
                };
                let known = inventory.known(file);
                (row.head, row.tail) = (known.head, known.tail);
                row.digest = known.content.map(WholeDigest::Blake3);
                if known.head.is_some() || known.content.is_some() {
                    row.read_ns = known.read_ns.or(Some(self.session.names.began_ns()));
                }
                if !inventory.is_complete(file, size) {
                    let failed = self.session.account.failed.get(&file);
                    row.error = Some(failed.map_or(Unseen::MemoryShort, |it| *it).words());
                }
            }
            // The state in which it was found.
            Err(unseen) => {
                let before = file_table.fingerprint(file);
                row.size = signed(before.size);
                (row.mtime_ns, row.ctime_ns) = (Some(before.mtime_ns), Some(before.ctime_ns));
                row.verified_ns = None;
                row.error = Some(unseen.words());
            }
        }
    }

    fn other<'o>(&mut self, row: &mut Row<'o>, dir: DirId, kind: &'o EntryKind) {
        row.kind = kind.into();
        match kind {
            EntryKind::Unseen(unseen) => {
                row.error = Some(unseen.words());
                row.verified_ns = None;
                return;
            }
            EntryKind::Link(target) => row.target = Some(target),
            EntryKind::Special(_) => {}
        }
        if !self.session.is_silent(dir)
            && let Ok((now, attributes)) = self.look(dir, row.name)
        {
            describe(row, &now, &attributes);
        }
    }

    fn look(&mut self, dir: DirId, name: &[u8]) -> rustix::io::Result<(Stat, Attributes)> {
        self.session
            .look_at(dir, name, |folder, name| attributes::entry(folder, name))
    }
}

fn describe(row: &mut Row<'_>, now: &Stat, attributes: &Attributes) {
    row.allocated = signed(now.blocks.saturating_mul(512));
    (row.mtime_ns, row.ctime_ns) = (Some(now.mtime_ns), Some(now.ctime_ns));
    row.inode = Some(now.ino.cast_signed());
    row.links = Some(now.links.into());
    row.mode = Some(attributes.mode.into());
    (row.uid, row.gid) = (Some(attributes.uid.into()), Some(attributes.gid.into()));
}

fn signed(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}
