//! The actions, and what is known of each before it is carried out.

/// The action on a victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ActionKind {
    /// Unlinks its name. Undo is impossible.
    Remove,
    /// Moves it into the trash of its file system (freedesktop.org).
    Trash,
    /// Replaces it with a further name of the keeper.
    Hardlink,
    /// Replaces it with a symbolic link to the keeper.
    Symlink,
    /// Makes it share the keeper's blocks.
    Reflink,
    /// Moves it to another folder.
    Move,
}

/// Whether undo can reverse an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reversal {
    /// Undo restores the previous state.
    GivesBack,
    /// No undo is necessary: every file is unchanged, with all its bytes.
    NothingToDo,
    /// Undo is impossible: the file is gone.
    Impossible,
}

impl ActionKind {
    /// All actions.
    pub const ALL: [Self; 6] = [
        Self::Remove,
        Self::Trash,
        Self::Hardlink,
        Self::Symlink,
        Self::Reflink,
        Self::Move,
    ];

    /// The name in journals and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Remove => "remove",
            Self::Trash => "trash",
            Self::Hardlink => "hardlink",
            Self::Symlink => "symlink",
            Self::Reflink => "reflink",
            Self::Move => "move",
        }
    }

    /// The action of this name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }

    /// Whether undo can reverse it.
    pub(crate) fn reversal(self) -> Reversal {
        match self {
            Self::Remove => Reversal::Impossible,
            Self::Reflink => Reversal::NothingToDo,
            Self::Trash | Self::Hardlink | Self::Symlink | Self::Move => Reversal::GivesBack,
        }
    }

    /// True if the file itself moves elsewhere, so that no other file has to stay for it.
    pub(crate) fn takes_content_along(self) -> bool {
        matches!(self, Self::Trash | Self::Move)
    }
}
