//! Measures several points in turns until they are steady or the time is over.

use crate::lock::locked;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::findings::{Point, Series};

/// Rounds that every point takes part in. Later ones are for those that are not steady yet.
const ROUNDS: u32 = 3;

/// A sample shorter than this says nothing, one longer no more.
const SHORTEST: Duration = Duration::from_millis(15);
const LONGEST: Duration = Duration::from_secs(2);

/// A point whose middle is below this share of its line's best cannot change the advice: once it
/// has its rounds, the time is better spent on others.
const CONTENDER: f64 = 0.7;

/// The number of last samples that have to agree.
const LAST: usize = 3;

/// They agree if none is further than this from their mean: a twentieth, as in fio's examples of
/// its steady-state option.
const TOLERANCE: f64 = 0.05;

/// The samples of one point.
struct Samples {
    line: &'static str,
    x: u64,
    rates: Vec<f64>,
}

/// Measures points, each a place on a line, in rounds: each once, forwards and backwards by turns, so that what changes
/// meanwhile changes all of them. `sample` gets a point, the time that it may take and the highest rate of its line so
/// far, and returns a rate, if it could be measured.
pub fn sweep(
    points: &[(&'static str, u64)],
    until: Instant,
    control: &Control,
    mut sample: impl FnMut(&'static str, u64, Duration, f64) -> Option<f64>,
) -> Vec<Series> {
    let samples = points.iter().map(|&(line, x)| Samples {
        line,
        x,
        rates: Vec::new(),
    });
    let mut all: Vec<Samples> = samples.collect();
    'rounds: for round in 0.. {
        let is_wanted = |&at: &usize| round < ROUNDS || is_open(at, &all);
        let mut turn: Vec<usize> = (0..all.len()).filter(is_wanted).collect();
        if turn.is_empty() {
            break;
        }
        if round % 2 == 1 {
            turn.reverse();
        }
        // What is left is shared out among the samples that are sure to come.
        let rounds = ROUNDS.saturating_sub(round).max(1) as usize;
        for (done, &at) in turn.iter().enumerate() {
            if control.is_over(until) {
                break 'rounds;
            }
            let to_come = u32::try_from(turn.len() * rounds - done).unwrap_or(u32::MAX);
            let left = until.saturating_duration_since(Instant::now());
            let window = (left / to_come).clamp(SHORTEST, LONGEST);
            let best = best_of(all[at].line, &all);
            let rate = sample(all[at].line, all[at].x, window, best);
            all[at].rates.extend(rate);
        }
    }
    let mut lines: Vec<Series> = Vec::new();
    for samples in all.iter().filter(|samples| !samples.rates.is_empty()) {
        let (name, point) = (samples.line, samples.point());
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => lines.push(Series {
                name,
                points: vec![point],
            }),
        }
    }
    lines
}

/// The highest rate of a line so far.
fn best_of(line: &str, all: &[Samples]) -> f64 {
    let of_line = all.iter().filter(|samples| samples.line == line);
    of_line
        .map(|samples| samples.quantile(0.5))
        .fold(0.0, f64::max)
}

/// True if more samples of a point may change what is concluded from its line.
fn is_open(at: usize, all: &[Samples]) -> bool {
    let samples = &all[at];
    let least = CONTENDER * best_of(samples.line, all);
    !samples.rates.is_empty() && !samples.is_steady() && samples.quantile(0.5) >= least
}

impl Samples {
    /// True if the last ones agree: more would change little.
    fn is_steady(&self) -> bool {
        let Some(from) = self.rates.len().checked_sub(LAST) else {
            return false;
        };
        let last = &self.rates[from..];
        let mean = last.iter().sum::<f64>() / LAST as f64;
        let agrees = |rate: &f64| (rate - mean).abs() <= TOLERANCE * mean;
        last.iter().all(agrees)
    }

    /// The rate below which this share of the samples lies, between two of them if need be; 0 without samples.
    fn quantile(&self, share: f64) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_unstable_by(f64::total_cmp);
        let Some(last) = rates.len().checked_sub(1) else {
            return 0.0;
        };
        let place = share * last as f64;
        let (below, above) = (place.floor() as usize, place.ceil() as usize);
        rates[below] + (place - place.floor()) * (rates[above] - rates[below])
    }

    fn point(&self) -> Point {
        Point {
            x: self.x,
            median: self.quantile(0.5),
            p10: self.quantile(0.1),
            p90: self.quantile(0.9),
            samples: self.rates.len(),
            steady: self.is_steady(),
        }
    }
}

/// Shared by the thread that measures and the one that shows progress.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    stage: Mutex<&'static str>,
}

impl Control {
    /// Asks the measurement to end; what is known by then is reported.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// True if it was asked to end.
    pub fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// True if it was asked to end, or the time is over.
    pub(super) fn is_over(&self, until: Instant) -> bool {
        self.is_cancelled() || Instant::now() >= until
    }

    /// The name of the current experiment, or what is prepared.
    pub fn stage(&self) -> &'static str {
        *locked(&self.stage)
    }

    pub(super) fn begin(&self, stage: &'static str) {
        *locked(&self.stage) = stage;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: [(&str, u64); 2] = [("a", 1), ("a", 2)];

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(3600)
    }

    fn samples(rates: impl IntoIterator<Item = f64>) -> Samples {
        Samples {
            line: "a",
            x: 8,
            rates: rates.into_iter().collect(),
        }
    }

    #[test]
    fn steady_points_take_three_rounds_and_no_more() {
        let mut order = Vec::new();
        let lines = sweep(&TWO, later(), &Control::default(), |_, x, _, _| {
            order.push(x);
            Some(x as f64)
        });
        assert_eq!(order, [1, 2, 2, 1, 1, 2]);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].points.iter().all(|point| point.steady));
    }

    #[test]
    fn what_wavers_is_measured_again_unless_it_is_hopeless() {
        let mut counts = [0, 0];
        let lines = sweep(&TWO, later(), &Control::default(), |_, x, _, _| {
            let place = x as usize - 1;
            counts[place] += 1;
            let count = counts[place];
            let wavers = if count < 8 { f64::from(count) } else { 0.0 };
            // The second point is far from the first and wavers as much.
            Some((100.0 + 20.0 * wavers) / [1.0, 10.0][place])
        });
        assert!(counts[0] > 3, "{counts:?}");
        assert_eq!(counts[1], 3, "{counts:?}");
        assert!(lines[0].points[0].steady && !lines[0].points[1].steady);
    }

    #[test]
    fn the_end_of_the_time_and_an_interruption_end_it() {
        let control = Control::default();
        let none = sweep(&TWO, Instant::now(), &control, |_, _, _, _| Some(1.0));
        assert_eq!(none, []);
        let some = sweep(&TWO, later(), &control, |_, _, _, _| {
            control.cancel();
            Some(1.0)
        });
        assert_eq!(some[0].points.len(), 1);
    }

    #[test]
    fn the_last_samples_have_to_agree() {
        for (rates, steady) in [
            (&[100.0, 100.0][..], false),
            (&[100.0, 104.0, 97.0], true),
            (&[10.0, 50.0, 100.0, 104.0, 97.0], true),
            (&[100.0, 100.0, 100.0, 130.0], false),
            (&[100.0, 110.0, 120.0], false),
            (&[0.0, 0.0, 0.0], true),
        ] {
            let samples = samples(rates.iter().copied());
            assert_eq!(samples.is_steady(), steady, "{rates:?}");
        }
    }
}
