//! The sets whose members are being compared byte by byte.

use std::collections::HashMap;

use crate::file::FileIndex;
use crate::read::Failure;

use super::deliver::Draft;

/// A set that is being compared.
pub struct Compared {
    pub draft: Draft,
    /// Files of which nothing was heard.
    pub left: usize,
    /// Files that turned out not to be members, and why; `None` if they differ.
    pub refused: HashMap<FileIndex, Option<Failure>>,
}

/// The sets that are being compared.
#[derive(Default)]
pub struct Verification {
    /// By their numbers.
    pub sets: HashMap<usize, Compared>,
    /// The set of each of their files.
    pub of: HashMap<FileIndex, usize>,
    /// Number of the next set.
    pub next: usize,
    /// Sets that were compared.
    pub done: Vec<Draft>,
}
