//! When the samples of a track are shown.

use super::super::blocks::boxes::{self, IsoBox};
use super::super::part::Part;
use super::super::source::{Reader, Result, damaged};
use super::samples::rows;

/// Ticks in a second.
#[derive(Clone, Copy)]
pub struct Clock {
    pub movie: u64,
    pub track: u64,
}

/// Samples in a row that last equally long and are shown equally late.
#[derive(Clone, Copy)]
struct Run {
    count: u64,
    delta: i64,
    late: i64,
}

/// Puts the times of samples in the largest unit that they can be told in, and the edits unless they show all there is.
pub fn take(
    reader: &mut Reader,
    tables: &[IsoBox],
    samples: u64,
    clock: Clock,
    edits: Option<IsoBox>,
    part: &mut Part,
) -> Result<()> {
    let (runs, last) = read_runs(reader, tables, samples)?;
    let edits = read_edits(reader, edits)?;
    let delays = edits.iter().take_while(|edit| edit.start < 0).count();
    let (delays, shown) = edits.split_at(delays);
    let (start, shown) = match shown {
        [edit] if edit.shows_all(last, clock) => (edit.start, &[][..]),
        shown => (0, shown),
    };
    let numbers = |run: &Run| [run.delta, run.late.saturating_sub(start)];
    let unit = runs.iter().flat_map(numbers);
    let unit = unit.fold(clock.track, |unit, number| gcd(unit, number.unsigned_abs()));
    let unit = unit.max(1);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(clock.track / unit).to_le_bytes());
    for run in &runs {
        hasher.update(&run.count.to_le_bytes());
        for number in numbers(run) {
            hasher.update(&(number / unit as i64).to_le_bytes());
        }
    }
    part.put(b"times", hasher.finalize().as_bytes());
    for edit in delays.iter().chain(shown) {
        let [length, seconds] = fraction(edit.length, clock.movie);
        let [from, ticks] = fraction(edit.start.max(0) as u64, clock.track);
        let is_empty = u64::from(edit.start < 0);
        part.put_numbers(
            b"edit",
            &[length, seconds, from, ticks, edit.rate, is_empty],
        );
    }
    Ok(())
}

/// Two numbers in their lowest terms.
fn fraction(above: u64, below: u64) -> [u64; 2] {
    let unit = gcd(above, below).max(1);
    [above / unit, below / unit]
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The times of all samples in as few runs as can be, and when the one that is shown last begins. How long the last one
/// is shown is not counted: copies differ in it.
fn read_runs(reader: &mut Reader, tables: &[IsoBox], samples: u64) -> Result<(Vec<Run>, i64)> {
    let deltas = rows(reader, boxes::find(tables, b"stts"), [4, 4])?;
    let mut offsets = rows(reader, boxes::find(tables, b"ctts"), [4, 4])?;
    if offsets.is_empty() {
        offsets.push([samples, 0]);
    }
    let total = |rows: &[[u64; 2]]| rows.iter().map(|row| row[0]).sum::<u64>();
    if total(&deltas) != samples || total(&offsets) < samples {
        return damaged("times of samples do not fit");
    }
    let (mut runs, mut now, mut last): (Vec<Run>, i64, i64) = (Vec::new(), 0, 0);
    let mut offsets = offsets.iter_mut().peekable();
    for [mut left, delta] in deltas {
        while left > 0 {
            let Some([with_offset, offset]) = offsets.peek_mut() else {
                break;
            };
            let count = left.min(*with_offset);
            let (delta, late) = (delta as i64, i64::from(*offset as u32 as i32));
            left -= count;
            *with_offset -= count;
            if *with_offset == 0 {
                offsets.next();
            }
            if count > 0 {
                now = now.saturating_add(delta.saturating_mul(count as i64));
                last = last.max(now.saturating_sub(delta).saturating_add(late));
                push(&mut runs, Run { count, delta, late });
            }
        }
    }
    if let Some(run) = runs.last_mut() {
        let last = Run {
            count: 1,
            delta: 0,
            ..*run
        };
        run.count -= 1;
        runs.push(last);
    }
    runs.retain(|run| run.count > 0);
    Ok((runs, last))
}

/// Joins a run with the one before it if they are of one kind.
fn push(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if (last.delta, last.late) == (run.delta, run.late) => last.count += run.count,
        _ => runs.push(run),
    }
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
    /// True if it shows some of the last sample, and so all of those before it.
    fn shows_all(&self, last: i64, clock: Clock) -> bool {
        let before_last = i128::from(last) - i128::from(self.start);
        let shown = i128::from(self.length) * i128::from(clock.track);
        let is_plain = self.rate == 0x10000 && self.start >= 0;
        is_plain && (self.length == 0 || shown > before_last * i128::from(clock.movie))
    }
}

fn read_edits(reader: &mut Reader, elst: Option<IsoBox>) -> Result<Vec<Edit>> {
    let Some(table) = elst else {
        return Ok(Vec::new());
    };
    let is_short = reader.big(table.body.start, 1)? == 0;
    let size = if is_short { 4 } else { 8 };
    let rows = rows(reader, elst, [size, size, 4])?;
    let edits = rows.into_iter().map(|[length, start, rate]| Edit {
        length,
        start: if is_short {
            i64::from(start as u32 as i32)
        } else {
            start as i64
        },
        rate,
    });
    Ok(edits.collect())
}
