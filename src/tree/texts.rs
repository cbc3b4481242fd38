//! Very many short texts, one behind the other.

/// A column of names or paths: their bytes, and eight bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    ends: Vec<u64>,
    bytes: Vec<u8>,
}

impl Texts {
    /// Adds one.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len() as u64);
    }

    /// The one at this place.
    pub fn get(&self, at: usize) -> &[u8] {
        let start = match at {
            0 => 0,
            at => self.ends[at - 1],
        };
        &self.bytes[start as usize..self.ends[at] as usize]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}
