//! From what a run saw to the contents of its folders, and from these back to names.

use std::collections::HashMap;
use std::ops::Range;

use crate::file::PhotoGroup;
use crate::tree::{Class, EntryKind, RootPlace, Tree as Run, Unseen};

use super::forms::Names;
use super::tree::{Content, Folder, Tree};

/// Names that are noise unless others are given.
pub const NOISE: [&str; 4] = [".DS_Store", "Thumbs.db", "desktop.ini", ".nomedia"];

/// What a run saw, as a tree of contents. Noise is not in the tree.
pub struct Seen<'r> {
    run: &'r Run,
    tree: Tree,
    /// The names of the files of the tree, in order.
    names: Vec<u32>,
    /// The names of noise, in order.
    noise: Vec<u32>,
    gaps: Vec<Gap>,
    /// In order of folders.
    photos: Vec<Photos>,
    /// Names of files that may be one file with another one.
    unidentified: u64,
}

/// A group of photos and their sidecars.
struct Photos {
    folder: Folder,
    /// The main file.
    first: usize,
    /// A photo, a sidecar, and the content that stands for both beside each other.
    pairs: Vec<[Content; 3]>,
}

/// Something that was left out, or whose content is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Where.
    pub folder: Folder,
    /// Its name; empty if the folder itself is meant.
    pub name: Vec<u8>,
    /// Why.
    pub why: &'static str,
}

impl<'r> Seen<'r> {
    /// Takes over what a run saw. Empty files are noise, and those whose names are.
    pub fn new(run: &'r Run, is_noise: impl Fn(&[u8]) -> bool) -> Self {
        let mut parents = vec![0];
        let folders = 0..run.folder_count();
        parents.extend(folders.clone().map(|folder| match run.parent(folder) {
            Some(parent) => parent + 1,
            None => 0,
        }));
        let mut sizes = vec![0; run.set_count() as usize];
        let (mut files, mut names, mut noise) = (Vec::new(), Vec::new(), Vec::new());
        let mut unidentified = 0;
        let mut gaps = gaps_of_roots(run);
        // Files of several names have one content.
        let mut alone = HashMap::new();
        for folder in folders {
            let here = of_tree(folder);
            let mut gap = |name: &[u8], why| {
                let name = name.to_vec();
                gaps.push(Gap {
                    folder: here,
                    name,
                    why,
                });
            };
            for other in run.others_in(folder) {
                match other.kind {
                    EntryKind::Link(_) => {}
                    EntryKind::Special(_) => gap(other.name, "a special file"),
                    EntryKind::Unseen(unseen) => gap(other.name, unseen.words()),
                }
            }
            for name in run.names_in(folder) {
                let file = run.file_of(name);
                let size = run.size(file);
                let bytes = run.name(name);
                if run.is_unidentified(file) {
                    gap(bytes, "may be one file with another one");
                    unidentified += 1;
                    continue;
                }
                let content = match run.class(file) {
                    Class::Unanswered(unseen) => {
                        gap(bytes, unseen.words());
                        continue;
                    }
                    _ if size == 0 || is_noise(bytes) => {
                        noise.push(name);
                        continue;
                    }
                    Class::Set(set) => {
                        sizes[set as usize] = size;
                        set
                    }
                    Class::Alone => {
                        let mut new = || {
                            sizes.push(size);
                            sizes.len() as u32 - 1
                        };
                        match run.names_of(file).len() {
                            1 => new(),
                            _ => *alone.entry(file).or_insert_with(new),
                        }
                    }
                };
                files.push((here, Content(content)));
                names.push(name);
            }
        }
        gaps.sort_by(|a, b| (a.folder, &a.name).cmp(&(b.folder, &b.name)));
        let photos = photos(run, &names, &files, &mut sizes);
        let pairs: Vec<(Folder, Content)> = photos
            .iter()
            .flat_map(|group| group.pairs.iter().map(|&[.., pair]| (group.folder, pair)))
            .collect();
        let unanswered: Vec<Folder> = gaps.iter().map(|gap| gap.folder).collect();
        Self {
            tree: Tree::new(parents, &files, &pairs, sizes, &unanswered),
            run,
            names,
            noise,
            gaps,
            photos,
            unidentified,
        }
    }

    /// True if nothing was left out, and every content is known.
    pub fn is_whole(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Number of names whose files may be one file with another one, seen through two mounts: nothing tells whether they
    /// are copies.
    pub fn unidentified(&self) -> u64 {
        self.unidentified
    }

    /// The folders and contents.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The path of a folder, beginning with the root as it was given.
    pub fn path(&self, folder: Folder) -> Vec<u8> {
        let mut path = Vec::new();
        let Some(of_run) = of_run(folder) else {
            return path;
        };
        self.run.relative_path(of_run, &mut path);
        let root = &self.run.roots()[self.run.root_of(of_run) as usize].path;
        joined(root.clone(), &path)
    }

    /// The path of a file.
    pub fn path_of_file(&self, file: usize) -> Vec<u8> {
        let name = self.names[file];
        let folder = of_tree(self.run.folder_of(name));
        joined(self.path(folder), self.run.name(name))
    }

    /// What was not seen below a folder.
    pub fn gaps(&self, folder: Folder) -> &[Gap] {
        let start = self.gaps.partition_point(|gap| gap.folder < folder);
        let end = self.tree.end(folder);
        let count = self.gaps[start..].partition_point(|gap| gap.folder.0 < end);
        &self.gaps[start..start + count]
    }

    /// How many photos below a folder are elsewhere, and their sidecars as well, but not beside each other; and the first.
    pub fn torn_photos(&self, folder: Folder) -> (usize, Option<usize>) {
        let tree = &self.tree;
        let is_elsewhere =
            |content| tree.copies(content).len() > tree.copies_below(content, folder).len();
        let start = self.photos.partition_point(|group| group.folder < folder);
        let here = self.photos[start..].iter();
        let here = here.take_while(|group| tree.holds(folder, group.folder));
        let mut torn = here.filter(|group| {
            let mut pairs = group.pairs.iter();
            pairs.any(|&pair| pair.map(is_elsewhere) == [true, true, false])
        });
        let first = torn.next().map(|group| group.first);
        (torn.count() + usize::from(first.is_some()), first)
    }

    /// The path of what was not seen.
    pub fn path_of_gap(&self, gap: &Gap) -> Vec<u8> {
        joined(self.path(gap.folder), &gap.name)
    }

    /// How many files of noise lie below a folder.
    pub fn noise(&self, folder: Folder) -> usize {
        let names = self.names_below(folder);
        let start = self.noise.partition_point(|&name| name < names.start);
        self.noise[start..].partition_point(|&name| name < names.end)
    }

    /// How many symbolic links lie below a folder.
    pub fn links(&self, folder: Folder) -> usize {
        let Some(of_run) = of_run(folder) else {
            return 0;
        };
        let others = self.run.below(of_run).flat_map(|at| self.run.others_in(at));
        others
            .filter(|other| matches!(other.kind, EntryKind::Link(_)))
            .count()
    }

    /// True if a folder was given or listed, and not made up for a file that was given.
    pub fn is_listed(&self, folder: Folder) -> bool {
        let root = of_run(folder).map(|at| &self.run.roots()[self.run.root_of(at) as usize]);
        root.is_some_and(|root| matches!(root.place, RootPlace::Folder(_)))
    }

    fn names_below(&self, folder: Folder) -> Range<u32> {
        let Some(of_run) = of_run(folder) else {
            return 0..0;
        };
        let below = self.run.below(of_run);
        self.run.names_in(below.start).start..self.run.names_in(below.end - 1).end
    }
}

impl Names for Seen<'_> {
    fn folder(&self, folder: Folder) -> &[u8] {
        of_run(folder).map_or(&[], |folder| self.run.folder_name(folder))
    }

    fn file(&self, file: usize) -> &[u8] {
        self.run.name(self.names[file])
    }

    fn links(&self, folder: Folder, each: &mut dyn FnMut(&[u8], &[u8])) {
        let others = of_run(folder)
            .into_iter()
            .flat_map(|at| self.run.others_in(at));
        for other in others {
            if let EntryKind::Link(target) = other.kind {
                each(other.name, target);
            }
        }
    }

    fn frees(&self, file: usize, folder: Folder) -> bool {
        let name = self.names[file];
        let file = self.run.file_of(name);
        let (links, below) = (self.run.links(file), self.names_below(folder));
        if links <= 1 {
            return true;
        }
        let names = self.run.names_of(file);
        let all_here = names.iter().all(|name| below.contains(name));
        all_here && names.len() == links as usize && names.first() == Some(&name)
    }
}

/// The photos with sidecars, of which each pair becomes a content without bytes.
fn photos(
    run: &Run,
    names: &[u32],
    files: &[(Folder, Content)],
    sizes: &mut Vec<u64>,
) -> Vec<Photos> {
    let mut known: HashMap<[Content; 2], Content> = HashMap::new();
    let mut photos = Vec::new();
    let mut start = 0;
    for here in files.chunk_by(|a, b| a.0 == b.0) {
        let numbers = start..start + here.len();
        start = numbers.end;
        let bare = numbers.map(|file| (run.name(names[file]), file as u32));
        for group in PhotoGroup::among(bare) {
            let mut pairs = Vec::new();
            for &photo in &group.photos {
                for &sidecar in &group.sidecars {
                    let [photo, sidecar] = [photo, sidecar].map(|file| files[file as usize].1);
                    let pair = known.entry([photo, sidecar]).or_insert_with(|| {
                        sizes.push(0);
                        Content(sizes.len() as u32 - 1)
                    });
                    pairs.push([photo, sidecar, *pair]);
                }
            }
            photos.push(Photos {
                folder: here[0].0,
                first: group.photos[0] as usize,
                pairs,
            });
        }
    }
    photos
}

/// What was not seen of whole roots. A folder that was not given, but a file in it, was not looked at either.
fn gaps_of_roots(run: &Run) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let whole = |folder: u32, why| Gap {
        folder: of_tree(folder),
        name: Vec::new(),
        why,
    };
    for &(root, unseen) in run.root_gaps() {
        if let RootPlace::Folder(folder) = run.roots()[root as usize].place {
            gaps.push(whole(folder, unseen.words()));
        }
    }
    for folder in (0..run.folder_count()).filter(|&folder| run.parent(folder).is_none()) {
        let root = &run.roots()[run.root_of(folder) as usize];
        if !matches!(root.place, RootPlace::Folder(_)) {
            gaps.push(whole(folder, Unseen::Filtered.words()));
        }
    }
    gaps
}

fn of_tree(folder: u32) -> Folder {
    Folder(folder + 1)
}

fn of_run(folder: Folder) -> Option<u32> {
    folder.0.checked_sub(1)
}

fn joined(mut path: Vec<u8>, name: &[u8]) -> Vec<u8> {
    if !name.is_empty() {
        if !path.is_empty() && !path.ends_with(b"/") {
            path.push(b'/');
        }
        path.extend_from_slice(name);
    }
    path
}
