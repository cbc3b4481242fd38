//! Copies a file's bytes into a new file.

use std::os::fd::OwnedFd;

use rustix::io::Result;

use super::check::Opened;
use super::compare;
use crate::hash::ContentDigest;
use crate::sys::{open, write};

/// Granularity of created holes: the usual block.
const BLOCK: usize = 4096;

/// Fills a new, empty file with all bytes of another one.
///
/// The copy is a clone where the file system supports clones, which takes no space. The runs of zeros of a sparse file
/// become holes.
///
/// # Errors
/// The error of the system; `ESTALE` if the file ends before the length that it had when it was opened.
pub fn contents(from: &Opened, to: &OwnedFd) -> Result<()> {
    match write::clone_into_empty(to, &from.file) {
        Some(()) => Ok(()),
        None => by_pieces(from, to, &mut |_| {}),
    }
}

/// As [`contents`]; also returns the digest of the new file's content.
///
/// # Errors
/// As [`contents`].
pub fn hashed(from: &Opened, to: &OwnedFd) -> Result<ContentDigest> {
    if write::clone_into_empty(to, &from.file).is_some() {
        return compare::digest(to, &from.reads);
    }
    let mut hasher = blake3::Hasher::new();
    by_pieces(from, to, &mut |piece| {
        hasher.update(piece);
    })?;
    Ok(hasher.finalize().into())
}

fn by_pieces(from: &Opened, to: &OwnedFd, seen: &mut dyn FnMut(&[u8])) -> Result<()> {
    let stat = &from.stat;
    let sparse = stat.blocks.saturating_mul(512) < stat.size;
    let file = from.whole();
    let copied = file.each_piece(from.reads.rules(), stat.size, |piece, offset| {
        seen(piece);
        open::ask_about(to);
        match sparse {
            true => write_blocks(to, piece, offset),
            false => write::at(to, piece, offset),
        }
    });
    file.leave(stat.size);
    copied?;
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
