//! Findings for people: aligned tables, each row with its bar.

use std::fmt::{self, Write};

use crate::units::{Bytes, counted, plural};

use super::experiment::experiment;
use super::findings::{Advice, Chart, ExperimentOutcome, Findings, Point};

/// Columns of the longest and the shortest bar.
const BAR: usize = 32;
const SHORTEST_BAR: usize = 10;

/// Writes what was measured as tables. On narrow terminals, charts have shorter bars and fewer columns.
pub fn report(findings: &Findings, columns: usize) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, findings, columns);
    text
}

fn write(out: &mut String, findings: &Findings, columns: usize) -> fmt::Result {
    let place = &findings.place;
    let (path, filesystem, mount) = (&findings.path, &place.filesystem, &place.mount);
    writeln!(out, "{path}: {filesystem} mounted on {mount}")?;
    for disk in &place.disks {
        writeln!(out, "  on {disk}")?;
    }
    writeln!(out, "  class {}: {}", place.class, place.policy)?;
    let source = &findings.source;
    if source.files > 0 {
        let kind = match source.kind {
            "scratch" => "a scratch file".to_owned(),
            _ => counted(source.files, "file", "files"),
        };
        writeln!(out, "  {kind}, {}", Bytes(source.bytes))?;
    }
    let (taken, allowed) = (findings.seconds_taken, findings.seconds_allowed);
    let end = if findings.interrupted {
        ", interrupted"
    } else {
        ""
    };
    writeln!(
        out,
        "  {taken:.0} of {allowed:.0} seconds, seed {}{end}",
        findings.seed
    )?;
    for outcome in &findings.experiments {
        writeln!(out, "\n{}: {}", outcome.name, outcome.title)?;
        match &outcome.result {
            ExperimentOutcome::Unmeasured(why) => writeln!(out, "  not measured: {why}")?,
            ExperimentOutcome::Chart(chart) => {
                if let Some(row) = experiment(outcome.name) {
                    writeln!(out, "  ({})", row.about)?;
                }
                write_chart(out, chart, columns)?;
            }
        }
    }
    Ok(())
}

fn write_chart(out: &mut String, chart: &Chart, columns: usize) -> fmt::Result {
    let points = || chart.series.iter().flat_map(|line| &line.points);
    let names = chart.series.iter().map(|line| line.name.len());
    let name_width = names.max().unwrap_or(0);
    let start =
        |name: &str, x: &str, value: &str| format!("  {name:<name_width$}  {x:>9}  {value:>9}");
    let spread = |low: &str, high: &str| format!("  {low:>9}-{high:<9}");
    // The percentiles are dropped first, which the bar shows as well; then the bar.
    let left = columns.saturating_sub(start("", "", "").len() + 2);
    let has_spread = left >= spread("", "").len() + SHORTEST_BAR;
    let left = left - if has_spread { spread("", "").len() } else { 0 };
    let bar = if left < SHORTEST_BAR {
        0
    } else {
        left.min(BAR)
    };
    let highest = points().map(|point| point.p90).fold(0.0, f64::max);
    let mut row = start("", chart.axis, chart.unit);
    if has_spread {
        row += &spread("p10", "p90");
    }
    writeln!(out, "{}", row.trim_end())?;
    for line in &chart.series {
        for (number, point) in line.points.iter().enumerate() {
            let name = if number == 0 { line.name } else { "" };
            let mut row = start(name, &point.x.to_string(), &value(point.median));
            if has_spread {
                row += &spread(&value(point.p10), &value(point.p90));
            }
            let mark = if point.steady { " " } else { "~" };
            row += &format!(" {mark}{}", bar_of(point, highest, bar));
            writeln!(out, "{}", row.trim_end())?;
        }
    }
    if points().any(|point| !point.steady) {
        writeln!(out, "  ~ the last samples differ by more than 5 %")?;
    }
    for note in &chart.notes {
        writeln!(out, "  {note}")?;
    }
    Ok(())
}

/// A bar up to the median, with a line from there to where nine of ten samples end.
fn bar_of(point: &Point, highest: f64, columns: usize) -> String {
    if columns == 0 || highest <= 0.0 {
        return String::new();
    }
    let columns = |value: f64| ((value / highest * columns as f64).round() as usize).max(1);
    let (middle, end) = (columns(point.median), columns(point.p90));
    let bar = "█".repeat(middle);
    if end > middle {
        bar + &"─".repeat(end - middle - 1) + "┤"
    } else {
        bar
    }
}

/// A value with as many digits as mean something.
fn value(value: f64) -> String {
    let digits = usize::from(value < 100.0);
    format!("{value:.digits$}")
}

/// What follows the tables: notes and the advice. The lines may be broken between words.
pub fn conclusion(findings: &Findings) -> Vec<String> {
    let notes = findings.notes.iter().map(|note| format!("Note: {note}."));
    let mut lines: Vec<String> = notes.collect();
    if !lines.is_empty() {
        lines.push(String::new());
    }
    match (&findings.advice, &findings.no_advice) {
        (Some(advice), _) => lines.extend(advice_lines(advice)),
        (None, Some(why)) => lines.push(format!("No advice: {why}.")),
        (None, None) => {}
    }
    lines
}

fn advice_lines(advice: &Advice) -> Vec<String> {
    let numbers = || {
        let (threads, depth) = (advice.random_threads, advice.depth);
        let order = if advice.rotational {
            ", in the order of the disk"
        } else {
            ""
        };
        let (streams, s) = (advice.streams, plural(advice.streams as u64, "", "s"));
        format!(
            "scattered reads {threads} x {depth} in flight{order}, {streams} whole file{s} at a time"
        )
    };
    let command = advice.command.clone().unwrap_or_else(numbers);
    let mut lines = vec![format!("Advice: {command}")];
    lines.extend(advice.gains.iter().map(|gain| {
        let times = match gain.factor() {
            factor if factor > 1.05 => format!("{factor:.2} times as fast as it is read now"),
            factor if factor >= 0.95 => "the same as it is read now".to_owned(),
            factor => format!("{factor:.2} times what it is now, with less in flight"),
        };
        let (what, now, advised, unit) = (gain.what, gain.now, gain.advised, gain.unit);
        format!("  {what}: {now:.0} → {advised:.0} {unit}, {times}")
    }));
    lines.extend(advice.reasons.iter().map(|reason| format!("  - {reason}")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::model::Model;

    #[test]
    fn columns_are_dropped_and_never_cut() {
        for outcome in Model::solid(0.0001, 64, 500e6, 3e9).outcomes() {
            let ExperimentOutcome::Chart(chart) = &outcome.result else {
                continue;
            };
            for (columns, has_spread, has_bar) in [
                (40, false, false),
                (60, false, true),
                (80, true, true),
                (usize::MAX, true, true),
            ] {
                let mut text = String::new();
                write_chart(&mut text, chart, columns).expect("written");
                let width = text.lines().map(|line| line.chars().count()).max();
                assert!(width <= Some(columns), "{columns}: {text}");
                assert_eq!(text.contains("p90"), has_spread, "{columns}: {text}");
                assert_eq!(text.contains('█'), has_bar, "{columns}: {text}");
            }
        }
    }
}
