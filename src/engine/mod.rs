//! Binds scan, pipeline and executors into a run.

mod address_space;
mod ambiguous;
mod answers;
mod arrivals;
mod blake3_fold;
mod config;
mod control;
mod deliver;
mod descriptors;
mod explain;
mod find;
mod mechanisms;
mod memory;
mod names;
mod order;
mod progress;
mod reclaim;
mod requests;
mod session;
mod set_order;
mod silence;
mod tally;
mod verify;
mod volumes;

pub use crate::decide::Replication;
pub use crate::read::{PageUse, SweepOrder};
pub use config::{Config, Root};
pub use control::{Control, ProgressLine};
pub use deliver::Delivery;
pub use descriptors::make_room;
pub use explain::explain;
pub use find::{Error, find};
pub use mechanisms::Mechanism;
pub use memory::LEAST as LEAST_MEMORY;
pub use set_order::{SetFacts, SetOrder};
