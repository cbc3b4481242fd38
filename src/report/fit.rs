//! Lines and tables that fit into the columns of a terminal.

/// Widths of all columns of a table, and those columns that are shown, two spaces apart. Leaves these columns out, in
/// this order, as long as a row is wider than this.
pub fn columns_that_fit<const N: usize>(
    rows: &[[String; N]],
    dispensable: &[usize],
    width: usize,
) -> ([usize; N], Vec<usize>) {
    let widths: [usize; N] = std::array::from_fn(|column| {
        let lengths = rows.iter().map(|row| row[column].chars().count());
        lengths.max().unwrap_or(0)
    });
    let mut shown: Vec<usize> = (0..N).collect();
    for spare in dispensable {
        let total: usize = shown.iter().map(|&column| widths[column] + 2).sum();
        if total.saturating_sub(2) > width {
            shown.retain(|column| column != spare);
        }
    }
    (widths, shown)
}

/// Units that stay on the line of their number.
const UNITS: [&str; 14] = [
    "B", "kB", "MB", "GB", "TB", "PB", "EB", "KiB", "MiB", "GiB", "%", "ms", "s", "bytes",
];

/// Words, of which a number and its unit are one.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let unit = word.trim_end_matches(['.', ',', ';', ':', ')', ']']);
        let unit = unit.strip_suffix("/s").unwrap_or(unit);
        let is_number = |before: &str| {
            let digits = before.trim_start_matches(['(', '[']);
            let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',');
            !digits.is_empty() && digits.bytes().all(is_part) && !digits.ends_with([',', '.'])
        };
        match words.last_mut() {
            Some(before) if UNITS.contains(&unit) && is_number(before) => {
                before.push(' ');
                before.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Breaks lines between words, but not between a number and its unit. What continues a line is indented by two
/// characters more than the line.
pub fn fitting(lines: impl IntoIterator<Item = String>, width: usize) -> Vec<String> {
    let mut fitted = Vec::new();
    for line in lines {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let mut part = " ".repeat(indent);
        let mut is_first = true;
        for word in words(line.trim_start_matches(' ')) {
            let length = part.chars().count();
            if !is_first && length + 1 + word.chars().count() > width {
                fitted.push(std::mem::replace(&mut part, " ".repeat(indent + 2)));
            } else if !is_first {
                part.push(' ');
            }
            is_first = false;
            part.push_str(&word);
        }
        fitted.push(part);
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stays_with_its_unit() {
        for (text, lines) in [
            ("To remove: 3.0 MB now", &["To remove:", "  3.0 MB now"][..]),
            (
                "To move (3,100 kB) now",
                &["To move", "  (3,100 kB)", "  now"],
            ),
            ("rates of 90 MB/s. It", &["rates of", "  90 MB/s. It"]),
            ("in sets of 3, s and", &["in sets of 3,", "  s and"]),
        ] {
            assert_eq!(fitting([text.to_owned()], 13), lines, "{text}");
        }
    }
}
