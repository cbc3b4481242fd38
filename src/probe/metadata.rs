//! Metadata against threads: what a search costs before anything is read.

use std::time::Instant;

use crate::device::Class;
use crate::sys::process;
use crate::units::counted;

use super::bench::{Bench, spread};
use super::findings::{Axis, Chart, Unit};
use super::sweep::{Aim, ROUNDS, Sample};

/// The line's name.
pub const LINE: &str = "stat";

const THREADS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Files for each sample, at least.
const FEWEST: usize = 32;

/// Asks for the metadata of files that nobody has asked for since the run began: a second time
/// memory would answer. So each sample has files of its own, all next to each other.
pub fn run(bench: &mut Bench<'_>) -> Result<Chart, String> {
    let files = bench.listing.entries.len();
    let turns = THREADS.len() * ROUNDS as usize;
    let each = files / turns;
    if each < FEWEST {
        return Err(format!(
            "{} too few: each of {turns} samples needs {FEWEST} files whose metadata is not cached",
            counted(files as u64, "file is", "files are")
        ));
    }
    if bench.class == Class::Memory {
        return Err("memory answers".to_owned());
    }
    let mut entries = std::mem::take(&mut bench.listing.entries);
    // Parts are chosen blindly, so that one corner of the tree does not decide on one point.
    let mut parts: Vec<usize> = (0..turns).collect();
    bench.rng.shuffle(&mut parts);
    let (mut waits, mut alone) = (0, 0);
    // Starting a thread must not cost more than what it then does.
    let enough = |x: &u64| each as u64 >= FEWEST as u64 / 4 * x;
    let aims: Vec<Aim> = THREADS
        .into_iter()
        .filter(enough)
        .map(|x| Aim { series: LINE, x })
        .collect();
    let result = bench.sweep(Axis::Threads, &aims, |aim, window, _| {
        let part = parts.pop()?;
        let part = &mut entries[part * each..(part + 1) * each];
        let (start, waited) = (Instant::now(), process::thread_waits());
        let until = start + window * 2;
        let stats = match aim.x {
            // Here, so that its waits can be counted.
            1 => {
                let mut stats: Vec<_> = part.iter().map(|_| None).collect();
                for (stat, entry) in stats.iter_mut().zip(part.iter()) {
                    if Instant::now() >= until {
                        break;
                    }
                    *stat = Some(entry.ask());
                }
                stats
            }
            threads => spread(part.len(), threads as usize, until, bench.control, |item| {
                part[item].ask()
            }),
        };
        let seconds = start.elapsed().as_secs_f64();
        let asked = stats.iter().flatten().count();
        if aim.x == 1 {
            waits += process::thread_waits() - waited;
            alone += asked;
        }
        for (entry, stat) in part.iter_mut().zip(stats) {
            entry.stat = stat.flatten();
        }
        (asked > 0).then_some(Sample {
            rate: asked as f64 / seconds,
            latencies_us: Vec::new(),
        })
    });
    bench.listing.entries = entries;
    let series = result?;
    let mut notes = Vec::new();
    // One inode in a thousand would be enough to wait for the disk a thousand times as often.
    if waits * 1000 < alone as u64 {
        notes.push(
            "memory answered nearly all of it: the metadata of these files was cached. Remount the file system to \
            measure the disk"
                .to_owned(),
        );
    }
    Ok(Bench::chart(Axis::Threads, Unit::Files, series, notes))
}

/// True if a chart of this experiment says something about the disk.
pub fn is_cold(chart: &Chart) -> bool {
    chart.notes.is_empty()
}
