//! A plan as people read it.

use std::io::{self, Write};

use seekless::action::ActionKind;
use seekless::action::plan::{Fate, Left, Plan, PlannedFile, SetPlan};
use seekless::report::earlier;
use seekless::report::escape::escape;
use seekless::report::fit::fitting;
use seekless::units::Bytes;

use super::resolve_act::ActRun;
use super::{dangling_text, option_words, plan_summary};

/// The indent of the lines below a path.
const REASON: &str = "             ";

/// Writes a plan set by set: who stays and why, who goes, who is left alone and why.
pub struct PlanText {
    action: ActionKind,
    destination: Option<Vec<u8>>,
    links: Vec<String>,
    /// Columns of the terminal that it is shown on. There, sizes are rounded, digests are left out and sentences are
    /// broken between words; names are left whole.
    columns: Option<usize>,
}

impl PlanText {
    /// For this run and plan.
    pub fn new(run: &ActRun, plan: &Plan) -> Self {
        Self {
            action: plan.action(),
            destination: run.acting.destination.clone(),
            links: run.links.lines(),
            columns: run.plan_columns,
        }
    }

    /// Says what it is.
    pub fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        self.sentence(out, format!("# {}{}", self.action.name(), earlier::PLAN))?;
        let links = self.links.iter();
        links
            .map(|line| format!("# {line}"))
            .try_for_each(|line| self.sentence(out, line))
    }

    /// Writes one set.
    pub fn set(&self, out: &mut dyn Write, set: &SetPlan) -> io::Result<()> {
        if !takes_part(set) {
            return Ok(());
        }
        let frees = set.files.iter().map(frees).fold(0, u64::saturating_add);
        let (size, freed) = (Bytes(set.size), Bytes(frees));
        match self.columns {
            Some(_) => writeln!(out, "\n{size}, frees {freed}")?,
            None => {
                let bytes = set.size;
                let digest = set.digest.as_deref().unwrap_or("-");
                writeln!(
                    out,
                    "\n{size} ({bytes} bytes), frees {freed} ({frees} bytes), blake3 {digest}",
                )?;
            }
        }
        let kept = set.files.iter();
        let kept = kept
            .filter(|file| matches!(file.fate, Fate::Keep(_)))
            .count();
        for file in &set.files {
            self.file(out, set, file, kept)?;
        }
        for left in &set.left {
            self.line(
                out,
                "leave",
                &left.path,
                Some(&option_words::left(&left.why)),
            )?;
        }
        Ok(())
    }

    fn file(
        &self,
        out: &mut dyn Write,
        set: &SetPlan,
        file: &PlannedFile,
        kept: usize,
    ) -> io::Result<()> {
        for (nth, name) in file.names.iter().enumerate() {
            let further = nth > 0;
            let mut before = file.names[..nth].iter();
            let is_explained = before.any(|name| !name.is_safer);
            match &file.fate {
                Fate::Keep(_) if name.goes => {
                    let why = "a hard link to a kept file: frees no space";
                    self.line(out, self.action.name(), &name.path, Some(why))?;
                    self.to_destination(out, &name.path)?;
                }
                Fate::Keep(_) if name.is_safer => {
                    self.line(out, "keep", &name.path, name.why_kept())?;
                }
                Fate::Keep(_) if is_explained => {
                    self.line(
                        out,
                        "keep",
                        &name.path,
                        Some("another name of the same file"),
                    )?;
                }
                Fate::Keep(why) => {
                    self.line(out, "keep", &name.path, Some(&option_words::kept(why)))?
                }
                Fate::Leave(why) => {
                    self.line(out, "leave", &name.path, Some(&option_words::left(why)))?
                }
                Fate::Act { .. } if further && self.action == ActionKind::Reflink => {
                    let same = "another name of the same file";
                    self.line(out, self.action.name(), &name.path, Some(same))?;
                }
                Fate::Act { keeper, .. } => {
                    self.line(out, self.action.name(), &name.path, None)?;
                    let to = set.files.get(*keeper).and_then(|file| file.names.first());
                    if let Some(to) = to.filter(|_| kept > 1) {
                        writeln!(out, "{REASON}for {}", escape(&to.path))?;
                    }
                    if let Some(owner) = set.other_owner(file, self.action) {
                        let why = format!("the kept file belongs to another owner (uid {owner})");
                        self.because(out, &why)?;
                    }
                    self.to_destination(out, &name.path)?;
                    if let Some(why) = frees_nothing(file, self.action) {
                        self.because(out, &why)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn line(
        &self,
        out: &mut dyn Write,
        what: &str,
        path: &[u8],
        why: Option<&str>,
    ) -> io::Result<()> {
        writeln!(out, "  {what:<8} {}", escape(path))?;
        match why {
            Some(why) => self.because(out, why),
            None => Ok(()),
        }
    }

    fn sentence(&self, out: &mut dyn Write, line: String) -> io::Result<()> {
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

    /// Names companions that would be torn apart.
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
        dangling_text::in_plan(out, plan)?;
        if plan.parted().is_empty() {
            return Ok(());
        }
        let because = match plan.keeps_together() {
            true => "stays, because its sidecar stays:",
            false => "separated from its sidecar:",
        };
        writeln!(out, "\n# Sidecars")?;
        for parted in plan.parted() {
            writeln!(
                out,
                "  {}\n    {because} {}",
                escape(&parted.goes),
                escape(&parted.stays)
            )?;
        }
        Ok(())
    }
}

/// True if something is done in the set, or left alone.
pub fn takes_part(set: &SetPlan) -> bool {
    set.acts() || !set.left.is_empty() || set.files.iter().any(is_left)
}

/// Sets without a reference are not what the user asked for: they are counted at the end.
fn is_left(file: &PlannedFile) -> bool {
    matches!(&file.fate, Fate::Leave(why) if *why != Left::NoReference)
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
