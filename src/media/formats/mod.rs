//! The formats, each in a file of its own.

mod codec;
mod film;
mod flac;
mod heif;
mod jpeg;
mod mp3;
mod png;
mod samples;
mod tiff;
mod times;
mod webp;

use super::fields::Fields;
use super::payload::{Draft, Format};
use super::source::{Reader, Result};
use super::span::Span;

/// Tells a format by its first bytes, and the parts of its files apart.
pub trait Parser {
    fn format(&self) -> Format;

    /// True if a file that begins so may have this format.
    fn begins(&self, head: &[u8]) -> bool;

    /// Fills in the parts. False if the file has another format after all: then nothing was filled in.
    fn parse(&self, reader: &mut Reader, draft: &mut Draft) -> Result<bool>;
}

/// True for a shape of pixels, two numbers of so many bytes, that is square.
fn is_square(reader: &mut Reader, shape: Span, size: u64) -> Result<bool> {
    let mut fields = Fields::new(reader, shape);
    Ok(fields.number(size)? == fields.number(size)?)
}

/// All formats, in the order in which they are tried.
pub const PARSERS: [&dyn Parser; 8] = [
    &jpeg::Jpeg,
    &png::Png,
    &webp::WebP,
    &tiff::Tiff,
    &heif::Heif,
    &film::Film,
    &flac::Flac,
    &mp3::Mp3,
];
