//! Lists of held files, one for each class.

use crate::file::FileIndex;

/// "No file".
const NONE: u32 = u32::MAX;

/// The files held in one class: the last of them, from which [`Chain`] leads to the others.
#[derive(Clone, Copy, Debug)]
pub struct Held(u32);

impl Default for Held {
    fn default() -> Self {
        Self(NONE)
    }
}

/// For each file, the file held before it in the same class. A file is held in one place at a time, so one chain serves
/// all joins.
#[derive(Debug, Default)]
pub struct Chain(Vec<u32>);

impl Chain {
    /// Holds one more file.
    pub fn hold(&mut self, held: &mut Held, file: FileIndex) {
        let i = file.0 as usize;
        if i >= self.0.len() {
            self.0.resize(i + 1, NONE);
        }
        self.0[i] = held.0;
        held.0 = file.0;
    }

    /// The files that are held, in the order of arrival.
    pub fn list(&self, held: Held) -> Vec<FileIndex> {
        let mut files = Vec::new();
        let mut at = held.0;
        while at != NONE {
            files.push(FileIndex(at));
            at = self.0[at as usize];
        }
        files.reverse();
        files
    }
}
