//! Block size against streams and strides: how much has to be asked for at a time.

use super::bench::{Bench, Runs};
use super::findings::{Axis, Chart, Unit};
use super::load::{Manner, streams};
use super::sweep::{Aim, Sample};
use super::test_data::Bypass;

const ONE: &str = "1 stream";
const FOUR: &str = "4 streams";
const STRIDED: &str = "strided";

const BLOCKS: [u64; 7] = [
    1 << 10,
    4 << 10,
    16 << 10,
    64 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
];

/// Reads the same runs with blocks of each size: all of them in one stream and in four, and one of
/// four blocks.
pub fn run(bench: &mut Bench<'_>) -> Result<Chart, String> {
    let test_data = bench.test_data()?;
    let runs = Runs::of(test_data, bench.part(0.15), bench.control);
    let fewest = 8;
    if runs.runs.len() < fewest {
        return Err(format!(
            "{} in files are too little: name a larger folder, or give --scratch 1G",
            crate::units::Bytes(runs.bytes)
        ));
    }
    let direct = test_data.bypass == Bypass::Direct;
    let aims: Vec<Aim> = [ONE, FOUR, STRIDED]
        .into_iter()
        .flat_map(|series| BLOCKS.map(|x| Aim { series, x }))
        .collect();
    let mut rng = bench.rng.clone();
    let series = bench.sweep(Axis::BlockSize, &aims, |aim, window, _| {
        let parts = runs.parts(if aim.series == FOUR { 4 } else { 1 }, &mut rng);
        let block = aim.x as usize;
        let manner = Manner {
            block,
            stride: if aim.series == STRIDED {
                4 * block
            } else {
                block
            },
            direct,
            sequential: false,
            whole_runs: false,
        };
        let load = streams(test_data, parts, manner, window, bench.control);
        // Blocks that are shorter than the disk's own cannot be read directly.
        (load.bytes > 0).then(|| Sample {
            rate: load.megabytes(),
            latencies_us: Vec::new(),
        })
    })?;
    let mut notes = Vec::new();
    if !direct {
        notes.push("the file system has no direct reads: the kernel reads ahead".to_owned());
    }
    if let Some(chunk) = bench.chunk {
        notes.push(format!(
            "the array's chunk is {}: blocks of several chunks keep several disks busy",
            Axis::BlockSize.label(chunk)
        ));
    }
    bench.rng = rng;
    Ok(Bench::chart(
        Axis::BlockSize,
        Unit::Megabytes,
        series,
        notes,
    ))
}
