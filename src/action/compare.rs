//! Two open files, byte by byte.

use std::cell::RefCell;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::check::Pair;
use super::step::{Change, Skip, Unfit};
use crate::hash::ContentDigest;
use crate::sys::{open, pread};

/// Bytes read from each file in turn. As `engine::verify` reads, for the same reason.
const PIECE: usize = 256 << 10;

/// Makes sure that keeper and victim hold the same bytes, all that their lengths promise.
///
/// `hasher` gets to see them.
pub fn files(pair: &Pair, hasher: Option<&mut blake3::Hasher>) -> Result<(), Skip> {
    thread_local! {
        // Memory that is fresh for each of many small files takes longer to get than they take to read.
        static BUFFERS: RefCell<(Vec<u8>, Vec<u8>)> = const { RefCell::new((Vec::new(), Vec::new())) };
    }
    BUFFERS.with_borrow_mut(|(ours, theirs)| {
        ours.resize(PIECE, 0);
        theirs.resize(PIECE, 0);
        through(pair, hasher, ours, theirs)
    })
}

fn through(
    pair: &Pair,
    mut hasher: Option<&mut blake3::Hasher>,
    ours: &mut [u8],
    theirs: &mut [u8],
) -> Result<(), Skip> {
    let size = pair.victim.stat.size;
    let most = PIECE;
    let mut offset = 0;
    while offset < size {
        let length = usize::try_from(size - offset).unwrap_or(most).min(most);
        let read = |fd: &OwnedFd, buffer: &mut [u8]| {
            open::ask_about(fd);
            match pread::full(fd, buffer, offset) {
                Ok(n) if n == buffer.len() => Ok(()),
                Ok(_) => Err(Unfit::Changed(Change::Size)),
                Err(error) => Err(unreadable(error)),
            }
        };
        read(&pair.keeper.file, &mut ours[..length]).map_err(Skip::Keeper)?;
        read(&pair.victim.file, &mut theirs[..length]).map_err(Skip::Victim)?;
        if ours[..length] != theirs[..length] {
            let pairs = ours.iter().zip(theirs.iter());
            let same = pairs.take_while(|(a, b)| a == b).count();
            return Err(Skip::Differs(offset + same as u64));
        }
        if let Some(hasher) = &mut hasher {
            hasher.update(&ours[..length]);
        }
        offset += length as u64;
        if offset < size {
            // Whoever wants to write waits for us: let them, at once.
            pair.keeper.unchanged().map_err(Skip::Keeper)?;
            pair.victim.unchanged().map_err(Skip::Victim)?;
        }
    }
    Ok(())
}

/// The digest of a file, if another one begins with all its bytes.
pub fn begins_with(file: &OwnedFd, other: &OwnedFd) -> rustix::io::Result<Option<ContentDigest>> {
    let (mut ours, mut theirs) = (vec![0; PIECE], vec![0; PIECE]);
    let mut hasher = blake3::Hasher::new();
    let mut offset = 0;
    loop {
        let length = pread::full(other, &mut theirs, offset)?;
        if pread::full(file, &mut ours[..length], offset)? != length
            || ours[..length] != theirs[..length]
        {
            return Ok(None);
        }
        hasher.update(&theirs[..length]);
        if length < PIECE {
            return Ok(Some(hasher.finalize().into()));
        }
        offset += length as u64;
    }
}

/// The digest of all that a file holds.
pub fn digest(file: &OwnedFd) -> rustix::io::Result<ContentDigest> {
    let mut buffer = vec![0; PIECE];
    let mut hasher = blake3::Hasher::new();
    let mut offset = 0;
    loop {
        let length = pread::full(file, &mut buffer, offset)?;
        hasher.update(&buffer[..length]);
        if length < PIECE {
            return Ok(hasher.finalize().into());
        }
        offset += length as u64;
    }
}

fn unreadable(error: Errno) -> Unfit {
    Unfit::Unreadable(error.into())
}
