//! Classes of files that are equal as far as they were read, and the next stage of the files of each class.

use super::chain::Held;

/// Number of a class in its join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassId(pub u32);

/// A class of files with equal samples, as far as samples were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    Waiting(WaitingId),
    /// The blocks of each file are queried, since other files may lie in the same blocks.
    Blocks(BlocksId),
}

/// Number of a class whose files wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingId(pub u32);

/// Number of a class whose files are checked for shared blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlocksId(pub u32);

/// The purpose for which a file is read or examined.
#[derive(Clone, Copy, Debug)]
pub enum Awaited {
    /// Its tail. This is the head class of the file.
    Tail(ClassId),
    /// The blocks of the file, or its content for all files in these blocks.
    Blocks(BlocksId),
    /// Its comparison with the others of its class.
    Comparison(WaitingId),
}

/// Values by number. A value that was taken leaves eight bytes.
#[derive(Debug)]
pub struct Numbered<T>(Vec<Option<Box<T>>>);

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Numbered<T> {
    /// Adds a value; returns its number.
    pub fn add(&mut self, value: T) -> u32 {
        self.0.push(Some(Box::new(value)));
        self.0.len() as u32 - 1
    }

    /// The value of a number.
    pub fn get(&mut self, number: u32) -> Option<&mut T> {
        self.0.get_mut(number as usize)?.as_deref_mut()
    }

    /// Takes the value of a number.
    pub fn take(&mut self, number: u32) -> Option<T> {
        let value = self.0.get_mut(number as usize)?.take();
        value.map(|value| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_class_takes_eight_bytes() {
        assert_eq!(size_of::<ClassState>(), 8);
    }
}
