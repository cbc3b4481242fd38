//! Compares two open files byte by byte, for an action and for `--verify`. Every byte is read, holes included.

use std::cell::RefCell;
use std::os::fd::AsFd;

use bytes::BytesMut;
use rustix::io::Errno;

use crate::read::access::Access;
use crate::read::buffer::PIECE;
use crate::read::open_file::OpenFile;
use crate::sys::memory::aligned;

/// One of two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The first one.
    First,
    /// The second one.
    Second,
}

/// Why two files are not known to be equal.
#[derive(Debug, PartialEq, Eq)]
pub enum Unequal<E> {
    /// They differ from this offset on.
    Differ(u64),
    /// One of them ends too early.
    Short(Which),
    /// One of them could not be read.
    Unreadable(Which, Errno),
    /// The caller stopped between two pieces.
    Stopped(E),
}

/// Checks that two files begin with the same bytes, this many.
///
/// `after` gets each piece once both files have it, and the offset of the next one.
///
/// # Errors
/// The reason why they are not known to be equal.
pub fn equal<Fd: AsFd, E>(
    [first, second]: [&OpenFile<Fd>; 2],
    access: &Access,
    len: u64,
    mut after: impl FnMut(&[u8], u64) -> Result<(), E>,
) -> Result<(), Unequal<E>> {
    thread_local! {
        // Memory that is fresh for each of many small files takes longer to get than they take to read.
        static BUFFERS: RefCell<[BytesMut; 2]> = RefCell::new(buffers(PIECE));
    }
    let mut through = |piece: usize, [one, other]: &mut [BytesMut; 2]| {
        let mut offset = 0;
        while offset < len {
            let want = (len - offset).min(piece as u64) as usize;
            for (file, buffer, which) in [
                (first, &mut *one, Which::First),
                (second, &mut *other, Which::Second),
            ] {
                match file.read(access, 0, buffer, want, offset) {
                    Ok(n) if n >= want => {}
                    Ok(_) => return Err(Unequal::Short(which)),
                    Err(error) => return Err(Unequal::Unreadable(which, error)),
                }
            }
            let (one, other) = (&one[..want], &other[..want]);
            if one != other {
                return Err(Unequal::Differ(offset + common_prefix(one, other) as u64));
            }
            offset += want as u64;
            after(one, offset).map_err(Unequal::Stopped)?;
        }
        Ok(())
    };
    match first.turn.max(second.turn) {
        Some(turn) => through(turn, &mut buffers(turn)),
        None => BUFFERS.with_borrow_mut(|buffers| through(PIECE, buffers)),
    }
}

fn buffers(len: usize) -> [BytesMut; 2] {
    [(); 2].map(|()| aligned(len))
}

/// The number of equal bytes at the beginning.
fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let bytes = one.iter().zip(other);
    bytes.take_while(|(one, other)| one == other).count()
}
