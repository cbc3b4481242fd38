//! A plan as people read it: who stays and why, who goes, who is left alone and why.

use std::cmp::Reverse;
use std::io::{self, Write};

use seekless::action::ActionKind;
use seekless::action::plan::{Plan, SetPlan};
use seekless::report::escape::escape;
use seekless::report::output;
use seekless::units::{Bytes, count, counted, files};

use super::plan_summary;
use super::rows::{rows, takes_part};
use crate::cli::terminal::console;

/// The indent of the lines below a path.
const BELOW: &str = "             ";

/// Sets that are shown above the question, and names of each: a terminal of 24 lines also shows the totals and the
/// question.
const SETS: usize = 3;
const NAMES: usize = 3;

/// Folders that are shown there.
const FOLDERS: usize = 2;

/// Writes a plan.
pub fn write(out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
    let mut text = Text { out, plan };
    text.line(&format!("# {}{}", plan.action().name(), output::PLAN))?;
    for set in plan.sets().iter().filter(|set| takes_part(set)) {
        text.set(set, usize::MAX)?;
    }
    let about = plan_summary::without_reference(plan.totals()).into_iter();
    for line in about.chain(plan_summary::empty_folders(plan)) {
        text.line(&format!("\n# {line}"))?;
    }
    text.folders(usize::MAX)?;
    text.links()
}

/// Writes the largest sets of a plan.
pub fn preview(out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
    let mut text = Text { out, plan };
    let acted = |set: &SetPlan| {
        let names = set.files.iter().flat_map(|file| file.acted(plan.action()));
        names.count() as u64
    };
    let mut sets: Vec<_> = plan.sets().iter().filter(|set| set.acts()).collect();
    sets.sort_by_key(|set| Reverse(set.size.saturating_mul(acted(set))));
    sets.truncate(SETS);
    for set in &sets {
        text.set(set, NAMES)?;
    }
    text.folders(FOLDERS)?;
    let totals = plan.totals();
    if let more @ 1.. = totals.sets.saturating_sub(sets.len() as u64) {
        let shown = sets.iter().map(|set| acted(set)).sum();
        text.line(&format!(
            "\n… and {} in {}: --dry-run shows the whole plan",
            files(plan_summary::acted(totals).saturating_sub(shown)),
            counted(more, "more set", "more sets"),
        ))?;
    }
    text.line("")
}

struct Text<'a> {
    out: &'a mut dyn Write,
    plan: &'a Plan,
}

impl Text<'_> {
    /// Writes the first of the names of a set.
    fn set(&mut self, set: &SetPlan, most: usize) -> io::Result<()> {
        let mut rows = rows(self.plan, set);
        if rows.len() > most {
            rows.sort_by_key(|row| row.fate != "keep");
            rows.dedup_by(|next, row| row.fate == "keep" && next.fate == "keep");
        }
        write!(self.out, "\n{}", Bytes(set.size))?;
        // The trash frees nothing until it is emptied.
        if self.plan.action() != ActionKind::Trash {
            let frees = rows.iter().map(|row| row.frees);
            let frees = frees.fold(0, u64::saturating_add);
            write!(self.out, ", frees {}", Bytes(frees))?;
        }
        if rows.iter().any(|row| row.tags.is_some()) {
            write!(self.out, ", the same but for tags")?;
        }
        writeln!(self.out)?;
        let mut kept = rows.iter().filter(|row| row.fate == "keep");
        let first = kept.next().map(|row| row.file);
        let has_several = kept.any(|row| Some(row.file) != first);
        let mut before = None;
        for row in rows.iter().take(most) {
            let what = match row.fate {
                "act" => self.plan.action().name(),
                other => other,
            };
            self.name(what, row.path.0)?;
            if let Some(tags) = &row.tags {
                self.line(&format!("{BELOW}{tags}"))?;
            }
            if let Some(keeper) = row.keeper.filter(|_| has_several) {
                self.line(&format!("{BELOW}for {}", escape(keeper.0)))?;
            }
            let this = row.file.map(|file| (file, row.fate));
            let is_same = this.is_some() && this == before;
            let why = row.why.as_deref();
            if let Some(why) = why.filter(|_| !is_same) {
                self.line(&format!("{BELOW}{why}"))?;
            } else if is_same {
                self.line(&format!("{BELOW}another name of the same file"))?;
            }
            before = this;
            if let Some(to) = &row.to {
                self.line(&format!("{BELOW}to {}", escape(&to.0)))?;
            }
        }
        self.more(rows.len(), most)
    }

    /// Writes the first of the folders that go.
    fn folders(&mut self, most: usize) -> io::Result<()> {
        let folders = self.plan.empty_folders();
        for folder in folders.iter().take(most) {
            self.name("remove", &folder.path)?;
        }
        self.more(folders.len(), most)
    }

    fn name(&mut self, what: &str, path: &[u8]) -> io::Result<()> {
        writeln!(self.out, "  {what:<8} {}", escape(path))
    }

    fn more(&mut self, all: usize, shown: usize) -> io::Result<()> {
        match all.saturating_sub(shown) {
            0 => Ok(()),
            more => writeln!(self.out, "  … and {} more", count(more as u64)),
        }
    }

    /// Reasons may contain text of the system, such as the type of a file system.
    fn line(&mut self, line: &str) -> io::Result<()> {
        let (start, line) = line.split_at(usize::from(line.starts_with('\n')));
        writeln!(self.out, "{start}{}", console::message(line))
    }

    /// All known links that will break.
    fn links(&mut self) -> io::Result<()> {
        let links = self.plan.dangling();
        if links.number == 0 {
            return Ok(());
        }
        self.line("\n# Symbolic links that will break")?;
        for link in &links.named {
            let [link, leads_to] = [&link.link, &link.leads_to].map(|path| console::path(path));
            writeln!(self.out, "  {link}\n    leads to {leads_to}")?;
        }
        self.more(links.number as usize, links.named.len())
    }
}
