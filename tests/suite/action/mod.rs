//! Actions: what they do to files, what may come between, and how undo takes them back.

mod acting;
mod cut_short;
mod folders;
mod full_disk;
mod hangs;
mod journals;
mod many_steps;
mod power;
mod race;
mod two_runs;
mod undo;
mod undo_parents;
mod undo_unproven;
mod volumes;
