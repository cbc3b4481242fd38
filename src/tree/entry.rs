//! What a tree holds besides folders and files, and what it says of files.

use std::ffi::CString;

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

/// The attributes of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Permission bits, with set-user-ID, set-group-ID and sticky.
    pub mode: u32,
    /// Owner and group.
    pub owner: (u32, u32),
    /// Last modification, nanoseconds since 1970.
    pub modified_ns: i64,
    /// Names and values of the extended attributes that this process may see, in order.
    pub extended: Box<[(CString, Vec<u8>)]>,
}

/// Why an entry, what lies below it, or the content of a file is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unseen {
    /// A root that is not there, or is no folder and no regular file.
    NoRoot,
    /// A folder, a file or its metadata could not be read.
    Unreadable,
    /// It changed or was moved while the run went on.
    Changed,
    /// It went away while the run went on.
    Vanished,
    /// Its file system did not answer in time.
    Unanswered,
    /// Another file system did not answer in time, so the run ended before this was checked.
    OtherUnanswered,
    /// The run was interrupted.
    Interrupted,
    /// Memory was nearly used up.
    MemoryShort,
    /// A file of a catalog that knows only its size.
    OnlySize,
    /// A file whose length, first and last bytes are those of another one, and a catalog knows no more of one of them.
    Probable,
    /// A folder on another file system that was not entered.
    OtherFileSystem,
    /// A folder of a pseudo file system such as /proc.
    PseudoFileSystem,
    /// A trash folder that was not entered.
    Trash,
    /// A folder that was reached before on another way: by another root, path or mount.
    ListedBefore,
    /// A file that is mounted on a name, which is not a name of its own.
    MountedFile,
    /// More folders deep, or more names, than are listed.
    TooMany,
    /// Left out by a filter for names, types, sizes, times or depth.
    Filtered,
    /// Left out since its name starts with a dot.
    Hidden,
    /// Left out by an ignore file.
    Ignored,
}

impl Unseen {
    /// True if somebody asked for it to be left out: that narrows the question and leaves no gap in the answer.
    pub fn is_asked_for(self) -> bool {
        matches!(self, Self::Filtered | Self::Hidden | Self::Ignored)
    }

    /// True if it takes nothing from what was seen elsewhere: the place did not change, and is no second way to a file
    /// that was met before.
    pub fn hides_only_itself(self) -> bool {
        matches!(
            self,
            Self::Unreadable
                | Self::Unanswered
                | Self::OtherUnanswered
                | Self::OnlySize
                | Self::Probable
                | Self::OtherFileSystem
                | Self::PseudoFileSystem
                | Self::Trash
                | Self::TooMany
        )
    }

    /// True for files that may be equal to files elsewhere, of which a catalog knows too little. Each file that could
    /// be equal to it is left open, too, unless another one is its match.
    pub fn is_of_catalog(self) -> bool {
        matches!(self, Self::OnlySize | Self::Probable)
    }

    /// What these words say; that it cannot be read if they are no words of this.
    pub fn of_words(words: &str) -> Self {
        let all = [
            Self::NoRoot,
            Self::Changed,
            Self::Vanished,
            Self::Unanswered,
            Self::OtherUnanswered,
            Self::Interrupted,
            Self::MemoryShort,
            Self::OtherFileSystem,
            Self::PseudoFileSystem,
            Self::Trash,
            Self::ListedBefore,
            Self::MountedFile,
            Self::TooMany,
            Self::Filtered,
            Self::Hidden,
            Self::Ignored,
        ];
        let said = all.into_iter().find(|it| it.words() == words);
        said.unwrap_or(Self::Unreadable)
    }

    /// Says it in a few words, for a line that names the path.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoRoot => "no such file or folder",
            Self::Unreadable => "cannot be read",
            Self::Changed => "changed during the run",
            Self::Vanished => "removed since it was listed",
            Self::Unanswered => "did not answer",
            Self::OtherUnanswered => "not checked in full: another file system did not answer",
            Self::Interrupted => "the run was interrupted",
            Self::MemoryShort => "memory was nearly used up",
            Self::OnlySize => "the catalog knows only its size",
            Self::Probable => {
                "probably equal: size, first and last bytes agree, and a catalog knows no more"
            }
            Self::OtherFileSystem => "on another file system; not entered",
            Self::PseudoFileSystem => "a pseudo file system; not entered",
            Self::Trash => "a trash folder; not entered",
            Self::ListedBefore => "reached a second time, by another path or mount",
            Self::MountedFile => "another file is mounted here",
            Self::TooMany => "too many levels or names; not listed",
            Self::Filtered => "excluded by a filter",
            Self::Hidden => "hidden; left out",
            Self::Ignored => "excluded by an ignore file",
        }
    }
}
