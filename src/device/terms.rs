//! The words for what the user can set about disks. A program has options for it.

/// The words for what the user can set about disks.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// What to do about a class that is a guess.
    pub guess: &'static str,
    /// The setting that takes an [`Override`](super::Override).
    pub threads: &'static str,
    /// The setting for the depth of scattered reads.
    pub depth: &'static str,
}

impl Default for Terms {
    /// Words that name no option.
    fn default() -> Self {
        Self {
            guess: "measure the disk, or say that it is a spinning disk",
            threads: "threads",
            depth: "depth",
        }
    }
}
