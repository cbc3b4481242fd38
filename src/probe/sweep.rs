//! Measures several points in turns until they are steady or the time is over.

use std::time::{Duration, Instant};

use super::control::Control;
use super::findings::{Axis, Series};
use super::steady::Samples;

/// Rounds that every point takes part in. Later ones are for those that are not steady yet.
pub const ROUNDS: u32 = 3;

/// A sample shorter than this says nothing, one longer no more.
const SHORTEST: Duration = Duration::from_millis(15);
const LONGEST: Duration = Duration::from_secs(2);

/// A point whose middle is below this share of its line's best cannot change the advice: once it
/// has its rounds, the time is better spent on others.
const CONTENDER: f64 = 0.7;

/// One point to be measured.
#[derive(Clone, Debug)]
pub struct Aim {
    /// The line that it belongs to.
    pub series: &'static str,
    /// Its place on the axis.
    pub x: u64,
}

/// These places of an axis, and the one in force if it lies beyond them: without it, nothing could be compared.
pub fn up_to(places: &[u64], in_force: usize) -> impl Iterator<Item = u64> {
    let last = places.last().copied().unwrap_or(0);
    let beyond = Some(in_force as u64).filter(|&x| x > last);
    places.iter().copied().chain(beyond)
}

/// One measurement of a point.
pub struct Sample {
    /// How much was done a second.
    pub rate: f64,
    /// How long single reads took, microseconds.
    pub latencies_us: Vec<u32>,
}

/// Measures the points in rounds: each once, forwards and backwards by turns, so that what
/// changes meanwhile changes all of them. `sample` gets a point, the time that it may take and
/// the middles of what was measured so far on its line; `None` leaves the point out for good.
pub fn sweep(
    aims: &[Aim],
    axis: Axis,
    until: Instant,
    control: &Control,
    mut sample: impl FnMut(&Aim, Duration, &[(u64, f64)]) -> Option<Sample>,
) -> Vec<Series> {
    let mut samples = vec![Samples::default(); aims.len()];
    let mut dropped = vec![false; aims.len()];
    for round in 0.. {
        let mut turn: Vec<usize> = (0..aims.len())
            .filter(|&at| !dropped[at] && (round < ROUNDS || is_open(at, aims, &samples)))
            .collect();
        if turn.is_empty() {
            break;
        }
        if round % 2 == 1 {
            turn.reverse();
        }
        // What is left is shared out among the samples that are sure to come.
        let rounds = ROUNDS.saturating_sub(round).max(1) as usize;
        for (done, &at) in turn.iter().enumerate() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || control.is_cancelled() {
                return series(aims, &samples);
            }
            let aim = &aims[at];
            let to_come = turn.len() * rounds - done;
            let window = left / u32::try_from(to_come).unwrap_or(u32::MAX);
            let detail = format!("{}, {} {}", aim.series, axis.label(aim.x), axis.words());
            control.set(|stage| stage.detail = detail);
            let line = line_so_far(aim, aims, &samples);
            match sample(aim, window.clamp(SHORTEST, LONGEST), &line) {
                Some(one) => samples[at].push(one.rate, &one.latencies_us),
                None => dropped[at] = true,
            }
        }
    }
    series(aims, &samples)
}

/// True if more samples of a point may change what is concluded from its line.
fn is_open(at: usize, aims: &[Aim], samples: &[Samples]) -> bool {
    let of_line = aims
        .iter()
        .zip(samples)
        .filter(|(aim, _)| aim.series == aims[at].series);
    let best = of_line
        .map(|(_, samples)| samples.median())
        .fold(0.0, f64::max);
    samples[at].len() > 0 && !samples[at].is_steady() && samples[at].median() >= CONTENDER * best
}

fn line_so_far(aim: &Aim, aims: &[Aim], samples: &[Samples]) -> Vec<(u64, f64)> {
    let all = aims.iter().zip(samples);
    all.filter(|(other, samples)| other.series == aim.series && samples.len() > 0)
        .map(|(other, samples)| (other.x, samples.median()))
        .collect()
}

/// Puts the points together, line by line.
fn series(aims: &[Aim], samples: &[Samples]) -> Vec<Series> {
    let mut lines: Vec<Series> = Vec::new();
    for (aim, samples) in aims.iter().zip(samples) {
        let Some(point) = samples.point(aim.x) else {
            continue;
        };
        match lines.iter_mut().find(|line| line.name == aim.series) {
            Some(line) => line.points.push(point),
            None => lines.push(Series {
                name: aim.series,
                points: vec![point],
            }),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aims(series: &'static str, places: &[u64]) -> Vec<Aim> {
        let aim = |&x: &u64| Aim { series, x };
        places.iter().map(aim).collect()
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(3600)
    }

    fn sample(rate: f64) -> Option<Sample> {
        Some(Sample {
            rate,
            latencies_us: Vec::new(),
        })
    }

    #[test]
    fn steady_points_take_three_rounds_and_no_more() {
        let control = Control::default();
        let mut order = Vec::new();
        let lines = sweep(
            &aims("a", &[1, 2]),
            Axis::Streams,
            later(),
            &control,
            |aim, _, _| {
                order.push(aim.x);
                sample(aim.x as f64)
            },
        );
        assert_eq!(order, [1, 2, 2, 1, 1, 2]);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].points.iter().all(|point| point.steady));
    }

    #[test]
    fn what_wavers_is_measured_again_unless_it_is_hopeless() {
        let control = Control::default();
        let mut counts = [0, 0];
        let lines = sweep(
            &aims("a", &[0, 1]),
            Axis::Streams,
            later(),
            &control,
            |aim, _, _| {
                let count = &mut counts[aim.x as usize];
                *count += 1;
                let wavers = if *count < 8 { f64::from(*count) } else { 0.0 };
                // The second point is far from the first and wavers as much.
                sample((100.0 + 20.0 * wavers) / [1.0, 10.0][aim.x as usize])
            },
        );
        assert!(counts[0] > 3, "{counts:?}");
        assert_eq!(counts[1], 3, "{counts:?}");
        assert!(lines[0].points[0].steady && !lines[0].points[1].steady);
    }

    #[test]
    fn points_that_cannot_be_measured_are_left_out() {
        let control = Control::default();
        let mut asked = 0;
        let lines = sweep(
            &aims("a", &[1, 2]),
            Axis::Threads,
            later(),
            &control,
            |aim, _, _| {
                asked += u32::from(aim.x == 2);
                if aim.x == 2 { None } else { sample(1.0) }
            },
        );
        assert_eq!((lines[0].points.len(), asked), (1, 1));
    }

    #[test]
    fn the_end_of_the_time_and_an_interruption_end_it() {
        let control = Control::default();
        let none = sweep(
            &aims("a", &[1]),
            Axis::Threads,
            Instant::now(),
            &control,
            |_, _, _| sample(1.0),
        );
        assert_eq!(none, []);
        let some = sweep(
            &aims("a", &[1, 2]),
            Axis::Threads,
            later(),
            &control,
            |_, _, _| {
                control.cancel();
                sample(1.0)
            },
        );
        assert_eq!(some[0].points.len(), 1);
    }
}
