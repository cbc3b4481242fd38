//! A plan as people read it: who stays and why, who goes, who is left alone and why.

use std::io::{self, Write};

use seekless::action::ActionKind;
use seekless::action::plan::{Plan, SetPlan};
use seekless::report::escape::escape;
use seekless::report::fit::fitting;
use seekless::report::output;
use seekless::units::{Bytes, count};

use super::plan_summary;
use super::rows::{rows, takes_part};
use crate::cli::resolve::act::ActRun;
use crate::cli::terminal::sanitize;

/// The indent of the lines below a path.
const BELOW: &str = "             ";

const SAME_FILE: &str = "another name of the same file";

/// Writes a plan. On a terminal, sentences are broken between words, and paths are spelled as they were given.
pub fn write(out: &mut dyn Write, run: &ActRun, plan: &Plan) -> io::Result<()> {
    let mut text = Text {
        out,
        run,
        action: plan.action(),
    };
    let title = format!("{}{}", plan.action().name(), output::PLAN);
    for line in std::iter::once(title).chain(run.links.lines()) {
        text.sentence(&format!("# {line}"))?;
    }
    for set in plan.sets().iter().filter(|set| takes_part(set)) {
        text.set(set)?;
    }
    let about = plan_summary::without_reference(plan.totals()).into_iter();
    for line in about.chain(plan_summary::empty_folders(plan)) {
        writeln!(text.out)?;
        text.sentence(&format!("# {line}"))?;
    }
    for folder in plan.empty_folders() {
        for file in &folder.noise {
            text.name(plan.action().name(), &file.path)?;
            text.below("noise")?;
        }
        text.name("remove", &folder.path)?;
    }
    text.links(plan)
}

struct Text<'a> {
    out: &'a mut dyn Write,
    run: &'a ActRun,
    action: ActionKind,
}

impl Text<'_> {
    fn set(&mut self, set: &SetPlan) -> io::Result<()> {
        let rows = rows(self.run, self.action, set);
        write!(self.out, "\n{}", Bytes(set.size))?;
        // The trash frees nothing until it is emptied.
        if self.action != ActionKind::Trash {
            let frees = rows.iter().map(|row| row.frees);
            let frees = frees.fold(0, u64::saturating_add);
            write!(self.out, ", frees {}", Bytes(frees))?;
        }
        writeln!(self.out)?;
        let mut kept = rows.iter().filter(|row| row.fate == "keep");
        let first = kept.next().map(|row| row.file);
        let has_several = kept.any(|row| Some(row.file) != first);
        let mut before = None;
        for row in &rows {
            let what = match row.fate {
                "act" => self.action.name(),
                other => other,
            };
            self.name(what, row.path.0)?;
            if let Some(keeper) = row.keeper.filter(|_| has_several) {
                let keeper = self.path(keeper.0);
                writeln!(self.out, "{BELOW}for {keeper}")?;
            }
            let this = row.file.map(|file| (file, row.fate));
            match &row.why {
                _ if this.is_some() && this == before => self.below(SAME_FILE)?,
                Some(why) => self.below(why)?,
                None => {}
            }
            before = this;
            if let Some(to) = &row.to {
                writeln!(self.out, "{BELOW}to {}", escape(&to.0))?;
            }
        }
        Ok(())
    }

    fn name(&mut self, what: &str, path: &[u8]) -> io::Result<()> {
        let path = self.path(path);
        writeln!(self.out, "  {what:<8} {path}")
    }

    fn path(&self, path: &[u8]) -> String {
        match self.run.plan_columns {
            Some(_) => escape(&self.run.links.as_given(path)).into_owned(),
            None => escape(path).into_owned(),
        }
    }

    fn below(&mut self, words: &str) -> io::Result<()> {
        self.sentence(&format!("{BELOW}{words}"))
    }

    /// Reasons may contain text of the system, such as the type of a file system.
    fn sentence(&mut self, line: &str) -> io::Result<()> {
        let line = sanitize::message(line).into_owned();
        let lines = fitting([line], self.run.plan_columns.unwrap_or(usize::MAX));
        let mut lines = lines.iter();
        lines.try_for_each(|line| writeln!(self.out, "{line}"))
    }

    /// All known links that will break.
    fn links(&mut self, plan: &Plan) -> io::Result<()> {
        let links = plan.dangling();
        if links.number == 0 {
            return Ok(());
        }
        writeln!(self.out, "\n# Symbolic links that will break")?;
        for link in &links.named {
            writeln!(self.out, "  {}", sanitize::path(&link.link))?;
            let leads_to = sanitize::path(&link.leads_to);
            writeln!(self.out, "    leads to {leads_to}")?;
        }
        match links.number - links.named.len() as u64 {
            0 => Ok(()),
            more => writeln!(self.out, "  … and {} more", count(more)),
        }
    }
}
