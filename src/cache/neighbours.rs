//! Rows in memory: of inodes that were asked for, and of their neighbours, which are mostly asked for next.

use std::collections::HashMap;

use super::row::Row;
use super::rule::{self, State};
use super::store::{CacheError, Store};

/// Inodes whose rows are read at one go, as a power of two.
const GROUP: u32 = 7;

/// Rows as they are written down, one behind the other: place in the group, length, bytes. They are mostly asked for
/// once, so they are taken apart only then.
type Group = Box<[u8]>;

/// What a file of rows says, as far as it was asked.
pub struct KnownRows {
    store: Store,
    groups: HashMap<(u64, u64), Group>,
}

impl KnownRows {
    /// Nothing was asked yet.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            groups: HashMap::new(),
        }
    }

    /// The file of rows.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The row that holds for a file in this state now.
    ///
    /// # Errors
    /// If the file of rows cannot be read.
    pub fn row(
        &mut self,
        subvolume: u64,
        inode: u64,
        state: &State,
        now_ns: i64,
    ) -> Result<Option<Row>, CacheError> {
        let row = self.written(subvolume, inode)?;
        Ok(row.filter(|row| rule::holds(&row.state, row.began_ns, state, now_ns)))
    }

    /// The row of a file, in whatever state the file was.
    ///
    /// # Errors
    /// If the file of rows cannot be read.
    pub fn written(&mut self, subvolume: u64, inode: u64) -> Result<Option<Row>, CacheError> {
        let at = (subvolume, inode >> GROUP);
        if !self.groups.contains_key(&at) {
            let group = self.read(subvolume, inode >> GROUP)?;
            self.groups.insert(at, group);
        }
        let place = (inode & ((1 << GROUP) - 1)) as u8;
        let mut rest = self.groups.get(&at).map_or(&[][..], |group| group);
        while let [found, low, high, tail @ ..] = rest {
            let len = usize::from(u16::from_le_bytes([*low, *high]));
            let Some((bytes, next)) = tail.split_at_checked(len) else {
                break;
            };
            if *found == place {
                return Ok(Row::decode(subvolume, inode, bytes));
            }
            rest = next;
        }
        Ok(None)
    }

    fn read(&self, subvolume: u64, group: u64) -> Result<Group, CacheError> {
        let first = group << GROUP;
        let last = first | ((1 << GROUP) - 1);
        let mut bytes = Vec::new();
        self.store.each(subvolume, first, last, &mut |inode, row| {
            if let Ok(len) = u16::try_from(row.len()) {
                bytes.push((inode - first) as u8);
                bytes.extend(len.to_le_bytes());
                bytes.extend(row);
            }
        })?;
        Ok(bytes.into_boxed_slice())
    }
}
