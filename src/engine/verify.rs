//! Compares files byte by byte, for people who want that word.

use std::os::fd::OwnedFd;

use crate::file::{DirTable, FileIndex, FileTable, Fingerprint};
use crate::sys::{pread, stat};

use super::reclaim;

/// Bytes compared at a time.
const PIECE: usize = 256 << 10;

/// Why a file is no member of a verified set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It differs.
    Differs,
    /// It is not what the scan saw.
    Changed,
    /// It could not be read.
    Unreadable(rustix::io::Errno),
    /// The run was interrupted before it was compared.
    NotReached,
}

/// What a comparison found out.
#[derive(Debug, Default)]
pub struct Verified {
    /// The files that are not equal to the others, and why.
    pub refused: Vec<(FileIndex, Refusal)>,
    /// Bytes read.
    pub bytes_read: u64,
}

/// Which of two files a comparison failed on.
enum Fault {
    Keeper(Refusal),
    Other(Refusal),
}

/// Compares the files with the first of them that can be read.
pub fn verify(
    file_table: &FileTable,
    dirs: &DirTable,
    files: &[FileIndex],
    follow: bool,
    stopped: &dyn Fn() -> bool,
) -> Verified {
    let mut verified = Verified::default();
    let mut rest = files.to_vec();
    while let Some((&keeper, others)) = rest.split_first() {
        match against(
            file_table,
            dirs,
            keeper,
            others,
            follow,
            stopped,
            &mut verified,
        ) {
            Ok(()) => break,
            Err(refusal) => {
                verified.refused.push((keeper, refusal));
                let refused = &verified.refused;
                rest.retain(|file| !refused.iter().any(|(f, _)| f == file));
            }
        }
    }
    verified
}

/// Compares files with one of them; an error is that one's.
fn against(
    file_table: &FileTable,
    dirs: &DirTable,
    keeper: FileIndex,
    others: &[FileIndex],
    follow: bool,
    stopped: &dyn Fn() -> bool,
    verified: &mut Verified,
) -> Result<(), Refusal> {
    let kept = reclaim::open(file_table, dirs, keeper, follow).map_err(Refusal::Unreadable)?;
    for &other in others {
        let compared = match reclaim::open(file_table, dirs, other, follow) {
            Err(e) => Err(Fault::Other(Refusal::Unreadable(e))),
            Ok(fd) => same_bytes(&kept, &fd, file_table.size(other), stopped).and_then(|bytes| {
                verified.bytes_read = verified.bytes_read.saturating_add(bytes);
                unchanged(&fd, file_table, other).map_err(Fault::Other)
            }),
        };
        match compared {
            Ok(()) => {}
            Err(Fault::Other(refusal)) => verified.refused.push((other, refusal)),
            Err(Fault::Keeper(refusal)) => return Err(refusal),
        }
    }
    unchanged(&kept, file_table, keeper)
}

/// Compares two files to their end; returns the bytes read of both.
fn same_bytes(
    keeper: &OwnedFd,
    other: &OwnedFd,
    size: u64,
    stopped: &dyn Fn() -> bool,
) -> Result<u64, Fault> {
    let (mut left, mut right) = (vec![0; PIECE], vec![0; PIECE]);
    let mut at = 0;
    while at < size {
        if stopped() {
            return Err(Fault::Other(Refusal::NotReached));
        }
        let want = (size - at).min(PIECE as u64) as usize;
        piece(keeper, &mut left[..want], at).map_err(Fault::Keeper)?;
        piece(other, &mut right[..want], at).map_err(Fault::Other)?;
        if left[..want] != right[..want] {
            return Err(Fault::Other(Refusal::Differs));
        }
        at += want as u64;
    }
    Ok(2 * size)
}

fn piece(fd: &OwnedFd, buffer: &mut [u8], at: u64) -> Result<(), Refusal> {
    match pread::full(fd, buffer, at) {
        Ok(read) if read == buffer.len() => Ok(()),
        Ok(_) => Err(Refusal::Changed),
        Err(e) => Err(Refusal::Unreadable(e)),
    }
}

fn unchanged(fd: &OwnedFd, file_table: &FileTable, file: FileIndex) -> Result<(), Refusal> {
    let expected = file_table.fingerprint(file);
    let numbering = file_table.numbering(file_table.volume(file));
    match stat::descriptor(fd) {
        Ok(now) if expected.is_met_by(&Fingerprint::from(&now), numbering) => Ok(()),
        Ok(_) => Err(Refusal::Changed),
        Err(e) => Err(Refusal::Unreadable(e)),
    }
}
