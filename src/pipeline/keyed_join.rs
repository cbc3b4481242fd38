//! A join that holds back what is alone.
//!
//! Files are offered under a key. Those of one key form a class. While a class is too small to
//! matter its files are held; once it is large enough it opens, all held ones go on, and every
//! later one goes on at once. So no file is read on without need, and none waits for a barrier.

use hashbrown::HashTable;

use crate::file::FileIndex;

use super::chain::{Chain, Held};

/// What files can be joined by.
pub trait Key: Copy + Eq {
    /// A well-mixed hash.
    fn hash(&self) -> u64;
}

/// Number of a class in its join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassId(pub u32);

/// "No class" in links.
const NONE: u32 = u32::MAX;

/// The files of one key.
#[derive(Clone, Debug)]
pub struct Class<K> {
    /// What they have in common.
    pub key: K,
    /// Files that were ever offered (inodes).
    pub files: u32,
    /// Set once files go on.
    pub open: bool,
    /// For the owner's use: a class of another join that this one leads to.
    link: u32,
    held: Held,
}

/// What became of an offered file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// Its class is not open: it stays.
    Held(ClassId),
    /// Its class is open: it goes on.
    Passed(ClassId),
}

/// All classes of one stage.
#[derive(Debug)]
pub struct KeyedJoin<K> {
    table: HashTable<u32>,
    classes: Vec<Class<K>>,
}

impl<K> Default for KeyedJoin<K> {
    fn default() -> Self {
        Self {
            table: HashTable::new(),
            classes: Vec::new(),
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
    pub fn offer(&mut self, key: K, file: FileIndex, chain: &mut Chain) -> Offered {
        let id = self.find(key).unwrap_or_else(|| self.add(key));
        let class = &mut self.classes[id.0 as usize];
        class.files += 1;
        if class.open {
            return Offered::Passed(id);
        }
        chain.hold(&mut class.held, file);
        Offered::Held(id)
    }

    /// Takes note of a file under a key that has no need to wait: it counts for its class only.
    pub fn count(&mut self, key: K) -> ClassId {
        let id = self.find(key).unwrap_or_else(|| self.add(key));
        self.classes[id.0 as usize].files += 1;
        id
    }

    fn add(&mut self, key: K) -> ClassId {
        let id = u32::try_from(self.classes.len()).expect("fewer than 2^32 classes");
        self.classes.push(Class {
            key,
            files: 0,
            open: false,
            link: NONE,
            held: Held::default(),
        });
        let classes = &self.classes;
        self.table
            .insert_unique(key.hash(), id, |&i| classes[i as usize].key.hash());
        ClassId(id)
    }

    /// Opens a class and lets go of the files held in it, in the order in which they came.
    pub fn open(&mut self, id: ClassId, chain: &Chain) -> Vec<FileIndex> {
        let class = &mut self.classes[id.0 as usize];
        class.open = true;
        chain.list(std::mem::take(&mut class.held))
    }

    /// The files held in a class, in the order in which they came.
    pub fn held(&self, id: ClassId, chain: &Chain) -> Vec<FileIndex> {
        chain.list(self.classes[id.0 as usize].held)
    }

    /// A class by its number.
    pub fn class(&self, id: ClassId) -> &Class<K> {
        &self.classes[id.0 as usize]
    }

    /// Notes that this class leads to another.
    pub fn link_to(&mut self, id: ClassId, to: ClassId) {
        self.classes[id.0 as usize].link = to.0;
    }

    /// The class that this one leads to.
    pub fn link(&self, id: ClassId) -> Option<ClassId> {
        let link = self.classes[id.0 as usize].link;
        (link != NONE).then_some(ClassId(link))
    }

    /// The numbers of all classes.
    pub fn ids(&self) -> impl Iterator<Item = ClassId> + use<K> {
        (0..self.classes.len() as u32).map(ClassId)
    }
}
