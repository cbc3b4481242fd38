//! Scattered reads of 4 KiB against reads in flight: where more stop paying.

use super::bench::Bench;
use super::findings::{Axis, Chart, Unit};
use super::load::{failed_note, scattered};
use super::sweep::{Aim, Sample, up_to};
use super::test_data::BLOCK;

/// The line's name.
pub const LINE: &str = "scattered";

/// The numbers of threads that were tried in 2008, on disks and mirrors.
const IN_FLIGHT: [u64; 9] = [1, 2, 3, 5, 10, 25, 100, 250, 1000];

/// Fewer blocks than this would be read again and again, and come out of the drive's own memory.
const FEWEST_BLOCKS: u64 = 256;

/// Reads places that are chosen blindly, more and more at a time.
pub fn run(bench: &mut Bench<'_>) -> Result<Chart, String> {
    let test_data = bench.test_data()?;
    let sums = test_data.block_sums();
    let blocks = sums.last().copied().unwrap_or(0);
    if blocks < FEWEST_BLOCKS {
        return Err(format!(
            "the files have {blocks} blocks of 4 KiB, and the measurement needs {FEWEST_BLOCKS}: use a larger folder, \
            or {}",
            bench.terms.scratch
        ));
    }
    let mut rng = bench.rng.clone();
    let (mut failed, mut done, mut left_out) = (0, 0, Vec::new());
    let in_force = bench.policy.random_threads * bench.policy.depth;
    let aims = up_to(&IN_FLIGHT, in_force).map(|x| Aim { series: LINE, x });
    let aims: Vec<Aim> = aims.collect();
    let series = bench.sweep(Axis::InFlight, &aims, |aim, window, line| {
        // Each of those in flight has to come to its end at least once within the time, and as many wait for their turn.
        let fastest = line.iter().map(|(_, rate)| *rate).reduce(f64::max);
        if fastest.is_some_and(|rate| rate * window.as_secs_f64() < 2.0 * aim.x as f64) {
            left_out.push(aim.x);
            return None;
        }
        let places = std::iter::repeat_with(|| {
            let (file, offset) = test_data.any_block(&sums, &mut rng);
            test_data.block(file, offset)
        });
        let in_flight = aim.x as usize;
        let load = scattered(
            test_data,
            places,
            in_flight,
            bench.cores,
            window,
            bench.control,
        );
        failed += load.failed;
        done += load.latencies_us.len() as u64;
        (load.rate > 0.0).then_some(Sample {
            rate: load.rate,
            latencies_us: load.latencies_us,
        })
    })?;
    let mut notes = Vec::new();
    // Some may have had a sample before it was clear how slow the disk is.
    let is_there = |x: &u64| series.iter().any(|line| line.at(*x).is_some());
    left_out.retain(|x| !is_there(x));
    if let (Some(first), Some(last)) = (left_out.iter().min(), left_out.iter().max()) {
        notes.push(format!(
            "{first} to {last} in flight were skipped: the time was too short (use {})",
            bench.terms.more_time
        ));
    }
    if done > blocks / 2 {
        notes.push(format!(
            "{done} reads among {} of data: many places were read more than once, and the cache of the disk may have \
            answered",
            crate::units::Bytes(blocks * BLOCK)
        ));
    }
    notes.extend(failed_note(failed));
    bench.rng = rng;
    Ok(Bench::chart(Axis::InFlight, Unit::Reads, series, notes))
}
