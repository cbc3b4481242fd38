//! A join that holds back files without a match.
//!
//! The machine offers files under a key. Files with one key form a class. A class that is too small to matter holds its
//! files. Once the class is large enough, it opens: all held files go on, and every later file goes on at once, in the
//! way that the state of the class says. The search thus reads no file further than necessary, and no file waits for a
//! barrier.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::file::FileIndex;
use crate::sys::memory;

use super::chain::{Chain, Held};
use super::class::{ClassId, ClassState};

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
