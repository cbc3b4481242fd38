//! Counts the bytes of files that are still being read, for the progress display: a long file is done after minutes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::device::VolumeId;
use crate::lock::locked;

/// Reads before this offset are not counted: they take no noticeable time.
pub(super) const COUNTED_FROM: u64 = 1 << 20;

/// The bytes read so far of files that are still open, by the number of their volume.
#[derive(Debug, Default)]
pub struct InProgress {
    by_volume: Mutex<Vec<Arc<AtomicU64>>>,
}

impl InProgress {
    /// Bytes read so far of the files of a volume that are still open.
    pub fn bytes(&self, volume: VolumeId) -> u64 {
        let volumes = locked(&self.by_volume);
        let bytes = volumes.get(volume.at());
        bytes.map_or(0, |bytes| bytes.load(Ordering::Relaxed))
    }

    /// Begins to count the reads of a file.
    pub(super) fn begin(&self, volume: VolumeId) -> ReadSoFar {
        let mut volumes = locked(&self.by_volume);
        if volumes.len() <= volume.at() {
            volumes.resize_with(volume.at() + 1, Arc::default);
        }
        ReadSoFar {
            all: Arc::clone(&volumes[volume.at()]),
            own: AtomicU64::new(0),
        }
    }
}

/// The bytes that were read of one file. They count until this is dropped.
#[derive(Debug)]
pub struct ReadSoFar {
    all: Arc<AtomicU64>,
    own: AtomicU64,
}

impl ReadSoFar {
    pub(super) fn add(&self, bytes: u64) {
        self.own.fetch_add(bytes, Ordering::Relaxed);
        self.all.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Drop for ReadSoFar {
    fn drop(&mut self) {
        let own = *self.own.get_mut();
        self.all.fetch_sub(own, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_until_their_file_is_done() {
        let in_progress = InProgress::default();
        assert_eq!(in_progress.bytes(VolumeId(1)), 0);
        let [one, other] = [1, 1].map(|volume| in_progress.begin(VolumeId(volume)));
        one.add(5);
        other.add(7);
        one.add(1);
        assert_eq!(
            (
                in_progress.bytes(VolumeId(1)),
                in_progress.bytes(VolumeId(0))
            ),
            (13, 0)
        );
        drop(one);
        assert_eq!(in_progress.bytes(VolumeId(1)), 7);
        drop(other);
        assert_eq!(in_progress.bytes(VolumeId(1)), 0);
    }
}
