//! Tables that fit into the columns of a terminal.

/// Aligns the first column left and the others right. Leaves these columns out, in this order, as long as a row is
/// wider than this.
pub fn table(rows: Vec<[String; 4]>, dispensable: &[usize], width: usize) -> Vec<String> {
    let mut columns = vec![0, 1, 2, 3];
    let width_of = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    for spare in dispensable {
        let total: usize = columns.iter().map(|&column| 2 + width_of(column)).sum();
        if total > width {
            columns.retain(|column| column != spare);
        }
    }
    let row = |row: &[String; 4]| {
        let cells = columns.iter().map(|&column| {
            let (cell, width) = (&row[column], width_of(column));
            match column {
                0 => format!("  {cell:<width$}"),
                _ => format!("  {cell:>width$}"),
            }
        });
        cells.collect::<String>().trim_end().to_owned()
    };
    rows.iter().map(row).collect()
}
