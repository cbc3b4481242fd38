//! Holes of files: ranges that need not be read, because the file system reports that they are zeros.
//!
//! Only the search skips holes. `--verify`, and the comparison before an action, read every byte.

use std::io;
use std::os::fd::AsFd;

use crate::sys::extents::{self, DataOrHole};
use crate::sys::memory::ALIGNMENT;
use crate::sys::stat::Stat;
use crate::sys::statfs;

/// Minimum number of bytes that a file has beyond its allocated blocks. Below it, the file counts as having no holes:
/// to find a hole costs two system calls of a microsecond, to read a megabyte of zeros some hundred.
const MISSING: u64 = 1 << 20;

/// Holes shorter than this are read.
const SHORT: u64 = 64 << 10;

/// Bytes that are read after a short hole before the next query: where data and holes alternate block by block,
/// querying each would cost more than reading them.
const BACK_OFF: u64 = 1 << 20;

/// The beginning is always read: samples are taken from the first piece.
const BEGINNING: u64 = 256 << 10;

/// A file with more bytes in holes than this is not read: it takes no room, and would be hashed or compared for hours,
/// at most (8 EiB) for months.
const MOST: u64 = 4 << 40;

/// True if a file has so many holes that it is not read.
pub fn are_too_many(stat: &Stat) -> bool {
    missing(stat) > MOST
}

/// Says so.
pub fn too_many() -> io::Error {
    io::Error::other("more than 4 TiB of it are holes (shorten or exclude it)")
}

/// Bytes that a file has beyond its allocated blocks.
fn missing(stat: &Stat) -> u64 {
    stat.size.saturating_sub(stat.blocks.saturating_mul(512))
}

/// The holes of an open file, as far as they were queried lately.
#[derive(Clone, Copy, Debug)]
pub struct Holes {
    /// A file without notable holes is not queried further.
    is_thin: bool,
    from: u64,
    run: DataOrHole,
}

/// True if the holes of a file are worth a query, and its file system reports as holes only ranges without data.
pub fn is_thin(fd: impl AsFd, stat: &Stat) -> bool {
    missing(stat) >= MISSING && statfs::has_true_holes(fd)
}

impl Holes {
    /// The holes of a file that is sparse or not.
    pub fn of(is_thin: bool) -> Self {
        Self {
            is_thin,
            from: 0,
            run: DataOrHole {
                is_hole: false,
                end: BEGINNING,
            },
        }
    }

    /// The data or hole that follows from this offset on. Its end is beyond the offset, and a multiple of the alignment
    /// of direct reads unless nothing else follows.
    pub fn at(&mut self, fd: impl AsFd, offset: u64) -> DataOrHole {
        if !self.is_thin {
            return DataOrHole {
                is_hole: false,
                end: u64::MAX,
            };
        }
        if !(self.from..self.run.end).contains(&offset) {
            let run = extents::data_or_hole_at(fd, offset);
            (self.from, self.run) = (offset, rounded(run, offset));
        }
        self.run
    }

    /// True if all of these bytes are in one hole.
    pub fn cover(&mut self, fd: impl AsFd, offset: u64, len: u64) -> bool {
        let run = self.at(fd, offset);
        run.is_hole && run.end >= offset.saturating_add(len)
    }
}

/// A run that is worth a step of its own.
fn rounded(run: Option<DataOrHole>, offset: u64) -> DataOrHole {
    let align = ALIGNMENT as u64;
    let data = |end| DataOrHole {
        is_hole: false,
        end,
    };
    match run {
        // The file system does not report holes: the rest counts as data.
        None => data(u64::MAX),
        Some(DataOrHole { is_hole: true, end }) => {
            let end = match end {
                u64::MAX => end,
                end => end / align * align,
            };
            if end >= offset.saturating_add(SHORT) {
                DataOrHole { is_hole: true, end }
            } else {
                data((offset / align * align).saturating_add(BACK_OFF))
            }
        }
        Some(DataOrHole { end, .. }) => {
            let end = end.checked_next_multiple_of(align).unwrap_or(u64::MAX);
            // A file that is being cut off may say anything.
            data(end.max((offset / align + 1) * align))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::stat;

    #[test]
    fn written_bytes_do_not_count_as_holes() {
        let file = tempfile::tempfile().expect("a file");
        let mut stat = stat::descriptor(file).expect("is open");
        (stat.size, stat.blocks) = (MOST + (1 << 30), 1 << 21);
        assert!(!are_too_many(&stat));
        stat.size += 1;
        assert!(are_too_many(&stat));
    }

    #[test]
    fn there_is_always_something_ahead() {
        for offset in [0, 5, 4095, 4096, 1 << 40] {
            for run in [
                None,
                Some(DataOrHole {
                    is_hole: true,
                    end: offset + 1,
                }),
                Some(DataOrHole {
                    is_hole: false,
                    end: offset,
                }),
                Some(DataOrHole {
                    is_hole: true,
                    end: u64::MAX,
                }),
            ] {
                let rounded = rounded(run, offset);
                assert!(rounded.end > offset, "{run:?} at {offset}");
                assert!(rounded.end.is_multiple_of(4096) || rounded.end == u64::MAX);
            }
        }
    }
}
