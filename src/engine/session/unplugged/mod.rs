//! Disks that are not plugged in: catalogs take their place.

mod digests;
mod listing;
mod probable;

pub use listing::Unplugged;
pub use probable::Probable;
