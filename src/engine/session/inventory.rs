//! Reads every file, not only those that may have a copy: what a catalog is made of.
//!
//! The machine holds all files back then; only names of known files are its concern. What a file still lacks is
//! requested here, in the same way through cache, scheduler and readers.

use std::mem;

use crate::cache::Row;
use crate::catalog::Form;
use crate::decide::{Unread, Want};
use crate::file::FileIndex;
use crate::hash::{ContentDigest, Digest, SampleDigest};

use super::Session;
use super::cache_answers::row_of;

/// Files up to this length are read whole instead of sampled: on a spinning disk the seek takes longer, and two samples
/// take more room than one digest and say less.
const SHORT: u64 = 32 << 10;

/// What is known of every file so far.
pub struct Inventory {
    form: Form,
    /// Files that were found since the last requests.
    found: Vec<FileIndex>,
    /// By file.
    known: Vec<Known>,
}

/// What is known of the content of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// Digest of its first bytes.
    pub head: Option<SampleDigest>,
    /// Digest of its last bytes.
    pub tail: Option<SampleDigest>,
    /// Digest of all bytes.
    pub content: Option<ContentDigest>,
    /// The start of the earlier run that read it, nanoseconds since 1970; `None` if this one does.
    pub read_ns: Option<i64>,
}

impl Known {
    /// The next read of a file of this size; `None` if nothing is lacking.
    fn lacks(&self, size: u64, form: Form) -> Option<Want> {
        let samples = match (self.head, self.tail) {
            (None, _) => Some(Want::HeadAndTail),
            (_, None) => Some(Want::Tail),
            _ => None,
        };
        match form {
            Form::Metadata | Form::List => None,
            _ if size <= SHORT => self.content.is_none().then_some(Want::Whole),
            Form::Quick => samples,
            // The tail comes next, from the page cache.
            Form::Full if self.content.is_none() && self.head.is_none() => {
                Some(Want::HeadAndContent)
            }
            Form::Full if self.content.is_none() => Some(Want::Content),
            Form::Full => samples,
        }
    }
}

impl Inventory {
    /// Of no files yet.
    pub fn new(form: Form) -> Self {
        Self {
            form,
            found: Vec::new(),
            known: Vec::new(),
        }
    }

    /// Takes the file with the next number.
    pub fn found(&mut self, size: u64) {
        self.found.push(FileIndex(self.known.len() as u32));
        let content = (size == 0).then(ContentDigest::of_nothing);
        self.known.push(Known {
            content,
            ..Known::default()
        });
    }

    /// What is known of a file.
    pub fn known(&self, file: FileIndex) -> Known {
        self.known[file.0 as usize]
    }

    /// True if nothing that is wanted of a file of this size is lacking.
    pub fn is_complete(&self, file: FileIndex, size: u64) -> bool {
        self.known(file).lacks(size, self.form).is_none()
    }
}

impl Session<'_> {
    /// Requests what the files lack that were found since the last call.
    pub fn request_inventory(&mut self) {
        let Some(inventory) = &mut self.inventory else {
            return;
        };
        let found = mem::take(&mut inventory.found);
        let answers = self.cached.cache.as_ref().is_some_and(|it| it.can_answer());
        let mut row = Row::default();
        for file in found {
            let is_known = answers && self.lookup(file, &mut row).is_some();
            if let (true, Some(inventory)) = (is_known, &mut self.inventory) {
                let size = row.state.size;
                let wanted = inventory.known(file).lacks(size, inventory.form);
                inventory.known[file.0 as usize] = Known {
                    head: row.head,
                    tail: row.tail,
                    content: row.content,
                    read_ns: Some(row.began_ns),
                };
                if let Some(wanted) = wanted.filter(|_| inventory.is_complete(file, size)) {
                    self.cached.spared.add(Unread {
                        files: 1,
                        bytes: wanted.bytes(size),
                    });
                }
            }
            self.ask_for_rest(file);
        }
    }

    /// Takes the digests of a file that was read.
    pub fn inventoried(&mut self, file: FileIndex, want: Want, digests: [Option<Digest>; 2]) {
        let read = row_of(want, digests);
        if let Some(inventory) = &mut self.inventory {
            let known = &mut inventory.known[file.0 as usize];
            known.head = known.head.or(read.head);
            known.tail = known.tail.or(read.tail);
            known.content = known.content.or(read.content);
        }
        self.ask_for_rest(file);
    }

    fn ask_for_rest(&mut self, file: FileIndex) {
        let size = self.machine.file_table().size(file);
        let inventory = self.inventory.as_ref().filter(|_| !self.reading_ended);
        let lacks = inventory.and_then(|it| it.known(file).lacks(size, it.form));
        if let Some(want) = lacks {
            self.ask(file, want);
        }
    }
}
