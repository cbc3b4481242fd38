//! Findings as charts in one SVG file.

use std::error::Error;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::series::LineSeries;

use super::findings::{Axis, Chart, ExperimentOutcome, Findings, Point, Unit};

/// Size of one chart, points.
const WIDTH: u32 = 560;
const HEIGHT: u32 = 380;

/// Room for the heading above all charts.
const HEADING: u32 = 64;

/// Colours that also those tell apart who see red and green as one (after Okabe and Ito).
const COLOURS: [RGBColor; 4] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(120, 120, 120),
];

/// How far apart lines stand at one place, in relation to the whole width.
const ASIDE: f64 = 0.006;

const FONT: &str = "sans-serif";

/// Says why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum NoPicture {
    /// There is nothing in it.
    #[error("nothing was measured, so there is nothing to draw")]
    Empty,
    /// It could not be drawn.
    #[error("cannot draw the charts: {0}")]
    Failed(String),
}

/// Draws all charts, two in a row.
///
/// # Errors
/// If nothing was measured.
pub fn draw(findings: &Findings) -> Result<String, NoPicture> {
    let charts: Vec<(&str, &Chart)> = findings
        .experiments
        .iter()
        .filter_map(|outcome| match &outcome.result {
            ExperimentOutcome::Chart(chart) => Some((outcome.title, chart)),
            ExperimentOutcome::Unmeasured(_) => None,
        })
        .collect();
    if charts.is_empty() {
        return Err(NoPicture::Empty);
    }
    let columns = charts.len().min(2);
    let rows = charts.len().div_ceil(columns);
    let size = (WIDTH * columns as u32, HEADING + HEIGHT * rows as u32);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw_all(&root, findings, &charts, (rows, columns))
            .map_err(|error| NoPicture::Failed(error.to_string()))?;
    }
    Ok(svg)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw_all(
    root: &Area<'_>,
    findings: &Findings,
    charts: &[(&str, &Chart)],
    grid: (usize, usize),
) -> Result<(), Box<dyn Error>> {
    root.fill(&WHITE)?;
    let (heading, below) = root.split_vertically(HEADING);
    let title = (FONT, 20).into_font().color(&BLACK);
    let disks = findings.place.disks.join(", ");
    let text = format!(
        "{}: {} on {disks}",
        findings.path, findings.place.filesystem
    );
    heading.draw(&Text::new(printable(&text), (16, 14), title))?;
    let small = (FONT, 14).into_font().color(&RGBColor(90, 90, 90));
    let advice = match &findings.advice {
        Some(advice) => format!("advice: {}", advice.flags.join(" ")),
        None => "no advice".to_owned(),
    };
    let text = format!(
        "{}, {:.0} s, seed {}; {advice}",
        findings.program, findings.seconds_taken, findings.seed
    );
    heading.draw(&Text::new(printable(&text), (16, 40), small))?;
    for (area, (title, chart)) in below.split_evenly(grid).iter().zip(charts) {
        draw_chart(area, title, chart)?;
    }
    Ok(())
}

fn draw_chart(area: &Area<'_>, title: &str, chart: &Chart) -> Result<(), Box<dyn Error>> {
    let points = || chart.series.iter().flat_map(|line| &line.points);
    let places: Vec<u64> = {
        let mut places: Vec<u64> = points().map(|point| point.x).collect();
        places.sort_unstable();
        places.dedup();
        places
    };
    let top = points().map(|point| point.p90).fold(0.0, f64::max);
    let across = across(&places);
    let width = across.range.end - across.range.start;
    let mut context = ChartBuilder::on(area)
        .margin(14)
        .caption(title, (FONT, 15))
        .x_label_area_size(44)
        .y_label_area_size(66)
        .build_cartesian_2d(across, 0.0..(top * 1.1).max(1e-9))?;
    let unit = chart.unit;
    let axis = chart.axis;
    context
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc(axis.words())
        .y_desc(unit.words())
        .axis_desc_style((FONT, 14))
        .label_style((FONT, 12))
        .x_labels(16)
        .y_labels(6)
        .x_label_formatter(&|x| label_at(*x, &places, axis))
        .y_label_formatter(&|y| value(*y, unit))
        .draw()?;
    for (number, (line, colour)) in chart.series.iter().zip(COLOURS.iter().cycle()).enumerate() {
        // Beside each other, so that no spread hides another.
        let aside = (number as f64 - (chart.series.len() - 1) as f64 / 2.0) * ASIDE * width;
        let place = |point: &Point| (log2(point.x) + aside, point.median);
        let style = colour.stroke_width(2);
        context
            .draw_series(LineSeries::new(line.points.iter().map(place), style))?
            .label(line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        let measured = || line.points.iter().filter(|point| point.samples > 0);
        context.draw_series(measured().map(|point| {
            let x = log2(point.x) + aside;
            let ends = [(x, point.p10), (x, point.p90)];
            PathElement::new(ends, colour.stroke_width(1))
        }))?;
        context.draw_series(measured().map(|point| {
            let style = if point.steady {
                colour.filled()
            } else {
                colour.stroke_width(1)
            };
            Circle::new(place(point), 3, style)
        }))?;
    }
    if chart.series.len() > 1 {
        context
            .configure_series_labels()
            .position(free_corner(chart))
            .background_style(WHITE.mix(0.8))
            .border_style(RGBColor(225, 225, 225))
            .label_font((FONT, 13))
            .draw()?;
    }
    Ok(())
}

/// Where the names of lines hide no point: on the side on which the lines are lower.
fn free_corner(chart: &Chart) -> SeriesLabelPosition {
    let highest = |point: fn(&[Point]) -> Option<&Point>| {
        let ends = chart.series.iter().filter_map(|line| point(&line.points));
        ends.map(|point| point.p90).fold(0.0, f64::max)
    };
    match highest(|points| points.first()) > highest(|points| points.last()) {
        true => SeriesLabelPosition::UpperRight,
        false => SeriesLabelPosition::UpperLeft,
    }
}

fn log2(x: u64) -> f64 {
    (x.max(1) as f64).log2()
}

/// The horizontal axis: its places by their logarithm, with a little room at both ends.
fn across(places: &[u64]) -> Places {
    let logs: Vec<f64> = places.iter().map(|&x| log2(x)).collect();
    let first = logs.first().copied().unwrap_or(0.0);
    let last = logs.last().copied().unwrap_or(0.0);
    Places {
        range: first - 0.4..last + 0.4,
        logs,
    }
}

/// An axis whose marks are the places that were measured.
struct Places {
    range: Range<f64>,
    logs: Vec<f64>,
}

impl Ranged for Places {
    type FormatOption = plotters::coord::ranged1d::NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: plotters::coord::ranged1d::KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.logs.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl plotters::coord::ranged1d::ValueFormatter<f64> for Places {
    fn format(value: &f64) -> String {
        value.to_string()
    }
}

fn label_at(log: f64, places: &[u64], axis: Axis) -> String {
    let near = |x: &&u64| (log2(**x) - log).abs() < 1e-6;
    let label = places.iter().find(near).map(|&x| axis.label(x));
    // "64 KiB" under each mark would not fit.
    label
        .unwrap_or_default()
        .replace(" KiB", "K")
        .replace(" MiB", "M")
}

fn value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Megabytes if value > 0.0 && value < 10.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Characters that no XML may contain are shown as what they are not.
fn printable(text: &str) -> String {
    let allowed = |c: char| {
        if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') {
            '\u{fffd}'
        } else {
            c
        }
    };
    text.chars().map(allowed).collect()
}
