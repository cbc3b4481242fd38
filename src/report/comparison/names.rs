//! Names and nothing else, each ended by NUL, for `rsync --files-from` and `xargs`.

use std::io::{self, Write};

use crate::compare::EntryPlace;

use super::Shown;
use crate::report::bare::no_comment;

pub fn write(shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    for line in shown.lines() {
        // What copies a folder by its name alone copies nothing in it.
        if let EntryPlace::Folder(folder, ..) = line.place {
            below(shown, line.side, folder, out)?;
            continue;
        }
        name(shown, line.side, &shown.path(line), out)?;
    }
    Ok(())
}

/// Writes everything in a folder.
fn below(shown: &Shown<'_>, side: u32, folder: u32, out: &mut dyn Write) -> io::Result<()> {
    let tree = shown.comparison.tree();
    let mut path = Vec::new();
    for folder in tree.below(folder) {
        if tree.is_empty_folder(folder) {
            tree.relative_path(folder, &mut path);
            name(shown, side, &path, out)?;
        }
        for file in tree.names_in(folder) {
            name(shown, side, &tree.path_of_name(file), out)?;
        }
        for other in tree.others_in(folder) {
            tree.relative_path_of(folder, other.name, &mut path);
            name(shown, side, &path, out)?;
        }
    }
    Ok(())
}

fn name(shown: &Shown<'_>, side: u32, relative: &[u8], out: &mut dyn Write) -> io::Result<()> {
    if shown.relative {
        out.write_all(no_comment(relative))?;
        out.write_all(relative)?;
    } else {
        out.write_all(&shown.whole_path(side, relative))?
    }
    out.write_all(b"\0")
}
