//! Whole files by size, beside the model `size / (seek + size / rate)`: what is a small file here?

use std::iter;

use super::bench::Bench;
use super::findings::{Axis, Chart, Point, Series, Unit};
use super::jobs::TestSpan;
use super::load::streams;
use super::random;
use super::streams::LINE;
use super::sweep::{Aim, Sample};
use super::test_data::TestData;

/// The results of a measurement.
pub const MEASURED: &str = "measured";

/// The name of the model's series.
pub const MODEL: &str = "model";

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The sizes.
const SIZES: [u64; 9] = [
    4 * KIB,
    16 * KIB,
    64 * KIB,
    256 * KIB,
    MIB,
    4 * MIB,
    16 * MIB,
    64 * MIB,
    100 * MIB,
];

/// Files of about the right size that are enough to do without parts of larger ones.
const ENOUGH: usize = 8;

/// Reads files, or parts of files, of each size one after the other, wherever they lie.
pub fn run(bench: &mut Bench<'_>) -> Result<Chart, String> {
    let test_data = bench.test_data()?;
    let classes: Vec<(u64, FilesOfSize)> = SIZES
        .into_iter()
        .filter_map(|size| Some((size, FilesOfSize::of(test_data, size)?)))
        .collect();
    if classes.is_empty() {
        return Err("there is no file of 4 KiB or more".to_owned());
    }
    let aims: Vec<Aim> = classes
        .iter()
        .map(|&(x, _)| Aim {
            series: MEASURED,
            x,
        })
        .collect();
    let mut rng = bench.rng.clone();
    let mut left_out = Vec::new();
    let mut series = bench.sweep(Axis::FileSize, &aims, |aim, window, line| {
        let (_, class) = classes.iter().find(|(size, _)| *size == aim.x)?;
        // A file that would take many times its share is not begun.
        let rate = line.last().map(|(_, megabytes)| megabytes * 1e6);
        if rate.is_some_and(|rate| aim.x as f64 / rate > 10.0 * window.as_secs_f64()) {
            left_out.push(aim.x);
            return None;
        }
        let runs = iter::repeat_with(|| {
            let (file, room) = class.files[rng.below(class.files.len() as u64) as usize];
            let offset = rng.below(room / 4096 + 1) * 4096;
            TestSpan {
                file,
                offset: if class.has_own { 0 } else { offset },
                len: aim.x,
            }
        });
        let load = streams(test_data, vec![runs], true, window, bench.control);
        (load.bytes > 0).then(|| Sample {
            rate: load.megabytes(),
            latencies_us: Vec::new(),
        })
    })?;
    let mut notes = Vec::new();
    let measured = series.first().ok_or("nothing was measured")?;
    if let Some((seek, rate)) = prices(bench, measured) {
        let megabytes = |size: u64| size as f64 / (seek + size as f64 / rate) / 1e6;
        let sizes = measured.points.iter().map(|point| point.x);
        let points = sizes.map(|x| Point::exact(x, megabytes(x))).collect();
        notes.push(format!(
            "model: size / (seek + size / rate) with a seek of {:.2} ms and {:.0} MB/s; \
             half of that rate at {}",
            seek * 1e3,
            rate / 1e6,
            crate::units::Bytes((seek * rate) as u64)
        ));
        let saturated = saturation(measured, rate / 1e6);
        notes.push(match saturated {
            Some(size) => format!(
                "files of {} or more reach 90 % of the rate; shorter files count as small on this disk",
                Axis::FileSize.label(size)
            ),
            None => "no file reaches 90 % of the rate; all files count as small on this disk".to_owned(),
        });
        series.push(Series {
            name: MODEL,
            points,
        });
    }
    let parts = classes.iter().filter(|(_, class)| !class.has_own);
    let parts: Vec<_> = parts.map(|(size, _)| Axis::FileSize.label(*size)).collect();
    if !parts.is_empty() {
        notes.push(format!("parts of larger files: {}", parts.join(", ")));
    }
    let missing = SIZES.iter().filter(|size| {
        left_out.contains(*size) || !classes.iter().any(|(there, _)| there == *size)
    });
    let missing: Vec<_> = missing.map(|size| Axis::FileSize.label(*size)).collect();
    if !missing.is_empty() {
        notes.push(format!(
            "no such files, or not enough time for them: {}",
            missing.join(", ")
        ));
    }
    bench.rng = rng;
    Ok(Bench::chart(Axis::FileSize, Unit::Megabytes, series, notes))
}

/// Files of which something of one size can be read.
struct FilesOfSize {
    /// Files, each with how far from its start the part may begin.
    files: Vec<(usize, u64)>,
    /// They are of about that size themselves, and are read from the start.
    has_own: bool,
}

impl FilesOfSize {
    fn of(test_data: &TestData, size: u64) -> Option<Self> {
        let files = test_data.files.iter().enumerate();
        let large = files.filter(|(_, file)| file.size >= size);
        let large: Vec<_> = large.map(|(at, file)| (at, file.size - size)).collect();
        let own: Vec<_> = large
            .iter()
            .filter(|(_, rest)| *rest < size)
            .copied()
            .collect();
        match own.len() >= ENOUGH {
            true => Some(Self {
                files: own,
                has_own: true,
            }),
            false if large.is_empty() => None,
            false => Some(Self {
                files: large,
                has_own: false,
            }),
        }
    }
}

/// Seek in seconds and bytes a second: as the other experiments found them, else from the shortest
/// and the longest files of this one.
pub fn prices(bench: &Bench<'_>, measured: &Series) -> Option<(f64, f64)> {
    let (first, last) = (measured.points.first()?, measured.points.last()?);
    let stream = bench
        .found("streams")
        .and_then(|chart| chart.line(LINE)?.at(1));
    let rate = stream.unwrap_or(last.median).max(last.median) * 1e6;
    let scattered = bench
        .found("random")
        .and_then(|chart| chart.line(random::LINE)?.at(1));
    let seek = match scattered {
        Some(reads) => 1.0 / reads,
        None => first.x as f64 / (first.median * 1e6),
    };
    let seek = seek - 4096.0 / rate;
    (seek > 0.0 && rate > 0.0).then_some((seek, rate))
}

/// The smallest size from which on all reach nine tenths of the rate, MB/s.
fn saturation(measured: &Series, rate: f64) -> Option<u64> {
    let reach = |point: &&Point| point.median >= 0.9 * rate;
    let from = measured.points.iter().rev().take_while(reach).last();
    from.map(|point| point.x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_large_from_where_on_all_are_fast() {
        let line = |rates: &[f64]| Series {
            name: MEASURED,
            points: rates
                .iter()
                .zip(SIZES)
                .map(|(&rate, size)| Point::exact(size, rate))
                .collect(),
        };
        assert_eq!(
            saturation(&line(&[1.0, 95.0, 50.0, 91.0, 99.0]), 100.0),
            Some(256 * KIB)
        );
        assert_eq!(saturation(&line(&[1.0, 20.0]), 100.0), None);
    }
}
