//! A bar for each median of the tables that `cargo bench --bench peers` writes.

use std::fmt::Write;

use crate::svg::{Theme, escaped, framed};

/// The corpora, in the order in which they are drawn, and what each holds.
const CORPORA: &[(&str, &str)] = &[
    ("backup", "200,000 files, 3 snapshots"),
    ("real", "300,000 files of a system"),
    ("photos", "2,100 photos"),
    ("huge", "6 files of 2 GB"),
];

/// States of the page cache, and the title of each.
const STATES: &[(&str, &str)] = &[("hot", "cached files"), ("cold", "files not cached")];

const LABELS: f64 = 190.0;
const PANEL: f64 = 330.0;
const BAR: f64 = 11.0;
const TOP: f64 = 84.0;
/// Room behind the longest bar, for its number.
const NUMBER: f64 = 54.0;

/// The median time of one program on one corpus.
struct Median {
    corpus: String,
    /// `hot` or `cold`.
    state: String,
    tool: String,
    seconds: f64,
}

/// The line behind the table of `cargo bench --bench peers`. Other tables follow.
const END: &str = "<!-- peers:end -->";

/// All medians of a page.
fn medians(page: &str) -> Vec<Median> {
    let mut medians = Vec::new();
    for line in page.lines().take_while(|line| *line != END) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, corpus, tool, hot, cold, ..] = cells[..] else {
            continue;
        };
        for (state, cell) in [("hot", hot), ("cold", cold)] {
            // A time, and the ratio in parentheses.
            let seconds = cell.split(' ').next().unwrap_or(cell);
            if let Ok(seconds) = seconds.parse() {
                medians.push(Median {
                    corpus: corpus.to_owned(),
                    state: state.to_owned(),
                    tool: tool.trim_matches('*').to_owned(),
                    seconds,
                });
            }
        }
    }
    medians
}

fn find(medians: &[Median], corpus: &str, state: &str, tool: &str) -> Option<f64> {
    let found = medians
        .iter()
        .find(|m| (&*m.corpus, &*m.state, &*m.tool) == (corpus, state, tool));
    found.map(|median| median.seconds)
}

/// Each tool of the table of tools, and its version: `yadf-16` and `yadf 1.5.2`.
fn versions(page: &str) -> Vec<(String, String)> {
    let lines = page.lines().take_while(|line| *line != END);
    let rows = lines.filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        match cells[..] {
            [_, tool, version, command, _] if command.starts_with('`') => {
                Some((tool.to_owned(), version.to_owned()))
            }
            _ => None,
        }
    });
    rows.collect()
}

/// The programs of the tables, seekless first.
fn tools(medians: &[Median]) -> Vec<&str> {
    let mut tools = vec!["seekless"];
    for median in medians {
        if !tools.contains(&&*median.tool) {
            tools.push(&median.tool);
        }
    }
    tools
}

/// The longest time, in times of that of seekless.
fn longest(medians: &[Median], tools: &[&str]) -> f64 {
    let mut longest = 1.0_f64;
    for (corpus, _) in CORPORA {
        for (state, _) in STATES {
            let own = find(medians, corpus, state, tools[0]);
            let others = tools
                .iter()
                .filter_map(|tool| find(medians, corpus, state, tool));
            if let Some(own) = own {
                longest = others.map(|time| time / own).fold(longest, f64::max);
            }
        }
    }
    longest
}

/// The chart.
pub fn draw(page: &str, theme: &Theme) -> String {
    let medians = &*medians(page);
    let tools = tools(medians);
    let unit = (PANEL - NUMBER) / longest(medians, &tools);
    let group = BAR * tools.len() as f64 + 14.0;
    let mut body = legend(&tools, &versions(page), theme);
    for (row, (corpus, label)) in CORPORA.iter().enumerate() {
        let y = TOP + row as f64 * group;
        let middle = y + group / 2.0 - 4.0;
        let _ = writeln!(
            body,
            "<text x=\"16\" y=\"{middle}\">{}</text>",
            escaped(label)
        );
        for (panel, (state, _)) in STATES.iter().enumerate() {
            let x = LABELS + panel as f64 * PANEL;
            let Some(own) = find(medians, corpus, state, tools[0]) else {
                continue;
            };
            for (nth, tool) in tools.iter().enumerate() {
                if let Some(seconds) = find(medians, corpus, state, tool) {
                    let at = (x, y + nth as f64 * BAR);
                    bar(
                        &mut body,
                        at,
                        seconds / own * unit,
                        seconds,
                        colour(nth, theme),
                    );
                }
            }
        }
    }
    let height = TOP + CORPORA.len() as f64 * group + 8.0;
    let width = LABELS + STATES.len() as f64 * PANEL;
    framed(
        width,
        height,
        "system-ui, sans-serif",
        theme,
        &format!("<g font-size=\"12\">\n{body}</g>\n"),
    )
}

fn bar(body: &mut String, (x, y): (f64, f64), length: f64, seconds: f64, colour: &str) {
    let thick = BAR - 1.5;
    let _ = writeln!(
        body,
        "<rect x=\"{x}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{thick}\" fill=\"{colour}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"9\">{seconds:.2} s</text>",
        x + length + 4.0,
        y + thick,
    );
}

fn colour(nth: usize, theme: &Theme) -> &'static str {
    match nth.checked_sub(1) {
        None => theme.accent,
        Some(other) => theme.bars[other % theme.bars.len()],
    }
}

fn legend(tools: &[&str], versions: &[(String, String)], theme: &Theme) -> String {
    let mut text = String::from(
        "<text x=\"16\" y=\"24\" font-weight=\"bold\">Time to find all duplicates (shorter is better)</text>\n",
    );
    let mut x = LABELS;
    for (nth, tool) in tools.iter().enumerate() {
        // Tables name a program with its setting: yadf-16, fclones-ssd.
        let name = tool.split('-').next().unwrap_or(tool);
        let name = versions
            .iter()
            .find(|(known, _)| known == tool)
            .map_or(name, |(_, version)| version);
        let _ = writeln!(
            text,
            "<rect x=\"{x}\" y=\"38\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{}\" y=\"47\">{}</text>",
            colour(nth, theme),
            x + 15.0,
            escaped(name),
        );
        x += 135.0;
    }
    for (panel, (_, title)) in STATES.iter().enumerate() {
        let x = LABELS + panel as f64 * PANEL;
        let _ = writeln!(
            text,
            "<text x=\"{x}\" y=\"72\" font-weight=\"bold\">{title}</text>"
        );
    }
    text
}
