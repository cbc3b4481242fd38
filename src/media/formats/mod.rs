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

/// Tells by its first bytes whether a file may have a format.
type Begins = fn(&[u8]) -> bool;

/// Fills in the parts of a file. False if it has another format after all.
type Parse = fn(&mut Reader, &mut Draft) -> Result<bool>;

/// All formats, in the order in which they are tried.
pub const PARSERS: [(Format, Begins, Parse); 8] = [
    (Format::Jpeg, jpeg::begins, jpeg::parse),
    (Format::Png, png::begins, png::parse),
    (Format::WebP, webp::begins, webp::parse),
    (Format::Tiff, tiff::begins, tiff::parse),
    (Format::Heif, heif::begins, heif::parse),
    (Format::Film, film::begins, film::parse),
    (Format::Flac, flac::begins, flac::parse),
    (Format::Mp3, mp3::begins, mp3::parse),
];

/// True for a shape of pixels, two numbers of so many bytes, that is square.
fn is_square(reader: &mut Reader, shape: Span, size: u64) -> Result<bool> {
    let mut fields = Fields::new(reader, shape);
    Ok(fields.number(size)? == fields.number(size)?)
}
