//! Counts the work of each stage on each device.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::decide::{StageTally, Want};
use crate::device::VolumeId;
use crate::lock::locked;

/// The names of the stages after the scan, in order.
const STAGES: [&str; 7] = [
    "head", "tail", "blocks", "content", "verify", "headers", "media",
];

/// The place of the stage that a read belongs to.
fn stage_of(want: Want) -> usize {
    match want {
        Want::Head | Want::HeadAndTail | Want::Whole => 0,
        Want::Tail => 1,
        Want::Blocks | Want::BlocksAgain => 2,
        Want::Content | Want::Comparison | Want::HeadAndContent => 3,
        Want::Verify => 4,
        Want::ShownKey | Want::ShownTags => 5,
        Want::ShownParts => 6,
    }
}

/// The work of one stage on one volume. The total length of sparse files may exceed 64 bits: sums stop there.
#[derive(Clone, Copy, Debug, Default)]
struct StageWork {
    files: u64,
    files_done: u64,
    bytes: u64,
    bytes_done: u64,
}

impl StageWork {
    fn is_done(&self) -> bool {
        self.files == self.files_done
    }
}

/// The work of all stages.
#[derive(Debug, Default)]
pub struct Tally {
    /// The work by volume, then by stage.
    volumes: Vec<[StageWork; STAGES.len()]>,
}

impl Tally {
    /// Records a requested read of a file of this size.
    pub fn wanted(&mut self, volume: VolumeId, want: Want, size: u64) {
        if volume.at() >= self.volumes.len() {
            self.volumes.resize(volume.at() + 1, Default::default());
        }
        let work = &mut self.volumes[volume.at()][stage_of(want)];
        work.files += 1;
        work.bytes = work.bytes.saturating_add(want.bytes(size));
    }

    /// Records that another read replaces a requested one.
    pub fn replaced(&mut self, volume: VolumeId, [from, to]: [Want; 2], size: u64) {
        let work = &mut self.volumes[volume.at()][stage_of(from)];
        work.files -= 1;
        work.bytes = work.bytes.saturating_sub(from.bytes(size));
        self.wanted(volume, to, size);
    }

    /// Records a read that has ended, and the bytes read.
    pub fn done(&mut self, volume: VolumeId, want: Want, size: u64, read: u64) {
        let work = &mut self.volumes[volume.at()][stage_of(want)];
        work.files_done += 1;
        // A failed read leaves less to do, not more.
        let unread = want.bytes(size).saturating_sub(read);
        work.bytes = work.bytes.saturating_sub(unread);
        work.bytes_done = work.bytes_done.saturating_add(read);
    }

    /// The totals of each stage that had something to do.
    pub fn stages(&self) -> Vec<StageTally> {
        let stages = STAGES.iter().enumerate().map(|(i, &name)| {
            let works = || self.volumes.iter().map(|volume| &volume[i]);
            StageTally {
                name,
                files: works().map(|work| work.files).sum(),
                bytes_read: sum(works()),
            }
        });
        stages.filter(|stage| stage.files > 0).collect()
    }

    /// Bytes read from a volume.
    pub fn bytes_read(&self, volume: VolumeId) -> u64 {
        let stages = self.volumes.get(volume.at()).into_iter().flatten();
        sum(stages)
    }

    /// The progress of each stage on each volume. `in_progress` is the number of bytes of a volume that were read of
    /// files which are not done.
    pub fn lines(
        &self,
        name: impl Fn(VolumeId) -> String,
        scan_done: bool,
        in_progress: impl Fn(VolumeId) -> u64,
    ) -> Vec<ProgressLine> {
        let mut lines = Vec::new();
        // A stage's total is final once the stage before it is over everywhere.
        let mut is_final = scan_done;
        for (i, &stage) in STAGES.iter().enumerate() {
            for (id, volume) in (0..).map(VolumeId).zip(&self.volumes) {
                let work = volume[i];
                // Long reads come last.
                let is_last = volume[i + 1..].iter().all(StageWork::is_done);
                let more = if work.is_done() || !is_last {
                    0
                } else {
                    in_progress(id)
                };
                if work.files > 0 {
                    lines.push(ProgressLine {
                        stage,
                        device: name(id),
                        files_done: work.files_done,
                        files_total: work.files,
                        bytes_done: work.bytes_done.saturating_add(more).min(work.bytes),
                        bytes_total: work.bytes,
                        total_is_final: is_final,
                    });
                }
            }
            is_final &= self.volumes.iter().all(|v| v[i].is_done());
        }
        lines
    }
}

/// The bytes that were read.
fn sum<'w>(works: impl Iterator<Item = &'w StageWork>) -> u64 {
    works.fold(0, |sum: u64, work| sum.saturating_add(work.bytes_done))
}

/// State shared between a run and its observers.
#[derive(Debug, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    lines: Mutex<Vec<ProgressLine>>,
}

/// The progress of one stage on one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ProgressLine {
    /// `scan`, `head`, `tail`, `blocks`, `content`, `verify`, `headers` or `media`.
    pub stage: &'static str,
    /// The device or volume, for people; empty for the scan.
    pub device: String,
    /// Number of files done.
    pub files_done: u64,
    /// Number of files known so far that the stage has to process.
    pub files_total: u64,
    /// Number of bytes done.
    pub bytes_done: u64,
    /// Number of bytes known so far that the stage has to process.
    pub bytes_total: u64,
    /// True if the totals are final.
    pub total_is_final: bool,
}

impl Control {
    /// A control with a flag that other threads may set to end the run.
    pub fn stopped_by(stop: Arc<AtomicBool>) -> Self {
        Self {
            stop,
            ..Self::default()
        }
    }

    /// Asks the run to stop reading and to report the results so far.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The progress of each stage on each device.
    pub fn progress(&self) -> Vec<ProgressLine> {
        locked(&self.lines).clone()
    }

    pub(super) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// True once the run was asked to end.
    pub fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn publish(&self, lines: Vec<ProgressLine>) {
        *locked(&self.lines) = lines;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_being_read_count_as_far_as_they_are() {
        let mut tally = Tally::default();
        let (volume, name) = (VolumeId(0), |_| "/".to_owned());
        for want in [Want::Tail, Want::Content, Want::Content] {
            tally.wanted(volume, want, 1000);
        }
        let done = |tally: &Tally, in_progress: u64| {
            let lines = tally.lines(name, true, |_| in_progress);
            lines.iter().map(|line| line.bytes_done).collect::<Vec<_>>()
        };
        assert_eq!(done(&tally, 300), [0, 300], "they belong to the last stage");
        tally.done(volume, Want::Content, 1000, 1000);
        assert_eq!(done(&tally, 300), [0, 1300]);
        assert_eq!(done(&tally, 3000), [0, 2000], "no more than there is");
        tally.done(volume, Want::Content, 1000, 1000);
        assert_eq!(done(&tally, 300), [300, 2000]);
    }
}
