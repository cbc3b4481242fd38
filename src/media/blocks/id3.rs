//! Tags before and after the frames of a sound.

use super::super::fields::Fields;
use super::super::payload::Draft;
use super::super::source::{Order, Reader, Result, damaged};
use super::super::span::Span;

/// Takes the ID3v2 tags at the start away.
pub fn skip_front(reader: &mut Reader, mut sound: Span, draft: &mut Draft) -> Result<Span> {
    while reader.has(sound.start, b"ID3")? {
        let Some(length) = length_of_v2(reader, sound.start)? else {
            break;
        };
        if length > sound.length {
            return damaged("an ID3 tag ends outside");
        }
        reader.count(1)?;
        draft.blocks.id3.push(Span::new(sound.start, length));
        sound = sound.skip(length);
    }
    Ok(sound)
}

/// The length of an ID3v2 tag with its header and footer; nothing if it is none.
fn length_of_v2(reader: &mut Reader, at: u64) -> Result<Option<u64>> {
    let head = reader.bytes(Span::new(at, 10))?;
    let size = &head[6..10];
    if head[3] == 0xFF || head[4] == 0xFF || size.iter().any(|byte| byte & 0x80 != 0) {
        return Ok(None);
    }
    let footer = if head[5] & 0x10 == 0 { 0 } else { 10 };
    Ok(Some(10 + synchsafe(size) + footer))
}

/// The number in bytes of which each has seven bits.
pub fn synchsafe(bytes: &[u8]) -> u64 {
    let join = |number: u64, byte: &u8| number << 7 | u64::from(*byte);
    bytes.iter().fold(0, join)
}

/// Takes ID3v1, APEv2 and Lyrics3v2 at the end away, in whatever order.
pub fn skip_back(reader: &mut Reader, mut sound: Span) -> Result<Span> {
    loop {
        let tag = match length_at_end(reader, sound)? {
            0 => return Ok(sound),
            tag if tag > sound.length => return damaged("a tag begins outside"),
            tag => tag,
        };
        reader.count(1)?;
        sound.length -= tag;
    }
}

fn length_at_end(reader: &mut Reader, sound: Span) -> Result<u64> {
    let end = sound.end();
    if sound.length >= 128 && reader.has(end - 128, b"TAG")? {
        return Ok(128);
    }
    if sound.length >= 32 && reader.has(end - 32, b"APETAGEX")? {
        let mut foot = Fields::in_order(reader, Span::new(end - 24, 12), Order::Little);
        let (version, size) = (foot.number(4)?, foot.number(4)?);
        let flags = reader.number(end - 12, 4, Order::Little)?;
        // A header would be the same but for this flag.
        let is_footer = flags & 1 << 29 == 0;
        let header = if flags & 1 << 31 == 0 { 0 } else { 32 };
        if matches!(version, 1000 | 2000) && size >= 32 && is_footer {
            return Ok(size + header);
        }
    }
    if sound.length >= 15 && reader.has(end - 9, b"LYRICS200")? {
        let digits = reader.bytes(Span::new(end - 15, 6))?;
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        let tag = digits.parse::<u64>().map_or(0, |size| size + 15);
        if tag <= sound.length && reader.has(end - tag, b"LYRICSBEGIN")? {
            return Ok(tag);
        }
    }
    Ok(0)
}
