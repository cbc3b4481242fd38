//! What a run does to be fast, each of which can be left out to see what it is good for.

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idea {
    /// Scattered reads through a ring, instead of by many threads.
    Ring,
    /// Folders kept open, so that files are opened by their name alone.
    OpenFolders,
    /// Tails sampled before whole files are read.
    Tails,
    /// Crowds told apart by stretches before any is read whole.
    Stretches,
    /// Short files read whole at once where that is likely to be needed.
    WholeAtOnce,
    /// Large cached files compared with each other, and only as far as they are equal.
    LockStep,
    /// Files in the same blocks known as equal.
    SharedBlocks,
    /// Long files read in parts by all threads that are free.
    Parts,
    /// What comes next read ahead: announced to the kernel, or left to its readahead.
    ReadAhead,
    /// What is hardly wanted a second time read past the page cache.
    PastCache,
    /// Holes hashed without being read.
    Holes,
    /// Files read while folders are still being listed.
    Overlap,
}

/// Each with its name on the command line and in words.
const IDEAS: [(Idea, &str, &str); Idea::ALL.len()] = [
    (
        Idea::Ring,
        "ring",
        "the ring: one read at a time for each of up to 64 threads",
    ),
    (
        Idea::OpenFolders,
        "open-folders",
        "folders kept open: one for each thread",
    ),
    (Idea::Tails, "tails", "sampling tails"),
    (
        Idea::Stretches,
        "stretches",
        "looking at stretches of crowds first",
    ),
    (
        Idea::WholeAtOnce,
        "whole-at-once",
        "reading short files whole at once",
    ),
    (
        Idea::LockStep,
        "lock-step",
        "comparing large cached files: each is hashed",
    ),
    (
        Idea::SharedBlocks,
        "shared-blocks",
        "looking for shared blocks",
    ),
    (
        Idea::Parts,
        "parts",
        "sharing long files: each is hashed by one thread",
    ),
    (
        Idea::ReadAhead,
        "read-ahead",
        "reading ahead: nothing is announced, and pools ask the kernel not to",
    ),
    (
        Idea::PastCache,
        "past-cache",
        "reading stretches and huge files past the page cache",
    ),
    (
        Idea::Holes,
        "holes",
        "passing over holes: they are read like data",
    ),
    (
        Idea::Overlap,
        "overlap",
        "overlap: nothing is read before the walk is over",
    ),
];

impl Idea {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Ring,
        Self::OpenFolders,
        Self::Tails,
        Self::Stretches,
        Self::WholeAtOnce,
        Self::LockStep,
        Self::SharedBlocks,
        Self::Parts,
        Self::ReadAhead,
        Self::PastCache,
        Self::Holes,
        Self::Overlap,
    ];

    fn row(self) -> &'static (Self, &'static str, &'static str) {
        // They are in the same order.
        &IDEAS[self as usize]
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// What is left out without it.
    pub fn about(self) -> &'static str {
        self.row().2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_idea_has_its_row() {
        for idea in Idea::ALL {
            assert_eq!(idea.row().0, idea);
        }
    }
}
