//! Classes of files that are equal as far as they were read, and the next stage of the files of each class.

use super::chain::Held;

/// Number of a class in its join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassId(pub u32);

/// A class of files with equal samples, as far as samples were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleClass {
    /// By their heads alone.
    Head(ClassId),
    /// By their tails too.
    Tail(ClassId),
}

/// The state of the files of a class.
#[derive(Clone, Copy, Debug)]
pub enum ClassState {
    /// They are held until there are enough of them to matter.
    Held(Held),
    /// Each has its tail read as it comes.
    ByTail,
    /// Each is read whole as it comes.
    Whole {
        /// True once one of them is.
        any: bool,
    },
    /// They wait until no other file of their size is being read.
    Waiting(WaitingId),
    /// It is asked of each where it lies, since others may lie in the same blocks.
    Blocks(BlocksId),
}

/// Number of a class whose files wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingId(pub u32);

/// Number of a class whose files are looked at for shared blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlocksId(pub u32);

/// Number of a class of which stretches are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargeId(pub u32);

/// The purpose for which a file is read or examined.
#[derive(Clone, Copy, Debug)]
pub enum Awaited {
    /// Its tail, of which this is the head class.
    Tail(ClassId),
    /// Its stretches.
    Stretches(LargeId),
    /// Where it lies, or its content for all that lie there.
    Blocks(BlocksId),
    /// What it has in common with the others of its class.
    Comparison(WaitingId),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_class_takes_eight_bytes() {
        assert_eq!(size_of::<ClassState>(), 8);
    }
}
