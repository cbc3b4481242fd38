//! What a terminal shows, as a picture.

use std::fmt::Write;

use crate::svg::{Theme, escaped, framed};

const CHARACTER: f64 = 7.83;
const LINE: f64 = 18.0;
const MARGIN: f64 = 16.0;
const COLUMNS: f64 = 80.0;

/// The commands that are shown, each as it is typed first.
const SHOWN: [&str; 3] = [
    "seekless Pictures\n",
    "seekless remove --trash Pictures\n",
    "seekless undo\n",
];

/// The first screens of the page.
pub fn screen(hour: &str) -> String {
    let block = hour.split("```text\n").nth(1).unwrap_or("");
    let block = block.split("```").next().unwrap_or("");
    let screens: Vec<&str> = block.split("$ ").collect();
    let shown = SHOWN.iter().filter_map(|command| {
        let mut screens = screens.iter();
        screens.find(|screen| screen.starts_with(command))
    });
    let shown: Vec<String> = shown
        .map(|screen| format!("$ {}\n", screen.trim_end()))
        .collect();
    shown.join("\n")
}

/// How characters look.
#[derive(Clone, Copy)]
enum Look {
    Plain,
    Bold,
    Faint,
    /// Of a file that stays.
    Kept,
}

/// The picture of a screen.
pub fn draw(screen: &str, theme: &Theme) -> String {
    let mut body = String::from("<g font-size=\"13\" xml:space=\"preserve\">\n");
    let mut rows = 0;
    for line in screen.lines() {
        rows += 1;
        let y = MARGIN + f64::from(rows) * LINE - 5.0;
        let mut column = 0;
        for (look, text) in parts(line) {
            let x = MARGIN + column as f64 * CHARACTER;
            let length = text.chars().count();
            column += length;
            if !text.trim().is_empty() {
                run(
                    &mut body,
                    (x, y),
                    (look, text),
                    length as f64 * CHARACTER,
                    theme,
                );
            }
        }
    }
    body += "</g>\n";
    let width = 2.0 * MARGIN + COLUMNS * CHARACTER;
    let height = 2.0 * MARGIN + f64::from(rows) * LINE;
    let font = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace";
    framed(width.ceil(), height.ceil(), font, theme, &body)
}

/// Draws characters of one look.
fn run(body: &mut String, (x, y): (f64, f64), part: (Look, &str), length: f64, theme: &Theme) {
    let (look, text) = part;
    let colour = match look {
        Look::Kept => theme.accent,
        Look::Faint => theme.faint,
        Look::Plain | Look::Bold => theme.text,
    };
    let weight = match look {
        Look::Bold => " font-weight=\"bold\"",
        _ => "",
    };
    let _ = writeln!(
        body,
        "<text x=\"{x:.2}\" y=\"{y}\" textLength=\"{length:.2}\" fill=\"{colour}\"{weight}>{}</text>",
        escaped(text)
    );
}

/// Splits a line where its look changes, as the program colours a report.
fn parts(line: &str) -> Vec<(Look, &str)> {
    let at = |mark: &str| line.find(mark).map(|at| at + mark.len());
    let (before, look, after) = match line {
        _ if line.starts_with("$ ") => (2, Look::Bold, line.len()),
        _ if line.contains(", reclaimable ") => (0, Look::Bold, line.find(',').unwrap_or(0)),
        _ if line.starts_with("  ") && line.contains(" * ") => {
            (at(" * ").unwrap_or(0), Look::Kept, line.len())
        }
        _ => (line.len(), Look::Plain, line.len()),
    };
    let first = if line.starts_with("$ ") {
        Look::Faint
    } else {
        Look::Plain
    };
    vec![
        (first, &line[..before]),
        (look, &line[before..after]),
        (Look::Plain, &line[after..]),
    ]
}
