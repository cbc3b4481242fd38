//! TIFF, DNG and ARW: all that is in the file but for tags that say nothing about the picture.

use super::super::blocks::exif;
use super::super::payload::Draft;
use super::super::source::{Reader, Result};

pub fn begins(head: &[u8]) -> bool {
    head.starts_with(b"II*\0") || head.starts_with(b"MM\0*")
}

pub fn parse(reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
    let whole = reader.whole();
    exif::take(reader, whole, draft)?;
    Ok(true)
}
