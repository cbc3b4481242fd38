//! Facts about bytes: digests and how they are computed.

mod compute;
mod digest;
mod places;
mod subtree;
mod zeros;

pub use compute::{Digest, Running};
pub use digest::{ContentDigest, SampleDigest};
pub use places::{Places, PlacesDigest};
pub use subtree::Subtree;
pub use zeros::Zeros;
