//! Plans: what is to be done, before anything is done.

mod alike;
mod carried;
mod dangling;
mod groups;
mod libraries;
mod library_alike;
mod live;
mod managed;
mod originals;
mod plan;
mod plan_asked;
mod sidecars;
mod together;
mod trash;
