//! Whole files against the number read at a time: a head loses with each further stream.

use super::bench::{Bench, Runs};
use super::findings::{Axis, Chart, Unit};
use super::load::{failed_note, streams};
use super::sweep::{Aim, Sample, up_to};

/// The line's name.
pub const LINE: &str = "whole files";

/// Streams at a time.
const STREAMS: [u64; 5] = [1, 2, 4, 8, 16];

/// Reads several parts of the disk from front to back at a time.
pub fn run(bench: &mut Bench<'_>) -> Result<Chart, String> {
    let test_data = bench.test_data()?;
    let runs = Runs::of(test_data, bench.part(0.15), bench.control);
    let (mut failed, mut cached, mut read) = (0, 0, 0);
    let wanted: Vec<u64> = up_to(&STREAMS, bench.policy.streams()).collect();
    let enough = wanted.iter().copied();
    let enough = enough.filter(|&x| runs.runs.len() as u64 >= 2 * x);
    let aims: Vec<Aim> = enough.map(|x| Aim { series: LINE, x }).collect();
    if aims.len() < 2 {
        return Err(format!(
            "the files hold only {}, too little for several streams: use a larger folder, or {}",
            crate::units::Bytes(runs.bytes),
            bench.terms.scratch
        ));
    }
    let mut rng = bench.rng.clone();
    let series = bench.sweep(Axis::Streams, &aims, |aim, window, _| {
        let parts = runs.parts(aim.x as usize, &mut rng);
        let load = streams(test_data, parts, false, window, bench.control);
        failed += load.failed;
        cached += load.cached;
        read += load.bytes;
        (load.bytes > 0).then(|| Sample {
            rate: load.megabytes(),
            latencies_us: Vec::new(),
        })
    })?;
    let mut notes = Vec::new();
    if aims.len() < wanted.len() {
        notes.push("there is too little data for more streams".to_owned());
    }
    if read > 2 * runs.bytes {
        notes.push(format!(
            "{} were read of {}: the cache of the disk may have answered",
            crate::units::Bytes(read),
            crate::units::Bytes(runs.bytes)
        ));
    }
    if cached > 0 {
        notes.push(format!(
            "{cached} times a file was skipped because it stayed in the page cache"
        ));
    }
    notes.extend(failed_note(failed));
    bench.rng = rng;
    Ok(Bench::chart(Axis::Streams, Unit::Megabytes, series, notes))
}
