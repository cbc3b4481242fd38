//! What may be done to a duplicate, and doing it without ever losing a byte.
//!
//! A [`Step`] says what shall happen to one file, the *victim*, because another one, the *keeper*,
//! holds the same bytes. Steps are made by whoever plans; nothing in them is believed when they are
//! carried out. `docs/safety.md` says what is promised.

pub mod keep;
pub mod places;
pub mod plan;
mod step;

pub use step::{
    Action, ActionKind, Change, Done, Expected, Failure, Outcome, Settings, Skip, Step, Target,
    Unfit,
};

/// Every action there is: the one place that names them all.
pub const ACTIONS: &[Action] = &[
    Action {
        kind: ActionKind::Remove,
        name: "remove",
        about: "remove duplicates",
        undoable: false,
    },
    Action {
        kind: ActionKind::Trash,
        name: "trash",
        about: "put duplicates into the trash",
        undoable: true,
    },
    Action {
        kind: ActionKind::Hardlink,
        name: "hardlink",
        about: "make duplicates further names of the file that is kept",
        undoable: true,
    },
    Action {
        kind: ActionKind::Symlink,
        name: "symlink",
        about: "make duplicates symbolic links to the file that is kept",
        undoable: true,
    },
    Action {
        kind: ActionKind::Reflink,
        name: "reflink",
        about: "let duplicates share their blocks on disk, each remaining a file of its own",
        undoable: true,
    },
    Action {
        kind: ActionKind::Move,
        name: "move",
        about: "move duplicates to another folder",
        undoable: true,
    },
];
