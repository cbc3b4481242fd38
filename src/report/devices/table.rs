//! The table for people, and below it what was chosen for each file system, and why.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use crate::device::{Leaf, LeafKind, Volume};
use crate::report::escape::escape;
use crate::report::fit::{columns_that_fit, write_fitting};

const TITLES: [&str; 9] = [
    "MOUNT", "TYPE", "LAYERS", "DISK", "ROTATES", "MODEL", "BUS", "SIZE", "CLASS",
];

/// A cell for which there is nothing to say.
const NOTHING: &str = "-";

type Row = [String; TITLES.len()];

/// Columns of the table that a narrow terminal does not get, the least telling one first.
const DISPENSABLE: [&str; 6] = ["LAYERS", "MODEL", "BUS", "ROTATES", "SIZE", "TYPE"];

/// Writes one row for each disk under each volume, then a paragraph for each volume. Fits into the columns of a
/// terminal, except for commands, which must stay in one line. Says each piece of advice once.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, volumes: &[&Volume], columns: Option<usize>) -> io::Result<()> {
    let mut rows = vec![TITLES.map(str::to_owned)];
    rows.extend(volumes.iter().flat_map(|volume| self::rows(volume)));
    let place = |title| TITLES.iter().position(|other| *other == title);
    let dispensable: Vec<usize> = DISPENSABLE.into_iter().filter_map(place).collect();
    let (widths, shown) = columns_that_fit(&rows, &dispensable, columns.unwrap_or(usize::MAX));
    for row in &rows {
        let mut line = String::new();
        for &column in &shown {
            line.push_str(&format!("{:<1$}  ", row[column], widths[column]));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    for volume in volumes {
        writeln!(out, "\n{}", mount(volume))?;
        let lines = volume.layers().into_iter().chain(volume.reasons());
        write_fitting(out, lines.map(|line| format!("  {line}")), columns)?;
    }
    Ok(())
}

fn mount(volume: &Volume) -> String {
    escape(volume.mount_point.as_os_str().as_bytes()).into_owned()
}

/// The volume's own facts stand in the first row only.
fn rows(volume: &Volume) -> Vec<Row> {
    let is_layer = |name: &&String| !volume.leaves.iter().any(|leaf| leaf.name == **name);
    let layers: Vec<&str> = volume
        .stack
        .iter()
        .filter(is_layer)
        .map(String::as_str)
        .collect();
    let layers = match layers.as_slice() {
        [] => NOTHING.to_owned(),
        layers => layers.join(", "),
    };
    let mut of_volume = Some([
        mount(volume),
        volume.filesystem.clone(),
        layers,
        volume.class.to_string(),
    ]);
    let row = |leaf: &Leaf| {
        let [mount, filesystem, layers, class] = of_volume.take().unwrap_or_default();
        let cells = [
            mount,
            filesystem,
            layers,
            leaf.name.clone(),
            rotates(leaf).to_owned(),
            leaf.model.clone().unwrap_or(NOTHING.to_owned()),
            bus(leaf).to_owned(),
            leaf.size
                .map_or(NOTHING.to_owned(), |size| size.to_string()),
            class,
        ];
        cells.map(|cell| escape(cell.as_bytes()).into_owned())
    };
    volume.leaves.iter().map(row).collect()
}

fn rotates(leaf: &Leaf) -> &'static str {
    match leaf.rotational {
        Some(true) => "yes",
        Some(false) => "no",
        None => NOTHING,
    }
}

fn bus(leaf: &Leaf) -> &'static str {
    match (leaf.transport, leaf.kind) {
        (Some(bus), _) => bus,
        (None, LeafKind::Disk) => NOTHING,
        (None, LeafKind::Memory) => "memory",
        (None, LeafKind::Server) => "server",
        (None, LeafKind::Program) => "program",
        (None, LeafKind::Unseen) => "unseen",
    }
}
