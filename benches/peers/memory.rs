//! How memory and time grow with the number of files.

use std::fmt::Write;
use std::io;
use std::path::Path;

use super::cache::Cache;
use super::corpus::{self, Options};
use super::rounds::{Outcome, Rounds, Series};
use super::truth::Truth;

/// Few enough files that what a tool needs for itself is all that is seen.
const FLOOR: u64 = 1000;

/// A Markdown table of peak memory and time a file, for each of these numbers of files.
pub fn growth(
    rounds: &Rounds,
    corpora: &Path,
    counts: &[u64],
    options: &Options,
) -> io::Result<String> {
    let floor = measure(rounds, corpora, FLOOR, options)?.series;
    let mut table = String::from(
        "| files | tool | peak memory, MB | bytes a file | without its floor | µs a file, wall | µs a file, CPU | sets |\n\
         |--:|---|--:|--:|--:|--:|--:|---|\n",
    );
    for &count in counts {
        let Growth { series, name_bytes } = measure(rounds, corpora, count, options)?;
        for series in &series {
            let floor = floor.iter().find(|floor| floor.tool == series.tool);
            table += &row(series, floor, count);
        }
        let _ = writeln!(
            table,
            "| {count} | *a name's own bytes* | | {:.1} | | | | |",
            name_bytes as f64 / count as f64
        );
    }
    Ok(table)
}

/// What was measured at one number of files.
struct Growth {
    series: Vec<Series>,
    name_bytes: usize,
}

fn measure(rounds: &Rounds, corpora: &Path, files: u64, options: &Options) -> io::Result<Growth> {
    let options = Options {
        files,
        scale: 1.0,
        ..options.clone()
    };
    let sparse = corpus::named("sparse").map_err(io::Error::other)?;
    let shape = if options.flat { "-flat" } else { "" };
    let bytes = if options.data { "-data" } else { "" };
    let dir = corpora.join(format!("sparse-{files}{shape}{bytes}"));
    eprintln!(
        "{}: making {files} files unless they are there",
        dir.display()
    );
    sparse.build(&dir, &options)?;
    let truth = Truth::read(&dir)?;
    let series = rounds.run(&dir, Cache::Hot, &truth)?;
    Ok(Growth {
        series,
        name_bytes: truth.name_bytes,
    })
}

fn row(series: &Series, floor: Option<&Series>, count: u64) -> String {
    let tool = &series.tool;
    if matches!(series.outcome, Outcome::TimedOut | Outcome::Failed(_)) {
        return format!(
            "| {count} | {tool} | | | | | | {} |\n",
            series.outcome.note()
        );
    }
    let count_f = count as f64;
    let peak = series.median(|run| run.peak_rss).unwrap_or(0) as f64;
    let floor = floor
        .and_then(|floor| floor.median(|run| run.peak_rss))
        .unwrap_or(0) as f64;
    let wall = series.wall().unwrap_or_default().as_secs_f64() * 1e6 / count_f;
    let cpu = series
        .median(|run| run.cpu)
        .unwrap_or_default()
        .as_secs_f64()
        * 1e6
        / count_f;
    let sets = if series.outcome == Outcome::Right {
        "correct".to_owned()
    } else {
        series.outcome.note()
    };
    format!(
        "| {count} | {tool} | {:.1} | {:.0} | {:.0} | {wall:.2} | {cpu:.2} | {sets} |\n",
        peak / 1e6,
        peak / count_f,
        (peak - floor) / count_f,
    )
}
