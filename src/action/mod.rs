//! Actions on duplicates, which never lose a byte.
//!
//! A [`Step`] says what is to happen to one file, the *victim*, because another one, the *keeper*, has the same bytes.
//! The planner makes steps; an [`Actor`] trusts nothing in them when it carries them out. `docs/explanation/safety.md`
//! documents the guarantees.

mod access;
mod actor;
mod apply;
pub mod bounds;
mod coherence;
mod failure;
mod journal;
pub mod keep;
mod places;
pub mod plan;
mod reads;
pub mod reason;
mod step;
mod undo;
mod ways;

pub use self::journal::past::{UndoTally, Undone, UndoneFile};
pub use self::journal::record::{Raw, Recorded, RunHeader};
pub use self::journal::runs::{JournalFile, Run, RunLock, check_journals, journals, runs};
pub use self::step::metadata::SET_ID;
pub use self::undo::leftovers::{CutShort, cut_short};
pub use self::ways::{RootLink, RootWay};
pub use access::{ActionKind, Apart, Common, Reversal, Rights};
pub use actor::{Actor, BATCH, FolderTally, Tell};
pub use apply::{ApplyControl, ApplyTally, apply};
pub use journal::Journal;
pub use reads::Reads;
pub use reason::{Code, Reason};
pub use step::{Bond, Done, Expected, Outcome, Settings, Step, StepFile};
pub use undo::{Back, Reversion};
