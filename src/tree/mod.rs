//! The tree that a run saw: every folder, every name, the class of every file, and the entries that were not seen.
//!
//! It is made once, by [`crate::engine::classify`], and asks no disk again. Folders stand in preorder: by root, and
//! within a folder by name. Entries, files and sets are numbered in that order, so the same folders always give the
//! same tree.

mod build;
mod entry;

use std::collections::HashMap;
use std::ops::Range;

pub use build::{Draft, DraftFile};
pub use entry::{EntryKind, Metadata, Special, Unseen};

/// The class of the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// It equals that of the other files of this set, which has two files at least.
    Set(u32),
    /// No other file has it, as far as files were answered; see [`Scope`].
    Alone,
    /// It is not known.
    Unanswered(Unseen),
}

/// Between which files equality is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Between all files.
    AllFiles,
    /// Between files below different roots. A file that is [`Class::Alone`] then has no equal below another root, but
    /// it may have one below its own: that was not read.
    AcrossRoots,
}

/// A place that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The path as it was given.
    pub path: Vec<u8>,
    /// The entry found there.
    pub place: RootPlace,
    /// It is where something is mounted: the root of a file system, or of a part of one.
    pub is_mount_root: bool,
}

/// The type of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootPlace {
    /// A folder, by its number.
    Folder(u32),
    /// A file, by the number of its name.
    File(u32),
    /// Neither; the tree says why.
    Nothing,
}

/// Where the bytes of a volume lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disks {
    /// On these physical disks.
    Known(Vec<String>),
    /// In memory.
    Memory,
    /// On another machine.
    Remote,
    /// Not known.
    Unknown,
}

/// An entry that is neither a file nor a folder of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other<'t> {
    /// The folder that it lies in.
    pub folder: u32,
    /// Its name; empty if the folder itself is meant.
    pub name: &'t [u8],
    /// Its metadata.
    pub kind: &'t EntryKind,
}

/// Everything that a run saw, in columns. Numbers of folders, names and files are places in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    roots: Vec<Root>,
    /// A root that could not be seen as a whole.
    root_gaps: Vec<(u32, Unseen)>,
    folders: Folders,
    /// Where the names of each folder lie.
    name_places: Starts,
    names: Texts,
    name_files: Vec<u32>,
    files: Files,
    others: Others,
    disks: Vec<Disks>,
    sets: u32,
    /// By file, where it was asked for.
    metadata: Option<HashMap<u32, Metadata>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Folders {
    /// A root's is its own number.
    parents: Vec<u32>,
    /// The folder after the last one below.
    ends: Vec<u32>,
    roots: Vec<u32>,
    names: Texts,
    /// Trash folders with all below them: places that do not overlap, in order.
    trash: Vec<Range<u32>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Files {
    sizes: Vec<u64>,
    classes: Vec<Class>,
    volumes: Vec<u16>,
    links: Vec<u32>,
    unidentified: Vec<bool>,
    names: Grouped,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Others {
    /// Where those of each folder lie.
    places: Starts,
    names: Texts,
    kinds: Vec<EntryKind>,
}

impl Tree {
    /// The roots, in the order in which they were given.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The roots that could not be seen as a whole.
    pub fn root_gaps(&self) -> &[(u32, Unseen)] {
        &self.root_gaps
    }

    /// How many folders there are.
    pub fn folder_count(&self) -> u32 {
        self.folders.parents.len() as u32
    }

    /// The folder that holds this one; none of a root.
    pub fn parent(&self, folder: u32) -> Option<u32> {
        let parent = self.folders.parents[folder as usize];
        (parent != folder).then_some(parent)
    }

    /// The folder itself and all below it.
    pub fn below(&self, folder: u32) -> Range<u32> {
        folder..self.folders.ends[folder as usize]
    }

    /// True if `above` is `below` itself or holds it.
    pub fn holds(&self, above: u32, below: u32) -> bool {
        self.below(above).contains(&below)
    }

    /// The lowest folder that holds both, of which the first has the lower number; none below two roots.
    pub fn common(&self, first: u32, last: u32) -> Option<u32> {
        self.upwards(first).find(|&above| self.holds(above, last))
    }

    /// The folder itself and all that hold it, the lowest first.
    pub fn upwards(&self, folder: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(folder), |&at| self.parent(at))
    }

    /// The root below which a folder lies.
    pub fn root_of(&self, folder: u32) -> u32 {
        self.folders.roots[folder as usize]
    }

    /// A folder's own name. A root's is the path that was given, or for a file that was given that of its folder.
    pub fn folder_name(&self, folder: u32) -> &[u8] {
        self.folders.names.get(folder as usize)
    }

    /// True if a folder lies in a trash folder below its root, or is one.
    pub fn is_in_trash(&self, folder: u32) -> bool {
        let after = self
            .folders
            .trash
            .partition_point(|trash| trash.start <= folder);
        after > 0 && self.folders.trash[after - 1].contains(&folder)
    }

    /// Number of trash folders that were not entered.
    pub fn skipped_trash(&self) -> u64 {
        let kinds = self.others.kinds.iter();
        let skipped = kinds.filter(|&kind| *kind == EntryKind::Unseen(Unseen::Trash));
        skipped.count() as u64
    }

    /// The folders right below one, in the order of their names.
    pub fn children(&self, folder: u32) -> impl Iterator<Item = u32> {
        let Range { start, end } = self.below(folder);
        let mut next = start + 1;
        std::iter::from_fn(move || {
            let child = next;
            (child < end).then(|| {
                next = self.folders.ends[child as usize];
                child
            })
        })
    }

    /// The names of files in a folder.
    pub fn names_in(&self, folder: u32) -> Range<u32> {
        self.name_places.range(folder)
    }

    /// The names of files in a folder and below it.
    pub fn names_below(&self, folder: u32) -> Range<u32> {
        let Range { start, end } = self.below(folder);
        self.names_in(start).start..self.names_in(end - 1).end
    }

    /// The folder of a name.
    pub fn folder_of(&self, name: u32) -> u32 {
        self.name_places.owner_of(name)
    }

    /// The bytes of a name.
    pub fn name(&self, name: u32) -> &[u8] {
        self.names.get(name as usize)
    }

    /// The file that a name leads to.
    pub fn file_of(&self, name: u32) -> u32 {
        self.name_files[name as usize]
    }

    /// How many names of files there are.
    pub fn name_count(&self) -> u32 {
        self.name_files.len() as u32
    }

    /// How many files (inodes) there are.
    pub fn file_count(&self) -> u32 {
        self.files.sizes.len() as u32
    }

    /// How many sets there are.
    pub fn set_count(&self) -> u32 {
        self.sets
    }

    /// Length of a file, bytes.
    pub fn size(&self, file: u32) -> u64 {
        self.files.sizes[file as usize]
    }

    /// The class of the content of a file.
    pub fn class(&self, file: u32) -> Class {
        self.files.classes[file as usize]
    }

    /// Names (hard links) of a file, inside and outside the roots.
    pub fn links(&self, file: u32) -> u32 {
        self.files.links[file as usize]
    }

    /// True if the file may be one with another file of its set, or with another empty one: neither is proven.
    pub fn is_unidentified(&self, file: u32) -> bool {
        self.files.unidentified[file as usize]
    }

    /// True if the run asked for the metadata of files that may have copies.
    pub fn has_metadata(&self) -> bool {
        self.metadata.is_some()
    }

    /// The metadata of a file, if it is known.
    pub fn metadata(&self, file: u32) -> Option<&Metadata> {
        self.metadata.as_ref()?.get(&file)
    }

    /// Where the bytes of a file lie.
    pub fn disks_of(&self, file: u32) -> &Disks {
        &self.disks[usize::from(self.files.volumes[file as usize])]
    }

    /// All names of a file below the roots.
    pub fn names_of(&self, file: u32) -> &[u32] {
        self.files.names.get(file)
    }

    /// True if each root is a file.
    pub fn compares_files(&self) -> bool {
        (0..self.roots.len() as u32).all(|root| self.is_file_root(root))
    }

    /// True if a root is a file.
    pub fn is_file_root(&self, root: u32) -> bool {
        matches!(self.roots[root as usize].place, RootPlace::File(_))
    }

    /// What else lies in a folder, by number.
    pub fn other_numbers_in(&self, folder: u32) -> Range<u32> {
        self.others.places.range(folder)
    }

    /// One of the other entries.
    pub fn other(&self, number: u32) -> Other<'_> {
        self.other_in(self.others.places.owner_of(number), number)
    }

    fn other_in(&self, folder: u32, number: u32) -> Other<'_> {
        Other {
            folder,
            name: self.others.names.get(number as usize),
            kind: &self.others.kinds[number as usize],
        }
    }

    /// Other entries of a folder: links, special files, and entries that were not seen.
    pub fn others_in(&self, folder: u32) -> impl Iterator<Item = Other<'_>> {
        self.other_numbers_in(folder)
            .map(move |at| self.other_in(folder, at))
    }

    /// True if a folder holds nothing at all, and all of it was seen.
    pub fn is_empty_folder(&self, folder: u32) -> bool {
        self.below(folder).len() == 1
            && self.names_in(folder).is_empty()
            && self.others_in(folder).next().is_none()
    }

    /// Writes the path of a folder, relative to its root (nothing for the root itself) and without a slash at its
    /// end.
    pub fn relative_path(&self, folder: u32, path: &mut Vec<u8>) {
        path.clear();
        let mut above = Vec::new();
        let mut at = folder;
        while let Some(parent) = self.parent(at) {
            above.push(at);
            at = parent;
        }
        for (nth, &folder) in above.iter().rev().enumerate() {
            if nth > 0 {
                path.push(b'/');
            }
            path.extend_from_slice(self.folder_name(folder));
        }
    }

    /// The path of a name, relative to its root.
    pub fn path_of_name(&self, name: u32) -> Vec<u8> {
        let mut path = Vec::new();
        self.relative_path_of(self.folder_of(name), self.name(name), &mut path);
        path
    }

    /// Writes the path of an entry in a folder, relative to the root; an empty name means the folder itself.
    pub fn relative_path_of(&self, folder: u32, name: &[u8], path: &mut Vec<u8>) {
        self.relative_path(folder, path);
        if !path.is_empty() && !name.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
    }
}

/// Where the items of each owner begin, and where the last one's end, in a column that is sorted by owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Starts(Vec<u32>);

impl Starts {
    /// Of so many owners, by the owner of each item.
    pub fn of(owners: usize, of_each: impl Iterator<Item = u32>) -> Self {
        let mut starts = vec![0_u32; owners + 1];
        for owner in of_each {
            starts[owner as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        Self(starts)
    }

    /// The places of the items of an owner.
    pub fn range(&self, owner: u32) -> Range<u32> {
        let at = owner as usize;
        self.0[at]..self.0[at + 1]
    }

    /// The owner of the item at this place.
    pub fn owner_of(&self, place: u32) -> u32 {
        self.0.partition_point(|&start| start <= place) as u32 - 1
    }
}

/// The items of each owner, as numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouped {
    starts: Starts,
    items: Vec<u32>,
}

impl Grouped {
    /// Of so many owners, by owner and item. The items of an owner keep their order.
    pub fn of(owners: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let starts = Starts::of(owners, pairs.clone().map(|(owner, _)| owner));
        let mut next = starts.0.clone();
        let mut items = vec![0; next[owners] as usize];
        for (owner, item) in pairs {
            let place = &mut next[owner as usize];
            items[*place as usize] = item;
            *place += 1;
        }
        Self { starts, items }
    }

    /// The items of an owner.
    pub fn get(&self, owner: u32) -> &[u32] {
        &self.items[self.places(owner..owner + 1)]
    }

    /// The places of the items of these owners.
    pub fn places(&self, owners: Range<u32>) -> Range<usize> {
        let starts = &self.starts.0;
        starts[owners.start as usize] as usize..starts[owners.end as usize] as usize
    }

    /// The items of all owners, one behind the other.
    pub fn items(&self) -> &[u32] {
        &self.items
    }
}

/// A column of names or paths: their bytes, and eight bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    ends: Vec<u64>,
    bytes: Vec<u8>,
}

impl Texts {
    /// Adds one.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len() as u64);
    }

    /// The one at this place.
    pub fn get(&self, at: usize) -> &[u8] {
        let start = match at {
            0 => 0,
            at => self.ends[at - 1],
        };
        &self.bytes[start as usize..self.ends[at] as usize]
    }
}
