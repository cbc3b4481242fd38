//! The name that Apple gives a Live Photo: its photo and its film say it.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};

use crate::lock::locked;

/// The name, as a number.
pub type Identifier = NonZeroU64;

/// The number of a name.
pub fn numbered(name: &str) -> Option<Identifier> {
    let digest = blake3::hash(name.as_bytes());
    let first = digest.as_bytes().first_chunk();
    first
        .copied()
        .map(u64::from_le_bytes)
        .and_then(Identifier::new)
}

/// The identifiers of files, by their device and inode numbers. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Identifiers(Arc<Mutex<HashMap<(u64, u64), Identifier>>>);

impl Identifiers {
    /// Notes the identifier of a file.
    pub fn put(&self, file: (u64, u64), identifier: Identifier) {
        locked(&self.0).insert(file, identifier);
    }

    /// The identifier of a file, if it has one that is known.
    pub fn get(&self, file: (u64, u64)) -> Option<Identifier> {
        locked(&self.0).get(&file).copied()
    }

    /// True if no file has one.
    pub fn is_empty(&self) -> bool {
        locked(&self.0).is_empty()
    }
}
