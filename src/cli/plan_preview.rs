//! The first sets of a plan, shown on the terminal above the totals and the question.

use std::io;

use seekless::action::ActionKind;
use seekless::action::plan::{Fate, Plan, PlannedFile, SetPlan};
use seekless::report::escape::escape;

use super::console::Console;
use super::plan_text::PlanText;
use super::progress_text::count;
use super::resolve_act::ActRun;

/// Maximum number of lines, unless the first set has more: a terminal of 24 lines also shows the totals and the question.
const LINES: usize = 16;

/// Maximum number of names that are shown of each set: of files to keep, and of files to act on.
const KEPT: usize = 3;
const ACTED: usize = 10;

/// Maximum number of folders, and of noise files in them.
const FOLDERS: usize = 5;

/// Why the sets after this one are not shown.
enum Stop {
    NoRoom,
    Unreadable(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// Shows what a plan would do to which file, as far as there is room.
///
/// # Errors
/// If the plan cannot be read.
pub fn show(run: &ActRun, plan: &mut Plan, console: &Console) -> io::Result<()> {
    let columns = run.talk.columns.unwrap_or(usize::MAX).max(1);
    let text = PlanText::new(run, plan, Some(columns));
    let action = plan.action();
    let (mut used, mut shown) = (0, 0);
    let read = plan.each_set(|set| {
        if !set.acts() {
            return Ok(());
        }
        let (lines, steps) = of_set(&text, set, action)?;
        let height = |line: &String| line.chars().count().div_ceil(columns).max(1);
        let height: usize = lines.iter().map(height).sum();
        if used > 0 && used + height > LINES {
            return Err(Stop::NoRoom);
        }
        used += height;
        shown += steps;
        lines.iter().for_each(|line| console.line(line));
        Ok(())
    });
    if let Err(Stop::Unreadable(error)) = read {
        return Err(error);
    }
    let more = plan.totals().steps.saturating_sub(shown);
    let folders = of_folders(plan);
    if more > 0 {
        console.line("");
        console.sentence(&format!(
            "… and {} more to {}: --dry-run shows the whole plan",
            count(more),
            action.name(),
        ));
    }
    folders.iter().for_each(|line| console.line(line));
    if used > 0 {
        console.line("");
    }
    Ok(())
}

/// The lines of a set, and the number of steps in them.
fn of_set(text: &PlanText, set: &SetPlan, action: ActionKind) -> io::Result<(Vec<String>, u64)> {
    let mut out = Vec::new();
    text.short_head(&mut out, set)?;
    let names = |acted: bool| {
        let names = set
            .files
            .iter()
            .flat_map(|file| (0..file.names.len()).map(move |nth| (file, nth)));
        names.filter(move |&(file, nth)| is_acted_on(file, nth) == Some(acted))
    };
    for (file, nth) in names(false).take(KEPT) {
        text.name(&mut out, set, file, nth)?;
    }
    text.more(&mut out, "keep", names(false).count().saturating_sub(KEPT))?;
    let mut steps = 0;
    for (file, nth) in names(true).take(ACTED) {
        text.name(&mut out, set, file, nth)?;
        // Of a file that only shares its blocks, the first name is the step.
        steps += u64::from(nth == 0 || action != ActionKind::Reflink);
    }
    let more = names(true).count().saturating_sub(ACTED);
    text.more(&mut out, action.name(), more)?;
    let out = String::from_utf8_lossy(&out);
    Ok((out.lines().map(str::to_owned).collect(), steps))
}

/// True if a name is acted on, false if it stays; the names that are left alone are counted below.
fn is_acted_on(file: &PlannedFile, nth: usize) -> Option<bool> {
    match file.fate {
        Fate::Keep(_) => Some(file.names[nth].goes),
        Fate::Act { .. } => Some(true),
        Fate::Leave(_) => None,
    }
}

/// Names the noise and the folders that are removed at the end.
fn of_folders(plan: &Plan) -> Vec<String> {
    let noise = plan.noise().map(|file| &file.path[..]).collect();
    let folders = plan.empty_folders().iter();
    let folders = folders.map(|folder| &folder.path[..]).collect();
    let mut lines = Vec::new();
    let all: [(&str, Vec<&[u8]>); 2] = [(plan.action().name(), noise), ("remove", folders)];
    for (what, paths) in all {
        let shown = paths.iter().take(FOLDERS);
        lines.extend(shown.map(|path| format!("  {what:<8} {}", escape(path))));
        if let more @ 1.. = paths.len().saturating_sub(FOLDERS) {
            lines.push(format!("  {what:<8} … and {} more", count(more as u64)));
        }
    }
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}
