//! The results of a measurement: charts of points, each with its spread.

use serde::Serialize;

use super::busy::Busy;
use super::recommended::Advice;

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
    /// How busy the machine was before, if the system tells.
    pub busy: Option<Busy>,
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
    /// Bytes that go to one disk of an array before it is the next one's turn.
    pub chunk: Option<u64>,
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
    /// `direct` (past the page cache), `dropped` (given back to the system before each read) or
    /// `none`.
    pub cache: &'static str,
    /// True if the system confirms that what was read was not in the page cache.
    pub cache_checked: bool,
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
    /// The unit of `x`.
    pub axis: Axis,
    /// The unit of the values.
    pub unit: Unit,
    /// Lines of points.
    pub series: Vec<Series>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// The horizontal axis of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Reads in flight.
    InFlight,
    /// Streams.
    Streams,
    /// Threads.
    Threads,
    /// Bytes of a file.
    FileSize,
    /// Bytes of a block.
    BlockSize,
}

impl Axis {
    /// The words below a chart and above a column.
    pub fn words(self) -> &'static str {
        match self {
            Self::InFlight => "in flight",
            Self::Streams => "streams",
            Self::Threads => "threads",
            Self::FileSize => "file size",
            Self::BlockSize => "block size",
        }
    }

    /// A place on the axis, for people.
    pub fn label(self, x: u64) -> String {
        match self {
            Self::InFlight | Self::Streams | Self::Threads => x.to_string(),
            Self::FileSize | Self::BlockSize if x >= 1 << 20 => format!("{} MiB", x >> 20),
            Self::FileSize | Self::BlockSize => format!("{} KiB", x >> 10),
        }
    }
}

/// The unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// Reads a second.
    #[serde(rename = "reads/s")]
    Reads,
    /// Millions of bytes a second.
    #[serde(rename = "MB/s")]
    Megabytes,
    /// Files a second whose metadata were asked for.
    #[serde(rename = "files/s")]
    Files,
}

impl Unit {
    /// The words beside a chart and above a column.
    pub fn words(self) -> &'static str {
        match self {
            Self::Reads => "reads/s",
            Self::Megabytes => "MB/s",
            Self::Files => "files/s",
        }
    }
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
    /// Samples taken; 0 for a computed value.
    pub samples: u32,
    /// True if the last samples agreed with each other.
    pub steady: bool,
    /// How long single reads took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
}

/// How long single reads took, from asking to having, microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Half took no longer.
    pub p50_us: u32,
    /// Of a hundred all but one took no longer.
    pub p99_us: u32,
}

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
            latency: None,
        }
    }
}

impl Chart {
    /// A line by its name.
    pub fn line(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name)
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
    pub fn near(&self, x: f64) -> Option<f64> {
        self.near_of(x, |point| point.median)
    }

    /// The same, of another value of the points.
    pub fn near_of(&self, x: f64, value: impl Fn(&Point) -> f64) -> Option<f64> {
        let (first, last) = (self.points.first()?, self.points.last()?);
        if x <= first.x as f64 {
            return Some(value(first));
        }
        let after = self.points.iter().position(|point| point.x as f64 >= x);
        let Some(after) = after else {
            return Some(value(last));
        };
        let (left, right) = (&self.points[after - 1], &self.points[after]);
        let (from, to) = ((left.x as f64).ln(), (right.x as f64).ln());
        let share = (x.ln() - from) / (to - from);
        Some(value(left) + share * (value(right) - value(left)))
    }

    /// True if a place of the axis is one of the points or lies between two of them.
    pub fn reaches(&self, x: u64) -> bool {
        match (self.points.first(), self.points.last()) {
            (Some(first), Some(last)) => (first.x..=last.x).contains(&x),
            _ => false,
        }
    }

    /// The point at a place of the axis, or the points beside it.
    pub fn beside(&self, x: u64) -> impl Iterator<Item = &Point> {
        let at_or_after = self.points.partition_point(|point| point.x < x);
        let from = match self.points.get(at_or_after) {
            Some(point) if point.x == x => at_or_after,
            _ => at_or_after.saturating_sub(1),
        };
        self.points.iter().take(at_or_after + 1).skip(from)
    }

    /// The line from a place of the axis on.
    pub fn from(&self, x: u64) -> Self {
        let mut line = self.clone();
        line.points.retain(|point| point.x >= x);
        line
    }

    /// The highest value.
    pub fn best(&self) -> Option<f64> {
        let values = self.points.iter().map(|point| point.median);
        values.reduce(f64::max)
    }
}

/// The numbers of an experiment, if it was done and found any.
pub fn chart<'a>(outcomes: &'a [ExperimentResult], name: &str) -> Option<&'a Chart> {
    let outcome = outcomes.iter().find(|outcome| outcome.name == name)?;
    match &outcome.result {
        ExperimentOutcome::Chart(chart) => Some(chart),
        ExperimentOutcome::Unmeasured(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_between_points_follow_the_logarithm() {
        let series = Series {
            name: "line",
            points: vec![Point::exact(1, 100.0), Point::exact(4, 300.0)],
        };
        for (x, expected) in [
            (0.5, 100.0),
            (1.0, 100.0),
            (2.0, 200.0),
            (4.0, 300.0),
            (9.0, 300.0),
        ] {
            let value = series.near(x).expect("there are points");
            assert!((value - expected).abs() < 1e-9, "{x}: {value}");
        }
    }
}
