//! Facts about bytes: digests, how they are computed, and what stands for a content without one.

mod compute;
mod digest;
mod places;
mod token;

pub use compute::{Digest, Running};
pub use digest::{BadDigest, ContentDigest, SampleDigest};
pub use places::{Places, PlacesDigest};
pub use token::ContentToken;
