//! Limits on the reads in flight on a volume.

use crate::read::buffer::PIECE;
use crate::read::stream::Window;

/// Bytes of a slot for random reads: a file that fits is read with one request to the kernel.
pub(super) const RANDOM_SLOT: usize = 32 << 10;

/// Bytes announced ahead on a disk with a head. On a simulated disk of 7,200 rpm, 353
/// photos took 9.4 s with 128 or 256 KiB, 9.6 s with 512 and 11.4 s with 1 or 2 MiB: the drive then
/// goes back and forth between the end of one file and the next.
const SWEPT: u64 = 256 << 10;

/// The limits on the reads in flight on a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Threads for random reads.
    pub random_threads: usize,
    /// Reads in flight for each.
    pub depth: usize,
    /// Threads for sequential reads.
    pub sequential_threads: usize,
    /// Open files for each, on a disk with a head.
    pub sequential_depth: usize,
    /// Whole files that are not in the page cache are read one at a time.
    pub one_uncached: bool,
}

impl Limits {
    /// The limits of a pool that serves no volume yet.
    pub const NOTHING: Self = Self {
        random_threads: 0,
        depth: 0,
        sequential_threads: 0,
        sequential_depth: 0,
        one_uncached: false,
    };

    /// The limits of pools that serve volumes with these limits and with others.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            random_threads: self.random_threads.max(other.random_threads),
            depth: self.depth.max(other.depth),
            sequential_threads: self.sequential_threads.max(other.sequential_threads),
            sequential_depth: self.sequential_depth.max(other.sequential_depth),
            one_uncached: self.one_uncached && other.one_uncached,
        }
    }

    /// Maximum bytes of the buffers of pools of this shape. Readahead of whole files is page cache, which the kernel
    /// reclaims when memory is needed.
    pub fn bytes_in_flight(self) -> u64 {
        self.scattered_bytes() + self.sequential_bytes()
    }

    fn scattered_bytes(self) -> u64 {
        self.random_threads as u64 * (PIECE + self.depth * RANDOM_SLOT) as u64
    }

    fn sequential_bytes(self) -> u64 {
        self.sequential_threads as u64 * PIECE as u64
    }

    /// About half as much of the item that takes most; `None` if it is the minimum already.
    pub fn less(self) -> Option<Self> {
        let halved = |number: usize| number.div_ceil(2);
        let scattered = |limits: Self| match limits {
            Self { depth: 2.., .. } => Some(Self {
                depth: halved(limits.depth),
                ..limits
            }),
            Self {
                random_threads: 2..,
                ..
            } => Some(Self {
                random_threads: halved(limits.random_threads),
                ..limits
            }),
            _ => None,
        };
        let sequential = |limits: Self| match limits {
            Self {
                sequential_threads: 2..,
                ..
            } => Some(Self {
                sequential_threads: halved(limits.sequential_threads),
                ..limits
            }),
            _ => None,
        };
        match self.sequential_bytes() > self.scattered_bytes() {
            true => sequential(self).or_else(|| scattered(self)),
            false => scattered(self).or_else(|| sequential(self)),
        }
    }

    /// The window of the thread of a disk with a head: enough short files to give the drive a choice, but hardly more
    /// than the next piece of long ones.
    pub(super) fn disk_window(self) -> Window {
        Window {
            bytes: self.sequential_depth as u64 * SWEPT,
            files: self.depth,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        random_threads: 4,
        depth: 8,
        sequential_threads: 3,
        sequential_depth: 5,
        one_uncached: false,
    };

    #[test]
    fn each_thread_has_a_piece_and_each_read_in_flight_a_slot() {
        let piece = PIECE as u64;
        let scattered = 4 * (piece + 8 * RANDOM_SLOT as u64);
        assert_eq!(LIMITS.bytes_in_flight(), scattered + 3 * piece);
        assert_eq!(Limits::NOTHING.bytes_in_flight(), 0);
        let window = LIMITS.disk_window();
        assert_eq!((window.bytes, window.files), (5 * SWEPT, 8));
    }

    #[test]
    fn what_takes_most_is_halved_until_nothing_can_be() {
        let halvings = |limits: Limits| -> Vec<[usize; 3]> {
            std::iter::successors(limits.less(), |limits| limits.less())
                .map(|now| [now.random_threads, now.depth, now.sequential_threads])
                .collect()
        };
        let scattered_first = [
            [4, 4, 3],
            [4, 2, 3],
            [4, 1, 3],
            [2, 1, 3],
            [2, 1, 2],
            [1, 1, 2],
            [1, 1, 1],
        ];
        assert_eq!(halvings(LIMITS), scattered_first);
        let readers = Limits {
            random_threads: 1,
            depth: 1,
            ..LIMITS
        };
        assert_eq!(halvings(readers), [[1, 1, 2], [1, 1, 1]]);
        let only_scattered = Limits {
            depth: 2,
            sequential_threads: 1,
            random_threads: 1,
            ..LIMITS
        };
        assert_eq!(halvings(only_scattered), [[1, 1, 1]]);
        assert_eq!(Limits::NOTHING.less(), None);
    }
}
