//! The largest sets of a plan, shown on the terminal above the totals and the question.

use std::io;

use seekless::action::ActionKind;
use seekless::action::plan::{Plan, SetPlan};
use seekless::report::escape::escape;
use seekless::report::fit::shortened;
use seekless::units::{Bytes, counted};

use crate::cli::resolve::act::ActRun;
use crate::cli::terminal::console::Console;
use crate::cli::terminal::progress_text::count;

/// Maximum number of sets, of two or three lines each: a terminal of 24 lines also shows the totals and the question.
const SETS: usize = 5;

/// Maximum number of folders, and of noise files in them.
const FOLDERS: usize = 2;

/// A set as it is shown.
struct Shown {
    /// Bytes of the files that are acted on.
    bytes: u64,
    lines: Vec<String>,
    /// Files that are acted on.
    files: u64,
}

/// Shows what a plan would do to the files of the largest sets.
///
/// # Errors
/// If the plan cannot be read.
pub fn show(run: &ActRun, plan: &mut Plan, console: &Console) -> io::Result<()> {
    let lines = Lines::new(run, plan.action());
    let mut largest: Vec<Shown> = Vec::with_capacity(SETS + 1);
    plan.each_set(|set| {
        if let Some(shown) = lines.of_set(set) {
            let place = largest.partition_point(|other| other.bytes >= shown.bytes);
            largest.insert(place, shown);
            largest.truncate(SETS);
        }
        io::Result::Ok(())
    })?;
    for line in largest.iter().flat_map(|set| &set.lines) {
        console.line(line);
    }
    for line in lines.of_folders(plan) {
        console.line(&line);
    }
    let files: u64 = largest.iter().map(|set| set.files).sum();
    let totals = plan.totals();
    if let more @ 1.. = totals.sets.saturating_sub(largest.len() as u64) {
        console.sentence(&format!(
            "  … and {} in {}: --dry-run shows the whole plan",
            counted(totals.steps.saturating_sub(files), "file", "files"),
            counted(more, "more set", "more sets"),
        ));
    }
    console.line("");
    Ok(())
}

/// Makes lines that fit into the terminal.
struct Lines<'r> {
    run: &'r ActRun,
    action: ActionKind,
    columns: usize,
}

impl<'r> Lines<'r> {
    fn new(run: &'r ActRun, action: ActionKind) -> Self {
        let columns = run.talk.columns.unwrap_or(usize::MAX);
        Self {
            run,
            action,
            columns,
        }
    }

    /// The first file that goes and the one that stays for it, and a third line for what else goes.
    fn of_set(&self, set: &SetPlan) -> Option<Shown> {
        let goes: Vec<_> = set
            .files
            .iter()
            .flat_map(|file| file.acted(self.action).map(move |name| (file, name)))
            .collect();
        let &(first, _) = goes.first()?;
        let (_, stays) = set.kept_for(first)?;
        let shown = if goes.len() > 2 { 1 } else { goes.len() };
        let size = Bytes(set.size).to_string();
        let mut lines = vec![self.line(&size, "keep", &self.path(&stays.path))];
        let going = goes.iter().take(shown);
        let going = going.map(|(_, name)| self.path(&name.path));
        lines.extend(going.map(|path| self.line("", self.action.name(), &path)));
        lines.extend(self.more(self.action.name(), goes.len() - shown));
        Some(Shown {
            bytes: set.size.saturating_mul(goes.len() as u64),
            lines,
            files: goes.len() as u64,
        })
    }

    /// The noise and the folders that are removed at the end.
    fn of_folders(&self, plan: &Plan) -> Vec<String> {
        let noise = plan.noise().map(|file| &file.path[..]).collect();
        let folders = plan.empty_folders().iter();
        let folders = folders.map(|folder| &folder.path[..]).collect();
        let all: [(&str, Vec<&[u8]>); 2] = [(self.action.name(), noise), ("remove", folders)];
        let mut lines = Vec::new();
        for (what, paths) in all {
            let shown = paths.iter().take(FOLDERS);
            lines.extend(shown.map(|path| self.line("", what, &self.path(path))));
            lines.extend(self.more(what, paths.len().saturating_sub(FOLDERS)));
        }
        lines
    }

    fn path(&self, path: &[u8]) -> String {
        escape(&self.run.links.as_given(path)).into_owned()
    }

    fn line(&self, size: &str, what: &str, path: &str) -> String {
        let width = self.action.name().len().max("remove".len());
        let before = format!("{size:>10}  {what:<width$}  ");
        let path = shortened(path, self.columns.saturating_sub(before.len()));
        format!("{before}{path}")
    }

    fn more(&self, what: &str, names: usize) -> Option<String> {
        let more = format!("… and {} more", count(names as u64));
        (names > 0).then(|| self.line("", what, &more))
    }
}
