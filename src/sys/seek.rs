//! `SEEK_DATA` and `SEEK_HOLE`: where a file has bytes of its own.
//!
//! They move the descriptor's position, which nobody uses who reads with `pread`.

use std::os::fd::AsFd;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// Bytes that follow one another and are all of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Reading them gives zeros, and none is stored.
    pub is_hole: bool,
    /// Where they end, bytes; beyond the file's end if nothing else follows.
    pub end: u64,
}

/// What begins at this offset; `None` where the file system does not tell.
pub fn run_at(fd: impl AsFd, offset: u64) -> Option<Run> {
    super::fault::point().ok()?;
    let is_hole = match seek(&fd, SeekFrom::Data(offset)) {
        Ok(data) if data > offset => Some(data),
        Ok(_) => None,
        // Nothing follows, or the file has become shorter than that.
        Err(Errno::NXIO) => Some(u64::MAX),
        Err(_) => return None,
    };
    let end = match is_hole {
        Some(end) => end,
        None => seek(&fd, SeekFrom::Hole(offset)).ok()?,
    };
    Some(Run {
        is_hole: is_hole.is_some(),
        end,
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn data_and_holes_take_turns() {
        // In memory what was written is where it was written, without a moment of grace.
        let file: File = tempfile::tempfile_in("/dev/shm").expect("a file in memory");
        file.set_len(10 << 20).expect("longer");
        file.write_all_at(&[1; 8192], 2 << 20).expect("written");
        let (hole, data) = (
            |end| Some(Run { is_hole: true, end }),
            |end| {
                Some(Run {
                    is_hole: false,
                    end,
                })
            },
        );
        assert_eq!(run_at(&file, 0), hole(2 << 20));
        assert_eq!(run_at(&file, (2 << 20) - 1), hole(2 << 20));
        assert_eq!(run_at(&file, 2 << 20), data((2 << 20) + 8192));
        assert_eq!(run_at(&file, (2 << 20) + 8191), data((2 << 20) + 8192));
        assert_eq!(run_at(&file, (2 << 20) + 8192), hole(u64::MAX));
        assert_eq!(run_at(&file, 11 << 20), hole(u64::MAX), "beyond its end");
    }

    #[test]
    fn where_nobody_tells_nothing_is_said() {
        let null = File::open("/proc/self/mem").expect("a file without holes");
        assert_eq!(run_at(&null, 0), None);
    }
}
