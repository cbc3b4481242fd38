//! Facts about bytes: digests, how they are computed, and what stands for a content without one.

mod compute;
mod digest;
mod many;

pub use compute::{Digest, Fold, Running};
pub use digest::{BadDigest, ContentDigest, ContentToken, Places, PlacesDigest, SampleDigest};
