//! Prints the parts of files, for comparison with other programs: `tests/media/oracle.py` does that.
//!
//! Reads lines from standard input. `look PATH` answers with one line of fields: format, then length and digest of each
//! part; or `none`, or the reason why there are none. `mutate PATH COUNT SEED` changes one byte after the other, in PNG with
//! the checksum of its chunk, and answers with a line for each change that leaves the picture as it was: offsets and new
//! bytes; then with `done` and how many changed it, and how many were refused.

use std::io::{self, BufRead, Write};

use seekless::media::{self, Media, Source};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["look", path] => writeln!(out, "{}", look(path)?)?,
            ["mutate", path, count, seed] => {
                let (count, seed) = (count.parse().unwrap_or(0), seed.parse().unwrap_or(0));
                mutate(&mut out, path, count, seed)?;
            }
            _ => writeln!(out, "unknown")?,
        }
        out.flush()?;
    }
    Ok(())
}

fn hex(digest: [u8; 32]) -> String {
    digest[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Digest of a part, as text; nothing for one that is empty.
fn digest(media: &Media, part: &media::Part, source: &dyn Source) -> io::Result<String> {
    match part.length() {
        0 => Ok("-".to_owned()),
        _ => Ok(hex(part.digest(&media.format.domain(), source)?)),
    }
}

fn look(path: &str) -> io::Result<String> {
    let bytes = &std::fs::read(path)?[..];
    let media = match media::look(&bytes) {
        Ok(Some(media)) => media,
        Ok(None) => return Ok("none".to_owned()),
        Err(error) => return Ok(error.to_string()),
    };
    let mut text = format!("{:?}", media.format);
    let parts = &media.parts;
    for part in parts.all() {
        text += &format!("\t{} {}", part.length(), digest(&media, part, &bytes)?);
    }
    Ok(text)
}

/// Gives each chunk of a PNG file the checksum that it must have: a wrong one alone would tell of the change.
fn mend_checksums(file: &mut [u8]) {
    let mut at = 8;
    while file.starts_with(b"\x89PNG")
        && let Some(length) = file.get(at..).and_then(|rest| rest.first_chunk())
    {
        let end = at + 8 + u32::from_be_bytes(*length) as usize;
        let Some(chunk) = file.get(at + 4..end) else {
            break;
        };
        let checksum = chunk.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
                sum >> 1 ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 }
            })
        });
        if let Some(place) = file.get_mut(end..end + 4) {
            place.copy_from_slice(&(!checksum).to_be_bytes());
        }
        at = end + 4;
    }
}

fn mutate(out: &mut impl Write, path: &str, count: u64, seed: u64) -> io::Result<()> {
    let original = std::fs::read(path)?;
    let picture = |bytes: &[u8]| match media::look(&bytes) {
        Ok(Some(media)) => {
            let parts = &media.parts;
            let of = |part| digest(&media, part, &bytes);
            Ok::<_, io::Error>(Some((of(&parts.picture)?, of(&parts.orientation)?)))
        }
        _ => Ok(None),
    };
    let before = picture(&original)?;
    let (mut random, mut refused, mut changed) = (fastrand::Rng::with_seed(seed), 0, 0);
    for _ in 0..count {
        let mut bytes = original.clone();
        // Most of what is not pixels lies at the start.
        let end = if random.bool() {
            bytes.len()
        } else {
            bytes.len().min(256 << 10)
        };
        let at = random.usize(..end);
        let old = bytes[at];
        // A bit, a neighbour, or any byte.
        bytes[at] = match random.u8(..3) {
            0 => old ^ 1 << random.u8(..8),
            1 => old.wrapping_add(1),
            _ => random.u8(..),
        };
        mend_checksums(&mut bytes);
        match picture(&bytes)? {
            None => refused += 1,
            after if after == before => {
                let both = original.iter().zip(&bytes).enumerate();
                let new = both.filter(|(_, (old, new))| old != new);
                let new = new.map(|(at, (_, new))| format!("{at} {new}"));
                writeln!(out, "{}", new.collect::<Vec<_>>().join(" "))?;
            }
            _ => changed += 1,
        }
    }
    writeln!(out, "done {changed} {refused}")
}
