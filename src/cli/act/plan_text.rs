//! A plan as people read it.

use std::io::{self, Write};

use seekless::action::plan::{Fate, Plan, PlannedFile, PlannedName, SetPlan};
use seekless::action::{ActionKind, Code, Reason};
use seekless::report::earlier;
use seekless::report::escape::escape;
use seekless::report::fit::fitting;
use seekless::units::Bytes;

use super::dangling_text;
use super::plan_summary;
use crate::cli::front::option_words::typed;
use crate::cli::resolve::act::ActRun;
use crate::cli::resolve::root_links::RootLinks;
use crate::cli::terminal::sanitize;

/// The indent of the lines below a path.
const REASON: &str = "             ";

const SAME_FILE: &str = "another name of the same file";

/// Writes a plan set by set: who stays and why, who goes, who is left alone and why.
pub struct PlanText<'r> {
    action: ActionKind,
    destination: Option<Vec<u8>>,
    links: &'r RootLinks,
    /// Columns of the terminal that it is shown on. There, sizes are rounded, digests are left out, sentences are broken
    /// between words, and paths are spelled as they were given; names are left whole.
    columns: Option<usize>,
}

impl<'r> PlanText<'r> {
    /// For this run and plan, on a terminal of so many columns.
    pub fn new(run: &'r ActRun, plan: &Plan, columns: Option<usize>) -> Self {
        Self {
            action: plan.action(),
            destination: run.acting.destination.clone(),
            links: &run.links,
            columns,
        }
    }

    /// Says what it is.
    pub fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        self.sentence(out, format!("# {}{}", self.action.name(), earlier::PLAN))?;
        let links = self.links.lines();
        links
            .iter()
            .map(|line| format!("# {line}"))
            .try_for_each(|line| self.sentence(out, line))
    }

    /// Writes one set.
    pub fn set(&self, out: &mut dyn Write, set: &SetPlan) -> io::Result<()> {
        if !takes_part(set) {
            return Ok(());
        }
        match self.columns {
            Some(_) => self.short_head(out, set)?,
            None => {
                let bytes = set.size;
                write!(out, "\n{} ({bytes} bytes)", Bytes(set.size))?;
                if let Some(frees) = self.frees(set) {
                    write!(out, ", frees {} ({frees} bytes)", Bytes(frees))?;
                }
                writeln!(out, "{}", digest(set))?;
            }
        }
        for file in &set.files {
            for nth in 0..file.names.len() {
                self.name(out, set, file, nth)?;
            }
        }
        for left in &set.left {
            self.line(out, "leave", &left.path, Some(&typed(&left.why)))?;
        }
        Ok(())
    }

    /// Writes the head of a set on a terminal.
    fn short_head(&self, out: &mut dyn Write, set: &SetPlan) -> io::Result<()> {
        write!(out, "\n{}", Bytes(set.size))?;
        match self.frees(set) {
            Some(frees) => writeln!(out, ", frees {}", Bytes(frees)),
            None => writeln!(out),
        }
    }

    /// Bytes that the plan frees in a set; none in the trash, until it is emptied.
    fn frees(&self, set: &SetPlan) -> Option<u64> {
        let frees = set.files.iter().map(frees);
        (self.action != ActionKind::Trash).then(|| frees.fold(0, u64::saturating_add))
    }

    /// Writes what becomes of a name, and why.
    fn name(
        &self,
        out: &mut dyn Write,
        set: &SetPlan,
        file: &PlannedFile,
        nth: usize,
    ) -> io::Result<()> {
        let name = &file.names[nth];
        let (what, why) = match &file.fate {
            Fate::Keep(_) if name.goes => {
                let why = "a hard link to a kept file: frees no space";
                (self.action.name(), Some(why.to_owned()))
            }
            Fate::Keep(_) if nth > 0 => ("keep", Some(SAME_FILE.to_owned())),
            Fate::Keep(why) => ("keep", Some(typed(why))),
            Fate::Leave(why) => ("leave", Some(left_name(why, name))),
            Fate::Act { .. } if nth > 0 && self.action == ActionKind::Reflink => {
                (self.action.name(), Some(SAME_FILE.to_owned()))
            }
            Fate::Act { keeper, .. } => {
                self.line(out, self.action.name(), &name.path, None)?;
                return self.details(out, set, file, &name.path, *keeper);
            }
        };
        self.line(out, what, &name.path, why.as_deref())?;
        match name.goes {
            true => self.to_destination(out, &name.path),
            false => Ok(()),
        }
    }

    /// Says for which file another one goes, and what is special about that.
    fn details(
        &self,
        out: &mut dyn Write,
        set: &SetPlan,
        file: &PlannedFile,
        path: &[u8],
        keeper: usize,
    ) -> io::Result<()> {
        let is_kept = |file: &&PlannedFile| matches!(file.fate, Fate::Keep(_));
        let has_several = set.files.iter().filter(is_kept).nth(1).is_some();
        let to = set.files.get(keeper).and_then(|file| file.names.first());
        if let Some(to) = to.filter(|_| has_several) {
            writeln!(out, "{REASON}for {}", self.path(&to.path))?;
        }
        if let Some(owner) = set.other_owner(file, self.action) {
            let why = format!("the kept file belongs to another owner (uid {owner})");
            self.because(out, &why)?;
        }
        self.to_destination(out, path)?;
        match frees_nothing(file, self.action) {
            Some(why) => self.because(out, &why),
            None => Ok(()),
        }
    }

    fn line(
        &self,
        out: &mut dyn Write,
        what: &str,
        path: &[u8],
        why: Option<&str>,
    ) -> io::Result<()> {
        writeln!(out, "  {what:<8} {}", self.path(path))?;
        match why {
            Some(why) => self.because(out, why),
            None => Ok(()),
        }
    }

    fn path(&self, path: &[u8]) -> String {
        match self.columns {
            Some(_) => escape(&self.links.as_given(path)).into_owned(),
            None => escape(path).into_owned(),
        }
    }

    /// Writes a line. Reasons may contain text of the system, such as the type of a file system.
    fn sentence(&self, out: &mut dyn Write, line: String) -> io::Result<()> {
        let line = sanitize::message(&line).into_owned();
        fitting([line], self.columns.unwrap_or(usize::MAX))
            .iter()
            .try_for_each(|line| writeln!(out, "{line}"))
    }

    fn because(&self, out: &mut dyn Write, why: &str) -> io::Result<()> {
        self.sentence(out, format!("{REASON}{why}"))
    }

    /// Says where a file goes, if it goes to another folder.
    fn to_destination(&self, out: &mut dyn Write, path: &[u8]) -> io::Result<()> {
        match &self.destination {
            Some(folder) => writeln!(out, "{REASON}to {}{}", escape(folder), escape(path)),
            None => Ok(()),
        }
    }

    /// Says what concerns the plan as a whole.
    pub fn end(&self, out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
        if let Some(line) = plan_summary::without_reference(plan.totals()) {
            writeln!(out)?;
            self.sentence(out, format!("# {line}"))?;
        }
        if let Some(line) = plan_summary::empty_folders(plan) {
            writeln!(out)?;
            self.sentence(out, format!("# {line}"))?;
        }
        for folder in plan.empty_folders() {
            for file in &folder.noise {
                self.line(out, self.action.name(), &file.path, Some("noise"))?;
                if let Some(folder) = &self.destination {
                    self.because(out, &format!("to {}{}", escape(folder), escape(&file.path)))?;
                }
            }
            self.line(out, "remove", &folder.path, None)?;
        }
        dangling_text::in_plan(out, plan)
    }
}

/// The digest of a set, behind its size; nothing where there is none.
pub fn digest(set: &SetPlan) -> String {
    let digest = set.digest.as_deref();
    let digest = digest.map(|digest| format!(", blake3 {digest}"));
    digest.unwrap_or_default()
}

/// Why a name of a file that was found is left alone.
pub fn left_name(why: &Reason, name: &PlannedName) -> String {
    match (why.code, name.stays_with()) {
        (Code::Group, Some(other)) => format!("stays with {}", escape(other)),
        _ => typed(why),
    }
}

/// True if something is done in the set, or left alone.
pub fn takes_part(set: &SetPlan) -> bool {
    set.acts() || !set.left.is_empty() || set.files.iter().any(is_left)
}

/// Sets without a reference are not what the user asked for: they are counted at the end.
fn is_left(file: &PlannedFile) -> bool {
    matches!(&file.fate, Fate::Leave(why) if why.code != Code::NoReference)
}

fn frees(file: &PlannedFile) -> u64 {
    match file.fate {
        Fate::Act { frees, .. } => frees,
        _ => 0,
    }
}

/// Says why a file that goes gives nothing back.
fn frees_nothing(file: &PlannedFile, action: ActionKind) -> Option<String> {
    if frees(file) > 0
        || matches!(
            action,
            ActionKind::Trash | ActionKind::Move | ActionKind::Reflink
        )
    {
        return None;
    }
    match file.names_elsewhere() {
        0 => None,
        1 => Some("frees no space: the file has another name, which is not in this set".to_owned()),
        more => Some(format!(
            "frees no space: the file has {more} other names, which are not in this set"
        )),
    }
}
