//! For people: totals first, then a line for each entry that is not the same on all sides.

use std::collections::HashSet;
use std::io::{self, Write};

use crate::compare::{ComparedEntry, ComparisonAnswer, EntryPlace, Mark, Sum};
use crate::report::escape::escape;
use crate::report::fit::fitting;
use crate::units::{Bytes, count, plural};

use super::renamed::{self, RenamedFolder};
use super::{Only, Shown};

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
    let lines: Vec<&ComparedEntry> = shown
        .lines()
        .filter(|line| {
            let is_other = |mark: &Mark| *mark != Mark::Same;
            line.marks.iter().any(is_other) || !comparison.differing(line).is_empty()
        })
        .collect();
    let mut renamed = renamed::all(shown, lines.iter().copied());
    renamed.retain(|_, together| together.are_several());
    if !lines.is_empty() {
        writeln!(out)?;
    }
    let mut told: HashSet<RenamedFolder> = HashSet::new();
    let mut unanswered: HashSet<(Vec<u8>, u32)> = HashSet::new();
    for &line in &lines {
        // The entries of two sides at one path, both for the sake of one of them.
        let on = comparison.unanswered_on(line);
        if let Some(side) = on.filter(|_| shown.has_two_sides())
            && !unanswered.insert((shown.path(line), side))
        {
            continue;
        }
        let folder = renamed::of(shown, line);
        let folder = folder.and_then(|of| Some((renamed.get(&of)?.sum, of)));
        match folder {
            None => entry(shown, line, on, out)?,
            Some((files, folder)) if !told.contains(&folder) => {
                renamed_folder(&folder, files, out)?;
                told.insert(folder);
            }
            Some(_) => {}
        }
    }
    if shown.only.is_some() {
        return Ok(());
    }
    let width = shown.columns.unwrap_or(usize::MAX);
    if !lines.is_empty() {
        writeln!(out)?;
        let legend = fitting([legend(shown, &lines)], width);
        legend.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    let first = roots
        .first()
        .map_or_else(Default::default, |root| escape(&root.path));
    let included = match shown.filters.is_empty() {
        true => "",
        false => " that the filters include",
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
    let ways = match comparison.answer() {
        ComparisonAnswer::No => ways_to_see(shown),
        ComparisonAnswer::Yes | ComparisonAnswer::Unknown => None,
    };
    for line in fitting([said].into_iter().chain(ways), width) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// What the signs of these lines mean.
fn legend(shown: &Shown<'_>, lines: &[&ComparedEntry]) -> String {
    let only_in = |side: usize| match shown.has_two_sides() {
        true => format!(
            "only in {}",
            escape(&shown.comparison.tree().roots()[side].path)
        ),
        false => "not there".to_owned(),
    };
    let signs = [
        ('=', "the same".to_owned()),
        ('>', "the same content at another path".to_owned()),
        ('*', "other content at the same path".to_owned()),
        ('-', only_in(0)),
        ('+', only_in(1)),
        ('!', "not compared".to_owned()),
    ];
    let used: HashSet<char> = match shown.has_two_sides() {
        true => lines.iter().map(|line| line.sign()).collect(),
        false => {
            let of_line = |line: &&ComparedEntry| {
                let sides = 0..line.marks.len() as u32;
                sides.map(|side| column(line, side)).collect::<Vec<_>>()
            };
            lines.iter().flat_map(of_line).collect()
        }
    };
    let used = signs.iter().filter(|(sign, _)| used.contains(sign));
    let used: Vec<String> = used
        .map(|(sign, words)| format!("{sign} {words}"))
        .collect();
    format!("Signs: {}", used.join(", "))
}

/// How to select what is missing.
fn ways_to_see(shown: &Shown<'_>) -> Option<String> {
    let path = |side: usize| escape(&shown.comparison.tree().roots()[side].path);
    let lines = &shown.comparison.lines;
    let ways = [
        (Only::Here, format!("only in {}", path(0))),
        (Only::There, format!("not in {}", path(0))),
        (Only::Changed, "other content at the same path".to_owned()),
    ];
    let ways = ways
        .iter()
        .filter(|(only, _)| lines.iter().any(|line| only.shows(line)));
    let ways: Vec<String> = ways
        .map(|(only, words)| format!("{} {} ({words})", shown.selector, only.name()))
        .collect();
    (!ways.is_empty()).then(|| format!("To see only that, add {}.", ways.join(" or ")))
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
        let (arrow, to) = (arrow(line.side), shown.path_of_name(to));
        write!(out, " {arrow} {}", escape(&to))?;
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
