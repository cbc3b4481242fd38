//! Binds scan, pipeline and executors into a run.

mod ambiguous;
mod blake3_fold;
mod config;
mod control;
mod deliver;
mod explain;
mod mechanisms;
mod memory;
mod nested;
mod order;
mod process_limits;
mod reclaim;
mod session;
mod tally;
mod volumes;

pub use crate::cache::{CacheUse, Choice as CacheChoice, Trust};
pub use crate::decide::{BadCopies, Copies};
pub use crate::read::{LEAST_RATE, PageUse};
pub use config::{Config, Root};
pub use control::{Control, ProgressLine};
pub use deliver::Delivery;
pub use explain::explain;
pub use mechanisms::{MECHANISMS, Mechanism};
pub use memory::LEAST as LEAST_MEMORY;
pub use order::{SetFacts, SetOrder};
pub use process_limits::{are_free as are_descriptors_free, make_room};
pub use session::{Error, classify, find};
