//! Why something was not seen, or not answered.

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
    /// A folder that changed each time it was listed.
    Unsettled,
    /// Its file system did not answer in time.
    Unanswered,
    /// Another file system did not answer in time, so the run ended before this was checked.
    OtherUnanswered,
    /// The run was interrupted.
    Interrupted,
    /// Memory was nearly used up.
    MemoryShort,
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

    /// True if it takes nothing from what was seen elsewhere: the place did not change, and is no second way to a file that
    /// was met before.
    pub fn hides_only_itself(self) -> bool {
        matches!(
            self,
            Self::Unreadable
                | Self::Unanswered
                | Self::OtherUnanswered
                | Self::OtherFileSystem
                | Self::PseudoFileSystem
                | Self::Trash
                | Self::TooMany
        )
    }

    /// Says it in a few words, for a line that names the path.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoRoot => "no such file or folder",
            Self::Unreadable => "cannot be read",
            Self::Changed => "changed during the run",
            Self::Vanished => "removed since it was listed",
            Self::Unsettled => "changed each time it was listed",
            Self::Unanswered => "did not answer",
            Self::OtherUnanswered => "not checked in full: another file system did not answer",
            Self::Interrupted => "the run was interrupted",
            Self::MemoryShort => "memory was nearly used up",
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
