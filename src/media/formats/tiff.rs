//! TIFF, DNG and ARW: all that is in the file but for tags that say nothing about the picture.

use super::super::blocks::exif;
use super::super::payload::{Draft, Format};
use super::super::source::{Reader, Result};
use super::Parser;

pub struct Tiff;

impl Parser for Tiff {
    fn format(&self) -> Format {
        Format::Tiff
    }

    fn begins(&self, head: &[u8]) -> bool {
        head.starts_with(b"II*\0") || head.starts_with(b"MM\0*")
    }

    fn parse(&self, reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
        let whole = reader.whole();
        exif::take(reader, whole, draft)?;
        Ok(true)
    }
}
