//! The samples of a track: where they are, and how long each is.

use super::super::blocks::boxes::{self, IsoBox};
use super::super::fields::Fields;
use super::super::part::Part;
use super::super::source::{Reader, Result, damaged};
use super::super::span::Span;

/// Rows of a table that has their number first. No table has no rows.
pub fn rows<const N: usize>(
    reader: &mut Reader,
    table: Option<IsoBox>,
    sizes: [u64; N],
) -> Result<Vec<[u64; N]>> {
    let Some(table) = table else {
        return Ok(Vec::new());
    };
    let mut fields = Fields::new(reader, table.body.skip(4));
    let count = fields.number(4)?;
    fields.reader.count(2 * count)?;
    let mut rows = Vec::new();
    for _ in 0..count {
        let mut row = [0; N];
        for (number, size) in row.iter_mut().zip(sizes) {
            *number = fields.number(size)?;
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Lengths of all samples.
struct Sizes {
    count: u64,
    /// Of all of them, or of each.
    fixed: u64,
    each: Vec<u32>,
}

impl Sizes {
    fn read(reader: &mut Reader, stsz: IsoBox) -> Result<Self> {
        let mut fields = Fields::new(reader, stsz.body.skip(4));
        let (mut fixed, count) = (fields.number(4)?, fields.number(4)?);
        let mut each = Vec::new();
        if fixed == 0 {
            fields.reader.count(count)?;
            for _ in 0..count {
                each.push(fields.number(4)? as u32);
            }
        }
        if each.iter().all(|size| *size == each[0]) {
            fixed = each.first().map_or(fixed, |first| u64::from(*first));
            each.clear();
        }
        Ok(Self { count, fixed, each })
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

/// Puts the data of all samples in order, whatever chunks they lie in. Returns their number.
pub fn take(reader: &mut Reader, tables: &[IsoBox], part: &mut Part) -> Result<u64> {
    let sizes = Sizes::read(reader, boxes::need(tables, b"stsz")?)?;
    let chunks = match (boxes::find(tables, b"stco"), boxes::find(tables, b"co64")) {
        (Some(stco), None) => rows(reader, Some(stco), [4])?,
        (None, Some(co64)) => rows(reader, Some(co64), [8])?,
        _ => return damaged("a track does not say where its samples are"),
    };
    let runs = rows(reader, boxes::find(tables, b"stsc"), [4, 4, 4])?;
    let whole = reader.whole();
    let (mut spans, mut codecs) = (Vec::new(), Vec::new());
    let (mut sample, mut next, mut run, mut codec) = (0, 0, [0; 3], 0);
    for (n, [start]) in (1..).zip(chunks) {
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
            codecs.extend([sample, codec]);
        }
        let span = Span::new(start, sizes.total(sample, count));
        if !whole.contains(span) {
            return damaged("a sample lies outside");
        }
        sample += count;
        spans.push(span);
    }
    if sample != sizes.count {
        return damaged("a sample is in no chunk");
    }
    let each = sizes.each.iter().flat_map(|size| size.to_le_bytes());
    let each = blake3::hash(&each.collect::<Vec<u8>>());
    part.put_numbers(b"count", &[sizes.count, sizes.fixed]);
    part.put(b"sizes", each.as_bytes());
    part.put_numbers(b"codecs", &codecs);
    part.put_spans(b"samples", &spans);
    Ok(sizes.count)
}
