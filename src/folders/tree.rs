//! Folders and the contents of their files, in columns.

use crate::tree::Grouped;

/// Number of a folder: folders are numbered in preorder, so what lies below one has the numbers that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Folder(pub u32);

impl Folder {
    /// The folder that holds all roots. It is no folder of a disk, and nothing is ever said about it.
    pub const TOP: Self = Self(0);

    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// Number of a content: files of one content are copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Content(pub u32);

impl Content {
    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// A folder in which something was left out or not answered, as often as that happened.
pub type Unanswered = Folder;

/// Folders in preorder and the files whose contents count.
///
/// Files that do not decide anything (noise) and those whose content is not known are not in it. The latter are
/// marked with [`Unanswered`].
#[derive(Debug)]
pub struct Tree {
    parents: Vec<u32>,
    ends: Vec<u32>,
    children: Grouped,
    contents: Grouped,
    pairs: Grouped,
    sizes: Vec<u64>,
    copies: Grouped,
    unanswered: Vec<u32>,
}

impl Tree {
    /// A tree of folders of which the first is [`Folder::TOP`].
    ///
    /// `parents` has the parent of each folder (that of the first is not looked at), `files` the folder and the content
    /// of each file in order of folders, `sizes` the size of each content. `pairs` are like files: contents without bytes, each
    /// of which stands for two files that lie beside each other, such as a photo and its sidecar.
    ///
    /// # Panics
    /// If a folder comes before its parent, files are not in order of folders, or a number is too large.
    pub fn new(
        parents: Vec<u32>,
        files: &[(Folder, Content)],
        pairs: &[(Folder, Content)],
        sizes: Vec<u64>,
        unanswered: &[Unanswered],
    ) -> Self {
        let folders = parents.len();
        assert!(folders > 0, "the first folder holds all roots");
        assert!(files.is_sorted_by_key(|file| file.0), "in order of folders");
        let ends = ends(&parents);
        let by_folder = |&(folder, content): &(Folder, Content)| (folder.0, content.0);
        let by_content = |&(folder, content): &(Folder, Content)| (content.0, folder.0);
        let copies = files.iter().chain(pairs).map(by_content);
        let copies = Grouped::of(sizes.len(), copies);
        let mut marks = Vec::new();
        if !unanswered.is_empty() {
            marks = vec![0u32; folders];
            for folder in unanswered {
                marks[folder.at()] = marks[folder.at()].saturating_add(1);
            }
            for folder in (1..folders).rev() {
                let above = parents[folder] as usize;
                marks[above] = marks[above].saturating_add(marks[folder]);
            }
        }
        let by_parent = (1..folders as u32).map(|folder| (parents[folder as usize], folder));
        Self {
            children: Grouped::of(folders, by_parent),
            contents: Grouped::of(folders, files.iter().map(by_folder)),
            pairs: Grouped::of(folders, pairs.iter().map(by_folder)),
            parents,
            ends,
            sizes,
            copies,
            unanswered: marks,
        }
    }

    /// All folders but the one that holds the roots.
    pub fn folders(&self) -> impl DoubleEndedIterator<Item = Folder> + use<> {
        (1..self.parents.len() as u32).map(Folder)
    }

    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    /// How many contents there are.
    pub(super) fn content_count(&self) -> usize {
        self.sizes.len()
    }

    /// The folder that holds another one; of the first one it is the folder itself.
    pub fn parent(&self, folder: Folder) -> Folder {
        match folder {
            Folder::TOP => Folder::TOP,
            folder => Folder(self.parents[folder.at()]),
        }
    }

    /// The folders directly within one, in order.
    pub fn children(&self, folder: Folder) -> impl Iterator<Item = Folder> {
        let children = self.children.get(folder.0).iter();
        children.map(|&child| Folder(child))
    }

    /// The folder directly within `above` that holds `below`.
    pub(super) fn child_towards(&self, above: Folder, below: Folder) -> Folder {
        let children = self.children.get(above.0);
        let after = children.partition_point(|&child| child <= below.0);
        Folder(children[after - 1])
    }

    /// The first number after those of a folder and all below it.
    pub fn end(&self, folder: Folder) -> u32 {
        self.ends[folder.at()]
    }

    /// True if `above` is `below` itself or holds it.
    pub fn holds(&self, above: Folder, below: Folder) -> bool {
        above.0 <= below.0 && below.0 < self.end(above)
    }

    /// The lowest folder that holds both, of which the first has the lower number.
    pub(super) fn common(&self, first: Folder, last: Folder) -> Folder {
        let mut above = first;
        while !self.holds(above, last) {
            above = self.parent(above);
        }
        above
    }

    /// Which files lie below a folder, by their places in the list that the tree was made of.
    pub fn files_below(&self, folder: Folder) -> std::ops::Range<usize> {
        self.contents.places(folder.0..self.end(folder))
    }

    /// Which files lie directly in a folder.
    pub fn files_in(&self, folder: Folder) -> std::ops::Range<usize> {
        self.contents.places(folder.0..folder.0 + 1)
    }

    /// The content of a file.
    pub fn content(&self, file: usize) -> Content {
        Content(self.contents.items()[file])
    }

    /// How many bytes a content has.
    pub fn size(&self, content: Content) -> u64 {
        self.sizes[content.at()]
    }

    /// The folders in which copies of a content lie, in order, one for each copy.
    pub(super) fn copies(&self, content: Content) -> &[u32] {
        self.copies.get(content.0)
    }

    /// Which of the copies of a content lie below a folder.
    pub(super) fn copies_below(&self, content: Content, folder: Folder) -> std::ops::Range<usize> {
        let copies = self.copies(content);
        let first = copies.partition_point(|&at| at < folder.0);
        let count = copies[first..].partition_point(|&at| at < self.end(folder));
        first..first + count
    }

    /// True if a copy of a content lies below a folder.
    pub fn has_below(&self, content: Content, folder: Folder) -> bool {
        let copies = self.copies(content);
        let first = copies.partition_point(|&at| at < folder.0);
        copies.get(first).is_some_and(|&at| at < self.end(folder))
    }

    /// The contents of the files below a folder, each once, in order of their numbers.
    pub fn contents_below(&self, folder: Folder) -> Vec<Content> {
        each_once(&self.contents.items()[self.files_below(folder)])
    }

    /// The same, and the pairs.
    pub fn contents_and_pairs_below(&self, folder: Folder) -> Vec<Content> {
        let mut contents = self.contents_below(folder);
        let pairs = self.pairs.places(folder.0..self.end(folder));
        contents.extend(each_once(&self.pairs.items()[pairs]));
        contents
    }

    /// How often something below a folder was left out or not answered.
    pub fn unanswered(&self, folder: Folder) -> u32 {
        self.unanswered.get(folder.at()).copied().unwrap_or(0)
    }
}

fn each_once(numbers: &[u32]) -> Vec<Content> {
    let mut contents: Vec<Content> = numbers.iter().map(|&number| Content(number)).collect();
    contents.sort_unstable();
    contents.dedup();
    contents
}

fn ends(parents: &[u32]) -> Vec<u32> {
    let mut ends: Vec<u32> = (1..=parents.len() as u32).collect();
    for folder in (1..parents.len()).rev() {
        let above = parents[folder] as usize;
        assert!(above < folder, "a folder comes after its parent");
        ends[above] = ends[above].max(ends[folder]);
    }
    ends
}
