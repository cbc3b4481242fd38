//! The repository itself: sources, pages, and the examples that they show; and the command line around the commands.

mod circles;
mod config;
mod containers;
mod docs;
mod examples;
mod layering;
mod library;
mod library_ends;
mod library_process;
mod mutations;
mod sources;
mod style;
mod wrong_uses;
