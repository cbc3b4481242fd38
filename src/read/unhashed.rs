//! Short reads whose bytes are hashed together, a bit later than they were read.

use crate::hash::{Digest, Fold};

use super::task::{Completion, Outcome, SPANS, Task, Ticket};

/// Bytes that are gathered before they are hashed: few enough to stay in the second-level cache.
const ENOUGH: usize = 64 << 10;

/// Reads of files that turned out to be the expected ones, without their digests, and the bytes of their spans.
#[derive(Default)]
pub struct Unhashed {
    /// The bytes, and room behind them.
    bytes: Vec<u8>,
    spans: Vec<Span>,
    reads: Vec<Read>,
}

/// Bytes of one span.
struct Span {
    /// Where they end; they begin where those before end.
    end: usize,
    /// They are the whole file.
    is_whole: bool,
}

/// A read file.
struct Read {
    ticket: Ticket,
    /// Which of its spans were read.
    has_span: [bool; SPANS],
    bytes: u64,
    is_cached: bool,
    may_be_stored: bool,
}

impl Unhashed {
    /// Room for the next span, of this many bytes.
    pub fn room(&mut self, len: usize) -> &mut [u8] {
        let start = self.end();
        if self.bytes.len() < start + len {
            self.bytes.resize(start + len, 0);
        }
        &mut self.bytes[start..start + len]
    }

    /// Takes a span whose bytes are in the room.
    pub fn take(&mut self, len: usize, is_whole: bool) {
        let end = self.end() + len;
        self.spans.push(Span { end, is_whole });
    }

    /// Ends a file: all spans of the task were taken, or of none.
    pub fn end_file(&mut self, task: &Task, is_cached: bool) {
        self.reads.push(Read {
            ticket: task.ticket,
            has_span: task.spans.map(|span| span.len > 0),
            bytes: task.spans.iter().map(|span| span.len).sum(),
            is_cached,
            may_be_stored: task.is_stored,
        });
    }

    /// Forgets the spans of a file that did not end.
    pub fn cancel_file(&mut self) {
        let ended = self.reads.iter().flat_map(|read| read.has_span);
        let count = ended.filter(|&has_span| has_span).count();
        self.spans.truncate(count);
    }

    /// True if it is time to hash: there are enough bytes, or this many files.
    pub fn is_full(&self, files: usize) -> bool {
        self.end() >= ENOUGH || self.reads.len() >= files
    }

    /// Hashes what was gathered, and hands out the ends of its tasks.
    pub fn complete(&mut self, fold: &Fold, mut end: impl FnMut(Completion)) {
        if self.reads.is_empty() {
            return;
        }
        let mut start = 0;
        let spans = self.spans.iter().map(|span| {
            let bytes = &self.bytes[start..span.end];
            start = span.end;
            (bytes, span.is_whole)
        });
        let digests = fold.all_at_once(&spans.collect::<Vec<_>>());
        let mut digests = digests.into_iter();
        for read in self.reads.drain(..) {
            let mut of_file = [None::<Digest>; SPANS];
            for (digest, has_span) in of_file.iter_mut().zip(read.has_span) {
                *digest = has_span.then(|| digests.next()).flatten();
            }
            let outcome = Outcome::Read {
                digests: of_file,
                bytes: read.bytes,
                cached: read.is_cached,
                may_be_stored: read.may_be_stored,
            };
            let ticket = read.ticket;
            end(Completion { ticket, outcome });
        }
        self.spans.clear();
    }

    fn end(&self) -> usize {
        self.spans.last().map_or(0, |span| span.end)
    }
}
