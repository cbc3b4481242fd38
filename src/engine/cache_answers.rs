//! Answers from the cache: the engine asks the cache before each read, and records the result of each read in it.

use crate::cache::{
    FileState, Row, RowPart, Trust, holds, holds_by_mtime, holds_by_path, is_settled, seen,
};
use crate::decide::{Effect, Recalled, Unread, Want};
use crate::file::FileIndex;
use crate::hash::Digest;

use super::cached_reads::{CachedReads, RowKey, now_ns};
use super::requests::{SMALL, wanted_bytes};
use super::session::Session;

/// Room for the row of a file.
#[derive(Default)]
pub struct KnownRow {
    row: Row,
    /// How far the state of the file is known to be unchanged; `None` if the row does not apply.
    applies: Option<Trust>,
}

impl Session<'_> {
    /// Reads the rows of the files of these effects. `known` gets as many rows; its memory is used again.
    pub fn read_rows(&mut self, effects: &[Effect], known: &mut Vec<KnownRow>) {
        known.resize_with(effects.len(), KnownRow::default);
        if !self.cache.as_ref().is_some_and(CachedReads::can_answer) {
            return;
        }
        for (effect, known) in effects.iter().zip(&mut *known) {
            known.applies = self.read_row_that_applies(effect.file, &mut known.row);
        }
        let contents = effects.iter().zip(known).filter_map(|(effect, known)| {
            known.applies?;
            Some((effect.size, known.row.content?))
        });
        self.machine.prefetch_contents(contents);
    }

    /// Replaces a read with an answer from the cache, if an earlier run read the same part of the file in its present
    /// state. Returns false if the file has to be read.
    pub fn answer_from_cache(&mut self, effect: &Effect, known: &KnownRow) -> bool {
        let (row, want) = (&known.row, effect.want);
        let Some(trust) = known.applies else {
            return false;
        };
        if !self.tell(effect, (row, trust)) {
            return false;
        }
        if let Some(cache) = &mut self.cache {
            let is_first = want.is_first_sample() || want == Want::Whole;
            let spared = Unread {
                files: u64::from(is_first),
                bytes: wanted_bytes(want, row.state.size),
            };
            cache.spared.add(spared);
            if trust == Trust::Modification {
                cache.spared_by_mtime.add(spared);
            }
        }
        true
    }

    /// Reads the row of a file. If it applies, returns how far the state of the file is known to be unchanged.
    fn read_row_that_applies(&mut self, file: FileIndex, row: &mut Row) -> Option<Trust> {
        let at = self.row_key(file)?;
        let cache = self.cache.as_mut()?;
        if !cache.read_row(at, row) {
            return None;
        }
        let is = FileState::of(file, self.machine.file_table());
        let (now_ns, trust) = (cache.began_ns, cache.trust);
        match trust {
            Trust::Modification if at.by_path => {
                holds_by_path(row, &is, now_ns).then_some(Trust::Modification)
            }
            _ if holds(&row.state, row.began_ns, &is, now_ns) => Some(Trust::Change),
            Trust::Modification if row.handle.is_some() => {
                let handle = self.handle_now(file);
                holds_by_mtime(row, &is, handle, now_ns).then_some(Trust::Modification)
            }
            _ => None,
        }
    }

    /// Passes the data of a row to the machine; false if the row lacks the requested data.
    fn tell(&mut self, effect: &Effect, (row, trust): (&Row, Trust)) -> bool {
        let Effect { file, want, size } = *effect;
        match want {
            Want::Head | Want::HeadAndTail => {
                let only_content =
                    row.head.is_none() && row.content.is_some() && row.state.size <= SMALL;
                let is_whole = self.machine.are_first_read_whole(size, only_content);
                match (is_whole, row.head, row.content) {
                    (true, _, Some(content)) => {
                        self.machine.content_recalled(size, file, content);
                    }
                    (false, Some(head), _) if want == Want::Head || row.tail.is_some() => {
                        if self.volumes.cost_seeks() {
                            self.heads.met(row.state.size, &head);
                        }
                        self.tell_token(file, row, trust);
                        let tail = row.tail.filter(|_| want == Want::HeadAndTail);
                        self.machine.sampled(file, head, tail);
                    }
                    _ => return false,
                }
            }
            Want::Tail => match row.tail {
                Some(tail) => self.machine.tail_sampled(file, tail),
                None => return false,
            },
            Want::Whole | Want::Content => match row.content {
                Some(content) => self.machine.content_recalled(size, file, content),
                None => return false,
            },
            _ => return false,
        }
        true
    }

    /// Passes the result of an earlier comparison of a file to the machine.
    fn tell_token(&mut self, file: FileIndex, row: &Row, trust: Trust) {
        let (Some(token), Some(cache)) = (row.token, &mut self.cache) else {
            return;
        };
        let recalled = Recalled {
            token,
            has_digest: row.content.is_some(),
            is_sure: trust == Trust::Change,
        };
        self.machine.token_recalled(file, recalled);
        if trust == Trust::Modification {
            cache.told_by_mtime.insert(file);
        }
    }

    /// Stores the results of comparisons, also for files that are only known to be equal to a compared file.
    pub fn keep_equalities(&mut self) {
        for equality in self.machine.equalities() {
            let file = equality.file;
            if !equality.was_compared
                && let Some(cache) = &mut self.cache
            {
                let bytes = self.machine.file_table().size(file);
                let spared = Unread { files: 0, bytes };
                cache.spared.add(spared);
                if cache.told_by_mtime.contains(&file) {
                    cache.spared_by_mtime.add(spared);
                }
            }
            let (Some(token), Some((at, state))) = (equality.found, self.kept_as(file)) else {
                continue;
            };
            // Rows by path answer only where others need not be sure.
            if equality.is_sure || at.by_path {
                self.keep(file, (at, state), [RowPart::Token(token)]);
            }
        }
    }

    /// Stores nothing of this file in this run: before it was read, some of its bytes were not on the disk yet. Later
    /// changes of these bytes through a memory map may leave its state as it is.
    pub fn keep_nothing_of(&mut self, file: FileIndex) {
        if let Some(cache) = &mut self.cache {
            cache.unwritten.insert(file);
        }
    }

    /// Stores the data that was read of a file.
    pub fn keep_in_cache(&mut self, file: FileIndex, want: Want, digests: [Option<Digest>; 2]) {
        let Some((at, state)) = self.kept_as(file) else {
            return;
        };
        let parts = digests.map(|digest| match (want, digest?) {
            (_, Digest::Content(content)) => Some(RowPart::Content(content)),
            (Want::Tail, Digest::Sample(tail)) => Some(RowPart::Tail(tail)),
            (Want::Head | Want::HeadAndContent, Digest::Sample(head)) => Some(RowPart::Head(head)),
            _ => None,
        });
        let ends = match (want, digests) {
            (Want::HeadAndTail, [Some(Digest::Sample(head)), Some(Digest::Sample(tail))]) => {
                [Some(RowPart::Head(head)), Some(RowPart::Tail(tail))]
            }
            _ => parts,
        };
        self.keep(file, (at, state), ends.into_iter().flatten());
    }

    fn keep(
        &mut self,
        file: FileIndex,
        (at, state): (RowKey, FileState),
        parts: impl IntoIterator<Item = RowPart>,
    ) {
        let by_mtime = |cache: &CachedReads| cache.trust == Trust::Modification && !at.by_path;
        let asks = self.cache.as_ref().is_some_and(by_mtime);
        let handle = asks.then(|| self.handle_of(file)).flatten();
        if let Some(cache) = &mut self.cache {
            let parts = parts.into_iter().chain(handle.map(RowPart::Handle));
            parts.for_each(|part| cache.learned(at, state, part));
        }
    }

    /// The key and the state under which the data of a file is stored; `None` if it is not stored.
    fn kept_as(&mut self, file: FileIndex) -> Option<(RowKey, FileState)> {
        let at = self.row_key(file)?;
        let is = FileState::of(file, self.machine.file_table());
        let cache = self.cache.as_mut()?;
        if cache.unwritten.contains(&file) || !cache.is_written(at.volume) {
            return None;
        }
        let state = match at.by_path {
            true => {
                let now_ns = now_ns().saturating_add(cache.ahead_ns);
                let mut row = Row::default();
                let before = cache.read_row(at, &mut row).then_some(&row);
                seen(&is, before, now_ns)
            }
            false => is_settled(&is, cache.began_ns).then_some(is),
        };
        state.map(|state| (at, state))
    }
}
