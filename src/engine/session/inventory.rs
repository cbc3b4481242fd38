//! Reads what is needed of every file, not only of those that may have a copy: what a catalog is made of.
//!
//! The machine holds all files back then; only names of known files are its concern. What a file still lacks is
//! requested here, in the same way through cache, scheduler and readers.

use std::mem;

use crate::cache::{FileState, Row, is_settled};
use crate::catalog::{Form, Kind, Known, Need, Needs, Row as CatalogRow, SHORT};
use crate::decide::{Unread, Want};
use crate::event::Amount;
use crate::file::FileIndex;
use crate::hash::{ContentDigest, Digest};

use super::Session;
use super::cache_answers::row_of;
use super::places::Places;

/// What is needed and known of every file so far.
pub struct Inventory<'n> {
    /// `None` once all files were found and asked about.
    needs: Option<&'n mut Needs>,
    form: Form,
    /// Files that were found since the last requests.
    found: Vec<FileIndex>,
    /// Files that are read after those that are wanted.
    later: Vec<FileIndex>,
    /// By file.
    files: Vec<File>,
    /// What was read of the files that are wanted, and of others.
    pub read: [Amount; 2],
}

/// A file, and what is needed of it.
#[derive(Clone, Copy, Debug, Default)]
struct File {
    need: Need,
    /// In this run.
    is_read: bool,
}

impl File {
    /// The next read of a file of this size; `None` if nothing is lacking.
    fn lacks(&self, size: u64) -> Option<Want> {
        let known = self.need.known;
        let samples = match (known.head, known.tail) {
            (None, _) => Some(Want::HeadAndTail),
            (_, None) => Some(Want::Tail),
            _ => None,
        };
        match self.need.form {
            Form::Metadata | Form::List => None,
            _ if size <= SHORT => known.content.is_none().then_some(Want::Whole),
            Form::Quick => samples,
            // The tail comes next, from the page cache.
            Form::Full if known.content.is_none() && known.head.is_none() => {
                Some(Want::HeadAndContent)
            }
            Form::Full if known.content.is_none() => Some(Want::Content),
            Form::Full => samples,
        }
    }

    /// Adds what another source knows of it.
    fn learn(&mut self, more: &Known) {
        let known = &mut self.need.known;
        known.head = known.head.or(more.head);
        known.tail = known.tail.or(more.tail);
        known.content = known.content.or(more.content);
        let read_ns = [known.read_ns, more.read_ns].into_iter().flatten().min();
        known.read_ns = read_ns;
    }
}

impl<'n> Inventory<'n> {
    /// Of no files yet.
    pub fn new(needs: &'n mut Needs) -> Self {
        let of_all = needs.of_all();
        Self {
            needs: of_all.is_none().then_some(needs),
            form: of_all.unwrap_or_default(),
            found: Vec::new(),
            later: Vec::new(),
            files: Vec::new(),
            read: Default::default(),
        }
    }

    /// Takes the file with the next number.
    pub fn found(&mut self, size: u64) {
        self.found.push(FileIndex(self.files.len() as u32));
        let mut file = File::default();
        file.need.form = self.form;
        file.need.known.content = (size == 0).then(ContentDigest::of_nothing);
        self.files.push(file);
    }

    /// What is known of a file.
    pub fn known(&self, file: FileIndex) -> Known {
        self.files[file.0 as usize].need.known
    }

    /// True if nothing that is needed of a file of this size is lacking.
    pub fn is_complete(&self, file: FileIndex, size: u64) -> bool {
        self.files[file.0 as usize].lacks(size).is_none()
    }
}

impl Session<'_> {
    /// Requests what the files lack that were found since the last call. If there is an earlier catalog, that is after
    /// all names were found; those that are wanted come first, and the others when these are read.
    pub fn request_inventory(&mut self) {
        let Some(inventory) = &mut self.inventory else {
            return;
        };
        if !self.arrivals.scan_done && inventory.needs.is_some() {
            return;
        }
        let found = mem::take(&mut inventory.found);
        let found = match inventory.needs.take() {
            Some(needs) => self.look_up_needs(needs, found),
            None => {
                self.recall(&found);
                found
            }
        };
        found.into_iter().for_each(|file| self.ask_for_rest(file));
        if self.arrivals.scan_done && self.reads.scheduler.is_idle() {
            let later = |it: &mut Inventory<'_>| mem::take(&mut it.later);
            let later = self.inventory.as_mut().map(later).unwrap_or_default();
            later.into_iter().for_each(|file| self.ask_for_rest(file));
        }
    }

    /// Asks what is needed of all files, under each of their names, and tells how much is to be read. Returns those that
    /// are wanted; the others come later.
    fn look_up_needs(&mut self, needs: &mut Needs, found: Vec<FileIndex>) -> Vec<FileIndex> {
        let Some(mut inventory) = self.inventory.take() else {
            return found;
        };
        let mut places = Places::look();
        let file_table = self.machine.file_table();
        let (mut wanted, mut later) = (Vec::new(), Vec::new());
        for file in found {
            let state = FileState::of(file, file_table);
            let it = &mut inventory.files[file.0 as usize];
            for (dir, name) in file_table.names(file) {
                let (path, title) = places.of(self, dir);
                let need = needs.of(&CatalogRow {
                    volume: title.volume.as_deref(),
                    subvolume: title.subvolume,
                    kind: Kind::File,
                    dir: path,
                    name,
                    size: i64::try_from(state.size).ok(),
                    mtime_ns: Some(state.mtime_ns),
                    ctime_ns: Some(state.ctime_ns),
                    inode: Some(file_table.ino(file).cast_signed()),
                    ..CatalogRow::default()
                });
                it.need.form = it.need.form.max(need.form);
                it.need.is_wanted |= need.is_wanted;
                let began_ns = need.known.read_ns;
                // A change after the read would have left another state.
                if began_ns.is_some_and(|began_ns| is_settled(&state, began_ns)) {
                    it.learn(&need.known);
                }
            }
            let these = if it.need.is_wanted {
                &mut wanted
            } else {
                &mut later
            };
            these.push(file);
        }
        needs.forget();
        self.inventory = Some(inventory);
        self.recall(&wanted);
        self.recall(&later);
        self.observer
            .to_read(self.to_read(&wanted), self.to_read(&later));
        if let Some(inventory) = &mut self.inventory {
            inventory.later = later;
        }
        wanted
    }

    /// What has to be read of these files.
    fn to_read(&self, files: &[FileIndex]) -> Amount {
        let mut amount = Amount::default();
        for &file in files {
            if let Some(want) = self.lacks(file) {
                amount.add(want.bytes(self.machine.file_table().size(file)));
            }
        }
        amount
    }

    /// Looks up what the cache knows of files.
    fn recall(&mut self, files: &[FileIndex]) {
        let answers = self.cached.cache.as_ref().is_some_and(|it| it.can_answer());
        let mut row = Row::default();
        for &file in files {
            let is_known = answers && self.lookup(file, &mut row).is_some();
            if let (true, Some(inventory)) = (is_known, &mut self.inventory) {
                let size = row.state.size;
                let it = &mut inventory.files[file.0 as usize];
                let wanted = it.lacks(size);
                it.learn(&Known {
                    head: row.head,
                    tail: row.tail,
                    content: row.content,
                    read_ns: Some(row.began_ns),
                });
                if let Some(wanted) = wanted.filter(|_| it.lacks(size).is_none()) {
                    self.cached.spared.add(Unread {
                        files: 1,
                        bytes: wanted.bytes(size),
                    });
                }
            }
        }
    }

    /// Takes the digests of a file that was read.
    pub fn inventoried(&mut self, file: FileIndex, want: Want, digests: [Option<Digest>; 2]) {
        let size = self.machine.file_table().size(file);
        let read = row_of(want, digests);
        if let Some(inventory) = &mut self.inventory {
            let it = &mut inventory.files[file.0 as usize];
            it.learn(&Known {
                head: read.head,
                tail: read.tail,
                content: read.content,
                read_ns: None,
            });
            let sum = &mut inventory.read[usize::from(!it.need.is_wanted)];
            sum.files += u64::from(!mem::replace(&mut it.is_read, true));
            sum.bytes = sum.bytes.saturating_add(want.bytes(size));
        }
        self.ask_for_rest(file);
    }

    fn ask_for_rest(&mut self, file: FileIndex) {
        if let Some(want) = self.lacks(file).filter(|_| !self.reading_ended) {
            self.ask(file, want);
        }
    }

    fn lacks(&self, file: FileIndex) -> Option<Want> {
        let size = self.machine.file_table().size(file);
        let inventory = self.inventory.as_ref()?;
        inventory.files[file.0 as usize].lacks(size)
    }
}
