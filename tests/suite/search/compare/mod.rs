//! `seekless compare`: signs, counts and the answer; and never 0 where something was left open.

mod oracle;
mod settling;
mod sidecars;
mod signs;
mod trash;
mod unanswered;
mod views;
mod wipe;
