//! Turns runs into tables of medians and ratios: one for the terminal with all that was measured, a short one for the
//! page.

use std::time::Duration;

use super::measure::Measured;
use super::rounds::{Outcome, Series};

const MB: f64 = 1e6;

/// The head of the table of all corpora.
pub const HEAD: &str = "\
| corpus | cache | tool | wall, s | fastest-slowest | × seekless | CPU, s | peak memory, MB | from disk, MB | sets |
|---|---|---|--:|--:|--:|--:|--:|--:|---|
";

/// The rows of one corpus in one state of the cache, the fastest first.
pub fn rows(corpus: &str, cache: &str, series: &[Series], limit: Duration) -> String {
    let ours = series
        .iter()
        .find(|series| series.ours && series.outcome == Outcome::Right)
        .and_then(Series::wall);
    let mut sorted: Vec<&Series> = series.iter().collect();
    sorted.sort_by_key(|series| (series.outcome == Outcome::TimedOut, series.wall()));
    let rows = sorted.into_iter().map(|series| row(series, ours, limit));
    rows.map(|row| format!("| {corpus} | {cache} {row}"))
        .collect()
}

fn row(series: &Series, ours: Option<Duration>, limit: Duration) -> String {
    let name = if series.ours {
        format!("**{}**", series.tool)
    } else {
        series.tool.clone()
    };
    let sets = match &series.outcome {
        Outcome::Right => "correct".to_owned(),
        Outcome::Wrong(difference) => format!("**wrong**: {}", cell(difference)),
        Outcome::Failed(reason) => format!("**failed**: {}", cell(reason)),
        Outcome::TimedOut => "not known".to_owned(),
    };
    if series.outcome == Outcome::TimedOut {
        return format!("| {name} | > {} | | | | | | {sets} |\n", limit.as_secs());
    }
    let Some(wall) = series.wall() else {
        return format!("| {name} | | | | | | | {sets} |\n");
    };
    let ratio = ours.map_or(String::new(), |ours| {
        format!("{:.2}", wall.as_secs_f64() / ours.as_secs_f64())
    });
    let seconds = |duration: Duration| format!("{:.3}", duration.as_secs_f64());
    let fastest = series
        .runs
        .iter()
        .map(|run| run.wall)
        .min()
        .map_or(String::new(), seconds);
    let slowest = series
        .runs
        .iter()
        .map(|run| run.wall)
        .max()
        .map_or(String::new(), seconds);
    let cpu = series.median(|run| run.cpu).map_or(String::new(), seconds);
    let memory = series
        .median(|run| run.peak_rss)
        .map_or(0.0, |bytes| bytes as f64 / MB);
    let disk = series.median(|run| run.disk_read).flatten();
    let disk = disk.map_or("?".to_owned(), |bytes| format!("{:.0}", bytes as f64 / MB));
    format!(
        "| {name} | {} | {fastest}-{slowest} | {ratio} | {cpu} | {memory:.1} | {disk} | {sets} |\n",
        seconds(wall)
    )
}

/// The head of the table for the page.
pub const PAGE_HEAD: &str = "\
| corpus | tool | hot, s | cold, s | peak memory, MB |
|---|---|--:|--:|--:|
";

/// The page's rows of one corpus, in the order of the first state of the cache. A state that was left out is empty.
pub fn page_rows(corpus: &str, hot: &[Series], cold: &[Series], limit: Duration) -> String {
    let mut text = String::new();
    let mut sorted: Vec<&Series> = if hot.is_empty() { cold } else { hot }.iter().collect();
    sorted.sort_by_key(|series| (series.outcome == Outcome::TimedOut, series.wall()));
    for series in sorted {
        let of = |state: &[Series]| {
            let same = state.iter().find(|other| other.tool == series.tool);
            same.map_or(String::new(), |same| time(same, state, limit))
        };
        let runs = hot
            .iter()
            .chain(cold)
            .filter(|other| other.tool == series.tool);
        let peak = runs
            .filter_map(|same| same.median(|run| run.peak_rss))
            .max();
        let peak = peak.map_or(String::new(), |bytes| format!("{:.1}", bytes as f64 / MB));
        let name = if series.ours {
            format!("**{}**", series.tool)
        } else {
            series.tool.clone()
        };
        text += &format!(
            "| {corpus} | {name} | {} | {} | {peak} |\n",
            of(hot),
            of(cold)
        );
    }
    text
}

/// The median of a tool, and in parentheses how many times that of seekless it is.
fn time(series: &Series, all: &[Series], limit: Duration) -> String {
    let ours = all
        .iter()
        .find(|other| other.ours && other.outcome == Outcome::Right);
    match (&series.outcome, series.wall(), ours.and_then(Series::wall)) {
        (Outcome::Wrong(difference), ..) => format!("**wrong**: {}", cell(difference)),
        (Outcome::Failed(reason), ..) => format!("**failed**: {}", cell(reason)),
        (Outcome::TimedOut, ..) => format!("> {}", limit.as_secs()),
        (Outcome::Right, Some(wall), Some(ours)) => {
            let wall = wall.as_secs_f64();
            format!("{wall:.3} ({:.2})", wall / ours.as_secs_f64())
        }
        (Outcome::Right, Some(wall), None) => format!("{:.3}", wall.as_secs_f64()),
        (Outcome::Right, None, _) => String::new(),
    }
}

/// How many times the base's time a tool takes: of their medians or of their fastest runs, whichever is less. A noisy
/// machine slows down now one, now the other.
pub fn ratio(series: &Series, base: &Series) -> Option<f64> {
    let of = |time: fn(&Series) -> Option<Duration>| {
        Some(time(series)?.as_secs_f64() / time(base)?.as_secs_f64())
    };
    let fastest = of(|series| series.runs.iter().map(|run| run.wall).min())?;
    Some(fastest.min(of(Series::wall)?))
}

/// A text that keeps a table's cell in one piece.
fn cell(text: &str) -> String {
    let short: String = text.chars().take(120).collect();
    short.replace('|', "\\|")
}

impl Series {
    /// The middle one of all runs' times.
    pub fn wall(&self) -> Option<Duration> {
        self.median(|run| run.wall)
    }

    /// The middle value of all runs; of an even number of runs the lower one of the two in the middle.
    pub fn median<T: Ord>(&self, value: impl Fn(&Measured) -> T) -> Option<T> {
        let mut values: Vec<T> = self.runs.iter().map(value).collect();
        values.sort();
        let middle = values.len().checked_sub(1)? / 2;
        Some(values.swap_remove(middle))
    }
}
