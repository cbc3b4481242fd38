//! Classes of files that are equal as far as they were read, and the next stage of the files of each class.

use super::chain::Held;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_class_takes_eight_bytes() {
        assert_eq!(size_of::<ClassState>(), 8);
    }
}
