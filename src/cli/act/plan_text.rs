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
const FURTHER_NAME: &str = "a hard link to a kept file: frees no space";

/// A form in which a plan is written.
pub trait PlanForm {
    /// Says what it is.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// Writes one set.
    fn set(&mut self, out: &mut dyn Write, set: &SetPlan) -> io::Result<()>;

    /// Says what concerns the plan as a whole.
    fn end(&mut self, out: &mut dyn Write, plan: &Plan) -> io::Result<()>;
}

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
}

impl PlanForm for PlanText<'_> {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let title = format!("{}{}", self.action.name(), earlier::PLAN);
        let about = std::iter::once(title).chain(self.links.lines());
        let lines = about.flat_map(|line| self.sentence(&format!("# {line}")));
        write(out, lines.collect())
    }

    fn set(&mut self, out: &mut dyn Write, set: &SetPlan) -> io::Result<()> {
        if !takes_part(set) {
            return Ok(());
        }
        let exactly = |bytes: u64| match self.columns {
            Some(_) => String::new(),
            None => format!(" ({bytes} bytes)"),
        };
        let mut head = format!("{}{}", Bytes(set.size), exactly(set.size));
        // The trash frees nothing until it is emptied.
        if self.action != ActionKind::Trash {
            let frees = set.files.iter().map(frees).fold(0, u64::saturating_add);
            head += &format!(", frees {}{}", Bytes(frees), exactly(frees));
        }
        if let (Some(digest), None) = (&set.digest, self.columns) {
            head += &format!(", blake3 {digest}");
        }
        let mut lines = vec![String::new(), head];
        for file in &set.files {
            lines.extend((0..file.names.len()).flat_map(|nth| self.name(set, file, nth)));
        }
        for left in &set.left {
            lines.push(self.line("leave", &left.path));
            lines.extend(self.because(&typed(&left.why)));
        }
        write(out, lines)
    }

    fn end(&mut self, out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
        let about = plan_summary::without_reference(plan.totals()).into_iter();
        let about = about.chain(plan_summary::empty_folders(plan));
        let mut lines = Vec::new();
        for line in about {
            lines.push(String::new());
            lines.extend(self.sentence(&format!("# {line}")));
        }
        for folder in plan.empty_folders() {
            for file in &folder.noise {
                lines.push(self.line(self.action.name(), &file.path));
                lines.extend(self.because("noise"));
                lines.extend(self.to_destination(&file.path));
            }
            lines.push(self.line("remove", &folder.path));
        }
        write(out, lines)?;
        dangling_text::in_plan(out, plan)
    }
}

fn write(out: &mut dyn Write, lines: Vec<String>) -> io::Result<()> {
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

impl PlanText<'_> {
    /// What becomes of a name, and why.
    fn name(&self, set: &SetPlan, file: &PlannedFile, nth: usize) -> Vec<String> {
        let name = &file.names[nth];
        let acts = file.acts_on(name);
        let act = self.action.name();
        let is_step = nth == 0 || self.action != ActionKind::Reflink;
        let (what, whys) = match &file.fate {
            Fate::Keep(_) if acts => (act, vec![FURTHER_NAME.to_owned()]),
            Fate::Keep(_) if nth > 0 => ("keep", vec![SAME_FILE.to_owned()]),
            Fate::Act { .. } if !is_step => (act, vec![SAME_FILE.to_owned()]),
            Fate::Keep(why) => ("keep", vec![typed(why)]),
            Fate::Leave(why) => ("leave", vec![left_name(why, name)]),
            _ => (act, self.details(set, file)),
        };
        let mut lines = vec![self.line(what, &name.path)];
        let is_kept = |file: &&PlannedFile| matches!(file.fate, Fate::Keep(_));
        let has_several = set.files.iter().filter(is_kept).nth(1).is_some();
        if has_several
            && is_step
            && matches!(file.fate, Fate::Act { .. })
            && let Some((_, keeper)) = set.kept_for(file)
        {
            lines.push(format!("{REASON}for {}", self.path(&keeper.path)));
        }
        lines.extend(whys.iter().flat_map(|why| self.because(why)));
        lines.extend(self.to_destination(&name.path).filter(|_| acts));
        lines
    }

    /// What is special about a file that goes.
    fn details(&self, set: &SetPlan, file: &PlannedFile) -> Vec<String> {
        let owner = set.other_owner(file, self.action);
        let owner =
            owner.map(|owner| format!("the kept file belongs to another owner (uid {owner})"));
        owner
            .into_iter()
            .chain(frees_nothing(file, self.action))
            .collect()
    }

    fn line(&self, what: &str, path: &[u8]) -> String {
        format!("  {what:<8} {}", self.path(path))
    }

    fn path(&self, path: &[u8]) -> String {
        match self.columns {
            Some(_) => escape(&self.links.as_given(path)).into_owned(),
            None => escape(path).into_owned(),
        }
    }

    /// The lines of a sentence. Reasons may contain text of the system, such as the type of a file system.
    fn sentence(&self, line: &str) -> Vec<String> {
        let line = sanitize::message(line).into_owned();
        fitting([line], self.columns.unwrap_or(usize::MAX))
    }

    fn because(&self, why: &str) -> Vec<String> {
        self.sentence(&format!("{REASON}{why}"))
    }

    /// Where a file goes, if it goes to another folder.
    fn to_destination(&self, path: &[u8]) -> Option<String> {
        let folder = self.destination.as_ref()?;
        Some(format!("{REASON}to {}{}", escape(folder), escape(path)))
    }
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
