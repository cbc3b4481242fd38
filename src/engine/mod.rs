//! Binds scan, pipeline and executors into a run.

mod config;

pub use config::{Config, Replication, Root};
