//! MP3: frames, with tags before and after them.

use super::super::blocks::id3;
use super::super::payload::Draft;
use super::super::source::{Reader, Result};
use super::super::span::Span;

pub fn begins(head: &[u8]) -> bool {
    head.starts_with(b"ID3") || frame_length(head).is_some()
}

pub fn parse(reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
    let whole = reader.whole();
    let sound = id3::skip_front(reader, whole, draft)?;
    // Zeros before the first frame change how decoders begin: such a file is an ordinary one.
    if !begins_with_frames(reader, sound)? {
        return Ok(false);
    }
    let frames = id3::skip_back(reader, sound)?;
    // A tag inside of a frame that was cut off is decoded as a part of it.
    let frames = if ends_with_frame(reader, frames)? {
        frames
    } else {
        sound
    };
    draft.parts.picture.put_span(b"frames", frames);
    Ok(true)
}

/// True for two frames of the same kind, one after the other: a single header may be chance.
fn begins_with_frames(reader: &mut Reader, sound: Span) -> Result<bool> {
    if sound.length < 4 {
        return Ok(false);
    }
    let first = reader.bytes(Span::new(sound.start, 4))?.to_vec();
    let Some(length) = frame_length(&first) else {
        return Ok(false);
    };
    let rest = sound.skip(length);
    if rest.length < 4 {
        return Ok(rest.start == sound.end() && length > 0);
    }
    let next = reader.bytes(Span::new(rest.start, 4))?;
    Ok(frame_length(next).is_some() && next[1] & 0xFE == first[1] & 0xFE)
}

/// The longest frame of layer III.
const LONGEST_FRAME: u64 = 2881;

/// True if the last frame ends with the sound.
fn ends_with_frame(reader: &mut Reader, sound: Span) -> Result<bool> {
    let end = sound.skip(sound.length.saturating_sub(LONGEST_FRAME));
    let first = reader.big(sound.start, 2)? as u16;
    let bytes = reader.bytes(end)?;
    let is_last = |(at, head): (usize, &[u8])| {
        u16::from_be_bytes([head[0], head[1]]) == first
            && frame_length(head) == Some((bytes.len() - at) as u64)
    };
    Ok(bytes.windows(4).enumerate().any(is_last))
}

/// The length of a frame of layer III, by its header.
fn frame_length(head: &[u8]) -> Option<u64> {
    const OF_1: [u64; 15] = [
        0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320,
    ];
    const OF_2: [u64; 15] = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
    let head = head.get(..4)?;
    let (version, layer) = (head[1] >> 3 & 3, head[1] >> 1 & 3);
    let is_sync = head[0] == 0xFF && head[1] & 0xE0 == 0xE0 && version != 1 && layer == 1;
    let (rate, frequency) = (usize::from(head[2] >> 4), head[2] >> 2 & 3);
    if !is_sync || frequency == 3 || rate == 0 || head[3] & 3 == 2 {
        return None;
    }
    let padding = u64::from(head[2] >> 1 & 1);
    let (unit, rates, halved) = match version {
        3 => (144_000, OF_1, 0),
        2 => (72_000, OF_2, 1),
        _ => (72_000, OF_2, 2),
    };
    let frequency = [44_100, 48_000, 32_000][usize::from(frequency)] >> halved;
    Some(unit * rates.get(rate)? / frequency + padding)
}
