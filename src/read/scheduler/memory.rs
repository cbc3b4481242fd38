//! The memory of the reads in flight that a policy allows.

use crate::device::{Order, Policy};
use crate::read::buffer::PIECE;
use crate::read::stream::Window;

/// Bytes of a slot for random reads: a file that fits is read with one request to the kernel.
pub(super) const RANDOM_SLOT: usize = 32 << 10;

/// Bytes announced ahead on a disk with a head. On a simulated disk of 7,200 rpm, 353
/// photos took 9.4 s with 128 or 256 KiB, 9.6 s with 512 and 11.4 s with 1 or 2 MiB: the drive then
/// goes back and forth between the end of one file and the next.
const SWEPT: u64 = 256 << 10;

impl Policy {
    /// The policy of a pool that serves no volume yet.
    pub const NOTHING: Self = Self {
        order: Order::Arrival,
        random_threads: 0,
        depth: 0,
        sequential_threads: 0,
        sequential_depth: 0,
        metadata_threads: 0,
    };

    /// The policy of pools that serve volumes with this policy and with another one.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            random_threads: self.random_threads.max(other.random_threads),
            depth: self.depth.max(other.depth),
            sequential_threads: self.sequential_threads.max(other.sequential_threads),
            ..self
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
        let mut less = self;
        let mut items = [
            &mut less.depth,
            &mut less.random_threads,
            &mut less.sequential_threads,
        ];
        if self.sequential_bytes() > self.scattered_bytes() {
            items.rotate_right(1);
        }
        let item = items.into_iter().find(|item| **item > 1)?;
        *item = item.div_ceil(2);
        Some(less)
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
