//! Which folders are the same in everything: names, structure, contents, and where symbolic links lead.

use hashbrown::HashTable;

use super::tree::{Folder, Tree};
use crate::tree::Grouped;

/// Names that a [`Tree`] does not hold.
pub trait Names {
    /// The name of a folder.
    fn folder(&self, folder: Folder) -> &[u8];

    /// The name of a file, by its place in the list that the tree was made of.
    fn file(&self, file: usize) -> &[u8];

    /// Hands over the name and the target of each symbolic link in a folder.
    fn links(&self, folder: Folder, each: &mut dyn FnMut(&[u8], &[u8]));

    /// True if the bytes of a file below a folder are free once all its names there are gone. Of several names there, only
    /// one says so.
    fn frees(&self, file: usize, folder: Folder) -> bool;
}

/// Of a folder of which something is not known: it is the same as no other.
const UNKNOWN: u32 = u32::MAX;

/// A number for each folder; equal numbers mean equal folders.
#[derive(Debug)]
pub struct Forms {
    of: Vec<u32>,
    folders: Grouped,
}

/// An entry of a folder: its kind, and what tells it from others of that kind.
enum EntryForm<'a> {
    Folder(u32),
    File(u32),
    Link(&'a [u8]),
}

impl Forms {
    /// Compares all folders, from the leaves up: BLAKE3 over the sorted entries of each, with the number of the form
    /// for a folder within.
    pub fn of(tree: &Tree, names: &impl Names) -> Self {
        let mut of = vec![UNKNOWN; tree.len()];
        let mut digests: Vec<blake3::Hash> = Vec::new();
        let mut known: HashTable<u32> = HashTable::new();
        let mut entries = Vec::new();
        for folder in tree.folders().rev() {
            if tree.unanswered(folder) > 0 {
                continue;
            }
            let digest = digest(tree, names, folder, &of, &mut entries);
            let hash = first_bytes(&digest);
            let same = known.find(hash, |&form| digests[form as usize] == digest);
            of[folder.at()] = match same {
                Some(&form) => form,
                None => {
                    let form = digests.len() as u32;
                    digests.push(digest);
                    known.insert_unique(hash, form, |&form| first_bytes(&digests[form as usize]));
                    form
                }
            };
        }
        let known = (0..).zip(&of).filter(|&(_, &form)| form != UNKNOWN);
        let by_form = known.map(|(folder, &form)| (form, folder));
        let folders = Grouped::of(digests.len(), by_form);
        Self { of, folders }
    }

    /// The number of a folder's form, if all of it is known.
    pub fn number(&self, folder: Folder) -> Option<u32> {
        let form = self.of[folder.at()];
        (form != UNKNOWN).then_some(form)
    }

    /// All folders that are the same as this one, in order, with itself; none if something of it is not known.
    pub fn same_as(&self, folder: Folder) -> impl ExactSizeIterator<Item = Folder> {
        let same = self.number(folder).map(|form| self.folders.get(form));
        same.unwrap_or_default()
            .iter()
            .map(|&folder| Folder(folder))
    }
}

fn first_bytes(digest: &blake3::Hash) -> u64 {
    let bytes = digest.as_bytes();
    u64::from_le_bytes(bytes[..8].try_into().expect("8 of 32 bytes"))
}

/// Digests the entries of a folder. `bytes` is only kept for its memory.
fn digest(
    tree: &Tree,
    names: &impl Names,
    folder: Folder,
    forms: &[u32],
    bytes: &mut Vec<u8>,
) -> blake3::Hash {
    bytes.clear();
    let mut spans: Vec<(usize, usize, usize)> = Vec::new();
    let mut add = |name: &[u8], kind: EntryForm<'_>| {
        let start = bytes.len();
        bytes.extend((name.len() as u64).to_le_bytes());
        bytes.extend_from_slice(name);
        match kind {
            EntryForm::Folder(form) => {
                bytes.push(0);
                bytes.extend(form.to_le_bytes());
            }
            EntryForm::File(content) => {
                bytes.push(1);
                bytes.extend(content.to_le_bytes());
            }
            EntryForm::Link(target) => {
                bytes.push(2);
                bytes.extend((target.len() as u64).to_le_bytes());
                bytes.extend_from_slice(target);
            }
        }
        spans.push((start + 8, start + 8 + name.len(), bytes.len()));
    };
    for child in tree.children(folder) {
        add(names.folder(child), EntryForm::Folder(forms[child.at()]));
    }
    for file in tree.files_in(folder) {
        add(names.file(file), EntryForm::File(tree.content(file).0));
    }
    names.links(folder, &mut |name, target| {
        add(name, EntryForm::Link(target))
    });
    spans.sort_unstable_by(|a, b| bytes[a.0..a.1].cmp(&bytes[b.0..b.1]));
    let mut hasher = blake3::Hasher::new();
    for (name, _, end) in spans {
        hasher.update(&bytes[name - 8..end]);
    }
    hasher.finalize()
}
