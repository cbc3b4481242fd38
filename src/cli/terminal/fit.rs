//! Tables and messages that fit into the columns of a terminal.

use std::io::{self, IsTerminal};

pub use seekless::report::fit::whole;
use seekless::report::fit::{GLUE, columns_that_fit, fitting};

use super::color;

/// A message in lines for the terminal that standard error leads to; in one line elsewhere.
pub fn for_stderr(text: &str) -> Vec<String> {
    let stderr = io::stderr();
    let columns = stderr.is_terminal().then(|| color::columns(&stderr));
    message(text, columns.unwrap_or(usize::MAX))
}

/// Breaks a message between words. A command at the end, which is there to be copied, stays on one line.
pub fn message(text: &str, columns: usize) -> Vec<String> {
    fitting([glue_command(text)], columns)
}

/// Glues `seekless …` after a colon, up to the end or a semicolon.
fn glue_command(text: &str) -> String {
    const COMMAND: &str = ": seekless ";
    let Some(at) = text.find(COMMAND) else {
        return text.to_owned();
    };
    let (before, command) = text.split_at(at + 2);
    let end = command.find(';').unwrap_or(command.len());
    let (command, after) = command.split_at(end);
    format!("{before}{}{after}", command.replace(' ', GLUE))
}

/// Aligns the first column left and the others right. Leaves these columns out, in this order, as long as a row is
/// wider than this.
pub fn table(rows: Vec<[String; 4]>, dispensable: &[usize], width: usize) -> Vec<String> {
    let (widths, columns) = columns_that_fit(&rows, dispensable, width.saturating_sub(2));
    let row = |row: &[String; 4]| {
        let cells = columns.iter().map(|&column| {
            let (cell, width) = (&row[column], widths[column]);
            match column {
                0 => format!("  {cell:<width$}"),
                _ => format!("  {cell:>width$}"),
            }
        });
        cells.collect::<String>().trim_end().to_owned()
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_not_broken() {
        for (text, lines) in [
            ("one two three four", &["one two three", "  four"][..]),
            (
                "To undo: seekless undo x",
                &["To undo:", "  seekless undo x"],
            ),
            (
                ": seekless a b c; and more",
                &[":", "  seekless a b c;", "  and more"],
            ),
        ] {
            assert_eq!(message(text, 14), lines, "{text}");
        }
        let about = message(
            &format!("seekless: {}: cannot open it", whole("a b/c d")),
            20,
        );
        assert_eq!(about, ["seekless: a b/c d:", "  cannot open it"]);
    }
}
