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
    /// On spinning disks, files read on after their heads where a second visit would probably cost more.
    ReadOn,
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

/// Each mechanism with its name on the command line, and the effect of disabling it.
pub const MECHANISMS: [(Mechanism, &str, &str); 11] = [
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
        Mechanism::ReadOn,
        "read-on",
        "reading files whole at once on spinning disks",
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
        "reading huge files past the page cache",
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
