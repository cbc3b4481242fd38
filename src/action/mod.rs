//! Actions on duplicates, which never lose a byte.
//!
//! A [`Step`] says what is to happen to one file, the *victim*, because another one, the *keeper*, has the same bytes.
//! The planner makes steps; an [`Actor`] trusts nothing in them when it carries them out. `docs/explanation/safety.md`
//! documents the guarantees.

mod access;
mod act;
mod action_kind;
mod actor;
mod apply;
pub mod bounds;
mod check;
mod closed_folder;
mod coherence;
mod compare;
mod copy;
mod existing_folder;
mod folder_entry;
mod folder_identity;
mod folder_times;
mod folder_traits;
mod journal;
mod journal_error;
mod journal_folder;
pub mod keep;
mod leftovers;
mod links;
mod lock_holder;
mod made;
mod metadata;
mod move_away;
mod new_folders;
mod pair;
mod past;
mod places;
pub mod plan;
mod proof;
mod reach;
mod reads;
pub mod reason;
mod record;
mod reflink;
mod relocate;
mod root_way;
mod run;
mod run_name;
mod runs;
mod step;
mod step_error;
mod synced;
mod temporary;
mod torn_groups;
mod trash;
mod trash_folder;
mod tree_lock;
mod undo;
mod undo_batch;
mod undo_folder;
mod undo_folders;
mod undo_parent;
mod undo_step;
mod undone;

pub use access::{Apart, Common, Rights};
pub use action_kind::{ActionKind, Reversal};
pub use actor::{Actor, BATCH, FolderTally, Tell};
pub use apply::{ApplyControl, ApplyTally, TellStep, apply};
pub use journal::Journal;
pub use journal_error::JournalError;
pub use journal_folder::check_journals;
pub use leftovers::{CutShort, HalfDone, LeftoverKind, cut_short};
pub use lock_holder::Holder;
pub use metadata::SET_ID;
pub use past::Flaw;
pub use reads::Reads;
pub use reason::{Code, Reason};
pub use record::{Raw, RunHeader};
pub use root_way::{RootLink, RootWay};
pub use run::Run;
pub use runs::{Found, KEPT_DAYS, KEPT_JOURNALS, journals, runs};
pub use step::{
    Change, Done, Expected, Failure, Hint, Outcome, Settings, Skip, Step, StepFile, Unfit,
};
pub use tree_lock::{Occupied, TreeLock, few_folders};
pub use undo::{Reversion, undo};
pub use undone::{Undo, UndoTally, Undone};
