//! `seekless compare`: signs, counts and the answer; and never 0 where something was left open.

mod settling;
mod signs;
mod trash;
mod unanswered;
mod views;
mod wipe;
