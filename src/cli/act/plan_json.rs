//! A plan for programs: one document, each set on a line. Its keys are a promise (`docs/reference/formats.md`).

use std::io::{self, Write};

use seekless::action::plan::{Fate, Plan, PlannedFile, SetPlan};
use seekless::action::reason::Facts;
use seekless::action::{ActionKind, Raw, Reason};
use seekless::report::{Layout, Name, Objects, SCHEMA};
use serde::Serialize;

use super::plan_text::{PlanForm, left_name, takes_part};
use crate::cli::front::option_words::typed;
use crate::cli::resolve::act::ActRun;

/// Writes a plan set by set.
pub struct PlanJson {
    action: ActionKind,
    destination: Option<Vec<u8>>,
    command: Vec<Raw>,
    objects: Objects<'static>,
}

#[derive(Serialize)]
struct Head<'a> {
    format: &'static str,
    schema: u32,
    version: &'static str,
    command: &'a [Raw],
    action: &'static str,
}

#[derive(Serialize)]
struct Tail<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    empty_folders: Option<Vec<Name<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    noise: Option<Vec<NoiseRecord<'a>>>,
    totals: TotalsRecord,
}

#[derive(Serialize)]
struct SetRecord<'a> {
    size: u64,
    digest: Option<&'a str>,
    names: Vec<NameRecord<'a>>,
}

#[derive(Serialize)]
struct NameRecord<'a> {
    path: Name<'a>,
    /// Of the set, from 1: names of one file share it. Names that were not looked at as files have none.
    file: Option<usize>,
    /// `keep`, `act` or `leave`.
    fate: &'static str,
    why: Option<String>,
    /// The name of the reason, and its facts: `docs/reference/reasons.md`.
    code: Option<&'static str>,
    facts: Option<&'a Facts>,
    /// The name that stays for this one.
    keeper: Option<Name<'a>>,
    /// Where the file is moved to.
    to: Option<Raw>,
    frees: u64,
}

#[derive(Serialize)]
struct NoiseRecord<'a> {
    path: Name<'a>,
    size: u64,
}

#[derive(Serialize)]
struct TotalsRecord {
    sets: u64,
    steps: u64,
    bytes: u64,
    frees: u64,
    kept: u64,
    left: u64,
}

impl PlanJson {
    /// For this run and plan.
    pub fn new(run: &ActRun, plan: &Plan) -> Self {
        Self {
            action: plan.action(),
            destination: run.acting.destination.clone(),
            command: run.header().command,
            objects: Objects::new(Layout::Document, "set", "sets"),
        }
    }
}

impl PlanForm for PlanJson {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let head = Head {
            format: "seekless-plan",
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            command: &self.command,
            action: self.action.name(),
        };
        self.objects.begin_document(out, &head)
    }

    fn set(&mut self, out: &mut dyn Write, set: &SetPlan) -> io::Result<()> {
        if !takes_part(set) {
            return Ok(());
        }
        let mut names = Vec::new();
        for (number, file) in (1..).zip(&set.files) {
            let of_file = (0..file.names.len()).map(|nth| self.name(set, (number, file), nth));
            names.extend(of_file);
        }
        names.extend(set.left.iter().map(|left| NameRecord {
            path: Name::new(&left.path),
            file: None,
            fate: "leave",
            why: Some(typed(&left.why)),
            code: Some(left.why.name()),
            facts: Some(left.why.facts()),
            keeper: None,
            to: None,
            frees: 0,
        }));
        let record = SetRecord {
            size: set.size,
            digest: set.digest.as_deref(),
            names,
        };
        self.objects.item(out, &record)
    }

    /// Writes the folders that go, if any may, with their noise, and the totals.
    fn end(&mut self, out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
        let folders = plan.empty_folders().iter();
        let folders = folders.map(|folder| Name::new(&folder.path));
        let noise = plan.noise().map(|file| NoiseRecord {
            path: Name::new(&file.path),
            size: file.expected.size,
        });
        let totals = plan.totals();
        let tail = Tail {
            empty_folders: plan.removes_empty_folders().then(|| folders.collect()),
            noise: plan.takes_noise().then(|| noise.collect()),
            totals: TotalsRecord {
                sets: totals.sets,
                steps: totals.steps,
                bytes: totals.bytes,
                frees: totals.frees,
                kept: totals.kept,
                left: totals.left.values().sum(),
            },
        };
        self.objects.end_document(out, &tail)
    }
}

impl PlanJson {
    fn name<'a>(
        &self,
        set: &'a SetPlan,
        (number, file): (usize, &'a PlannedFile),
        nth: usize,
    ) -> NameRecord<'a> {
        let name = &file.names[nth];
        let acts = file.acts_on(name);
        let (fate, why, frees) = match &file.fate {
            Fate::Keep(_) if acts => ("act", None, 0),
            Fate::Keep(why) => ("keep", Some(why), 0),
            Fate::Leave(why) => ("leave", Some(why), 0),
            // What a file frees is said once.
            Fate::Act { frees, .. } => ("act", None, if nth == 0 { *frees } else { 0 }),
        };
        let keeper = set.kept_for(file).filter(|_| acts);
        let to = self.destination.as_ref().filter(|_| acts);
        NameRecord {
            path: Name::new(&name.path),
            file: Some(number),
            fate,
            why: why.map(|why| left_name(why, name)),
            code: why.map(Reason::name),
            facts: why.map(Reason::facts),
            keeper: keeper.map(|(_, keeper)| Name::new(&keeper.path)),
            to: to.map(|folder| Raw([&folder[..], &name.path].concat())),
            frees,
        }
    }
}
