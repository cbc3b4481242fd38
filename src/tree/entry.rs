//! Entries that are neither files nor folders.

use super::Unseen;

/// The type of an entry, or why it is unknown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A symbolic link, and what it says.
    Link(Box<[u8]>),
    /// A special file.
    Special(Special),
    /// Something that was not seen, or not to its end.
    Unseen(Unseen),
}

/// The kinds of special files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Special {
    /// A FIFO.
    Fifo,
    /// A socket.
    Socket,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharacterDevice,
    /// Something else.
    Unknown,
}
