//! The options of the program in the words about disks.

use seekless::device::Terms;

/// What the user can set about disks, as options.
pub const DEVICE_TERMS: Terms = Terms {
    guess: "measure it with seekless probe, or set --threads unknown:hdd for a spinning disk",
    threads: "--threads",
    depth: "--depth-random",
};
