//! Readers of structures that several formats share.

pub mod boxes;
pub mod comments;
pub mod exif;
pub mod gaps;
pub mod id3;
pub mod ifd;
pub mod irb;
pub mod xmp;
