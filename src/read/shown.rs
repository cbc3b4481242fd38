//! Answers about what files show.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::file::FileIndex;
use crate::lock::locked;
use crate::media::{Identifier, PartDigests, Tags};

/// What a file shows.
#[derive(Debug)]
pub enum Shown {
    /// Nothing that is known: an ordinary file.
    Unknown,
    /// It has a known format, but this forbids to tell its parts apart: an ordinary file.
    Refused(&'static str),
    /// Files that show the same have the same key; and which Live Photo it belongs to.
    Key([u8; 16], Option<Identifier>),
    /// Its parts.
    Parts(Box<PartDigests>),
    /// What it says about itself.
    Tags(Box<Tags>),
}

/// The answers of readers until they are taken.
#[derive(Clone, Debug, Default)]
pub struct ShownResults(Arc<Mutex<HashMap<FileIndex, Shown>>>);

impl ShownResults {
    /// Takes the answer about a file.
    pub fn take(&self, file: FileIndex) -> Option<Shown> {
        locked(&self.0).remove(&file)
    }

    pub(super) fn put(&self, file: FileIndex, shown: Shown) {
        locked(&self.0).insert(file, shown);
    }
}
