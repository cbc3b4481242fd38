//! Findings for people: aligned tables.

use std::fmt::{self, Write};

use crate::units::{Bytes, files, plural};

use super::experiment::experiment;
use super::findings::{Advice, Chart, ExperimentOutcome, Findings};

/// Writes what was measured as tables.
pub fn report(findings: &Findings) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, findings);
    text
}

fn write(out: &mut String, findings: &Findings) -> fmt::Result {
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
            _ => files(source.files),
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
                write_chart(out, chart)?;
            }
        }
    }
    Ok(())
}

fn write_chart(out: &mut String, chart: &Chart) -> fmt::Result {
    let names = chart.series.iter().map(|line| line.name.len());
    let width = names.max().unwrap_or(0);
    let (axis, unit) = (chart.axis, chart.unit);
    writeln!(out, "  {:width$}  {axis:>9}  {unit:>9}        p10-p90", "")?;
    for line in &chart.series {
        for (number, point) in line.points.iter().enumerate() {
            let name = if number == 0 { line.name } else { "" };
            let spread = format!("{:>9}-{:<9}", value(point.p10), value(point.p90));
            let mark = if point.steady { "" } else { "~" };
            let (x, median) = (point.x, value(point.median));
            let row = format!("  {name:<width$}  {x:>9}  {median:>9}  {spread} {mark}");
            writeln!(out, "{}", row.trim_end())?;
        }
    }
    let mut points = chart.series.iter().flat_map(|line| &line.points);
    if points.any(|point| !point.steady) {
        writeln!(out, "  ~ the last samples differ by more than 5 %")?;
    }
    for note in &chart.notes {
        writeln!(out, "  {note}")?;
    }
    Ok(())
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
