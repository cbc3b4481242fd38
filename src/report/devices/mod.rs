//! Reports about devices: what `seekless devices` prints.

mod json;
mod table;

pub use json::write as write_json;
pub use table::write as write_table;

/// Number of the JSON document's layout; grows when a key changes its meaning.
pub const DEVICES_SCHEMA: u32 = 1;
