//! Facts about bytes: digests and how they are computed.

mod digest;

pub use digest::{ContentDigest, SampleDigest};
