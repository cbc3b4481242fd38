//! Findings for people: aligned tables, each row with its bar.

use std::fmt::{self, Write};

use crate::units::{counted, plural};

use super::busy::Busy;
use super::chart_rows::ChartRows;
use super::experiment::experiment;
use super::findings::{Chart, ExperimentOutcome, ExperimentResult, Findings};
use super::recommended::Advice;
use super::terms::Terms;

/// Writes what was measured as tables. On narrow terminals, charts have shorter bars and fewer columns.
pub fn report(findings: &Findings, columns: usize) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, findings, columns);
    text
}

fn write(out: &mut String, findings: &Findings, columns: usize) -> fmt::Result {
    let place = &findings.place;
    writeln!(
        out,
        "{}: {} mounted on {}",
        findings.path, place.filesystem, place.mount
    )?;
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
        let cache = match (source.cache, source.cache_checked) {
            ("direct", _) => "bypassing the page cache",
            ("dropped", true) => "dropped from the page cache before each read, and checked",
            ("dropped", false) => "dropped from the page cache before each read",
            _ => "answered by the page cache",
        };
        let bytes = crate::units::Bytes(source.bytes);
        writeln!(out, "  {kind}, {bytes}, {cache}")?;
    }
    writeln!(
        out,
        "  {:.0} of {:.0} seconds, seed {}{}",
        findings.seconds_taken,
        findings.seconds_allowed,
        findings.seed,
        if findings.interrupted {
            ", interrupted"
        } else {
            ""
        }
    )?;
    for outcome in &findings.experiments {
        writeln!(out)?;
        write_outcome(out, outcome, columns)?;
    }
    Ok(())
}

/// What follows the tables: notes and the advice. The lines may be broken between words.
pub fn conclusion(findings: &Findings, terms: &Terms) -> Vec<String> {
    let notes = findings.notes.iter().map(|note| format!("Note: {note}."));
    let mut lines: Vec<String> = notes.collect();
    lines.extend(findings.busy.as_ref().map(Busy::words));
    if !lines.is_empty() {
        lines.push(String::new());
    }
    match &findings.advice {
        Some(advice) => lines.extend(advice_lines(advice, terms)),
        None => lines.push(format!(
            "No advice: {}.",
            findings
                .no_advice
                .as_deref()
                .unwrap_or("nothing was measured")
        )),
    }
    lines
}

fn write_outcome(out: &mut String, outcome: &ExperimentResult, columns: usize) -> fmt::Result {
    writeln!(out, "{}: {}", outcome.name, outcome.title)?;
    match &outcome.result {
        ExperimentOutcome::Unmeasured(why) => writeln!(out, "  not measured: {why}"),
        ExperimentOutcome::Chart(chart) => {
            if let Some(row) = experiment(outcome.name) {
                writeln!(out, "  ({})", row.about)?;
            }
            write_chart(out, chart, columns)
        }
    }
}

fn write_chart(out: &mut String, chart: &Chart, columns: usize) -> fmt::Result {
    let points = || chart.series.iter().flat_map(|line| &line.points);
    let rows = ChartRows::new(chart, columns);
    writeln!(out, "{}", rows.title(chart))?;
    for line in &chart.series {
        for (row, point) in line.points.iter().enumerate() {
            let name = if row == 0 { line.name } else { "" };
            writeln!(out, "{}", rows.row(chart, name, point))?;
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

/// The command that follows the advice; without options, the numbers.
fn advised(advice: &Advice, terms: &Terms) -> String {
    if !advice.flags.is_empty() {
        return format!("{} {} PATH", terms.command, advice.flags.join(" "));
    }
    let (threads, depth) = (advice.random_threads, advice.depth);
    let order = match advice.physical_order {
        true => ", in the order of the disk",
        false => "",
    };
    let (streams, s) = (advice.streams, plural(advice.streams as u64, "", "s"));
    format!(
        "scattered reads {threads} x {depth} in flight{order}, {streams} whole file{s} at a time"
    )
}

fn advice_lines(advice: &Advice, terms: &Terms) -> Vec<String> {
    let mut lines = vec![format!("Advice: {}", advised(advice, terms))];
    lines.extend(advice.gains.iter().map(|gain| {
        let times = match gain.factor() {
            factor if factor > 1.05 => format!("{factor:.2} times as fast as it is read now"),
            factor if factor >= 0.95 => "the same as it is read now".to_owned(),
            factor => format!("{factor:.2} times what it is now, with less in flight"),
        };
        format!(
            "  {}: {:.0} → {:.0} {}, {times}",
            gain.what, gain.now, gain.advised, gain.unit
        )
    }));
    let reasons = advice.reasons.iter();
    lines.extend(reasons.map(|reason| format!("  - {reason}")));
    lines.extend(advice.metadata_threads.map(|threads| {
        format!(
            "  - metadata: {} (set by {} only)",
            counted(threads as u64, "thread", "threads"),
            terms.profile
        )
    }));
    lines
}
