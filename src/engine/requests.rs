//! What is asked for: wishes of the machine become reads of spans.

use std::collections::HashSet;

use crate::decide::{FIRST_STRETCH, HEAD, Machine, TAIL, Want};
use crate::file::FileIndex;
use crate::read::{Ask, Asker, Batch, Request, Span, Task, UNDECIDED};

use super::ideas::Idea;
use super::note::{note_of, want_of};
use super::run::Run;
use super::tally::{Tally, stage_of};
use super::volumes::Volumes;

/// Files up to this size are read by the random pool as a whole: their reads are as short and as
/// scattered as samples, and gain as much from many in flight.
pub const SMALL: u64 = 128 << 10;

impl Run<'_> {
    /// Passes on what the machine wants read.
    pub fn request(&mut self) {
        if !self.scan_done && !self.config.uses(Idea::Overlap) {
            return;
        }
        let effects: Vec<_> = self.machine.effects().collect();
        for effect in effects {
            self.ask(effect.file, effect.want);
        }
        for group in self.machine.comparisons() {
            self.request_comparison(&group);
        }
        self.scheduler.dispatch(&mut Answers {
            machine: &mut self.machine,
            volumes: &self.volumes,
            tally: &mut self.tally,
            sample_only: &self.sample_only,
            read_whole: self.config.read_whole,
        });
    }

    /// Asks for a read.
    pub fn ask(&mut self, file: FileIndex, want: Want) {
        let file_table = self.machine.file_table();
        let size = file_table.size(file);
        let volume = file_table.volume(file);
        let lane = self.volumes.lane(volume);
        if want != Want::BlocksAgain {
            self.tally
                .wanted(lane, stage_of(want), wanted_bytes(want, size));
        }
        let request = Request {
            id: file.0,
            note: note_of(want),
            bulk: match want {
                Want::Content => size > SMALL,
                Want::Stretches(_) => {
                    wanted_bytes(want, size) > SMALL || self.volumes.go_past_cache(volume)
                }
                _ => false,
            },
        };
        self.scheduler.push(lane, request);
    }

    fn request_comparison(&mut self, group: &[FileIndex]) {
        let Some(&first) = group.first() else { return };
        let file_table = self.machine.file_table();
        let lane = self.volumes.lane(file_table.volume(first));
        let stage = stage_of(Want::Comparison);
        let requests = group.iter().map(|&file| {
            self.tally.wanted(lane, stage, file_table.size(file));
            Request {
                id: file.0,
                note: note_of(Want::Comparison),
                bulk: true,
            }
        });
        let requests = requests.collect();
        self.scheduler.push_group(lane, requests);
    }
}

fn spans(want: Want, size: u64) -> [Span; 2] {
    let span = |offset, len| Span { offset, len };
    let tail = span(size.saturating_sub(TAIL), TAIL.min(size));
    match want {
        Want::Head => [span(0, HEAD.min(size)), span(0, 0)],
        Want::HeadAndTail => [span(0, HEAD.min(size)), tail],
        Want::Tail => [tail, span(0, 0)],
        Want::Whole | Want::Content | Want::Comparison => [span(0, size), span(0, 0)],
        Want::HeadAndContent => [span(0, HEAD.min(size)), span(0, size)],
        Want::Stretches(stretches) => stretches
            .spans(size, FIRST_STRETCH)
            .map(|(offset, len)| span(offset, len)),
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

/// Answers the scheduler's questions about requests.
struct Answers<'a> {
    machine: &'a mut Machine,
    volumes: &'a Volumes,
    tally: &'a mut Tally,
    sample_only: &'a HashSet<FileIndex>,
    read_whole: bool,
}

impl Asker for Answers<'_> {
    fn describe(&mut self, request: Request, batch: &mut Batch) {
        let file_table = self.machine.file_table();
        let file = FileIndex(request.id);
        let want = want_of(request.note);
        let name = batch.add_name(file_table.first_name(file));
        batch.tasks.push(Task {
            ticket: 0,
            dir: file_table.dir(file),
            name,
            expect: file_table.fingerprint(file),
            numbering: file_table.numbering(file_table.volume(file)),
            spans: spans(want, file_table.size(file)),
            ask: match want {
                Want::Blocks | Want::BlocksAgain => Ask::Blocks,
                _ => Ask::Bytes,
            },
            may_end_early: want == Want::HeadAndContent && self.machine.knows_heads(file),
            may_go_past_cache: self.volumes.go_past_cache(file_table.volume(file)),
            space: self.volumes.space(file_table.volume(file)),
        });
    }

    /// A short file that will probably be wanted whole is read whole at once.
    fn choose(&mut self, volume: usize, request: Request) -> Request {
        let file = FileIndex(request.id);
        if !want_of(request.note).is_first_sample() || !self.machine.is_read_whole(file) {
            return request;
        }
        self.read_instead(volume, request, Want::Whole)
    }

    /// A file that will probably be wanted whole is read whole while the head is there.
    fn revise(&mut self, volume: usize, request: Request) -> Request {
        let file = FileIndex(request.id);
        if want_of(request.note) != Want::Head
            || !self.read_whole
            || self.sample_only.contains(&file)
        {
            return request;
        }
        let (Some(cost), Some(odds)) = (self.volumes.cost(volume), self.machine.odds(file)) else {
            return request;
        };
        let size = self.machine.file_table().size(file);
        // With other heads of its size at hand, its own will say whether to read on.
        let will_be_known = size > UNDECIDED && self.machine.knows_heads(file);
        if !will_be_known && !cost.is_read_on(size.saturating_sub(HEAD), odds) {
            return request;
        }
        self.read_instead(volume, request, Want::HeadAndContent)
    }
}

impl Answers<'_> {
    /// The request with something else to be read instead of a sample.
    fn read_instead(&mut self, volume: usize, request: Request, want: Want) -> Request {
        let size = self.machine.file_table().size(FileIndex(request.id));
        let stage = |want| (stage_of(want), wanted_bytes(want, size));
        self.tally
            .moved(volume, stage(want_of(request.note)), stage(want));
        Request {
            note: note_of(want),
            ..request
        }
    }
}
