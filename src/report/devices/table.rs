//! The table for people, and below it what was chosen for each file system, and why.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use crate::device::{Leaf, LeafKind, Volume};
use crate::report::escape::escape;

const TITLES: [&str; 11] = [
    "MOUNT",
    "TYPE",
    "LAYERS",
    "DISK",
    "ROTATES",
    "MODEL",
    "BUS",
    "SIZE",
    "SCHEDULER",
    "AHEAD",
    "CLASS",
];

/// A cell for which there is nothing to say.
const NOTHING: &str = "-";

type Row = [String; TITLES.len()];

/// Writes one row for each disk under each volume, then a paragraph for each volume.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, volumes: &[&Volume]) -> io::Result<()> {
    let mut rows = vec![TITLES.map(str::to_owned)];
    rows.extend(volumes.iter().flat_map(|volume| self::rows(volume)));
    let widths: [usize; TITLES.len()] = std::array::from_fn(|column| {
        let lengths = rows.iter().map(|row| row[column].chars().count());
        lengths.max().unwrap_or(0)
    });
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    for volume in volumes {
        writeln!(out, "\n{}", mount(volume))?;
        for line in volume.layers().iter().chain(&volume.reasons()) {
            writeln!(out, "  {line}")?;
        }
        for advice in volume.advice() {
            writeln!(out, "  warning: {}", escape(advice.says.as_bytes()))?;
            writeln!(out, "    {}", escape(advice.command.as_bytes()))?;
        }
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
    let ahead = volume.readahead.as_ref();
    let ahead = ahead.map_or(NOTHING.to_owned(), |ahead| format!("{} KiB", ahead.kib));
    let mut of_volume = Some([
        mount(volume),
        volume.filesystem.clone(),
        layers,
        ahead,
        volume.class.to_string(),
    ]);
    let row = |leaf: &Leaf| {
        let [mount, filesystem, layers, ahead, class] = of_volume.take().unwrap_or_default();
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
            leaf.scheduler.clone().unwrap_or(NOTHING.to_owned()),
            ahead,
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
