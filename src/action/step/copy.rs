//! Copies a file's bytes into a new file.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::io::{Errno, Result};

use super::check::Opened;
use super::{compare, metadata};
use crate::action::failure::failed;
use crate::action::journal::record::Metadata;
use crate::action::reason::Reason;
use crate::hash::ContentDigest;
use crate::sys::{open, page_cache, stat, sync, write};

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

/// Makes a copy with this metadata, safe on the disk, and compares it. Returns the metadata that it lacks.
///
/// # Errors
/// The copy is incomplete, or the file has changed since it was opened.
pub fn proven(
    victim: &Opened,
    metadata: &Metadata,
    folder: &OwnedFd,
    name: &CStr,
) -> std::result::Result<Vec<&'static str>, Reason> {
    open::ask_about(folder);
    // The file is closed at the end: some daemons (rclone) write a file back then, also after it was removed.
    let file = write::create(folder, name).map_err(failed("create the copy"))?;
    contents(victim, &file).map_err(failed("copy it"))?;
    // What somebody wrote meanwhile must not get the rights of what was compared.
    victim.unchanged()?;
    let doing = "give the copy its owner, mode, times and attributes";
    let missing = metadata::give(&file, metadata).map_err(failed(doing))?;
    sync::file(&file).map_err(failed("write the copy to the disk"))?;
    same(victim, &file)?;
    Ok(missing)
}

/// Reads the copy back, from the disk if its pages can be dropped from the page cache, and compares it.
fn same(victim: &Opened, copy: &OwnedFd) -> std::result::Result<(), Reason> {
    page_cache::advise(copy, 0, 0, page_cache::Advice::DontNeed);
    let there = stat::descriptor(copy).map_err(failed("read the copy back"))?;
    let has_all = there.size == victim.stat.size;
    let compared = compare::begins_with(&victim.file, copy, &victim.reads);
    let compared = compared.map_err(failed("read the copy back"))?;
    match compared.filter(|_| has_all) {
        Some(_) => Ok(()),
        None => Err(failed("use the copy: it differs from the file")(Errno::IO)),
    }
}
