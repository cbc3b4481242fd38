//! For people: totals first, then a line for each entry that is not the same on all sides.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use crate::compare::{ComparedEntry, ComparisonAnswer, EntryPlace, Mark, Sum};
use crate::report::escape::escape;
use crate::units::{Bytes, count, plural};

use super::Shown;

pub fn write(shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    let comparison = shown.comparison;
    let roots = comparison.tree().roots();
    if shown.is_filtered {
        writeln!(out, "Compared only what the filters include.")?;
    }
    let others = if shown.has_two_sides() {
        "the other side"
    } else {
        "another side"
    };
    for (root, side) in roots.iter().zip(&comparison.sides) {
        let path = escape(&root.path);
        let said = format!(
            "{path}: {}; also on {others}: {}; only here: {}",
            sum(side.files),
            sum(side.elsewhere),
            sum(side.only)
        );
        writeln!(out, "{said}")?;
    }
    let lines: Vec<&ComparedEntry> = shown
        .lines()
        .filter(|line| {
            let is_other = |mark: &Mark| *mark != Mark::Same;
            line.marks.iter().any(is_other) || !comparison.differing(line).is_empty()
        })
        .collect();
    let mut renamed = renamed_folders(shown, lines.iter().copied());
    if !lines.is_empty() {
        writeln!(out)?;
    }
    let mut unanswered: HashSet<(Vec<u8>, u32)> = HashSet::new();
    for &line in &lines {
        // The entries of two sides at one path, both for the sake of one of them.
        let on = comparison.unanswered_on(line);
        if let Some(side) = on.filter(|_| shown.has_two_sides())
            && !unanswered.insert((shown.path(line), side))
        {
            continue;
        }
        let folder = renamed_of(shown, line);
        match folder.and_then(|of| Some((renamed.get_mut(&of)?.take(), of))) {
            None => entry(shown, line, on, out)?,
            Some((Some(files), folder)) => renamed_folder(&folder, files, out)?,
            // The line of its folder stands for it.
            Some((None, _)) => {}
        }
    }
    if shown.only.is_some() {
        return Ok(());
    }
    if !lines.is_empty() {
        writeln!(out)?;
        writeln!(out, "{}", legend(shown))?;
    }
    let first = roots
        .first()
        .map_or_else(Default::default, |root| escape(&root.path));
    let included = if shown.is_filtered {
        " that the filters include"
    } else {
        ""
    };
    let said = match (comparison.answer(), comparison.question().one_way) {
        (ComparisonAnswer::Unknown, _) => "The question could not be answered in full.".to_owned(),
        (ComparisonAnswer::Yes, true) => {
            format!("Everything in {first}{included} is also on {others}.")
        }
        (ComparisonAnswer::No, true) => format!("Not everything in {first} is also on {others}."),
        (ComparisonAnswer::Yes, false) => {
            format!("Everything on each side{included} is also on {others}.")
        }
        (ComparisonAnswer::No, false) => "Something is on one side only.".to_owned(),
    };
    writeln!(out)?;
    writeln!(out, "{said}")
}

/// What the signs mean.
fn legend(shown: &Shown<'_>) -> String {
    let tree = shown.comparison.tree();
    let missing = match tree.roots() {
        [first, second] => {
            let [first, second] = [first, second].map(|root| escape(&root.path));
            format!("- only in {first}, + only in {second}")
        }
        _ => "- not there".to_owned(),
    };
    // Two sides have a line for what is the same only if its metadata differs.
    let same = if tree.has_metadata() || !shown.has_two_sides() {
        "= the same content at the path, "
    } else {
        ""
    };
    format!(
        "Signs: {same}> at another path, * other content at the path, {missing}, ! not compared"
    )
}

/// One line for the files that moved with their folder.
fn renamed_folder(folder: &RenamedFolder, files: Sum, out: &mut dyn Write) -> io::Result<()> {
    let shown = |path: &[u8]| match path {
        b"" => "./".to_owned(),
        path => format!("{}/", escape(path)),
    };
    let (from, to) = (shown(&folder.from), shown(&folder.to));
    let arrow = arrow(folder.side);
    writeln!(out, "> {from} {arrow} {to} ({})", sum(files))
}

/// To where a file lies on the other side.
fn arrow(side: u32) -> &'static str {
    if side == 0 { "=>" } else { "<=" }
}

fn sum(sum: Sum) -> String {
    let files = plural(sum.count, "file", "files");
    format!("{} {files}, {}", count(sum.count), Bytes(sum.bytes))
}

/// A line. Something on the side `unanswered` is the reason that it could not be answered.
fn entry(
    shown: &Shown<'_>,
    line: &ComparedEntry,
    unanswered: Option<u32>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if shown.has_two_sides() {
        write!(out, "{} ", line.sign())?
    } else {
        let signs: String = line.marks.iter().map(|mark| mark.sign()).collect();
        write!(out, "{signs} ")?;
    }
    write!(out, "{}", escape(&shown.path(line)))?;
    match line.place {
        EntryPlace::Folder(_, 0, _) | EntryPlace::EmptyFolder(_) => write!(out, "/")?,
        EntryPlace::Folder(_, count, bytes) => write!(out, "/ ({})", sum(Sum { count, bytes }))?,
        EntryPlace::Name(_) | EntryPlace::Other(_) => {}
    }
    if let (Some(to), true) = (line.moved(), shown.has_two_sides()) {
        let (arrow, to) = (arrow(line.side), shown.comparison.tree().path_of_name(to));
        write!(out, " {arrow} {}", escape(&to))?;
    }
    let roots = shown.comparison.tree().roots();
    if let Some(side) = unanswered.and_then(|side| roots.get(side as usize)) {
        write!(out, " (in {})", escape(&side.path))?;
    }
    if let Some(reason) = line.reason() {
        write!(out, ": {reason}")?;
    }
    let differing = shown.comparison.differing(line);
    if !differing.is_empty() {
        write!(out, " (different metadata: {})", differing.join(", "))?;
    }
    writeln!(out)
}

/// A folder of a side, and where its files lie on the other one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RenamedFolder {
    side: u32,
    from: Vec<u8>,
    to: Vec<u8>,
}

/// All folders of which several files moved between two sides: one file alone says more by its own name.
fn renamed_folders<'l>(
    shown: &Shown<'_>,
    lines: impl Iterator<Item = &'l ComparedEntry>,
) -> HashMap<RenamedFolder, Option<Sum>> {
    let tree = shown.comparison.tree();
    let mut folders: HashMap<RenamedFolder, Vec<u32>> = HashMap::new();
    for line in lines {
        if let (Some(folder), EntryPlace::Name(name)) = (renamed_of(shown, line), line.place) {
            folders.entry(folder).or_default().push(tree.file_of(name));
        }
    }
    folders.retain(|_, names| names.len() > 1);
    let folders = folders.into_iter().map(|(folder, mut files)| {
        files.sort_unstable();
        files.dedup();
        let bytes = files.iter().map(|&file| tree.size(file));
        let sum = Sum {
            count: files.len() as u64,
            bytes: bytes.fold(0, u64::saturating_add),
        };
        (folder, Some(sum))
    });
    folders.collect()
}

/// The folder that a file moved with: the paths without the names at their ends that are the same.
fn renamed_of(shown: &Shown<'_>, line: &ComparedEntry) -> Option<RenamedFolder> {
    // What else is said of a file needs its line.
    if !shown.has_two_sides() || !shown.comparison.differing(line).is_empty() {
        return None;
    }
    let (from, to) = (
        shown.path(line),
        shown.comparison.tree().path_of_name(line.moved()?),
    );
    let (from, to) = apart(&from, &to)?;
    Some(RenamedFolder {
        side: line.side,
        from: from.to_vec(),
        to: to.to_vec(),
    })
}

/// Two paths without the names at their ends that are the same; `None` if the last ones are not.
fn apart<'p>(one: &'p [u8], other: &'p [u8]) -> Option<(&'p [u8], &'p [u8])> {
    let last = |path: &'p [u8]| match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&path[..0], path),
    };
    let ((one_above, one_name), (other_above, other_name)) = (last(one), last(other));
    if one_name != other_name || one.is_empty() {
        return None;
    }
    apart(one_above, other_above).or(Some((one_above, other_above)))
}
