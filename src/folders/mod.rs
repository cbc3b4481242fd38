//! Compares folders by content: which are the same, lie inside another, or hold content that is nowhere else.
//!
//! Everything here is exact and works on a [`Tree`]: folders in preorder, files with the number of their content. It
//! makes no system call. Two facts carry it. All copies of a content lie below a folder exactly if the lowest common
//! ancestor of the first and the last copy does. And a folder that holds everything of another one holds a copy of the
//! content with the fewest copies elsewhere.

mod answer;
mod beside;
mod count;
mod forms;
mod going;
mod groups;
mod homes;
mod left;
mod overlap;
mod parts;
mod seen;
mod staying;
mod tallies;
mod tree;
mod verdict;

pub use answer::{
    FolderEntry, FolderFinding, FolderGaps, FolderOverlap, FolderVerdict, FoldersAnswer, PartPlace,
    Wanted,
};
pub use count::{Percent, Places};
pub use forms::{Forms, Names};
pub use groups::{CanGo, Entry, Member, OnlyHere, entries};
pub use overlap::Overlap;
pub use parts::{FolderPart, Parts};
pub use seen::{Gap, NOISE, Seen};
pub use tallies::{Tallies, Tally};
pub use tree::{Content, Folder, Tree, Unanswered};
pub use verdict::{Finding, Question, Verdict};
