//! Findings for people: aligned tables, each row with its bar.

use std::fmt::{self, Write};

use super::busy::Busy;
use super::experiment::experiment;
use super::findings::{Answer, Chart, ExperimentResult, Findings, Point, Unit};
use super::recommended::Advice;

/// Columns of a bar that reaches to the end.
const BAR: usize = 32;

/// Writes what was measured as tables, with rows of a fixed width.
pub fn report(findings: &Findings) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, findings);
    text
}

fn write(out: &mut String, findings: &Findings) -> fmt::Result {
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
            _ => format!("{} files", source.files),
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
        write_outcome(out, outcome)?;
    }
    Ok(())
}

/// What follows the tables: notes and the advice. The lines may be broken between words.
pub fn conclusion(findings: &Findings) -> Vec<String> {
    let notes = findings.notes.iter().map(|note| format!("Note: {note}."));
    let mut lines: Vec<String> = notes.collect();
    lines.extend(findings.busy.as_ref().map(Busy::words));
    if !lines.is_empty() {
        lines.push(String::new());
    }
    match &findings.advice {
        Some(advice) => lines.extend(advice_lines(advice)),
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

fn write_outcome(out: &mut String, outcome: &ExperimentResult) -> fmt::Result {
    writeln!(out, "{}: {}", outcome.name, outcome.title)?;
    match &outcome.result {
        Answer::Unmeasured(why) => writeln!(out, "  not measured: {why}"),
        Answer::Chart(chart) => {
            if let Some(row) = experiment(outcome.name) {
                writeln!(out, "  ({})", row.about)?;
            }
            write_chart(out, chart)
        }
    }
}

fn write_chart(out: &mut String, chart: &Chart) -> fmt::Result {
    let points = || chart.series.iter().flat_map(|line| &line.points);
    let highest = points().map(|point| point.p90).fold(0.0, f64::max);
    let names = chart.series.iter().map(|line| line.name.chars().count());
    let name_width = names.max().unwrap_or(0);
    let labels = points().map(|point| chart.axis.label(point.x).chars().count());
    let label_width = labels.max().unwrap_or(0).max(chart.axis.words().len());
    let has_latency = points().any(|point| point.latency.is_some());
    write!(
        out,
        "  {:<name_width$}  {:>label_width$}  {:>9}  {:>9}-{:<9}",
        "",
        chart.axis.words(),
        chart.unit.words(),
        "p10",
        "p90"
    )?;
    if has_latency {
        write!(out, "  {:>8}  {:>8}", "p50 ms", "p99 ms")?;
    }
    writeln!(out)?;
    for line in &chart.series {
        for (row, point) in line.points.iter().enumerate() {
            let name = if row == 0 { line.name } else { "" };
            write!(
                out,
                "  {name:<name_width$}  {:>label_width$}  {:>9}  ",
                chart.axis.label(point.x),
                number(chart.unit, point.median),
            )?;
            match point.samples {
                0 => write!(out, "{:>9} {:<9}", "", "")?,
                _ => write!(
                    out,
                    "{:>9}-{:<9}",
                    number(chart.unit, point.p10),
                    number(chart.unit, point.p90)
                )?,
            }
            if has_latency {
                let latency = point.latency.unwrap_or(super::findings::Latency {
                    p50_us: 0,
                    p99_us: 0,
                });
                let ms = |us: u32| format!("{:.2}", f64::from(us) / 1e3);
                write!(
                    out,
                    "  {:>8}  {:>8}",
                    ms(latency.p50_us),
                    ms(latency.p99_us)
                )?;
            }
            let mark = if point.steady { ' ' } else { '~' };
            writeln!(out, " {mark}{}", bar(point, highest))?;
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
fn bar(point: &Point, highest: f64) -> String {
    if highest <= 0.0 {
        return String::new();
    }
    let columns = |value: f64| ((value / highest) * BAR as f64).round() as usize;
    let (middle, end) = (columns(point.median).max(1), columns(point.p90).max(1));
    let fill = if point.samples == 0 { "░" } else { "█" };
    let mut bar = fill.repeat(middle);
    if end > middle {
        bar.push_str(&"─".repeat(end - middle - 1));
        bar.push('┤');
    }
    bar
}

/// A value with as many digits as mean something.
fn number(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Megabytes if value < 100.0 => format!("{value:.1}"),
        _ if value < 10.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn advice_lines(advice: &Advice) -> Vec<String> {
    let mut lines = vec![format!(
        "Advice: seekless find {} PATH",
        advice.flags.join(" ")
    )];
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
    lines.extend(
        advice
            .metadata_threads
            .map(|threads| format!("  - metadata: {threads} threads (set by --save only)")),
    );
    lines
}
