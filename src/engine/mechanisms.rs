//! The mechanisms that make a run fast. Each can be disabled, to measure its effect.

/// A mechanism that makes a run fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Scattered reads through a ring, instead of by many threads.
    Ring,
    /// Folders kept open, so that files are opened by their name alone.
    OpenFolders,
    /// Tails sampled before whole files are read.
    Tails,
    /// Large classes told apart by stretches before any is read whole.
    Stretches,
    /// Short files read whole at once where this is likely to be necessary.
    WholeAtOnce,
    /// Large cached files compared with each other, and only as far as they are equal.
    LockStep,
    /// Files in the same blocks known as equal.
    SharedBlocks,
    /// Reading ahead: announced to the kernel, or left to its readahead.
    ReadAhead,
    /// Reads past the page cache of data that is hardly read a second time.
    PastCache,
    /// Holes hashed without being read.
    Holes,
    /// Files read while folders are still being listed.
    Overlap,
}

/// Each mechanism with its name on the command line and in words.
const ROWS: [(Mechanism, &str, &str); Mechanism::ALL.len()] = [
    (
        Mechanism::Ring,
        "ring",
        "the ring: one read at a time for each of up to 64 threads",
    ),
    (
        Mechanism::OpenFolders,
        "open-folders",
        "folders kept open: one for each thread",
    ),
    (Mechanism::Tails, "tails", "sampling tails"),
    (
        Mechanism::Stretches,
        "stretches",
        "looking at stretches of large classes first",
    ),
    (
        Mechanism::WholeAtOnce,
        "whole-at-once",
        "reading short files whole at once",
    ),
    (
        Mechanism::LockStep,
        "lock-step",
        "comparing large cached files: each is hashed",
    ),
    (
        Mechanism::SharedBlocks,
        "shared-blocks",
        "looking for shared blocks",
    ),
    (
        Mechanism::ReadAhead,
        "read-ahead",
        "reading ahead: nothing is announced, and pools ask the kernel not to",
    ),
    (
        Mechanism::PastCache,
        "past-cache",
        "reading stretches and huge files past the page cache",
    ),
    (
        Mechanism::Holes,
        "holes",
        "passing over holes: they are read like data",
    ),
    (
        Mechanism::Overlap,
        "overlap",
        "overlap: nothing is read before the walk is over",
    ),
];

impl Mechanism {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Ring,
        Self::OpenFolders,
        Self::Tails,
        Self::Stretches,
        Self::WholeAtOnce,
        Self::LockStep,
        Self::SharedBlocks,
        Self::ReadAhead,
        Self::PastCache,
        Self::Holes,
        Self::Overlap,
    ];

    fn row(self) -> &'static (Self, &'static str, &'static str) {
        // They are in the same order.
        &ROWS[self as usize]
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The effect of disabling it.
    pub fn about(self) -> &'static str {
        self.row().2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mechanism_has_its_row() {
        for mechanism in Mechanism::ALL {
            assert_eq!(mechanism.row().0, mechanism);
        }
    }
}
