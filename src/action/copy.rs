//! Copying a file's bytes from one open descriptor to another.

use std::os::fd::OwnedFd;

use rustix::io::{Errno, Result};

use super::compare;
use crate::hash::ContentDigest;
use crate::sys::stat::Stat;
use crate::sys::{dedupe, open, pread, write};

/// Bytes read at once. As in `compare`.
const PIECE: usize = 256 << 10;

/// Granularity of holes that are made: the usual block.
const BLOCK: usize = 4096;

/// Fills a new, empty file with all bytes of another one.
///
/// As a clone where the file system can, which takes no space; a sparse file's runs of zeros become holes.
///
/// # Errors
/// What the system said; `ESTALE` if the file ends before the length that `stat` tells.
pub fn contents(from: &OwnedFd, stat: &Stat, to: &OwnedFd) -> Result<()> {
    match dedupe::clone_into_empty(to, from) {
        Some(()) => Ok(()),
        None => by_pieces(from, stat, to, &mut |_| {}),
    }
}

/// The same, and tells the digest of what the new file holds by that.
///
/// # Errors
/// As [`contents`].
pub fn hashed(from: &OwnedFd, stat: &Stat, to: &OwnedFd) -> Result<ContentDigest> {
    if dedupe::clone_into_empty(to, from).is_some() {
        return compare::digest(to);
    }
    let mut hasher = blake3::Hasher::new();
    by_pieces(from, stat, to, &mut |piece| {
        hasher.update(piece);
    })?;
    Ok(hasher.finalize().into())
}

fn by_pieces(from: &OwnedFd, stat: &Stat, to: &OwnedFd, seen: &mut dyn FnMut(&[u8])) -> Result<()> {
    let sparse = stat.blocks.saturating_mul(512) < stat.size;
    let mut buffer = vec![0; PIECE.min(usize::try_from(stat.size).unwrap_or(PIECE))];
    let mut offset = 0;
    while offset < stat.size {
        let length = usize::try_from(stat.size - offset)
            .unwrap_or(PIECE)
            .min(PIECE);
        let piece = &mut buffer[..length];
        open::ask_about(from);
        if pread::full(from, piece, offset)? != length {
            return Err(Errno::STALE);
        }
        seen(piece);
        open::ask_about(to);
        if sparse {
            write_blocks(to, piece, offset)?;
        } else {
            write::at(to, piece, offset)?;
        }
        offset += length as u64;
    }
    match sparse {
        // It may end in a hole.
        true => write::set_length(to, stat.size),
        // Some file systems do not let the length be set (fusefat).
        false => Ok(()),
    }
}

fn write_blocks(to: &OwnedFd, piece: &[u8], offset: u64) -> Result<()> {
    for (number, block) in piece.chunks(BLOCK).enumerate() {
        if block.iter().any(|&byte| byte != 0) {
            write::at(to, block, offset + (number * BLOCK) as u64)?;
        }
    }
    Ok(())
}
