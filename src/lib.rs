//! Finds files with the same content, reading only what can change the answer and in the order that the disk likes.
//!
//! ```no_run
//! for set in seekless::Search::new(["/home/me/Pictures"]).run()?.sets {
//!     println!("{} × {}", set.files.len(), set.size);
//! }
//! # Ok::<(), seekless::Error>(())
//! ```
//!
//! Every call blocks until its work is done, and needs no async runtime; `docs/examples/async.rs` shows one inside
//! tokio. The library prints nothing, and changes nothing about its process: a program that wants to raise the limit of
//! open files or to set up the heap does so itself.
//!
//! This is version 0.x: names and meanings may still change from one minor version to the next.

// Without the program, what only it uses is unused.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

// How the rooms stand: imports point downward only, and `tests/suite/house/layering.rs` checks it.
// docs/explanation/architecture.md says more.
//
// 8 cli
// 7 library
// 6 acting
// 5 engine · report · action · probe
// 4 scan · read · decide · folders · compare · cache · catalog · fleet
// 3 device · hash · media
// 2 file · tree
// 1 sys
// 0 units · event · heartbeat
//   lock

// The program is the topmost room. It names the library as other programs do.
extern crate self as seekless;

#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use cli::main as program;

mod acting;
mod heartbeat;
mod library;
mod lock;
mod probe;
mod read;
mod sys;

// Tests and benchmarks look into these rooms. They are no part of the interface.
#[doc(hidden)]
pub mod action;
#[doc(hidden)]
pub mod cache;
#[doc(hidden)]
pub mod catalog;
#[doc(hidden)]
pub mod compare;
#[doc(hidden)]
pub mod decide;
#[doc(hidden)]
pub mod device;
#[doc(hidden)]
pub mod engine;
#[doc(hidden)]
pub mod event;
#[doc(hidden)]
pub mod file;
#[doc(hidden)]
pub mod fleet;
#[doc(hidden)]
pub mod folders;
#[doc(hidden)]
pub mod hash;
#[doc(hidden)]
pub mod media;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod scan;
#[doc(hidden)]
pub mod tree;
#[doc(hidden)]
pub mod units;

#[doc(inline)]
pub use action::plan::{BrokenLink, Carried, Choice, Fate, Sidecars};
#[doc(inline)]
pub use action::reason::{Class, Code, Facts, Reason};
#[doc(inline)]
pub use action::{ActionKind, Done, Outcome, UndoTally, Undone, UndoneFile};
#[doc(inline)]
pub use event::{Problem, ProblemKind};
#[doc(inline)]
pub use hash::ContentDigest;
pub use library::{
    Action, Alike, Applied, CanGo, Cancel, Compare, CompareAnswer, Compared, ComparedSide,
    Difference, Error, ErrorKind, File, Filter, FolderEntry, FolderFinding, FolderGaps,
    FolderOverlap, FolderVerdict, Folders, FoldersFound, Journals, Kind, OnSide, Places, Plan,
    PlanTotals, PlannedFile, PlannedSet, Progress, Run, Search, Set, Sets, Step, Sum, Summary,
    Undo,
};
#[doc(inline)]
pub use media::Tags;
#[doc(inline)]
pub use units::Bytes;
