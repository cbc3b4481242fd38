//! Limits on the address space of the process (`ulimit -v`, `RLIMIT_AS`).
//!
//! The limit also counts memory that is only mapped: the stack of each thread, and the heap that the C library maps for
//! each thread (64 MiB). A run that needs 20 MB of memory would otherwise need 500 MB of addresses.

use crate::sys::{memory, process};
use crate::units::Bytes;

/// The address space of a run besides its threads: tables, and mappings of the libraries.
const BASE: u64 = 32 << 20;

/// The address space of a thread: its stack (the standard library's 2 MiB), the ring's memory, and blocks of its own.
const THREAD: u64 = 3 << 20;

/// Minimum number of threads of a run: the engine's, a walker, and one of each pool, and as many again at its end.
const FEWEST: usize = 4;

/// Less address space than a run needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a search needs at least {least} of address space, and only {left} are left: raise the limit (ulimit -v unlimited)"
)]
pub struct TooLittle {
    left: Bytes,
    least: Bytes,
}

/// The free address space at the start of a run.
#[derive(Clone, Copy, Debug)]
pub struct AddressSpace {
    left: Option<u64>,
}

/// Makes all threads share one heap where address space is limited. Useful only before any thread exists.
pub fn spare() {
    if process::free_address_space().is_some() {
        memory::share_one_heap();
    }
}

/// True without a limit.
pub fn is_unlimited() -> bool {
    process::free_address_space().is_none()
}

impl AddressSpace {
    /// The free address space now.
    ///
    /// # Errors
    /// If that is too little.
    pub fn left() -> Result<Self, TooLittle> {
        Self::of(process::free_address_space())
    }

    fn of(left: Option<u64>) -> Result<Self, TooLittle> {
        let least = BASE + FEWEST as u64 * THREAD;
        match left {
            Some(left) if left < least => Err(TooLittle {
                left: Bytes(left),
                least: Bytes(least),
            }),
            left => Ok(Self { left }),
        }
    }

    /// Maximum number of threads of one kind. Walkers and the threads of each pool get a quarter each of half of the
    /// remaining space, the tables the other half.
    pub fn threads(self) -> usize {
        match self.left {
            Some(left) => ((left - BASE) / 2 / FEWEST as u64 / THREAD).max(1) as usize,
            None => usize::MAX,
        }
    }

    /// Maximum number of bytes in flight.
    pub fn in_flight(self) -> u64 {
        self.left.map_or(u64::MAX, |left| left / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_and_what_is_in_flight_fit_into_what_is_left() {
        for mebibytes in [45, 64, 100, 200, 500, 1000, 100_000] {
            let left = mebibytes << 20;
            let space = AddressSpace::of(Some(left)).expect("is enough");
            let taken = 4 * space.threads() as u64 * THREAD + space.in_flight();
            assert!(taken <= left - BASE / 2, "{mebibytes} MiB: {taken}");
        }
        let all = AddressSpace::of(None).expect("is enough");
        assert_eq!((all.threads(), all.in_flight()), (usize::MAX, u64::MAX));
    }

    #[test]
    fn too_little_is_said_to_be() {
        let refused = AddressSpace::of(Some(20 << 20)).expect_err("is too little");
        assert_eq!(
            refused.to_string(),
            "a search needs at least 46.1 MB of address space, and only 21.0 MB are left: raise the limit \
             (ulimit -v unlimited)"
        );
    }
}
