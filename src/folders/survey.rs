//! A tree with all that the search for verdicts asks again and again: how much each folder holds, how much of it lies
//! nowhere else, and which folders are the same.

use std::collections::HashMap;

use super::seen::{Content, Seen};
use super::verdict::FolderVerdict;
use crate::tree::{EntryKind, Grouped};

/// A share of bytes, from 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percent(pub u8);

impl Percent {
    /// True if a part is at least this much of all.
    pub fn is_met(self, part: u64, all: u64) -> bool {
        u128::from(part) * 100 >= u128::from(all) * u128::from(self.0)
    }
}

/// The requested verdicts.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Folders of fewer bytes are passed over, with all below them.
    pub min_bytes: u64,
    /// How much of a folder has to be in another one.
    pub min_overlap: Percent,
}

/// A folder of which something can be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The folder.
    pub folder: u32,
    /// The verdict.
    pub verdict: FolderVerdict,
}

/// The tree, its counts, and the question.
pub struct Survey<'s> {
    pub seen: &'s Seen<'s>,
    pub tallies: Tallies,
    pub forms: Forms,
    pub wanted: &'s Wanted,
}

impl Survey<'_> {
    /// True if a folder is too small to get a line, and so are all in it.
    pub fn is_small(&self, folder: u32) -> bool {
        let tally = self.tallies.get(folder);
        tally.contents == 0 || tally.total_bytes < self.wanted.min_bytes
    }
}

/// The counts of everything below a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Contents, each counted once.
    pub contents: u32,
    /// Bytes of the contents, each counted once.
    pub bytes: u64,
    /// Bytes of those contents of which all copies lie below this folder.
    pub only_here_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
}

impl Tally {
    /// Numbers may pass below zero on the way; the sums never do.
    fn add(&mut self, other: Self) {
        self.contents = self.contents.wrapping_add(other.contents);
        self.bytes = self.bytes.wrapping_add(other.bytes);
        self.only_here_bytes = self.only_here_bytes.wrapping_add(other.only_here_bytes);
        self.total_bytes = self.total_bytes.wrapping_add(other.total_bytes);
    }
}

/// The tally of every folder.
#[derive(Debug)]
pub struct Tallies(Vec<Tally>);

impl Tallies {
    /// Counts.
    pub fn of(seen: &Seen<'_>) -> Self {
        let run = seen.run();
        let mut tallies = vec![Tally::default(); run.folder_count() as usize];
        for content in seen.all_contents() {
            count(seen, content, &mut tallies);
        }
        for folder in (0..run.folder_count()).rev() {
            if let Some(parent) = run.parent(folder) {
                let below = tallies[folder as usize];
                tallies[parent as usize].add(below);
            }
        }
        Self(tallies)
    }

    /// The counts of everything below one folder.
    pub fn get(&self, folder: u32) -> Tally {
        self.0[folder as usize]
    }
}

/// Adds one for each copy, and takes one away where two neighbouring copies meet: so each folder above them counts one.
fn count(seen: &Seen<'_>, content: Content, tallies: &mut [Tally]) {
    let (run, copies, size) = (seen.run(), seen.copies(content), seen.size(content));
    for &at in copies {
        let tally = &mut tallies[at as usize];
        tally.contents = tally.contents.wrapping_add(1);
        tally.bytes = tally.bytes.wrapping_add(size);
        tally.total_bytes = tally.total_bytes.wrapping_add(size);
    }
    for pair in copies.windows(2) {
        if let Some(meeting) = run.common(pair[0], pair[1]) {
            let tally = &mut tallies[meeting as usize];
            tally.contents = tally.contents.wrapping_sub(1);
            tally.bytes = tally.bytes.wrapping_sub(size);
        }
    }
    if let (Some(&first), Some(&last)) = (copies.first(), copies.last())
        && let Some(home) = run.common(first, last)
    {
        let bytes = &mut tallies[home as usize].only_here_bytes;
        *bytes = bytes.wrapping_add(size);
    }
}

/// Of a folder of which something is not known: it is the same as no other.
const UNKNOWN: u32 = u32::MAX;

/// A number for each folder; equal numbers mean equal folders.
#[derive(Debug)]
pub struct Forms {
    of: Vec<u32>,
    folders: Grouped,
}

/// What an entry of a folder is, besides its name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum EntryForm<'a> {
    Folder(u32),
    File(Content),
    Link(&'a [u8]),
}

impl Forms {
    /// Compares all folders, from the leaves up: BLAKE3 over the sorted entries of each, with the number of the form
    /// for a folder within.
    pub fn of(seen: &Seen<'_>) -> Self {
        let count = seen.run().folder_count();
        let mut of = vec![UNKNOWN; count as usize];
        let mut known: HashMap<blake3::Hash, u32> = HashMap::new();
        for folder in (0..count).rev().filter(|&folder| seen.is_whole(folder)) {
            let new = known.len() as u32;
            let form = known.entry(digest(seen, folder, &of)).or_insert(new);
            of[folder as usize] = *form;
        }
        let numbered = (0..).zip(&of).filter(|&(_, &form)| form != UNKNOWN);
        let by_form = numbered.map(|(folder, &form)| (form, folder));
        let folders = Grouped::of(known.len(), by_form);
        Self { of, folders }
    }

    /// All folders that are the same as this one, in order, with itself; none if something of it is not known.
    pub fn same_as(&self, folder: u32) -> &[u32] {
        match self.of[folder as usize] {
            UNKNOWN => &[],
            form => self.folders.get(form),
        }
    }
}

fn digest(seen: &Seen<'_>, folder: u32, forms: &[u32]) -> blake3::Hash {
    let run = seen.run();
    let children = run.children(folder);
    let folders = children.map(|at| (run.folder_name(at), EntryForm::Folder(forms[at as usize])));
    let files = seen.files_in(folder);
    let files = files.map(|file| (seen.name(file), EntryForm::File(seen.content(file))));
    let links = run.others_in(folder).filter_map(|other| match other.kind {
        EntryKind::Link(target) => Some((other.name, EntryForm::Link(target))),
        _ => None,
    });
    let mut entries: Vec<(&[u8], EntryForm<'_>)> = folders.chain(files).chain(links).collect();
    entries.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for (name, form) in entries {
        let number;
        let (kind, value) = match form {
            EntryForm::Folder(form) => {
                number = form.to_le_bytes();
                (0, &number[..])
            }
            EntryForm::File(Content(content)) => {
                number = content.to_le_bytes();
                (1, &number[..])
            }
            EntryForm::Link(target) => (2, target),
        };
        for part in [name, &[kind], value] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    hasher.finalize()
}
