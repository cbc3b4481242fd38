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

/// Each mechanism with its name on the command line.
pub const MECHANISMS: [(Mechanism, &str); 11] = [
    (Mechanism::Ring, "ring"),
    (Mechanism::OpenFolders, "open-folders"),
    (Mechanism::Tails, "tails"),
    (Mechanism::ReadOn, "read-on"),
    (Mechanism::WholeAtOnce, "whole-at-once"),
    (Mechanism::LockStep, "lock-step"),
    (Mechanism::SharedBlocks, "shared-blocks"),
    (Mechanism::ReadAhead, "read-ahead"),
    (Mechanism::PastCache, "past-cache"),
    (Mechanism::Holes, "holes"),
    (Mechanism::Overlap, "overlap"),
];
