//! Tables that fit into the columns of a terminal.

use seekless::report::fit::columns_that_fit;

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
