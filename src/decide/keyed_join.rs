//! A join that holds back files without a match.
//!
//! The machine offers files under a key. Files with one key form a class. A class that is too small to matter holds its
//! files. Once the class is large enough, it opens: all held files go on, and every later file goes on at once, in the
//! way that the state of the class says. The search thus reads no file further than necessary, and no file waits for a
//! barrier.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::file::FileIndex;
use crate::hash::{ContentDigest, SampleDigest};
use crate::sys::memory;

use super::by_file::{Chain, Held, mixed};

/// A key by which files are joined.
pub trait Key: Copy + Eq {
    /// A well-mixed hash.
    fn hash(&self) -> u64;
}

/// "No class" in links.
const NONE: u32 = u32::MAX;

/// The files of one key. Most keys have one file only, which takes four bytes here.
#[derive(Clone, Debug)]
struct KeyClass<K> {
    key: K,
    /// A link for the owner's use: a class of another join that this one leads to.
    link: u32,
    /// The only file, which is held; or, with [`IS_MANY`], the place of the other data.
    files: u32,
}

/// Distinguishes places in a table from files.
const IS_MANY: u32 = 1 << 31;

/// The state of a class that has, or may have, more than one file.
#[derive(Clone, Copy, Debug)]
struct KeyFiles {
    /// Number of files that were ever offered (inodes).
    files: u32,
    state: ClassState,
}

impl KeyFiles {
    /// One file, with what is held.
    fn one(held: Held) -> Self {
        Self {
            files: 1,
            state: ClassState::Held(held),
        }
    }
}

/// The result of offering a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// Its class is not open: the file is held.
    Held(ClassId),
    /// Its class is open: the file goes on.
    Passed(ClassId),
}

/// All classes of one stage.
#[derive(Debug)]
pub struct KeyedJoin<K> {
    table: HashTable<u32>,
    classes: Vec<KeyClass<K>>,
    many: Vec<KeyFiles>,
}

impl<K> Default for KeyedJoin<K> {
    fn default() -> Self {
        Self {
            table: HashTable::new(),
            classes: Vec::new(),
            many: Vec::new(),
        }
    }
}

impl<K: Key> KeyedJoin<K> {
    /// The class of a key, if any file was offered under it.
    pub fn find(&self, key: K) -> Option<ClassId> {
        let class = self
            .table
            .find(key.hash(), |&i| self.classes[i as usize].key == key);
        class.map(|&i| ClassId(i))
    }

    /// Offers a file under a key.
    ///
    /// # Panics
    /// If there are 2^31 files.
    pub fn offer(&mut self, key: K, file: FileIndex, chain: &mut Chain) -> Offered {
        assert!(file.0 & IS_MANY == 0, "fewer than 2^31 files");
        let (id, is_new) = self.find_or_add(key, file.0);
        if is_new {
            return Offered::Held(id);
        }
        let many = self.many_mut(id, chain);
        many.files += 1;
        match &mut many.state {
            ClassState::Held(held) => {
                chain.hold(held, file);
                Offered::Held(id)
            }
            _ => Offered::Passed(id),
        }
    }

    /// Counts a file under a key without holding it: it need not wait.
    pub fn count(&mut self, key: K, chain: &mut Chain) -> ClassId {
        if let Some(id) = self.find(key) {
            self.many_mut(id, chain).files += 1;
            return id;
        }
        let place = self.place_for(KeyFiles::one(Held::default()));
        self.find_or_add(key, place).0
    }

    /// The class of a key, and true if it is a new one with these files.
    fn find_or_add(&mut self, key: K, files: u32) -> (ClassId, bool) {
        let id = u32::try_from(self.classes.len()).expect("fewer than 2^32 classes");
        let of = |i: u32| &self.classes[i as usize].key;
        match self
            .table
            .entry(key.hash(), |&i| *of(i) == key, |&i| of(i).hash())
        {
            Entry::Occupied(known) => return (ClassId(*known.get()), false),
            Entry::Vacant(room) => room.insert(id),
        };
        let link = NONE;
        memory::reserve(&mut self.classes, 1);
        self.classes.push(KeyClass { key, link, files });
        (ClassId(id), true)
    }

    fn place_for(&mut self, many: KeyFiles) -> u32 {
        self.many.push(many);
        (self.many.len() as u32 - 1) | IS_MANY
    }

    fn many(&self, id: ClassId) -> Result<&KeyFiles, FileIndex> {
        let files = self.classes[id.0 as usize].files;
        match files & IS_MANY {
            0 => Err(FileIndex(files)),
            _ => Ok(&self.many[(files & !IS_MANY) as usize]),
        }
    }

    fn many_mut(&mut self, id: ClassId, chain: &mut Chain) -> &mut KeyFiles {
        if let Err(file) = self.many(id) {
            let mut held = Held::default();
            chain.hold(&mut held, file);
            self.classes[id.0 as usize].files = self.place_for(KeyFiles::one(held));
        }
        let files = self.classes[id.0 as usize].files;
        &mut self.many[(files & !IS_MANY) as usize]
    }

    /// Opens a class of several files: its files go on in this state, including those that were held.
    pub fn open(&mut self, id: ClassId, state: ClassState) {
        let files = self.classes[id.0 as usize].files;
        if files & IS_MANY != 0 {
            self.many[(files & !IS_MANY) as usize].state = state;
        }
    }

    /// The files held in a class, in the order of arrival.
    pub fn held(&self, id: ClassId, chain: &Chain) -> Vec<FileIndex> {
        match self.many(id) {
            Ok(many) => match many.state {
                ClassState::Held(held) => chain.list(held),
                _ => Vec::new(),
            },
            Err(file) => vec![file],
        }
    }

    /// The state of the files of a class; `None` while they are held.
    pub fn state(&mut self, id: ClassId) -> Option<&mut ClassState> {
        let files = self.classes[id.0 as usize].files;
        let many = (files & IS_MANY != 0).then_some((files & !IS_MANY) as usize);
        let state = &mut self.many[many?].state;
        (!matches!(state, ClassState::Held(_))).then_some(state)
    }

    /// True once the files of a class go on.
    pub fn is_open(&self, id: ClassId) -> bool {
        let many = self.many(id);
        many.is_ok_and(|many| !matches!(many.state, ClassState::Held(_)))
    }

    /// The key of a class.
    pub fn key(&self, id: ClassId) -> &K {
        &self.classes[id.0 as usize].key
    }

    /// Number of files of a class that were ever offered (inodes).
    pub fn files(&self, id: ClassId) -> u32 {
        self.many(id).map_or(1, |many| many.files)
    }

    /// Links this class to another.
    pub fn link_to(&mut self, id: ClassId, to: ClassId) {
        self.classes[id.0 as usize].link = to.0;
    }

    /// The class that this one leads to.
    pub fn link(&self, id: ClassId) -> Option<ClassId> {
        let link = self.classes[id.0 as usize].link;
        (link != NONE).then_some(ClassId(link))
    }

    /// Number of classes of several files.
    pub fn of_several(&self) -> usize {
        self.many.len()
    }

    /// The numbers of all classes.
    pub fn ids(&self) -> impl Iterator<Item = ClassId> + use<K> {
        (0..self.classes.len() as u32).map(ClassId)
    }
}

/// Number of a class in its join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassId(pub u32);

/// A class of files with equal samples, as far as samples were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleClass {
    /// Files with equal heads.
    Head(ClassId),
    /// Files with equal heads and tails.
    Tail(ClassId),
}

/// The state of the files of a class.
#[derive(Clone, Copy, Debug)]
pub enum ClassState {
    /// They are held until the class is large enough to matter.
    Held(Held),
    /// The tail of each file is read on arrival.
    ByTail,
    /// Each file is read whole on arrival.
    Whole {
        /// True once one of the files is read.
        any: bool,
    },
    /// They wait until no other file of their size is being read.
    Waiting,
    /// The blocks of each file are queried, since other files may lie in the same blocks.
    Blocks,
}

/// The purpose for which a file is read or examined.
#[derive(Clone, Copy, Debug)]
pub enum Awaited {
    /// Its tail. This is the head class of the file.
    Tail(ClassId),
    /// The blocks of the file, or its content for all files in these blocks.
    Blocks(SampleClass),
    /// Its comparison with the others of its tail class.
    Comparison(ClassId),
}

/// A sample (head or tail) of the files of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleKey {
    /// Class of the stage before.
    pub parent: ClassId,
    /// Digest of the sample.
    pub digest: SampleDigest,
}

/// The whole content of files of one size: 36 bytes, since there is one for nearly every file that
/// is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentKey {
    /// Class of the size; with [`IS_OF`] the bytes are a file's number instead of a digest.
    size: u32,
    bytes: [u8; 32],
}

/// Marks contents that have no digest. Each class of a size has at least two files, so the number of classes never
/// reaches 2^31.
const IS_OF: u32 = 1 << 31;

impl ContentKey {
    /// The key of a content of files of one size.
    pub fn new(size: ClassId, content: Content) -> Self {
        match content {
            Content::Digest(digest) => Self {
                size: size.0,
                bytes: *digest.as_bytes(),
            },
            Content::Of(file) => {
                let mut bytes = [0; 32];
                bytes[..4].copy_from_slice(&file.0.to_le_bytes());
                Self {
                    size: size.0 | IS_OF,
                    bytes,
                }
            }
        }
    }

    /// The digest, if the key is a digest.
    pub fn digest(&self) -> Option<ContentDigest> {
        (self.size & IS_OF == 0).then_some(ContentDigest::from_bytes(self.bytes))
    }
}

/// A content of files of one size. All files that may be equal are distinguished in one of these ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Identified by its digest.
    Digest(ContentDigest),
    /// Identified by the first file that has it, as a comparison showed.
    Of(FileIndex),
}

impl Key for SampleKey {
    fn hash(&self) -> u64 {
        self.digest.first_word() ^ spread(self.parent)
    }
}

impl Key for ContentKey {
    fn hash(&self) -> u64 {
        let word = ContentDigest::from_bytes(self.bytes).first_word();
        let content = match self.size & IS_OF {
            0 => word,
            _ => mixed(word),
        };
        content ^ spread(ClassId(self.size))
    }
}

/// The number of a class, spread over all bits: files of very many sizes may have one head (zeros), so the lowest bits,
/// which select the place in a table, must not come from the digest alone.
fn spread(class: ClassId) -> u64 {
    u64::from(class.0).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_state_of_a_class_takes_eight_bytes() {
        assert_eq!(size_of::<ClassState>(), 8);
    }

    /// Sparse files of a million lengths have one head.
    #[test]
    fn one_digest_in_many_classes_lies_all_over_a_table() {
        let digest = SampleDigest::of(&[0; 4096]);
        let content = Content::Digest(ContentDigest::of_nothing());
        let places = |hash: fn(ClassId, SampleDigest, Content) -> u64| {
            let place = |i| hash(ClassId(i), digest, content) % 1024;
            (0..1024).map(place).collect::<HashSet<_>>().len()
        };
        let samples = places(|parent, digest, _| SampleKey { parent, digest }.hash());
        let contents = places(|size, _, content| ContentKey::new(size, content).hash());
        assert!(samples > 512 && contents > 512, "{samples}, {contents}");
    }
}
