//! Turns the requests of the machine into reads of spans.

use std::collections::HashSet;

use crate::cache::{Cache, FileState, Storing};
use crate::decide::{HEAD, HEADERS, Machine, TAIL, Want};
use crate::device::is_read_on;
use crate::file::FileIndex;
use crate::read::{Ask, Batch, Depth, Job, Scheduler, Span, Task, Ticket};

use super::Session;
use crate::engine::config::Mechanism;
use crate::engine::progress::Tally;
use crate::engine::volumes::Volumes;

/// Files up to this size are read by the random pool as a whole: their reads are as short and as scattered as samples,
/// and also gain from many in flight.
pub const SMALL: u64 = 128 << 10;

/// Number of effects whose rows are read before the first of them is answered: few enough that the rows stay in the
/// processor's first cache, and enough for their lookups to wait for memory together.
const LOOKED_UP: usize = 16;

/// The reads of a run.
pub struct Reads {
    pub scheduler: Scheduler<Want>,
    pub volumes: Volumes,
    pub tally: Tally,
    /// Files whose read as a whole failed at a time when it was not yet known whether it was necessary.
    pub sample_only: HashSet<FileIndex>,
}

impl Session<'_> {
    /// Passes on the reads that the machine requests.
    pub fn request(&mut self) {
        if !self.arrivals.scan_done && !self.config.uses(Mechanism::Overlap) {
            return;
        }
        self.request_inventory();
        let mut known = Vec::new();
        loop {
            let effects: Vec<_> = self.machine.effects().collect();
            if effects.is_empty() {
                break;
            }
            for effects in effects.chunks(LOOKED_UP) {
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
        let mut describer = Describer {
            machine: &mut self.machine,
            volumes: &self.reads.volumes,
            tally: &mut self.reads.tally,
            sample_only: &self.reads.sample_only,
            cache: self.cached.cache.as_deref(),
            reads_on: self.config.uses(Mechanism::ReadOn),
            decides: self.inventory.is_none() && !self.probable.has_begun(),
        };
        self.reads
            .scheduler
            .dispatch(&mut |job, is_at_head, batch| describer.describe(job, is_at_head, batch));
    }

    /// Requests a read.
    pub fn ask(&mut self, file: FileIndex, want: Want) {
        let file_table = self.machine.file_table();
        let size = file_table.size(file);
        let volume = self.volume_of(file);
        if want != Want::BlocksAgain {
            self.reads.tally.wanted(volume, want, size);
        }
        self.reads.scheduler.push(Job {
            file,
            volume,
            want,
            bulk: matches!(
                want,
                Want::Whole | Want::Content | Want::HeadAndContent | Want::ShownParts
            ) && size > SMALL,
        });
    }

    /// Requests the comparison of files of one length with each other. Disks with a head compare sets in the order of
    /// these positions.
    pub fn ask_for_set(&mut self, position: u64, files: &[FileIndex], want: Want) {
        let file_table = self.machine.file_table();
        let set = files.iter().map(|&file| {
            let volume = self.reads.volumes.of(file_table.volume(file));
            let size = file_table.size(file);
            self.reads.tally.wanted(volume, want, size);
            Job {
                file,
                volume,
                want,
                bulk: true,
            }
        });
        self.reads.scheduler.push_set(position, set.collect());
    }
}

fn spans(want: Want, size: u64) -> [Span; 2] {
    let span = |offset, len| Span { offset, len };
    let tail = span(size.saturating_sub(TAIL), TAIL.min(size));
    match want {
        Want::Head => [span(0, HEAD.min(size)), span(0, 0)],
        Want::ShownKey | Want::ShownTags => [span(0, HEADERS.min(size)), tail],
        Want::HeadAndTail => [span(0, HEAD.min(size)), tail],
        Want::Tail => [tail, span(0, 0)],
        Want::Whole | Want::Content | Want::Comparison | Want::Verify | Want::ShownParts => {
            [span(0, size), span(0, 0)]
        }
        Want::HeadAndContent => [span(0, HEAD.min(size)), span(0, size)],
        Want::Blocks | Want::BlocksAgain => [span(0, 0); 2],
    }
}

/// Describes jobs that are about to be read.
struct Describer<'a> {
    machine: &'a mut Machine,
    volumes: &'a Volumes,
    tally: &'a mut Tally,
    sample_only: &'a HashSet<FileIndex>,
    cache: Option<&'a Cache<'a>>,
    reads_on: bool,
    /// The machine wants the reads, and may want better ones by now.
    decides: bool,
}

impl Describer<'_> {
    /// The task of a job, which may be replaced by a better read of its file. `is_at_head`: the head of a disk is about
    /// to reach the file.
    fn describe(&mut self, job: &mut Job<Want>, is_at_head: bool, batch: &mut Batch) -> Task {
        let Job { file, volume, .. } = *job;
        let size = self.machine.file_table().size(file);
        let instead = if !self.decides {
            None
        } else if is_at_head {
            // It will probably be needed whole.
            let may_be = job.want == Want::Head && !self.sample_only.contains(&file);
            let odds = self.machine.odds(file).filter(|_| may_be && self.reads_on);
            let is_best = odds.is_some_and(|odds| is_read_on(size.saturating_sub(HEAD), odds));
            is_best.then_some(Want::HeadAndContent)
        } else {
            let is_first = job.want.is_first_sample();
            (is_first && self.machine.is_read_whole(file)).then_some(Want::Whole)
        };
        if let Some(want) = instead {
            self.tally.replaced(volume, [job.want, want], size);
            job.want = want;
        }
        let want = job.want;
        // The caller may want every content, as a catalog does.
        let may_stop = self.decides && want == Want::HeadAndContent;
        let only_head = may_stop.then(|| self.machine.only_head(file)).flatten();
        let file_table = self.machine.file_table();
        let dev = file_table.volume(file);
        let is = || FileState::of(file, file_table);
        let storing = self.cache.map(|cache| cache.storing(dev, &is()));
        Task {
            ticket: Ticket::default(),
            file,
            device: self.volumes.device(volume),
            dir: file_table.dir(file),
            name: batch.add_name(file_table.first_name(file)),
            expect: file_table.fingerprint(file),
            numbering: file_table.numbering(dev),
            spans: spans(want, size),
            ask: match want {
                Want::Blocks | Want::BlocksAgain => Ask::Blocks,
                Want::Verify => Ask::EveryByte,
                Want::ShownKey => Ask::Shown(Depth::Key),
                Want::ShownParts => Ask::Shown(Depth::Parts),
                Want::ShownTags => Ask::Shown(Depth::Tags),
                _ => Ask::Bytes,
            },
            only_cached: false,
            is_stored: storing.is_some_and(|storing| storing != Storing::Nothing),
            may_be_dirty: storing == Some(Storing::IfClean),
            position: 0,
            go_on_with: only_head,
        }
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
