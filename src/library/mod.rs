//! The interface for other programs: builders with defaults, and no demands on the process.

mod action;
mod beside;
mod cancel;
mod compare;
mod error;
mod filtering;
mod folders;
mod journals;
mod paths;
mod plan;
mod probe;
mod reading;
mod rule;
mod search;
mod searching;
mod set;
mod times;
mod watch;

/// Hears of something, on the calling thread. Its owner may be moved to another thread before the work begins.
type Callback<'a, T> = Box<dyn FnMut(&T) + Send + 'a>;

pub use crate::action::plan::Totals as PlanTotals;
pub use crate::compare::{ComparisonAnswer as CompareAnswer, Side as ComparedSide, Sum};
pub use crate::engine::ProgressLine as Progress;
pub use crate::file::Kind;
pub use crate::folders::{
    CanGo, FolderEntry, FolderFinding, FolderGaps, FolderOverlap, FolderVerdict, PartPlace, Places,
};
pub use action::Action;
pub use cancel::Cancel;
pub use compare::{Compare, Compared, Difference, OnSide};
pub use error::{Error, ErrorKind};
pub use folders::{Folders, FoldersFound};
pub use journals::{Journals, Run, Undo, UndoPreview};
pub use plan::{Applied, Plan, PlannedFile, PlannedSet, Step};
pub use probe::{DiskAdvice, Probe, ProbeFindings};
pub use rule::Rule;
pub use search::Search;
pub use searching::Searching;
pub use set::{File, Set, Sets, Summary};
