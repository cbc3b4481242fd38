//! Compares files byte by byte, for people who want that word.

use std::os::fd::OwnedFd;

use crate::file::{Catalog, DirTable, FileIndex, Fingerprint};
use crate::sys::{pread, stat};

use super::reclaim;

/// Bytes compared at a time.
const PIECE: usize = 256 << 10;

/// Why a file is no member of the set of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It differs.
    Differs,
    /// It could not be read, or is not what the scan saw.
    Unreadable(rustix::io::Errno),
    /// It is not what the scan saw.
    Changed,
}

/// Compares each file with the first one; returns those that are not equal to it, with the
/// reason. If the first itself cannot be read, that is all of them.
pub fn verify(
    catalog: &Catalog,
    dirs: &DirTable,
    files: &[FileIndex],
    follow: bool,
) -> Vec<(FileIndex, Refusal)> {
    let Some((&first, others)) = files.split_first() else {
        return Vec::new();
    };
    let mut refused = Vec::new();
    let keeper = match reclaim::open(catalog, dirs, first, follow) {
        Ok(fd) => fd,
        Err(e) => return files.iter().map(|&f| (f, Refusal::Unreadable(e))).collect(),
    };
    for &other in others {
        let compared = reclaim::open(catalog, dirs, other, follow)
            .map_err(Refusal::Unreadable)
            .and_then(|fd| {
                same_bytes(&keeper, &fd, catalog.size(other))?;
                unchanged(&fd, &catalog.fingerprint(other))
            });
        if let Err(refusal) = compared {
            refused.push((other, refusal));
        }
    }
    match unchanged(&keeper, &catalog.fingerprint(first)) {
        Ok(()) => refused,
        Err(refusal) => files.iter().map(|&f| (f, refusal)).collect(),
    }
}

fn same_bytes(a: &OwnedFd, b: &OwnedFd, size: u64) -> Result<(), Refusal> {
    let (mut left, mut right) = (vec![0; PIECE], vec![0; PIECE]);
    let mut at = 0;
    while at < size {
        let want = (size - at).min(PIECE as u64) as usize;
        let read_a = pread::full(a, &mut left[..want], at).map_err(Refusal::Unreadable)?;
        let read_b = pread::full(b, &mut right[..want], at).map_err(Refusal::Unreadable)?;
        if read_a != want || read_b != want {
            return Err(Refusal::Changed);
        }
        if left[..want] != right[..want] {
            return Err(Refusal::Differs);
        }
        at += want as u64;
    }
    Ok(())
}

fn unchanged(fd: &OwnedFd, expected: &Fingerprint) -> Result<(), Refusal> {
    match stat::descriptor(fd) {
        Ok(now) if Fingerprint::from(&now) == *expected => Ok(()),
        Ok(_) => Err(Refusal::Changed),
        Err(e) => Err(Refusal::Unreadable(e)),
    }
}
