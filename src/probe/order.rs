//! The same scattered reads in several orders: what the elevator gains, and how deep a queue it
//! wants.

use crate::device::Order;
use crate::units::counted;

use super::bench::{Bench, spread};
use super::findings::{Axis, Chart, Unit};
use super::jobs::TestSpan;
use super::load::{failed_note, scattered};
use super::rng::Rng;
use super::sweep::{Aim, Sample, up_to};
use super::test_data::{BLOCK, TestData};

/// As folders name the files.
pub const DIRECTORY: &str = "directory";

/// By inode number.
pub const INODE: &str = "inode";

/// By position on the disk.
pub const PHYSICAL: &str = "physical";

/// In random order: in the place of the first two, where there are too few files.
pub const SHUFFLED: &str = "shuffled";

/// Reads in flight for the sweep across the disk.
const SWEEP: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// Reads in flight for the others, to compare with.
const OTHERS: [u64; 2] = [1, 8];

/// Files whose starts make a scattered load of their own; with fewer, places inside them are read.
const ENOUGH_FILES: usize = 256;

/// Fewer places than this are read too soon for an order to show.
const FEWEST: usize = 64;

/// Files that take part.
const MOST: usize = 50_000;

/// Places that are read in order before the reading goes on elsewhere. The way there costs a seek,
/// a few hundredths of what these reads take.
const STRETCH: usize = 64;

/// In large files one place in this many bytes is read.
const STEP: u64 = 1 << 20;

/// A place with what it can be sorted by.
#[derive(Clone, Copy)]
struct PlacedSpan {
    spot: TestSpan,
    ino: u64,
    position: Option<u64>,
}

/// Reads the starts of neighbouring files in each order, in stretches from anywhere in that order.
pub fn run(bench: &mut Bench<'_>) -> Result<Chart, String> {
    let test_data = bench.test_data()?;
    let mut rng = bench.rng.clone();
    let by_file = test_data.files.len() >= ENOUGH_FILES;
    let places = match by_file {
        true => starts(bench, test_data),
        false => inside(test_data, &mut rng),
    };
    if places.len() < FEWEST {
        return Err(format!(
            "only {} places to read: use a larger folder, or {}",
            places.len(),
            bench.terms.scratch
        ));
    }
    if places.iter().all(|place| place.position.is_none()) {
        return Err(
            "the file system does not report the positions of files on the disk (FIEMAP)"
                .to_owned(),
        );
    }
    let orders = orders(&places, by_file, &mut rng);
    let policy = &bench.policy;
    let in_force = match policy.order {
        Order::Physical => policy.random_threads * policy.depth,
        Order::Arrival => 0,
    };
    let aims: Vec<Aim> = orders
        .iter()
        .flat_map(|(series, _)| {
            let depths = match *series {
                PHYSICAL => up_to(&SWEEP, in_force),
                _ => up_to(&OTHERS, 0),
            };
            depths.map(|x| Aim { series, x })
        })
        .collect();
    let (mut failed, mut done) = (0, 0);
    let series = bench.sweep(Axis::InFlight, &aims, |aim, window, _| {
        let (_, spots) = orders.iter().find(|(name, _)| *name == aim.series)?;
        // From several places of the order, since files lie closer together in some than in others.
        let places = std::iter::repeat_with(|| rng.below(spots.len() as u64) as usize)
            .flat_map(|start| spots.iter().cycle().skip(start).take(STRETCH).copied());
        let in_flight = aim.x as usize;
        // One thread, so that the order stays what it is.
        let load = scattered(test_data, places, in_flight, 1, window, bench.control);
        failed += load.failed;
        done += load.latencies_us.len();
        (load.rate > 0.0).then_some(Sample {
            rate: load.rate,
            latencies_us: load.latencies_us,
        })
    })?;
    let mut notes = vec![match by_file {
        true => format!(
            "the starts of {}",
            counted(places.len() as u64, "file", "files")
        ),
        false => format!(
            "places inside {}: for the order of folders and inodes there are too few",
            counted(test_data.files.len() as u64, "file", "files")
        ),
    }];
    let repeated = done / places.len();
    if repeated > 2 {
        notes.push(format!(
            "each place was read about {repeated} times: the cache of the disk may have answered"
        ));
    }
    notes.extend(failed_note(failed));
    bench.rng = rng;
    Ok(Bench::chart(Axis::InFlight, Unit::Reads, series, notes))
}

/// The starts of files, as many as can be located in a part of the time.
fn starts(bench: &Bench<'_>, test_data: &TestData) -> Vec<PlacedSpan> {
    let count = test_data.files.len().min(MOST);
    let until = bench.part(0.2);
    let located = spread(count, 4, until, bench.control, |file| {
        test_data.position(file, 0)
    });
    let places = located.into_iter().enumerate().map(|(file, position)| {
        Some(PlacedSpan {
            spot: test_data.block(file, 0),
            ino: test_data.files[file].ino,
            position: position?,
        })
    });
    places.flatten().collect()
}

/// One block in each megabyte of all files.
fn inside(test_data: &TestData, rng: &mut Rng) -> Vec<PlacedSpan> {
    let mut places = Vec::new();
    for (file, piece) in test_data.files.iter().enumerate() {
        let starts = (0..piece.size).step_by(STEP as usize).take(MOST);
        let offsets: Vec<u64> = starts
            .map(|start| {
                let blocks = STEP.min(piece.size - start).div_ceil(BLOCK);
                start + rng.below(blocks) * BLOCK
            })
            .collect();
        let positions = test_data.positions(file, &offsets);
        places.extend(
            offsets
                .iter()
                .zip(positions)
                .map(|(&offset, position)| PlacedSpan {
                    spot: test_data.block(file, offset),
                    ino: piece.ino,
                    position,
                }),
        );
    }
    places
}

/// The places in each order.
fn orders(
    places: &[PlacedSpan],
    by_file: bool,
    rng: &mut Rng,
) -> Vec<(&'static str, Vec<TestSpan>)> {
    let spots = |places: &[PlacedSpan]| places.iter().map(|place| place.spot).collect::<Vec<_>>();
    let sorted = |key: fn(&PlacedSpan) -> u64| {
        let mut sorted = places.to_vec();
        sorted.sort_by_key(key);
        spots(&sorted)
    };
    let physical = (
        PHYSICAL,
        sorted(|place| place.position.unwrap_or(place.ino)),
    );
    if by_file {
        let inode = (INODE, sorted(|place| place.ino));
        return vec![(DIRECTORY, spots(places)), inode, physical];
    }
    let mut shuffled = spots(places);
    rng.shuffle(&mut shuffled);
    vec![(SHUFFLED, shuffled), physical]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: usize, ino: u64, position: Option<u64>) -> PlacedSpan {
        PlacedSpan {
            spot: TestSpan {
                file,
                offset: 0,
                len: BLOCK,
            },
            ino,
            position,
        }
    }

    #[test]
    fn each_order_has_the_same_places() {
        let places = [
            place(0, 30, Some(2000)),
            place(1, 10, Some(3000)),
            place(2, 20, Some(1000)),
        ];
        let files = |by_file| {
            let orders = orders(&places, by_file, &mut Rng::new(1));
            let files = |(name, spots): (&'static str, Vec<TestSpan>)| {
                (name, spots.iter().map(|spot| spot.file).collect::<Vec<_>>())
            };
            orders.into_iter().map(files).collect::<Vec<_>>()
        };
        assert_eq!(
            files(true),
            [
                (DIRECTORY, vec![0, 1, 2]),
                (INODE, vec![1, 2, 0]),
                (PHYSICAL, vec![2, 0, 1]),
            ]
        );
        let few = files(false);
        assert_eq!(few[1], (PHYSICAL, vec![2, 0, 1]));
        assert_eq!(few[0].0, SHUFFLED);
    }
}
