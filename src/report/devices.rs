//! Reports about devices: what `seekless devices` prints. A table for people with what was chosen for each file system
//! below it, and why; or a document for programs. The document's keys are a promise (`docs/reference/formats.md`).

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use serde::Serialize;

use super::escape::escape;
use super::{Titled, objects};
use crate::device::{Leaf, LeafKind, Volume};

/// Writes all volumes as one document.
///
/// # Errors
/// Those of `out`.
pub fn write_json(out: &mut dyn Write, volumes: &[&Volume]) -> io::Result<()> {
    #[derive(Serialize)]
    struct Keys<'a> {
        volumes: &'a [&'a Volume],
    }
    objects::write_json(out, &Titled::new("seekless-devices", Keys { volumes }))?;
    out.write_all(b"\n")
}

const TITLES: [&str; 9] = [
    "MOUNT", "TYPE", "LAYERS", "DISK", "ROTATES", "MODEL", "BUS", "SIZE", "CLASS",
];

/// A cell for which there is nothing to say.
const NOTHING: &str = "-";

type Row = [String; TITLES.len()];

/// Writes one row for each disk under each volume, then a paragraph for each volume. Says each piece of advice once.
///
/// # Errors
/// Those of `out`.
pub fn write_table(out: &mut dyn Write, volumes: &[&Volume]) -> io::Result<()> {
    let mut rows = vec![TITLES.map(str::to_owned)];
    rows.extend(volumes.iter().flat_map(|volume| self::rows(volume)));
    let widths: [usize; TITLES.len()] = std::array::from_fn(|column| {
        let lengths = rows.iter().map(|row| row[column].chars().count());
        lengths.max().unwrap_or(0)
    });
    for row in &rows {
        let cells = row.iter().zip(widths);
        let line: String = cells
            .map(|(cell, width)| format!("{cell:<width$}  "))
            .collect();
        writeln!(out, "{}", line.trim_end())?;
    }
    for volume in volumes {
        writeln!(out, "\n{}", mount(volume))?;
        for line in volume.layers().into_iter().chain(volume.reasons()) {
            writeln!(out, "  {line}")?;
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
