//! The results of a measurement: charts of points, each with its spread, and what to set.

use serde::Serialize;

/// Number of the layout of [`Findings`] in JSON; grows when a key changes its meaning.
pub const SCHEMA: u32 = 1;

/// All that one run found out.
#[derive(Clone, Debug, Serialize)]
pub struct Findings {
    /// [`SCHEMA`].
    pub schema: u32,
    /// `seekless 0.1.0`.
    pub program: String,
    /// The path that was asked for, as far as it is text.
    pub path: String,
    /// Decides which places were read.
    pub seed: u64,
    /// Seconds that it might take, and took.
    pub seconds_allowed: f64,
    /// Seconds that it took.
    pub seconds_taken: f64,
    /// True if it was interrupted: what follows is what was known by then.
    pub interrupted: bool,
    /// The measured place.
    pub place: MeasuredVolume,
    /// The data that was read.
    pub source: Source,
    /// One for each experiment that was asked for.
    pub experiments: Vec<ExperimentResult>,
    /// The recommended settings, if any.
    pub advice: Option<Advice>,
    /// Why there are none.
    pub no_advice: Option<String>,
    /// Further notes.
    pub notes: Vec<String>,
}

/// The volume that was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MeasuredVolume {
    /// Where it is mounted.
    pub mount: String,
    /// Type of the file system.
    pub filesystem: String,
    /// The disks under it, in words.
    pub disks: Vec<String>,
    /// Class by the rules, before anything was measured.
    pub class: String,
    /// How it is read now, in words.
    pub policy: String,
}

/// The data that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// `files` or `scratch`.
    pub kind: &'static str,
    /// Files that could be used.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Bytes that were read, some of them several times.
    pub bytes_read: u64,
}

/// How one experiment ended.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentResult {
    /// Its name, as for `--only`.
    pub name: &'static str,
    /// The title.
    pub title: &'static str,
    /// The result.
    #[serde(flatten)]
    pub result: ExperimentOutcome,
}

/// The result of an experiment.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentOutcome {
    /// Numbers.
    Chart(Chart),
    /// Nothing, and why.
    Unmeasured(String),
}

/// Points over one axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// What `x` counts: `in flight` or `streams`.
    pub axis: &'static str,
    /// The unit of the values: `reads/s` or `MB/s`.
    pub unit: &'static str,
    /// Lines of points.
    pub series: Vec<Series>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// A line of points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Its name.
    pub name: &'static str,
    /// Its points, by rising `x`.
    pub points: Vec<Point>,
}

/// One point: the middle of several samples, and how far they spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Place on the axis.
    pub x: u64,
    /// Half of the samples are below.
    pub median: f64,
    /// A tenth of the samples are below.
    pub p10: f64,
    /// Nine tenths of the samples are below.
    pub p90: f64,
    /// Samples taken.
    pub samples: usize,
    /// True if the last samples agreed with each other.
    pub steady: bool,
}

/// The recommended settings of a disk, and the expected gain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// True if the disk is rotational: reads then go across it in its own order.
    pub rotational: bool,
    /// Threads for scattered reads.
    pub random_threads: usize,
    /// Scattered reads that each of them keeps in flight.
    pub depth: usize,
    /// Whole files read at a time.
    pub streams: usize,
    /// A seek, seconds, if it was measured.
    pub seek_seconds: Option<f64>,
    /// Bytes a second of one stream, if that was measured.
    pub bytes_per_second: Option<f64>,
    /// The command that sets these numbers, if the caller has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The expected gains.
    pub gains: Vec<Gain>,
    /// Why.
    pub reasons: Vec<String>,
}

/// One kind of work, now and as advised.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// Which work.
    pub what: &'static str,
    /// Its rate with the policy in force.
    pub now: f64,
    /// Its rate as advised.
    pub advised: f64,
    /// Of what: `reads/s`, `MB/s`.
    pub unit: &'static str,
}

impl Gain {
    /// How many times as fast.
    pub fn factor(&self) -> f64 {
        self.advised / self.now
    }
}

impl Series {
    /// The value at a place of the axis, if it was measured.
    pub fn at(&self, x: u64) -> Option<f64> {
        let point = self.points.iter().find(|point| point.x == x)?;
        Some(point.median)
    }

    /// The value at any place: between two points along the logarithm of the axis, beyond the
    /// ends that of the end.
    pub fn near(&self, x: usize) -> Option<f64> {
        self.near_of(x, |point| point.median)
    }

    /// The same, of another value of the points.
    pub fn near_of(&self, x: usize, value: impl Fn(&Point) -> f64) -> Option<f64> {
        let (left, right) = match self.beside(x) {
            [] => return None,
            [point] => return Some(value(point)),
            [left, right, ..] => (left, right),
        };
        let (from, to) = ((left.x as f64).ln(), (right.x as f64).ln());
        let share = ((x as f64).ln() - from) / (to - from);
        Some(value(left) + share * (value(right) - value(left)))
    }

    /// The point at a place of the axis, or the points beside it: one beyond the ends, else two.
    pub fn beside(&self, x: usize) -> &[Point] {
        let after = self.points.partition_point(|point| point.x < x as u64);
        let is_point = self
            .points
            .get(after)
            .is_some_and(|point| point.x == x as u64);
        let from = after.saturating_sub(usize::from(!is_point));
        &self.points[from..(after + 1).min(self.points.len())]
    }

    /// True if a place of the axis is one of the points or lies between two of them.
    pub fn reaches(&self, x: usize) -> bool {
        let (first, last) = (self.points.first(), self.points.last());
        first.is_some_and(|first| first.x <= x as u64)
            && last.is_some_and(|last| x as u64 <= last.x)
    }

    /// The point with the highest value.
    pub fn best(&self) -> Option<&Point> {
        let points = self.points.iter();
        points.max_by(|a, b| a.median.total_cmp(&b.median))
    }
}

/// The lines of an experiment, if it was done and found any.
pub fn lines<'a>(outcomes: &'a [ExperimentResult], name: &str) -> &'a [Series] {
    let outcome = outcomes.iter().find(|outcome| outcome.name == name);
    match outcome.map(|outcome| &outcome.result) {
        Some(ExperimentOutcome::Chart(chart)) => &chart.series,
        _ => &[],
    }
}

#[cfg(test)]
impl Point {
    /// A computed value.
    pub fn exact(x: u64, value: f64) -> Self {
        Self {
            x,
            median: value,
            p10: value,
            p90: value,
            samples: 0,
            steady: true,
        }
    }
}
