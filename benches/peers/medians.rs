//! The middle of several runs.

use std::time::Duration;

use super::measure::Measured;

/// Median wall and processor time, seconds.
pub fn medians(runs: &[Measured]) -> [f64; 2] {
    let of: [fn(&Measured) -> Duration; 2] = [|run| run.wall, |run| run.cpu];
    of.map(|of| {
        let mut all: Vec<Duration> = runs.iter().map(of).collect();
        all.sort();
        all.get(all.len() / 2).map_or(0.0, Duration::as_secs_f64)
    })
}
