//! Compares folders by content: which are the same, lie inside another, or hold content that is nowhere else.
//!
//! Start reading at [`FoldersAnswer::of`]. Everything here is exact and works on the [`Tree`](crate::tree::Tree) of a
//! run, whose folders stand in preorder; it makes no system call. Two facts carry it. All copies of a content lie below
//! a folder exactly if the lowest common ancestor of the first and the last copy does. And a folder that holds
//! everything of another one holds a copy of the content with the fewest copies elsewhere.
//!
//! 1. [`Seen`] gives each file that counts the number of its content, and knows the places that were not seen.
//! 2. [`Tallies`] and [`Forms`] say for all folders at once what they hold, and which are identical.
//! 3. `going` finds the folders that can go: those with a home in what is `left` without those found before.
//! 4. `answer` adds what is to be known of the others, by their `shares` and their `overlap` with other folders.

mod answer;
mod going;
mod left;
mod seen;
mod shares;
mod survey;
mod verdict;

pub use answer::FoldersAnswer;
pub use seen::{Content, Gap, NOISE, Seen, UNCOUNTED, UNIDENTIFIED};
pub use survey::{Forms, Percent, Tallies, Tally, Wanted};
pub use verdict::{
    CanGo, FolderEntry, FolderFinding, FolderGaps, FolderOverlap, FolderVerdict, Places,
};
