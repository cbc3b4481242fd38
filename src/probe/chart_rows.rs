//! The rows of a chart of characters, as wide as the terminal allows.

use std::fmt::Write;

use super::findings::{Chart, Latency, Point, Unit};

/// Columns of a bar that reaches to the end.
const BAR: usize = 32;

/// A shorter bar shows no differences.
const SHORTEST_BAR: usize = 10;

/// Columns of the 10th and 90th percentile, and of the two latencies.
const SPREAD: usize = 21;
const LATENCY: usize = 20;

/// Which columns the rows have, and how wide they are.
pub struct ChartRows {
    name_width: usize,
    label_width: usize,
    has_spread: bool,
    has_latency: bool,
    /// Columns of the longest bar; 0 for none.
    bar: usize,
    /// The largest 90th percentile.
    highest: f64,
}

impl ChartRows {
    /// Chooses the columns. Where they do not fit, the percentiles are dropped first, which the bar shows as well; then
    /// the latencies; then the bar.
    pub fn new(chart: &Chart, columns: usize) -> Self {
        let points = || chart.series.iter().flat_map(|line| &line.points);
        let names = chart.series.iter().map(|line| line.name.chars().count());
        let labels = points().map(|point| chart.axis.label(point.x).chars().count());
        let mut rows = Self {
            name_width: names.max().unwrap_or(0),
            label_width: labels.max().unwrap_or(0).max(chart.axis.words().len()),
            has_spread: true,
            has_latency: points().any(|point| point.latency.is_some()),
            bar: 0,
            highest: points().map(|point| point.p90).fold(0.0, f64::max),
        };
        // The mark of unsteady rows stands before the bar.
        rows.has_spread = rows.width() + 2 + SHORTEST_BAR <= columns;
        rows.has_latency &= rows.width() + 2 + SHORTEST_BAR <= columns;
        let left = columns.saturating_sub(rows.width() + 2);
        rows.bar = if left < SHORTEST_BAR {
            0
        } else {
            left.min(BAR)
        };
        rows
    }

    /// Columns without the bar and its mark.
    fn width(&self) -> usize {
        let spread = if self.has_spread { SPREAD } else { 0 };
        let latency = if self.has_latency { LATENCY } else { 0 };
        2 + self.name_width + 2 + self.label_width + 2 + 9 + spread + latency
    }

    /// The row above the others.
    pub fn title(&self, chart: &Chart) -> String {
        let mut row = self.start("", chart.axis.words(), chart.unit.words());
        // Writing to a string cannot fail.
        if self.has_spread {
            let _ = write!(row, "  {:>9}-{:<9}", "p10", "p90");
        }
        if self.has_latency {
            let _ = write!(row, "  {:>8}  {:>8}", "p50 ms", "p99 ms");
        }
        row
    }

    /// The row of a point.
    pub fn row(&self, chart: &Chart, name: &str, point: &Point) -> String {
        let value = number(chart.unit, point.median);
        let mut row = self.start(name, &chart.axis.label(point.x), &value);
        if self.has_spread {
            let _ = match point.samples {
                0 => write!(row, "  {:>9} {:<9}", "", ""),
                _ => write!(
                    row,
                    "  {:>9}-{:<9}",
                    number(chart.unit, point.p10),
                    number(chart.unit, point.p90)
                ),
            };
        }
        if self.has_latency {
            let latency = point.latency.unwrap_or(Latency {
                p50_us: 0,
                p99_us: 0,
            });
            let ms = |us: u32| format!("{:.2}", f64::from(us) / 1e3);
            let (p50, p99) = (ms(latency.p50_us), ms(latency.p99_us));
            let _ = write!(row, "  {p50:>8}  {p99:>8}");
        }
        let mark = if point.steady { ' ' } else { '~' };
        let _ = write!(row, " {mark}{}", self.bar(point));
        row.trim_end().to_owned()
    }

    fn start(&self, name: &str, label: &str, value: &str) -> String {
        let (name_width, label_width) = (self.name_width, self.label_width);
        format!("  {name:<name_width$}  {label:>label_width$}  {value:>9}")
    }

    /// A bar up to the median, with a line from there to where nine of ten samples end.
    fn bar(&self, point: &Point) -> String {
        if self.highest <= 0.0 || self.bar == 0 {
            return String::new();
        }
        let columns = |value: f64| ((value / self.highest) * self.bar as f64).round() as usize;
        let (middle, end) = (columns(point.median).max(1), columns(point.p90).max(1));
        let fill = if point.samples == 0 { "░" } else { "█" };
        let mut bar = fill.repeat(middle);
        if end > middle {
            bar.push_str(&"─".repeat(end - middle - 1));
            bar.push('┤');
        }
        bar
    }
}

/// A value with as many digits as mean something.
fn number(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Megabytes if value < 100.0 => format!("{value:.1}"),
        _ if value < 10.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::findings::ExperimentOutcome;
    use crate::probe::model::Model;

    #[test]
    fn columns_are_dropped_and_never_cut() {
        let mut widest = 0;
        for outcome in Model::solid(0.0001, 64, 500e6, 3e9).outcomes() {
            let ExperimentOutcome::Chart(chart) = &outcome.result else {
                continue;
            };
            for columns in [40, 60, 80, usize::MAX] {
                let rows = ChartRows::new(chart, columns);
                let points = chart.series.iter().flat_map(|line| &line.points);
                let lines = points.map(|point| rows.row(chart, chart.series[0].name, point));
                let lines: Vec<String> = lines.chain([rows.title(chart)]).collect();
                for line in &lines {
                    let width = line.chars().count();
                    assert!(width <= columns, "{}: {columns}: {line}", outcome.name);
                    widest = widest.max(width);
                }
                assert!(lines[0].contains(chart.axis.label(chart.series[0].points[0].x).as_str()));
            }
        }
        assert!(widest > 80, "without a limit, the rows have all columns");
    }
}
