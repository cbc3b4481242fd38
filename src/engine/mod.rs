//! Binds scan, pipeline and executors into a run.

mod alike;
mod config;
mod deliver;
mod limits;
mod members;
mod order;
mod progress;
mod session;
mod tables;
mod volumes;

pub use crate::cache::{CacheUse, Choice as CacheChoice, Trust};
pub use crate::decide::{BadCopies, Copies};
pub use crate::read::{LEAST_RATE, PageUse};
pub use crate::sys::process::host_name;
pub use config::{CatalogRoot, Config, IgnoreTags, MECHANISMS, Mechanism, Root};
pub use deliver::Delivery;
pub use limits::{are_free as are_descriptors_free, make_room};
pub use order::{SetFacts, SetOrder};
pub use progress::{Control, ProgressLine};
pub use session::{Entries, Error, classify, find, inventory};
