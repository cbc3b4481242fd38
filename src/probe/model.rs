//! Disks that are computed, for tests: what experiments would find on them.

use super::experiment::{FOLDERS, PHYSICAL, SCATTERED, WHOLE_FILES};
use super::findings::{ExperimentOutcome, ExperimentResult, Point, Series};
use super::load::Manner;
use crate::device::{Order, Policy};
use fastrand::Rng;

/// Solid state, as a policy for it reads it.
pub const POOLS: Policy = Policy {
    order: Order::Arrival,
    random_threads: 4,
    depth: 64,
    sequential_threads: 8,
    sequential_depth: 1,
    metadata_threads: 16,
};

/// A spinning disk, as a policy for it reads it.
pub const ELEVATOR: Policy = Policy {
    order: Order::Physical,
    random_threads: 1,
    depth: 8,
    sequential_threads: 1,
    sequential_depth: 1,
    metadata_threads: 1,
};

/// A disk, or several that act as one.
pub struct Model {
    /// Heads that move; none for solid state.
    pub heads: usize,
    /// Seconds of a lone read on solid state.
    pub latency: f64,
    /// Reads that solid state serves at a time.
    pub channels: usize,
    /// Bytes a second of one stream, and of all together.
    pub stream_rate: f64,
    pub rate: f64,
}

/// One turn of the platter, seconds, at 7,200 a minute.
const TURN: f64 = 60.0 / 7200.0;

/// Bytes that the kernel reads ahead before another stream has its turn.
const READAHEAD: f64 = 131_072.0;

impl Model {
    pub fn spinning(heads: usize) -> Self {
        Self {
            heads,
            latency: 0.0,
            channels: 0,
            stream_rate: 150e6,
            rate: 150e6 * heads as f64,
        }
    }

    pub fn solid(latency: f64, channels: usize, stream_rate: f64, rate: f64) -> Self {
        Self {
            heads: 0,
            latency,
            channels,
            stream_rate,
            rate,
        }
    }

    /// Seconds to move a head over this share of the stroke.
    fn seek(distance: f64) -> f64 {
        0.0008 + 0.0107 * distance.sqrt() + 0.0045 * distance
    }

    /// Reads a second with this many in flight, from places that `next` gives in turn. A free head
    /// takes the one that it reaches first, the turn of the platter included.
    fn reads(&self, in_flight: usize, mut next: impl FnMut() -> f64) -> f64 {
        if self.heads == 0 {
            return self.channels.min(in_flight) as f64 / self.latency;
        }
        const READS: usize = 3000;
        let mut rng = Rng::with_seed(9);
        let mut angle = || rng.f64() * TURN;
        let mut waiting: Vec<(f64, f64)> = (0..in_flight).map(|_| (next(), angle())).collect();
        // Where each head is, and when it is free.
        let mut heads = vec![(0.0_f64, 0.0_f64); self.heads];
        for _ in 0..READS {
            let busy = in_flight.min(self.heads);
            let head = heads[..busy]
                .iter_mut()
                .min_by(|a, b| a.1.total_cmp(&b.1))
                .expect("there is a head");
            let cost = |&(place, angle): &(f64, f64)| {
                let there = head.1 + Self::seek((place - head.0).abs());
                there + (angle - there).rem_euclid(TURN)
            };
            let times: Vec<f64> = waiting.iter().map(cost).collect();
            let best = (0..times.len())
                .min_by(|&a, &b| times[a].total_cmp(&times[b]))
                .expect("something waits");
            *head = (waiting[best].0, times[best]);
            waiting[best] = (next(), angle());
        }
        let end = heads.iter().map(|head| head.1).fold(0.0, f64::max);
        READS as f64 / end
    }

    fn scattered(&self, in_flight: usize) -> f64 {
        let mut rng = Rng::with_seed(7);
        self.reads(in_flight, || rng.f64())
    }

    fn sweep(&self, in_flight: usize) -> f64 {
        let mut place = 0.0;
        self.reads(in_flight, || {
            place += 1e-5;
            place
        })
    }

    /// Millions of bytes a second of this many streams.
    fn streams(&self, streams: usize) -> f64 {
        let all = (self.stream_rate * streams as f64).min(self.rate);
        if self.heads == 0 || streams <= self.heads {
            return all / 1e6;
        }
        let each = READAHEAD / (Self::seek(0.3) + TURN / 2.0 + READAHEAD / self.stream_rate);
        each * self.heads as f64 / 1e6
    }

    /// The results that the experiments would give.
    pub fn outcomes(&self) -> Vec<ExperimentResult> {
        let line = |name, places: &[u64], value: &dyn Fn(usize) -> f64| Series {
            name,
            points: places
                .iter()
                .map(|&x| Point::exact(x, value(x as usize)))
                .collect(),
        };
        let scattered = |in_flight| self.scattered(in_flight);
        let random = line(SCATTERED, &[1, 2, 3, 5, 10, 25, 100, 250, 1000], &scattered);
        let plain = line(WHOLE_FILES, &[1, 2, 4, 8, 16], &|n| self.streams(n));
        let orders = vec![
            line(FOLDERS, &[1, 8], &scattered),
            line(PHYSICAL, &[1, 2, 4, 8, 16, 32], &|n| self.sweep(n)),
        ];
        vec![
            outcome("random", Manner::Scattered, vec![random]),
            outcome("streams", Manner::Streams, vec![plain]),
            outcome("order", Manner::InOrder, orders),
        ]
    }
}

fn outcome(name: &'static str, manner: Manner, series: Vec<Series>) -> ExperimentResult {
    ExperimentResult {
        name,
        title: "",
        result: ExperimentOutcome::Chart(manner.chart(series, Vec::new())),
    }
}
