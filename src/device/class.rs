//! The classes of volumes, by how they like to be read.

use std::fmt;

/// How a volume likes to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Many reads at once, in any order.
    SolidState,
    /// A head has to move: few reads at once, in the order of the platter.
    Rotational,
    /// Nothing to wait for.
    Memory,
    /// Another machine answers.
    Network,
    /// A program answers.
    Fuse,
    /// No evidence, or none that can be believed.
    Unknown,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 6] = [
        Self::SolidState,
        Self::Rotational,
        Self::Memory,
        Self::Network,
        Self::Fuse,
        Self::Unknown,
    ];

    /// The word for it on the command line and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::SolidState => "ssd",
            Self::Rotational => "hdd",
            Self::Memory => "memory",
            Self::Network => "network",
            Self::Fuse => "fuse",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
