//! Which folders are the same in everything: names, structure, contents, and where symbolic links lead.

use std::collections::HashMap;

use super::seen::{Content, Seen};
use crate::tree::{EntryKind, Grouped};

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
