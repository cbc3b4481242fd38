//! Samples of one point: their middle, their spread, and whether they agree.

use super::findings::{Latency, Point};

/// The number of last samples that have to agree.
const LAST: usize = 3;

/// They agree if none is further than this from their mean: a twentieth, as in fio's examples of
/// its steady-state option.
const TOLERANCE: f64 = 0.05;

/// Samples of one point.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    rates: Vec<f64>,
    latencies_us: Vec<u32>,
}

impl Samples {
    /// Takes one sample: a rate, and how long its single reads took, microseconds.
    pub fn push(&mut self, rate: f64, latencies_us: &[u32]) {
        self.rates.push(rate);
        self.latencies_us.extend_from_slice(latencies_us);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rates.len()
    }

    /// True if the last ones agree: more would change little.
    pub fn is_steady(&self) -> bool {
        let Some(from) = self.rates.len().checked_sub(LAST) else {
            return false;
        };
        let last = &self.rates[from..];
        let mean = last.iter().sum::<f64>() / LAST as f64;
        last.iter()
            .all(|rate| (rate - mean).abs() <= TOLERANCE * mean)
    }

    /// The middle one; 0 without samples.
    pub fn median(&self) -> f64 {
        quantile(&mut self.rates.clone(), 0.5)
    }

    /// The point that they make; `None` without samples.
    pub fn point(&self, x: u64) -> Option<Point> {
        if self.rates.is_empty() {
            return None;
        }
        let mut rates = self.rates.clone();
        let mut latencies = self.latencies_us.clone();
        Some(Point {
            x,
            median: quantile(&mut rates, 0.5),
            p10: quantile(&mut rates, 0.1),
            p90: quantile(&mut rates, 0.9),
            samples: u32::try_from(rates.len()).unwrap_or(u32::MAX),
            steady: self.is_steady(),
            latency: (!latencies.is_empty()).then(|| Latency {
                p50_us: rank(&mut latencies, 0.5),
                p99_us: rank(&mut latencies, 0.99),
            }),
        })
    }
}

/// The value below which this share of the values lies, between two of them if need be.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else {
        return 0.0;
    };
    let place = share * last as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    values[below] + (place - place.floor()) * (values[above] - values[below])
}

/// The smallest value that this share of the values does not exceed.
fn rank(values: &mut [u32], share: f64) -> u32 {
    let place = (share * values.len() as f64).ceil() as usize;
    let place = place.clamp(1, values.len()) - 1;
    *values.select_nth_unstable(place).1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(rates: &[f64]) -> Samples {
        let mut samples = Samples::default();
        rates.iter().for_each(|&rate| samples.push(rate, &[]));
        samples
    }

    #[test]
    fn a_point_is_the_middle_with_its_spread() {
        let mut samples = samples(&[]);
        assert_eq!(samples.point(1), None);
        for rate in (0..=10).rev() {
            samples.push(f64::from(rate), &[]);
        }
        let latencies: Vec<u32> = (1..=100).rev().collect();
        samples.push(5.0, &latencies);
        let point = samples.point(8).expect("there are samples");
        assert_eq!((point.x, point.samples), (8, 12));
        assert!((point.median - 5.0).abs() < 1e-9);
        assert!(point.p10 < 1.5 && point.p90 > 8.5, "{point:?}");
        let latency = point.latency.expect("there are latencies");
        assert_eq!((latency.p50_us, latency.p99_us), (50, 99));
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
            assert_eq!(samples(rates).is_steady(), steady, "{rates:?}");
        }
    }
}
