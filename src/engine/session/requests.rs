//! Turns the requests of the machine into reads of spans.

use std::collections::HashSet;

use crate::cache::{Cache, FileState};
use crate::decide::{HEAD, Machine, TAIL, Want};
use crate::device::VolumeId;
use crate::file::FileIndex;
use crate::read::{Ask, Asker, Batch, Job, OnVolume, Span, Task, Ticket, UNDECIDED, Unwritten};

use super::Session;
use crate::engine::mechanisms::Mechanism;
use crate::engine::tally::{Stage, Tally};
use crate::engine::volumes::Volumes;

/// Files up to this size are read by the random pool as a whole: their reads are as short and as scattered as samples,
/// and also gain from many in flight.
pub const SMALL: u64 = 128 << 10;

/// Number of effects whose rows are read before the first of them is answered: few enough that the rows stay in the
/// processor's first cache, and enough for their lookups to wait for memory together.
const TOGETHER: usize = 16;

impl Session<'_> {
    /// Passes on the reads that the machine requests.
    pub fn request(&mut self) {
        if !self.scan_done && !self.config.uses(Mechanism::Overlap) {
            return;
        }
        let mut known = Vec::new();
        loop {
            let effects: Vec<_> = self.machine.effects().collect();
            if effects.is_empty() {
                break;
            }
            for effects in effects.chunks(TOGETHER) {
                self.read_rows(effects, &mut known);
                for (effect, known) in effects.iter().zip(&known) {
                    // What it says may lead to further effects.
                    if self.reading_ended || !self.answer_from_cache(effect, known) {
                        self.ask(effect.file, effect.want);
                    }
                }
            }
        }
        self.keep_equalities();
        for group in self.machine.comparisons() {
            self.ask_for_set(0, &group, Want::Comparison);
        }
        self.scheduler.dispatch(&mut JobAsker {
            machine: &mut self.machine,
            volumes: &self.volumes,
            tally: &mut self.tally,
            sample_only: &self.sample_only,
            cache: self.cached.cache.as_deref(),
            reads_on: self.config.uses(Mechanism::ReadOn),
        });
    }

    /// Requests a read.
    pub fn ask(&mut self, file: FileIndex, want: Want) {
        let file_table = self.machine.file_table();
        let size = file_table.size(file);
        let volume = self.volumes.of(file_table.volume(file));
        if want != Want::BlocksAgain {
            self.tally
                .wanted(volume, Stage::of(want), wanted_bytes(want, size));
        }
        let job = Job {
            file,
            want,
            bulk: want == Want::Content && size > SMALL,
        };
        let [first, _] = spans(want, size);
        let offset = (first.len > 0).then_some(first.offset);
        self.scheduler.push(volume, job, offset);
    }

    /// Requests the comparison of files of one length with each other. Disks with a head compare sets in the order of
    /// these positions.
    pub fn ask_for_set(&mut self, position: u64, files: &[FileIndex], want: Want) {
        let file_table = self.machine.file_table();
        let set = files.iter().map(|&file| {
            let volume = self.volumes.of(file_table.volume(file));
            let size = file_table.size(file);
            self.tally.wanted(volume, Stage::of(want), size);
            let bulk = true;
            let job = Job { file, want, bulk };
            OnVolume { volume, job }
        });
        self.scheduler.push_set(position, set.collect());
    }
}

fn spans(want: Want, size: u64) -> [Span; 2] {
    let span = |offset, len| Span { offset, len };
    let tail = span(size.saturating_sub(TAIL), TAIL.min(size));
    match want {
        Want::Head => [span(0, HEAD.min(size)), span(0, 0)],
        Want::HeadAndTail => [span(0, HEAD.min(size)), tail],
        Want::Tail => [tail, span(0, 0)],
        Want::Whole | Want::Content | Want::Comparison | Want::Verify => {
            [span(0, size), span(0, 0)]
        }
        Want::HeadAndContent => [span(0, HEAD.min(size)), span(0, size)],
        Want::Blocks | Want::BlocksAgain => [span(0, 0); 2],
    }
}

pub fn wanted_bytes(want: Want, size: u64) -> u64 {
    match want {
        // The head is a part of the whole.
        Want::HeadAndContent => size,
        want => spans(want, size).iter().map(|span| span.len).sum(),
    }
}

/// Answers the scheduler's questions about jobs.
struct JobAsker<'a> {
    machine: &'a mut Machine,
    volumes: &'a Volumes,
    tally: &'a mut Tally,
    sample_only: &'a HashSet<FileIndex>,
    cache: Option<&'a Cache<'a>>,
    reads_on: bool,
}

impl Asker<Want> for JobAsker<'_> {
    fn describe(&mut self, job: Job<Want>, batch: &mut Batch) -> Task {
        let file_table = self.machine.file_table();
        let Job { file, want, .. } = job;
        let dev = file_table.volume(file);
        let volume = self.volumes.of(dev);
        let name = batch.add_name(file_table.first_name(file));
        Task {
            ticket: Ticket::default(),
            file,
            device: self.volumes.device(volume),
            dir: file_table.dir(file),
            name,
            expect: file_table.fingerprint(file),
            numbering: file_table.numbering(dev),
            spans: spans(want, file_table.size(file)),
            ask: match want {
                Want::Blocks | Want::BlocksAgain => Ask::Blocks,
                Want::Verify => Ask::EveryByte,
                _ => Ask::Bytes,
            },
            may_end_early: want == Want::HeadAndContent && self.machine.knows_heads(file),
            unwritten: match self.is_stored(file) {
                true => Unwritten::Queried,
                false => Unwritten::Ignored,
            },
        }
    }

    /// Reads a short file whole at once if it will probably be needed whole.
    fn choose(&mut self, volume: VolumeId, job: Job<Want>) -> Job<Want> {
        if !job.want.is_first_sample() || !self.machine.is_read_whole(job.file) {
            return job;
        }
        self.read_instead(volume, job, Want::Whole)
    }

    /// Reads a file whole while the head is there, if it will probably be needed whole.
    fn revise(&mut self, volume: VolumeId, job: Job<Want>) -> Job<Want> {
        let file = job.file;
        if job.want != Want::Head || !self.reads_on || self.sample_only.contains(&file) {
            return job;
        }
        let (Some(cost), Some(odds)) = (self.volumes.cost(volume), self.machine.odds(file)) else {
            return job;
        };
        let size = self.machine.file_table().size(file);
        // With other heads of its size at hand, its own will say whether to read on.
        let will_be_known = size > UNDECIDED && self.machine.knows_heads(file);
        if !will_be_known && !cost.is_read_on(size.saturating_sub(HEAD), odds) {
            return job;
        }
        self.read_instead(volume, job, Want::HeadAndContent)
    }
}

impl JobAsker<'_> {
    /// True if the cache stores the results of reads of a file.
    fn is_stored(&self, file: FileIndex) -> bool {
        let file_table = self.machine.file_table();
        let is = || FileState::of(file, file_table);
        self.cache
            .is_some_and(|cache| cache.learns(file_table.volume(file), &is()))
    }

    /// The job with another read instead of a sample.
    fn read_instead(&mut self, volume: VolumeId, job: Job<Want>, want: Want) -> Job<Want> {
        let size = self.machine.file_table().size(job.file);
        let stage = |want| (Stage::of(want), wanted_bytes(want, size));
        self.tally.moved(volume, stage(job.want), stage(want));
        Job { want, ..job }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_waits_takes_eight_bytes() {
        assert_eq!(size_of::<Job<Want>>(), 8);
    }
}
