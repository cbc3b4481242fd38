//! For people: totals first, then a line for each entry that is not the same on all sides.

use std::collections::HashSet;
use std::io::{self, Write};

use crate::compare::{ComparedEntry, ComparisonAnswer, EntryPlace, Mark, Sum};
use crate::report::escape::escape;
use crate::report::fit::fitting;
use crate::units::{Bytes, count, plural};

use super::Shown;

pub fn write(shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    let comparison = shown.comparison;
    let roots = comparison.tree().roots();
    if !shown.filters.is_empty() {
        writeln!(
            out,
            "Compared only what these filters include: {}",
            shown.filters.join(" ")
        )?;
    }
    let others = match shown.has_two_sides() {
        true => "the other side",
        false => "another side",
    };
    for (root, side) in roots.iter().zip(&comparison.sides) {
        let path = escape(&root.path);
        let said = format!(
            "{path}: {}; also on {others}: {}; only here: {}",
            sum(side.files),
            sum(side.elsewhere),
            sum(side.only)
        );
        for line in fitting([said], shown.columns.unwrap_or(usize::MAX)) {
            writeln!(out, "{line}")?;
        }
    }
    let mut is_first = true;
    let mut unanswered: HashSet<(Vec<u8>, u32)> = HashSet::new();
    for line in shown.lines().filter(|line| {
        let is_other = |mark: &Mark| *mark != Mark::Same;
        line.marks.iter().any(is_other) || !comparison.differing(line).is_empty()
    }) {
        // The entries of two sides at one path, both for the sake of one of them.
        let on = comparison.unanswered_on(line);
        if let Some(side) = on.filter(|_| shown.has_two_sides())
            && !unanswered.insert((shown.path(line), side))
        {
            continue;
        }
        if is_first {
            writeln!(out)?;
        }
        is_first = false;
        entry(shown, line, on, out)?;
    }
    if shown.only.is_some() {
        return Ok(());
    }
    let first = roots
        .first()
        .map_or_else(Default::default, |root| escape(&root.path));
    let said = match (comparison.answer(), comparison.question().one_way) {
        (ComparisonAnswer::Unknown, _) => "The question could not be answered in full.".to_owned(),
        (ComparisonAnswer::Yes, true) => format!("Everything in {first} is also on {others}."),
        (ComparisonAnswer::No, true) => format!("Not everything in {first} is also on {others}."),
        (ComparisonAnswer::Yes, false) => format!("Everything on each side is also on {others}."),
        (ComparisonAnswer::No, false) => "Something is on one side only.".to_owned(),
    };
    writeln!(out)?;
    for line in fitting([said], shown.columns.unwrap_or(usize::MAX)) {
        writeln!(out, "{line}")?;
    }
    Ok(())
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
    match shown.has_two_sides() {
        true => write!(out, "{} ", line.sign())?,
        false => {
            for side in 0..line.marks.len() as u32 {
                write!(out, "{}", column(line, side))?;
            }
            write!(out, " ")?;
        }
    }
    write!(out, "{}", escape(&shown.path(line)))?;
    match line.place {
        EntryPlace::Folder(_, 0, _) | EntryPlace::EmptyFolder(_) => write!(out, "/")?,
        EntryPlace::Folder(_, count, bytes) => write!(out, "/ ({})", sum(Sum { count, bytes }))?,
        EntryPlace::Name(_) | EntryPlace::Other(_) => {}
    }
    let moved = line.marks.iter().find_map(|mark| match mark {
        Mark::Moved(to) => Some(*to),
        _ => None,
    });
    if let (Some(to), true) = (moved, shown.has_two_sides()) {
        let arrow = if line.side == 0 { "=>" } else { "<=" };
        write!(out, " {arrow} {}", escape(&shown.path_of_name(to)))?;
    }
    let roots = shown.comparison.tree().roots();
    if let Some(side) = unanswered.and_then(|side| roots.get(side as usize)) {
        write!(out, " (in {})", escape(&side.path))?;
    }
    if let Some(reason) = line.reason() {
        write!(out, ": {reason}")?;
    }
    let differing = shown.differing(line);
    if !differing.is_empty() {
        write!(out, " (different metadata: {})", differing.join(", "))?;
    }
    writeln!(out)
}

/// What an entry is on one of several sides.
fn column(line: &ComparedEntry, side: u32) -> char {
    match line.marks[side as usize] {
        Mark::Same => '=',
        Mark::Moved(_) => '>',
        Mark::Changed => '*',
        Mark::Missing => '-',
        Mark::Unanswered(_) => '!',
    }
}
