//! What is asked for: wishes of the machine become reads of spans.

use crate::executor::{Ask, Batch, Request, Span, Task};
use crate::file::FileIndex;
use crate::pipeline::{HEAD, Machine, TAIL, Want};

use super::run::Run;
use super::tally::stage_of;
use super::volumes::Volumes;

/// Files up to this size are read by the random pool as a whole: their reads are as short and as
/// scattered as samples, and gain as much from many in flight.
pub const SMALL: u64 = 128 << 10;

impl Run<'_> {
    /// Passes on what the machine wants read.
    pub fn request(&mut self) {
        let effects: Vec<_> = self.machine.effects().collect();
        let catalog = self.machine.catalog();
        for effect in effects {
            let size = catalog.size(effect.file);
            let lane = self.volumes.lane(catalog.volume(effect.file));
            let stage = stage_of(effect.want);
            if effect.want != Want::BlocksAgain {
                self.tally
                    .wanted(lane, stage, wanted_bytes(effect.want, size));
            }
            let request = Request {
                id: effect.file.0,
                note: effect.want as u8,
                bulk: effect.want == Want::Content && size > SMALL,
            };
            self.scheduler.push(lane, request);
        }
        for group in self.machine.comparisons() {
            self.request_comparison(&group);
        }
        self.scheduler.dispatch(&mut |request, batch| {
            describe(&self.machine, &self.volumes, request, batch);
        });
    }

    fn request_comparison(&mut self, group: &[FileIndex]) {
        let Some(&first) = group.first() else { return };
        let catalog = self.machine.catalog();
        let lane = self.volumes.lane(catalog.volume(first));
        let stage = stage_of(Want::Comparison);
        let requests = group.iter().map(|&file| {
            self.tally.wanted(lane, stage, catalog.size(file));
            Request {
                id: file.0,
                note: Want::Comparison as u8,
                bulk: true,
            }
        });
        let requests = requests.collect();
        self.scheduler.push_group(lane, requests);
    }
}

pub fn want_of(note: u8) -> Want {
    [
        Want::Head,
        Want::HeadAndTail,
        Want::Tail,
        Want::Whole,
        Want::Content,
        Want::Comparison,
        Want::HeadAndContent,
        Want::Blocks,
        Want::BlocksAgain,
    ][usize::from(note).min(Want::BlocksAgain as usize)]
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
        Want::Blocks | Want::BlocksAgain => [span(0, 0); 2],
    }
}

pub fn wanted_bytes(want: Want, size: u64) -> u64 {
    spans(want, size).iter().map(|span| span.len).sum()
}

/// Adds the task for a request to a batch.
fn describe(machine: &Machine, volumes: &Volumes, request: Request, batch: &mut Batch) {
    let catalog = machine.catalog();
    let file = FileIndex(request.id);
    let want = want_of(request.note);
    let name = batch.add_name(catalog.first_name(file));
    batch.tasks.push(Task {
        ticket: 0,
        dir: catalog.dir(file),
        name,
        expect: catalog.fingerprint(file),
        spans: spans(want, catalog.size(file)),
        ask: match want {
            Want::Blocks | Want::BlocksAgain => Ask::Blocks,
            _ => Ask::Bytes,
        },
        space: volumes.space(catalog.volume(file)),
    });
}
