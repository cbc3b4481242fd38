//! What a terminal shows, as a picture: text, bold, faint, and colours.

use std::fmt::Write;

use crate::scene::COLUMNS;
use crate::svg::{Theme, escaped, framed};

const CHARACTER: f64 = 7.83;
const LINE: f64 = 18.0;
const MARGIN: f64 = 16.0;

/// How characters look.
#[derive(Clone, Copy, Default, PartialEq)]
struct Look {
    bold: bool,
    faint: bool,
    coloured: bool,
}

/// The picture of a screen.
pub fn draw(screen: &str, theme: &Theme) -> String {
    let mut body = String::from("<g font-size=\"13\" xml:space=\"preserve\">\n");
    let mut look = Look::default();
    let mut rows = 0;
    for line in screen.lines() {
        rows += 1;
        let y = MARGIN + f64::from(rows) * LINE - 5.0;
        let mut column = 0;
        // Progress is drawn over with what comes behind a carriage return.
        let line = line.trim_end_matches('\r');
        let line = line.rsplit('\r').next().unwrap_or(line);
        for part in parts(line, &mut look) {
            let x = MARGIN + column as f64 * CHARACTER;
            let length = part.1.chars().count();
            column += length;
            if !part.1.trim().is_empty() {
                run(&mut body, (x, y), &part, length as f64 * CHARACTER, theme);
            }
        }
    }
    body += "</g>\n";
    let width = 2.0 * MARGIN + COLUMNS as f64 * CHARACTER;
    let height = 2.0 * MARGIN + f64::from(rows) * LINE;
    let font = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace";
    framed(width.ceil(), height.ceil(), font, theme, &body)
}

/// Draws characters of one look.
fn run(body: &mut String, (x, y): (f64, f64), part: &(Look, String), length: f64, theme: &Theme) {
    let (look, text) = part;
    let colour = match look {
        Look { coloured: true, .. } => theme.accent,
        Look { faint: true, .. } => theme.faint,
        _ => theme.text,
    };
    let weight = if look.bold {
        " font-weight=\"bold\""
    } else {
        ""
    };
    let _ = writeln!(
        body,
        "<text x=\"{x:.2}\" y=\"{y}\" textLength=\"{length:.2}\" fill=\"{colour}\"{weight}>{}</text>",
        escaped(text)
    );
}

/// Splits a line where its look changes. Control sequences that are no looks are left out.
fn parts(line: &str, look: &mut Look) -> Vec<(Look, String)> {
    let mut parts = vec![(*look, String::new())];
    let mut rest = line;
    while let Some((text, after)) = rest.split_once("\x1b[") {
        parts.last_mut().expect("never empty").1 += text;
        let end = after
            .find(|c: char| c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let (codes, tail) = after.split_at(end);
        if tail.starts_with('m') {
            for code in codes.split(';') {
                match code {
                    "1" => look.bold = true,
                    "2" => look.faint = true,
                    "22" => (look.bold, look.faint) = (false, false),
                    "39" => look.coloured = false,
                    "0" | "" => *look = Look::default(),
                    code => look.coloured |= code.starts_with('3'),
                }
            }
            parts.push((*look, String::new()));
        }
        rest = tail.get(1..).unwrap_or("");
    }
    parts.last_mut().expect("never empty").1 += rest;
    parts
}
