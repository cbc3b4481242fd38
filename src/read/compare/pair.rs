//! Compares two open files byte by byte, for an action. Every byte is read, holes included.

use std::cell::RefCell;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use crate::read::access::{Access, Signs};
use crate::read::buffer::PIECE;
use crate::read::open_file::OpenFile;

use super::blocks::Blocks;
use super::lock_step::{Buffers, Comparison};
use super::split::{Side, common_prefix};

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

/// A file of a pair.
struct Half<'a> {
    open: &'a OpenFile<&'a OwnedFd>,
    rules: (&'a Access, &'a Signs),
    which: Which,
}

impl Side for Half<'_> {
    /// `None` if it ends too early.
    type Failed = (Which, Option<Errno>);

    fn read(
        self,
        buffer: &mut [u8],
        len: usize,
        offset: u64,
        failed: &mut Vec<Self::Failed>,
    ) -> Result<Self, Option<Self>> {
        let error = match self.open.read(self.rules, 0, buffer, len, offset) {
            Ok(n) if n >= len => return Ok(self),
            Ok(_) => None,
            Err(error) => Some(error),
        };
        failed.push((self.which, error));
        Err(None)
    }
}

/// Checks that two files begin with the same bytes, this many.
///
/// `after` gets each piece once both files have it, and the offset of the next one.
///
/// # Errors
/// The reason why they are not known to be equal.
pub fn equal<E>(
    [first, second]: [&OpenFile<&OwnedFd>; 2],
    rules: (&Access, &Signs),
    len: u64,
    mut after: impl FnMut(&[u8], u64) -> Result<(), E>,
) -> Result<(), Unequal<E>> {
    thread_local! {
        // Memory that is fresh for each of many small files takes longer to get than they take to read.
        static BUFFERS: RefCell<Buffers> = RefCell::new(Buffers::new(PIECE));
    }
    let half = |open, which| Half { open, rules, which };
    let halves = vec![half(first, Which::First), half(second, Which::Second)];
    let through = |block, buffers: &mut Buffers| {
        let mut comparison = Comparison::new(halves, Blocks::front_to_back(len, block));
        while let Some(step) = comparison.step(buffers) {
            if let Some(&(which, error)) = step.failed.first() {
                return Err(match error {
                    Some(error) => Unequal::Unreadable(which, error),
                    None => Unequal::Short(which),
                });
            }
            let [one, other] = buffers.last(step.len);
            if !step.alone.is_empty() {
                return Err(Unequal::Differ(
                    step.offset + common_prefix(one, other) as u64,
                ));
            }
            after(one, step.offset + step.len as u64).map_err(Unequal::Stopped)?;
        }
        Ok(())
    };
    match first.turn.max(second.turn) {
        Some(turn) => through(turn, &mut Buffers::new(turn)),
        None => BUFFERS.with_borrow_mut(|buffers| through(PIECE, buffers)),
    }
}
