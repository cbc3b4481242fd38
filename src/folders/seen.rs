//! What a run saw, with the contents that count.

use std::collections::HashMap;
use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::tree::{Class, EntryKind, Grouped, Root, RootPlace, Tree, Unseen};

/// Names that are noise unless others are given.
pub const NOISE: [&str; 4] = [".DS_Store", "Thumbs.db", "desktop.ini", ".nomedia"];

/// Number of a content: files of one content are copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Content(pub u32);

/// What a run saw, with the contents of the files that count. Files are numbered in the order of their names; neither
/// noise nor files whose contents are not known are among them.
#[derive(Debug)]
pub struct Seen<'t> {
    run: &'t Tree,
    /// By file.
    names: Vec<u32>,
    /// By file.
    contents: Vec<Content>,
    sizes: Vec<u64>,
    /// By content the folders of its copies, in order, one for each copy.
    copies: Grouped,
    /// The names of noise, in order.
    noise: Vec<u32>,
    gaps: Vec<Gap>,
}

/// The gap of a file that may be the same as another one, seen through two mounts: nothing tells whether it is a copy.
pub const UNIDENTIFIED: &str = "may be one file with another one";
/// The gap of a file that would make a sum of sizes too large.
pub const UNCOUNTED: &str = "more bytes than can be counted";

/// Something that was left out, or whose content is not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// Where.
    pub folder: u32,
    /// Its name; empty if the folder itself is meant.
    pub name: Vec<u8>,
    /// Why.
    pub why: &'static str,
}

impl<'t> Seen<'t> {
    /// Takes over what a run saw. Empty files are noise, and those whose names are.
    pub fn new(run: &'t Tree, is_noise: impl Fn(&[u8]) -> bool) -> Self {
        let mut seen = Self {
            run,
            names: Vec::new(),
            contents: Vec::new(),
            sizes: vec![0; run.set_count() as usize],
            copies: Grouped::default(),
            noise: Vec::new(),
            gaps: gaps_of_roots(run),
        };
        // Files of several names have one content.
        let mut alone = HashMap::new();
        let mut folders = Vec::new();
        let mut bytes: u64 = 0;
        for folder in 0..run.folder_count() {
            for other in run.others_in(folder) {
                match other.kind {
                    EntryKind::Link(_) => {}
                    EntryKind::Special(_) => seen.add_gap(folder, other.name, "a special file"),
                    EntryKind::Unseen(unseen) => seen.add_gap(folder, other.name, unseen.words()),
                }
            }
            for name in run.names_in(folder) {
                let file = run.file_of(name);
                let size = run.size(file);
                if run.is_unidentified(file) {
                    seen.add_gap(folder, run.name(name), UNIDENTIFIED);
                    continue;
                }
                let content = match run.class(file) {
                    Class::Unanswered(unseen) => {
                        seen.add_gap(folder, run.name(name), unseen.words());
                        continue;
                    }
                    _ if size == 0 || is_noise(run.name(name)) => {
                        seen.noise.push(name);
                        continue;
                    }
                    // So no sum of sizes is too large, whatever a catalog says.
                    _ if bytes.checked_add(size).is_none() => {
                        seen.add_gap(folder, run.name(name), UNCOUNTED);
                        continue;
                    }
                    Class::Set(set) => Content(set),
                    Class::Alone => *alone.entry(file).or_insert_with(|| {
                        seen.sizes.push(0);
                        Content(seen.sizes.len() as u32 - 1)
                    }),
                };
                bytes += size;
                seen.sizes[content.0 as usize] = size;
                seen.names.push(name);
                seen.contents.push(content);
                folders.push(folder);
            }
        }
        seen.gaps.sort();
        let copies = seen.contents.iter().map(|content| content.0);
        seen.copies = Grouped::of(seen.sizes.len(), copies.zip(folders.iter().copied()));
        seen
    }

    fn add_gap(&mut self, folder: u32, name: &[u8], why: &'static str) {
        let name = name.to_vec();
        self.gaps.push(Gap { folder, name, why });
    }

    /// True if nothing was left out below a folder, and every content is known.
    pub fn is_whole(&self, folder: u32) -> bool {
        self.gaps(folder).is_empty()
    }

    /// True if something was left out anywhere, or a content is not known.
    pub fn has_gaps(&self) -> bool {
        !self.gaps.is_empty()
    }

    /// Number of gaps of this kind.
    pub fn gaps_because(&self, why: &str) -> u64 {
        let gaps = self.gaps.iter().filter(|gap| gap.why == why);
        gaps.count() as u64
    }

    /// The folders, and all their entries.
    pub fn run(&self) -> &'t Tree {
        self.run
    }

    /// How many files count.
    pub fn file_count(&self) -> usize {
        self.names.len()
    }

    /// The files below a folder.
    pub fn files_below(&self, folder: u32) -> Range<usize> {
        between(&self.names, self.run.names_below(folder))
    }

    /// The files directly in a folder.
    pub fn files_in(&self, folder: u32) -> Range<usize> {
        between(&self.names, self.run.names_in(folder))
    }

    /// The name of a file.
    pub fn name(&self, file: usize) -> &[u8] {
        self.run.name(self.names[file])
    }

    /// The content of a file.
    pub fn content(&self, file: usize) -> Content {
        self.contents[file]
    }

    /// All contents.
    pub fn all_contents(&self) -> impl Iterator<Item = Content> + use<> {
        (0..self.sizes.len() as u32).map(Content)
    }

    /// How many bytes a content has.
    pub fn size(&self, content: Content) -> u64 {
        self.sizes[content.0 as usize]
    }

    /// The folders in which copies of a content lie, in order, one for each copy.
    pub fn copies(&self, content: Content) -> &[u32] {
        self.copies.get(content.0)
    }

    /// Number of copies of a content below a folder.
    pub fn copies_below(&self, content: Content, folder: u32) -> usize {
        between(self.copies(content), self.run.below(folder)).len()
    }

    /// The contents of the files below a folder, each once, in order of their numbers.
    pub fn contents_below(&self, folder: u32) -> Vec<Content> {
        let mut contents = self.contents[self.files_below(folder)].to_vec();
        contents.sort_unstable();
        contents.dedup();
        contents
    }

    /// What was not seen below a folder.
    pub fn gaps(&self, folder: u32) -> &[Gap] {
        let Range { start, end } = self.run.below(folder);
        let start = self.gaps.partition_point(|gap| gap.folder < start);
        let count = self.gaps[start..].partition_point(|gap| gap.folder < end);
        &self.gaps[start..start + count]
    }

    /// How many files of noise lie below a folder.
    pub fn noise(&self, folder: u32) -> usize {
        between(&self.noise, self.run.names_below(folder)).len()
    }

    /// How many symbolic links lie below a folder.
    pub fn links(&self, folder: u32) -> usize {
        let others = self.run.below(folder).flat_map(|at| self.run.others_in(at));
        let links = others.filter(|other| matches!(other.kind, EntryKind::Link(_)));
        links.count()
    }

    /// True if the bytes of a file below a folder are free once all its names there are gone. Of several names there,
    /// only one says so.
    pub fn frees(&self, file: usize, folder: u32) -> bool {
        let name = self.names[file];
        let file = self.run.file_of(name);
        let (names, links) = (self.run.names_of(file), self.run.links(file) as usize);
        let below = self.run.names_below(folder);
        let all_here = names.iter().all(|name| below.contains(name));
        links <= 1 || all_here && names.len() == links && names.first() == Some(&name)
    }

    /// True if a folder was given or listed, and not made up for a file that was given.
    pub fn is_listed(&self, folder: u32) -> bool {
        matches!(self.root(folder).place, RootPlace::Folder(_))
    }

    fn root(&self, folder: u32) -> &Root {
        &self.run.roots()[self.run.root_of(folder) as usize]
    }

    /// The path of a folder, beginning with the root as it was given.
    pub fn path(&self, folder: u32) -> PathBuf {
        self.path_of(folder, b"")
    }

    /// The path of a file.
    pub fn path_of_file(&self, file: usize) -> PathBuf {
        let name = self.names[file];
        self.path_of(self.run.folder_of(name), self.run.name(name))
    }

    /// The path of what was not seen.
    pub fn path_of_gap(&self, gap: &Gap) -> PathBuf {
        self.path_of(gap.folder, &gap.name)
    }

    fn path_of(&self, folder: u32, name: &[u8]) -> PathBuf {
        let mut relative = Vec::new();
        self.run.relative_path_of(folder, name, &mut relative);
        let mut path = self.root(folder).path.clone();
        if !relative.is_empty() && !path.is_empty() && !path.ends_with(b"/") {
            path.push(b'/');
        }
        path.extend(relative);
        PathBuf::from(OsString::from_vec(path))
    }
}

/// The places of those of sorted numbers that lie in a range.
fn between(sorted: &[u32], range: Range<u32>) -> Range<usize> {
    let start = sorted.partition_point(|&number| number < range.start);
    let count = sorted[start..].partition_point(|&number| number < range.end);
    start..start + count
}

/// What was not seen of whole roots. A folder that was not given, but a file in it, was not looked at either.
fn gaps_of_roots(run: &Tree) -> Vec<Gap> {
    let whole = |folder: u32, unseen: Unseen| Gap {
        folder,
        name: Vec::new(),
        why: unseen.words(),
    };
    let place = |root: u32| run.roots()[root as usize].place;
    let gaps = run.root_gaps().iter();
    let gaps = gaps.filter_map(|&(root, unseen)| match place(root) {
        RootPlace::Folder(folder) => Some(whole(folder, unseen)),
        RootPlace::File(_) | RootPlace::Nothing => None,
    });
    let tops = (0..run.folder_count()).filter(|&folder| run.parent(folder).is_none());
    let of_files = tops.filter(|&top| !matches!(place(run.root_of(top)), RootPlace::Folder(_)));
    let of_files = of_files.map(|top| whole(top, Unseen::Filtered));
    gaps.chain(of_files).collect()
}
