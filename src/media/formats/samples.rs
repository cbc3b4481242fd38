//! The samples of a track: where they are, how long each is, and when it is shown.

use super::super::blocks::boxes::{self, Fields, IsoBox};
use super::super::part::Part;
use super::super::source::{Reader, Result, damaged, unsupported};
use super::super::span::Span;

/// Ticks in a second.
#[derive(Clone, Copy)]
pub struct Clock {
    pub movie: u64,
    pub track: u64,
}

/// The box of a kind, after version and flags.
fn table(reader: &mut Reader, tables: &[IsoBox], kind: &[u8; 4]) -> Result<Option<Span>> {
    let Some(one) = boxes::find(tables, kind) else {
        return Ok(None);
    };
    let mut fields = Fields {
        reader,
        rest: one.body,
    };
    fields.version()?;
    Ok(Some(fields.rest))
}

/// Rows of a table that has their number first.
fn rows(reader: &mut Reader, table: Option<Span>, sizes: &[u64]) -> Result<Vec<[u64; 3]>> {
    let Some(table) = table else {
        return Ok(Vec::new());
    };
    let mut fields = Fields {
        reader,
        rest: table,
    };
    let count = fields.number(4)?;
    fields.reader.count(2 * count)?;
    let mut rows = Vec::new();
    for _ in 0..count {
        let mut row = [0; 3];
        for (number, size) in row.iter_mut().zip(sizes) {
            *number = fields.number(*size)?;
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Takes the samples, and when they are shown.
pub fn take(
    reader: &mut Reader,
    tables: &[IsoBox],
    clock: Clock,
    edits: Option<IsoBox>,
    part: &mut Part,
) -> Result<()> {
    for one in tables {
        let is_group = matches!(&one.kind, b"sgpd" | b"sbgp" | b"free" | b"skip");
        if !is_group && boxes::find(tables, &one.kind).is_none() {
            return damaged("a track has two tables of one kind");
        }
        match &one.kind {
            b"stsd" | b"stts" | b"ctts" | b"stsc" | b"stsz" | b"stz2" | b"stco" | b"co64" => {}
            // Where to begin when a part is skipped.
            b"stss" | b"stps" | b"sdtp" | b"cslg" | b"free" | b"skip" => {}
            b"sgpd" | b"sbgp" if is_about_access(reader, *one)? => {}
            kind => part.put_span(&[b"stbl", &kind[..]].concat(), one.body),
        }
    }
    let sizes = Sizes::read(reader, tables)?;
    take_data(reader, tables, &sizes, part)?;
    let deltas = table(reader, tables, b"stts")?;
    let deltas = rows(reader, deltas, &[4, 4])?;
    let offsets = table(reader, tables, b"ctts")?;
    let offsets = rows(reader, offsets, &[4, 4])?;
    let times = Times::new(&deltas, &offsets, sizes.count)?;
    let edits = match edits {
        Some(elst) => read_edits(reader, elst)?,
        None => Vec::new(),
    };
    times.put(&edits, clock, part);
    Ok(())
}

fn is_about_access(reader: &mut Reader, group: IsoBox) -> Result<bool> {
    let kind = reader.bytes(Span::new(group.body.start + 4, 4))?;
    Ok(matches!(
        kind,
        b"roll" | b"prol" | b"rap " | b"tele" | b"sync" | b"tscl" | b"tsas" | b"stsa"
    ))
}

/// Lengths of all samples.
struct Sizes {
    count: u64,
    /// Of all of them, or of each.
    fixed: u64,
    each: Vec<u32>,
}

impl Sizes {
    fn read(reader: &mut Reader, tables: &[IsoBox]) -> Result<Self> {
        let (mut fields, size, bits) = match table(reader, tables, b"stsz")? {
            Some(rest) => {
                let mut fields = Fields { reader, rest };
                let size = fields.number(4)?;
                (fields, size, 32)
            }
            None => match table(reader, tables, b"stz2")? {
                Some(rest) => {
                    let mut fields = Fields { reader, rest };
                    let bits = fields.number(4)? & 0xFF;
                    (fields, 0, bits)
                }
                None => return damaged("a track has no lengths"),
            },
        };
        let count = fields.number(4)?;
        if size != 0 {
            return Ok(Self {
                count,
                fixed: size,
                each: Vec::new(),
            });
        }
        if !matches!(bits, 8 | 16 | 32) {
            return unsupported("lengths of half a byte");
        }
        fields.reader.count(count)?;
        let mut each = Vec::new();
        for _ in 0..count {
            each.push(fields.number(bits / 8)? as u32);
        }
        match each.first() {
            Some(first) if each.iter().all(|size| size == first) => Ok(Self {
                count,
                fixed: u64::from(*first),
                each: Vec::new(),
            }),
            _ => Ok(Self {
                count,
                fixed: 0,
                each,
            }),
        }
    }

    /// Bytes of some samples that follow each other.
    fn total(&self, first: u64, count: u64) -> u64 {
        if self.each.is_empty() {
            return count.saturating_mul(self.fixed);
        }
        let samples = &self.each[first as usize..(first + count) as usize];
        samples.iter().map(|size| u64::from(*size)).sum()
    }
}

/// Puts the data of all samples in order, whatever chunks they lie in.
fn take_data(reader: &mut Reader, tables: &[IsoBox], sizes: &Sizes, part: &mut Part) -> Result<()> {
    let (offsets, size) = match table(reader, tables, b"stco")? {
        Some(offsets) => (Some(offsets), 4),
        None => (table(reader, tables, b"co64")?, 8),
    };
    let chunks = rows(reader, offsets, &[size])?;
    let runs = table(reader, tables, b"stsc")?;
    let runs = rows(reader, runs, &[4, 4, 4])?;
    let whole = reader.whole();
    let (mut spans, mut codecs): (Vec<Span>, Vec<u8>) = (Vec::new(), Vec::new());
    let (mut sample, mut next, mut run, mut codec) = (0, 0, [0; 3], 0);
    for (n, [start, ..]) in (1..).zip(&chunks) {
        while runs.get(next).is_some_and(|run| run[0] <= n) {
            run = runs[next];
            next += 1;
        }
        let [_, count, described] = run;
        if count > sizes.count - sample {
            return damaged("a chunk has more samples than there are");
        }
        if described != codec {
            codec = described;
            codecs.extend(sample.to_le_bytes());
            codecs.extend(codec.to_le_bytes());
        }
        let span = Span::new(*start, sizes.total(sample, count));
        if !whole.contains(span) {
            return damaged("a sample lies outside");
        }
        sample += count;
        match spans.last_mut() {
            Some(last) if last.end() == span.start => last.length += span.length,
            _ => spans.push(span),
        }
    }
    if sample != sizes.count {
        return damaged("a sample is in no chunk");
    }
    let each: Vec<u8> = sizes
        .each
        .iter()
        .flat_map(|size| size.to_le_bytes())
        .collect();
    part.put(
        b"count",
        &[sizes.count, sizes.fixed].map(u64::to_le_bytes).concat(),
    );
    part.put(b"sizes", blake3::hash(&each).as_bytes());
    part.put(b"codecs", &codecs);
    part.put_spans(b"samples", &spans);
    Ok(())
}

/// Samples in a row that last equally long and are shown equally late.
#[derive(Clone, Copy)]
struct Run {
    count: u64,
    delta: i64,
    late: i64,
}

/// When samples are shown, in ticks of the track. How long the last one is shown is not counted: copies differ in it.
struct Times {
    runs: Vec<Run>,
    /// When the one that is shown last begins.
    last: i64,
}

impl Times {
    fn new(deltas: &[[u64; 3]], offsets: &[[u64; 3]], samples: u64) -> Result<Self> {
        let mut times = Self {
            runs: Vec::new(),
            last: 0,
        };
        let mut offsets = offsets.iter();
        let has_offsets = !offsets.as_slice().is_empty();
        let (mut late, mut left) = (0, if has_offsets { 0 } else { samples });
        let (mut now, mut total) = (0_i64, 0);
        for [count, delta, _] in deltas {
            let (mut count, delta) = (*count, *delta as i64);
            total += count;
            while count > 0 {
                while left == 0 {
                    let Some([count, offset, _]) = offsets.next() else {
                        return damaged("times of samples do not fit");
                    };
                    (left, late) = (*count, i64::from(*offset as u32 as i32));
                }
                let together = count.min(left);
                count -= together;
                left -= together;
                let length = delta.saturating_mul(together as i64);
                now = now.saturating_add(length);
                times.last = times
                    .last
                    .max(now.saturating_sub(delta).saturating_add(late));
                times.push(Run {
                    count: together,
                    delta,
                    late,
                });
            }
        }
        if total != samples {
            return damaged("times of samples do not fit");
        }
        if let Some(run) = times.runs.last_mut() {
            let last = Run {
                count: 1,
                delta: 0,
                ..*run
            };
            run.count -= 1;
            times.runs.push(last);
        }
        times.runs.retain(|run| run.count > 0);
        Ok(times)
    }

    fn push(&mut self, run: Run) {
        match self.runs.last_mut() {
            Some(last) if (last.delta, last.late) == (run.delta, run.late) => {
                last.count += run.count
            }
            _ => self.runs.push(run),
        }
    }

    /// Puts the times in the largest unit that they can be told in, and the edits unless they show all there is.
    fn put(&self, edits: &[Edit], clock: Clock, part: &mut Part) {
        let (empty, edits) = match edits {
            [empty, rest @ ..] if empty.start < 0 => (empty.length, rest),
            edits => (0, edits),
        };
        let (shift, edits) = match edits {
            [edit] if edit.is_plain() && self.shows_all(edit, clock) => (edit.start, &[][..]),
            edits => (0, edits),
        };
        let late = |run: &Run| run.late.saturating_sub(shift);
        let numbers = self.runs.iter().flat_map(|run| [run.delta, late(run)]);
        let unit = numbers
            .fold(clock.track, |unit, number| gcd(unit, number.unsigned_abs()))
            .max(1);
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(clock.track / unit).to_le_bytes());
        for run in &self.runs {
            hasher.update(&run.count.to_le_bytes());
            hasher.update(&(run.delta / unit as i64).to_le_bytes());
            hasher.update(&(late(run) / unit as i64).to_le_bytes());
        }
        part.put(b"times", hasher.finalize().as_bytes());
        let seconds = |ticks: u64, clock: u64| {
            let unit = gcd(ticks, clock).max(1);
            [ticks / unit, clock / unit].map(u64::to_le_bytes).concat()
        };
        if empty > 0 {
            part.put(b"delay", &seconds(empty, clock.movie));
        }
        for edit in edits {
            part.put(b"edit", &seconds(edit.length, clock.movie));
            part.put(b"from", &seconds(edit.start.unsigned_abs(), clock.track));
            part.put(
                b"rate",
                &[edit.rate, u64::from(edit.start < 0)]
                    .map(u64::to_le_bytes)
                    .concat(),
            );
        }
    }

    /// True if an edit shows some of the last sample, and so all of those before it.
    fn shows_all(&self, edit: &Edit, clock: Clock) -> bool {
        let before_last = i128::from(self.last) - i128::from(edit.start);
        let shown = i128::from(edit.length) * i128::from(clock.track);
        edit.length == 0 || shown > before_last * i128::from(clock.movie)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A part of the track that is shown.
#[derive(Clone, Copy)]
struct Edit {
    /// In ticks of the film.
    length: u64,
    /// In ticks of the track; negative if nothing is shown.
    start: i64,
    rate: u64,
}

impl Edit {
    fn is_plain(&self) -> bool {
        self.rate == 0x10000 && self.start >= 0
    }
}

fn read_edits(reader: &mut Reader, elst: IsoBox) -> Result<Vec<Edit>> {
    let mut fields = Fields {
        reader,
        rest: elst.body,
    };
    let (version, _) = fields.version()?;
    let size = if version == 0 { 4 } else { 8 };
    let count = fields.number(4)?;
    fields.reader.count(2 * count)?;
    let mut edits = Vec::new();
    for _ in 0..count {
        let (length, start) = (fields.number(size)?, fields.number(size)?);
        let start = if size == 4 {
            i64::from(start as u32 as i32)
        } else {
            start as i64
        };
        let rate = fields.number(4)?;
        edits.push(Edit {
            length,
            start,
            rate,
        });
    }
    Ok(edits)
}
