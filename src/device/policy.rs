//! From a class to pool sizes. Each number has a reason; a guess says so.

use serde::Serialize;

use super::filesystem::is_read_by_one_thread;
use super::leaf::Leaf;
use super::rules::{Class, Facts};

/// How a volume is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Policy {
    /// In which order: as they come, by pools of threads that many volumes share, or in physical order, by threads
    /// that the volume's disks have to themselves.
    pub order: Order,
    /// Threads for small scattered reads.
    pub random_threads: usize,
    /// Reads that each of those threads keeps in flight.
    pub depth: usize,
    /// Threads that read whole files from front to back.
    pub sequential_threads: usize,
    /// Files that each of those threads has under way at a time: more than one only in physical order.
    pub sequential_depth: usize,
    /// Threads that list folders and ask for metadata.
    pub metadata_threads: usize,
}

/// In which order reads are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// As they come.
    Arrival,
    /// As they lie on the disk.
    Physical,
}

/// Seconds from one place of a disk of 7,200 rpm to another, on average, turn of the platter included: about as much as
/// reading 1 MB.
const SEEK: f64 = 0.008;

/// Bytes a second while such a disk reads on.
const BYTES_PER_SECOND: f64 = 130e6;

/// True if a file on a disk with a head is better read on at once, when its beginning is read anyway.
///
/// `odds` is the chance that the rest will be wanted. Reading on wastes `left` bytes if it is not; otherwise it saves
/// the way back. At even odds that is about 1 MB, at 9 in 10 about 10.
pub fn is_read_on(left: u64, odds: f64) -> bool {
    (1.0 - odds) * left as f64 / BYTES_PER_SECOND < odds * SEEK
}

/// Reads in flight a thread on solid state. With two threads as many as 64 plain threads and a
/// third less CPU time (cold, network SSD); on an NVMe 64 at once gave 41 times the reads of one.
const SOLID_STATE_DEPTH: usize = 64;

/// Reads in flight on one spinning disk, where files lie far apart (`read/stream/spacing.rs`). The drive picks the next by
/// angle. A search of 908 files on simulated disks of 5,400 and 7,200 rpm, with gaps of more than 1 MiB behind most of
/// them, took 3–9 % less time with sixteen than with eight, and 5–17 % less with thirty-two; but reads of other programs
/// wait behind all of them.
const SPINNING_DEPTH: usize = 16;

/// Reads in flight that one thread may have over several spinning disks together. A guess.
const SPINNING_DEPTH_MOST: usize = 64;

/// Whole files read at a time on solid state. Beyond eight streams an NVMe gained nothing; 2.7 GB of
/// photos, cold, on a network SSD, took 1.80 s with eight and 1.46 s with sixteen where the kernel reads
/// ahead by the usual 128 KiB. Each has a thread of its own and the kernel's readahead, which takes memory
/// in large pieces where announcements (`POSIX_FADV_WILLNEED`) take it page by page.
const STREAMS: usize = 16;

/// Folders listed at a time where latency rules. Cold, 16 threads were nearly as good as 64.
const METADATA_THREADS: usize = 16;

/// Threads for scattered reads where another machine or a program answers: enough to hide a round
/// trip, few enough for a small server. A guess.
const REMOTE_RANDOM_THREADS: usize = 8;

/// Streams from another machine or a program: two keep a link full while one waits. A guess. Of FUSE file systems,
/// those that show folders and those that read an image or a disk took up to 1.9 times as long with one.
/// fusefat, which walks through its files, took 1.1 s with two and 0.5 s with one for 240 MB in four files.
const REMOTE_STREAMS: usize = 2;

impl Policy {
    /// True if reads are best done in order of position, since seeks cost time.
    pub fn seeks(&self) -> bool {
        self.order == Order::Physical
    }

    /// The policy for a volume of this class with these facts.
    pub(super) fn of(class: Class, facts: &Facts<'_>, cores: usize) -> Self {
        let cores = cores.max(1);
        match class {
            Class::SolidState | Class::Unknown => Self {
                order: Order::Arrival,
                random_threads: cores,
                depth: SOLID_STATE_DEPTH,
                sequential_threads: STREAMS.max(cores),
                sequential_depth: 1,
                metadata_threads: METADATA_THREADS,
            },
            Class::Rotational => {
                // Where no disk says that it rotates, the user does, and means all of them.
                let spindles = match facts.leaves.iter().filter(|leaf| leaf.is_spindle()).count() {
                    0 => facts.leaves.len(),
                    spindles => spindles,
                };
                Self {
                    order: Order::Physical,
                    random_threads: 1,
                    // Whoever reads from a volume over three disks must feed three drives' queues.
                    depth: (SPINNING_DEPTH * spindles.max(1)).min(SPINNING_DEPTH_MOST),
                    sequential_threads: 1,
                    sequential_depth: streams(facts),
                    metadata_threads: 1,
                }
            }
            Class::Memory => Self {
                order: Order::Arrival,
                random_threads: cores,
                depth: 1,
                sequential_threads: cores,
                sequential_depth: 1,
                metadata_threads: cores,
            },
            Class::Network | Class::Fuse => Self {
                order: Order::Arrival,
                random_threads: REMOTE_RANDOM_THREADS,
                depth: 1,
                sequential_threads: if is_read_by_one_thread(facts.filesystem) {
                    1
                } else {
                    REMOTE_STREAMS
                },
                sequential_depth: 1,
                metadata_threads: METADATA_THREADS,
            },
        }
    }

    /// The policy with numbers of threads as the user wants them. Without a number for whole
    /// files theirs stays, but is never more than the other.
    pub(super) fn with_threads(mut self, random: usize, sequential: Option<usize>) -> Self {
        self.random_threads = random;
        self.sequential_threads = sequential.unwrap_or(self.sequential_threads.min(random));
        if self.seeks() {
            if self.is_one_thread_a_disk() {
                return self;
            }
            // What was to be in flight is shared out.
            self.depth = (self.depth / random.max(1)).max(1);
            self.sequential_depth = 1;
        }
        self.metadata_threads = random.min(METADATA_THREADS);
        self
    }

    /// True if one thread does all that is to be read from a disk.
    pub fn is_one_thread_a_disk(&self) -> bool {
        self.seeks() && self.random_threads == 1 && self.sequential_threads == 1
    }

    /// Whole files that are read at the same time.
    pub fn streams(&self) -> usize {
        self.sequential_threads * self.sequential_depth
    }

    /// The policy with this many scattered reads in flight a thread.
    pub(super) fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }
}

/// How many files can be read front to back at once without one head serving two: one a copy
/// where the whole volume is one mirror of spinning disks, otherwise one.
fn streams(facts: &Facts<'_>) -> usize {
    match facts.arrays {
        [array] if facts.leaves.iter().all(Leaf::is_spindle) => {
            array.sweeps.min(facts.leaves.len()).max(1)
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;

    #[test]
    fn the_better_the_odds_the_more_is_read_on() {
        for (odds, reads, leaves) in [
            (0.02, 4096, MB),
            (0.5, MB, 2 * MB),
            (0.9, 9 * MB, 11 * MB),
            (0.98, 40 * MB, 60 * MB),
        ] {
            assert!(is_read_on(reads, odds), "{reads} at {odds}");
            assert!(!is_read_on(leaves, odds), "{leaves} at {odds}");
        }
        assert!(!is_read_on(1, 0.0), "in vain for certain");
        assert!(is_read_on(u64::MAX, 1.0), "wanted for certain");
    }
}
