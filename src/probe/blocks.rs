//! Block size against streams and strides: how much has to be asked for at a time.

use std::thread;
use std::time::{Duration, Instant};

use crate::read::leaves_cache;
use crate::sys::memory::Aligned;

use super::bench::{Bench, Runs};
use super::control::Control;
use super::findings::{Axis, Chart, Unit};
use super::jobs::TestSpan;
use super::sweep::{Aim, Sample};
use super::test_data::{BLOCK, Bypass, TestData};

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
    if test_data.is_limited() {
        return Err(format!(
            "not measured with {}: each read would only wait for that limit",
            bench.terms.limit
        ));
    }
    let runs = Runs::of(test_data, bench.part(0.15), bench.control);
    let fewest = 8;
    if runs.runs.len() < fewest {
        return Err(format!(
            "the files hold only {}: use a larger folder, or {}",
            crate::units::Bytes(runs.bytes),
            bench.terms.scratch
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
        };
        let rate = megabytes(test_data, parts, manner, window, bench.control);
        // Blocks that are shorter than the disk's own cannot be read directly.
        (rate > 0.0).then(|| Sample {
            rate,
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

/// How blocks are read.
#[derive(Clone, Copy)]
struct Manner {
    /// Bytes of each read.
    block: usize,
    /// Bytes from the start of one read to the start of the next.
    stride: usize,
    /// Past the page cache.
    direct: bool,
}

/// Millions of bytes a second that as many threads as there are iterators read for a while.
fn megabytes(
    test_data: &TestData,
    parts: Vec<impl Iterator<Item = TestSpan> + Send>,
    manner: Manner,
    window: Duration,
    control: &Control,
) -> f64 {
    let start = Instant::now();
    let is_over = || start.elapsed() >= window || control.is_cancelled();
    let bytes: u64 = thread::scope(|scope| {
        let work = |parts| move || blocks(test_data, parts, manner, is_over);
        let start = |parts| thread::Builder::new().spawn_scoped(scope, work(parts)).ok();
        let running: Vec<_> = parts.into_iter().filter_map(start).collect();
        let ended = running.into_iter().map(|thread| {
            let ended = thread.join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        ended.sum()
    });
    bytes as f64 / 1e6 / start.elapsed().as_secs_f64()
}

/// Reads blocks until the time is over, at least one; returns how many bytes came.
fn blocks(
    test_data: &TestData,
    parts: impl Iterator<Item = TestSpan>,
    manner: Manner,
    is_over: impl Fn() -> bool,
) -> u64 {
    let mut bytes = 0;
    let mut buffer = Aligned::new(manner.block);
    for part in parts {
        let end = part.offset + part.len;
        let opened = test_data.open(part.file, manner.direct).ok();
        let is_cold = |fd: &_| manner.direct || leaves_cache(fd, part.offset, part.len);
        if let Some(fd) = opened.filter(is_cold) {
            for at in (part.offset..end).step_by(manner.stride) {
                let want = (end - at).next_multiple_of(BLOCK).min(manner.block as u64);
                match test_data.read(&fd, &mut buffer[..want as usize], at) {
                    Ok(read) => bytes += read as u64,
                    Err(_) => break,
                }
                if is_over() {
                    break;
                }
            }
        }
        if is_over() {
            break;
        }
    }
    bytes
}
