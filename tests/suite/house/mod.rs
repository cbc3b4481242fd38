//! The repository itself: sources, pages, and the examples that they show.

mod docs;
mod examples;
mod layering;
mod library;
mod repository;
mod sessions;
