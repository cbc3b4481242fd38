//! Counting the work of each stage on each device.

use std::time::{Duration, Instant};

use crate::decide::{StageTally, Want};

use super::control::ProgressLine;

/// The stages after the scan, in order.
const STAGES: [&str; 5] = ["head", "tail", "stretches", "blocks", "content"];

/// What one stage did on one volume. Sparse files may be longer together than 64 bits can count.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    files: u64,
    files_done: u64,
    bytes: u128,
    bytes_done: u128,
}

/// A sum as the reports have it.
fn told(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

/// What all stages did.
#[derive(Debug, Default)]
pub struct Tally {
    /// By place of the volume, then by stage.
    volumes: Vec<[Work; STAGES.len()]>,
    first: [Option<Instant>; STAGES.len()],
    last: [Option<Instant>; STAGES.len()],
}

/// The stage that a read belongs to.
pub fn stage_of(want: Want) -> usize {
    match want {
        Want::Head | Want::HeadAndTail | Want::Whole => 0,
        Want::Tail => 1,
        Want::Stretches(_) => 2,
        Want::Blocks | Want::BlocksAgain => 3,
        Want::Content | Want::Comparison | Want::HeadAndContent => 4,
    }
}

impl Tally {
    /// Takes note of a read that is wanted.
    pub fn wanted(&mut self, volume: usize, stage: usize, bytes: u64) {
        if volume >= self.volumes.len() {
            self.volumes.resize(volume + 1, Default::default());
        }
        let work = &mut self.volumes[volume][stage];
        work.files += 1;
        work.bytes += u128::from(bytes);
        if self.first[stage].is_none() {
            self.first[stage] = Some(Instant::now());
        }
    }

    /// Takes note that a read of a stage becomes another one's.
    pub fn moved(&mut self, volume: usize, from: (usize, u64), to: (usize, u64)) {
        let work = &mut self.volumes[volume][from.0];
        work.files -= 1;
        work.bytes -= u128::from(from.1);
        self.wanted(volume, to.0, to.1);
    }

    /// Takes note of a read that has ended: what was wanted and what was read.
    pub fn done(&mut self, volume: usize, stage: usize, wanted: u64, read: u64) {
        let work = &mut self.volumes[volume][stage];
        work.files_done += 1;
        // A failed read leaves less to do, not more.
        work.bytes -= u128::from(wanted - read.min(wanted));
        work.bytes_done += u128::from(read);
    }

    /// Takes note of the time at which reads of a stage ended.
    pub fn tick(&mut self, stages: u8) {
        let now = Instant::now();
        for (stage, last) in self.last.iter_mut().enumerate() {
            if stages & 1 << stage != 0 {
                *last = Some(now);
            }
        }
    }

    /// The totals of each stage that had something to do.
    pub fn stages(&self) -> Vec<StageTally> {
        let stages = STAGES.iter().enumerate().map(|(i, &name)| {
            let works = || self.volumes.iter().map(|volume| &volume[i]);
            let time = match (self.first[i], self.last[i]) {
                (Some(first), Some(last)) => last.saturating_duration_since(first),
                _ => Duration::ZERO,
            };
            StageTally {
                name,
                files: works().map(|work| work.files).sum(),
                bytes_read: told(works().map(|work| work.bytes_done).sum()),
                time,
            }
        });
        stages.filter(|stage| stage.files > 0).collect()
    }

    /// Bytes read from a volume.
    pub fn bytes_read(&self, volume: usize) -> u64 {
        let stages = self.volumes.get(volume).into_iter().flatten();
        told(stages.map(|work| work.bytes_done).sum())
    }

    /// How far each stage is on each volume.
    pub fn lines(&self, names: &[String], scan_done: bool) -> Vec<ProgressLine> {
        let mut lines = Vec::new();
        // A stage's total is final once the stage before it is over everywhere.
        let mut is_final = scan_done;
        for (i, &stage) in STAGES.iter().enumerate() {
            for (volume, name) in self.volumes.iter().zip(names) {
                let work = volume[i];
                if work.files > 0 {
                    lines.push(ProgressLine {
                        stage,
                        device: name.clone(),
                        files_done: work.files_done,
                        files_total: work.files,
                        bytes_done: told(work.bytes_done),
                        bytes_total: told(work.bytes),
                        total_is_final: is_final,
                    });
                }
            }
            is_final &= self.volumes.iter().all(|v| v[i].files == v[i].files_done);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_files_are_counted_together() {
        let mut tally = Tally::default();
        let longest = i64::MAX as u64;
        for _ in 0..5 {
            tally.wanted(0, 0, 4096);
            tally.moved(0, (0, 4096), (4, longest));
        }
        let line = || tally.lines(&["/".to_owned()], true).pop().expect("a line");
        assert_eq!((line().files_total, line().bytes_total), (5, u64::MAX));
        for read in [longest, longest, longest, 0, 0] {
            tally.done(0, 4, longest, read);
        }
        let line = tally.lines(&["/".to_owned()], true).pop().expect("a line");
        assert_eq!((line.bytes_done, line.bytes_total), (u64::MAX, u64::MAX));
        assert_eq!(tally.bytes_read(0), u64::MAX);
        assert_eq!(tally.stages()[0].bytes_read, u64::MAX);
    }
}
