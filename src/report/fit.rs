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

/// Breaks lines between words. What continues a line is indented by two characters more than the line.
pub fn fitting(lines: impl IntoIterator<Item = String>, width: usize) -> Vec<String> {
    let mut fitted = Vec::new();
    for line in lines {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let mut part = " ".repeat(indent);
        let mut is_first = true;
        for word in line.trim_start_matches(' ').split(' ') {
            let length = part.chars().count();
            if !is_first && length + 1 + word.chars().count() > width {
                fitted.push(std::mem::replace(&mut part, " ".repeat(indent + 2)));
            } else if !is_first {
                part.push(' ');
            }
            is_first = false;
            part.push_str(word);
        }
        fitted.push(part);
    }
    fitted
}
