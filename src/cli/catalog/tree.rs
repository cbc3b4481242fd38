//! `seekless catalog tree`: the folders and files of a catalog.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;

use seekless::catalog::{Kind, Row};
use seekless::report::escape::{escape, unescape};
use seekless::units::{Bytes, files};

use super::{each, open};
use crate::cli::args::catalog::TreeArgs;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};

/// A file system, and the parts of a path on it.
type Place = (Option<String>, Vec<Vec<u8>>);

/// What is listed: a path on this file system, or on whichever.
type Start = (Option<Option<String>>, Vec<Vec<u8>>);

/// A line of the tree.
#[derive(Default)]
struct Line {
    files: u64,
    bytes: u64,
    is_folder: bool,
    /// What a link says, or what is not known.
    note: Option<String>,
}

/// Prints what is in a folder, with the files and bytes below each folder in it.
pub fn tree(args: &TreeArgs) -> Result<Exit, Stop> {
    let catalog = open(&args.catalog)?;
    let starts: Vec<Start> = match &args.path {
        Some(path) => vec![(None, parts(path.as_bytes()))],
        None => {
            let roots = catalog.facts().roots.iter();
            let starts = roots.filter_map(|root| {
                let dir = unescape(root.dir.as_bytes()).ok()?;
                Some((Some(root.volume.clone()), parts(&dir)))
            });
            starts.collect()
        }
    };
    let depth = args.depth as usize;
    let mut lines = BTreeMap::<Place, Line>::new();
    each(&args.catalog, &catalog, |row| {
        let path = parts(&row.path());
        // A path may be below several of them, and counts once.
        let above = starts.iter().filter(|(volume, start)| {
            let is_there = volume.as_ref().is_none_or(|it| it.as_deref() == row.volume);
            is_there && path.starts_with(start)
        });
        let shown = above.map(|(_, start)| start.len()..=start.len() + depth);
        let shown: Vec<_> = shown.collect();
        for len in (0..=path.len()).filter(|len| shown.iter().any(|it| it.contains(len))) {
            let place = (row.volume.map(str::to_owned), path[..len].to_vec());
            lines.entry(place).or_default().add(row, len == path.len());
        }
    })?;
    if lines.is_empty() {
        let path = args.path.as_deref().unwrap_or_default();
        return refuse(format!("{}: not in the catalog", escape(path.as_bytes())));
    }
    console::print_lines(lines.iter().map(|((_, path), line)| line.text(path)))?;
    Ok(Exit::Done)
}

impl Line {
    fn add(&mut self, row: &Row<'_>, is_itself: bool) {
        self.files += u64::from(row.kind == Kind::File);
        self.bytes = self.bytes.saturating_add(row.bytes());
        let is_folder = !is_itself || row.kind == Kind::Folder || row.name.is_empty();
        self.is_folder |= is_folder;
        if is_itself {
            let target = row.target.map(|target| format!("-> {}", escape(target)));
            let is_special = matches!(row.kind, Kind::Special(_));
            let kind = is_special.then(|| row.kind.word().to_owned());
            let notes = [target, kind, row.error.map(str::to_owned)];
            let notes: Vec<String> = notes.into_iter().flatten().collect();
            self.note = (!notes.is_empty()).then(|| notes.join(", "));
        }
    }

    fn text(&self, path: &[Vec<u8>]) -> String {
        let path = path.join(&b'/');
        let end = if self.is_folder && !path.is_empty() {
            "/"
        } else {
            ""
        };
        let mut text = format!(
            "{:>9}  /{}{end}",
            Bytes(self.bytes).to_string(),
            escape(&path)
        );
        if self.is_folder {
            text.push_str(&format!("  ({})", files(self.files)));
        }
        if let Some(note) = &self.note {
            text.push_str(&format!("  {note}"));
        }
        text
    }
}

fn parts(path: &[u8]) -> Vec<Vec<u8>> {
    let parts = path.split(|&byte| byte == b'/');
    let parts = parts.filter(|part| !part.is_empty() && *part != b".");
    parts.map(<[u8]>::to_vec).collect()
}
