//! A plan for programs: one document, each set on a line. Its keys are a promise (`docs/reference/formats.md`).

use std::cell::RefCell;
use std::io::{self, Write};

use seekless::action::plan::{Fate, Plan, PlannedFile, PlannedName, SetPlan};
use seekless::action::reason::Facts;
use seekless::action::{ActionKind, Raw};
use seekless::report::{Layout, Name, Objects, SCHEMA};
use serde::Serialize;

use super::plan_text::{left_name, takes_part};
use crate::cli::front::option_words::typed;
use crate::cli::resolve::act::ActRun;

/// Writes a plan set by set.
pub struct PlanJson {
    action: ActionKind,
    destination: Option<Vec<u8>>,
    command: Vec<Raw>,
    objects: RefCell<Objects<'static>>,
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
    facts: Option<Facts>,
    /// The name that stays for this one.
    keeper: Option<Name<'a>>,
    /// Where the file is moved to.
    to: Option<Name<'a>>,
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
            objects: RefCell::new(Objects::new(Layout::Document, "set", "sets")),
        }
    }

    /// Says what it is.
    pub fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = Head {
            format: "seekless-plan",
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            command: &self.command,
            action: self.action.name(),
        };
        self.objects.borrow().begin_document(out, &head)
    }

    /// Writes one set.
    pub fn set(&self, out: &mut dyn Write, set: &SetPlan) -> io::Result<()> {
        if !takes_part(set) {
            return Ok(());
        }
        let to: Vec<Vec<u8>> = self.destinations(set);
        let mut to = to.iter().map(|path| Name::new(path));
        let mut names = Vec::new();
        for (number, file) in (1..).zip(&set.files) {
            for (nth, name) in file.names.iter().enumerate() {
                let goes = acts(file, name);
                let record = record(set, file, name, nth, number);
                names.push(NameRecord {
                    to: goes.then(|| to.next()).flatten(),
                    ..record
                });
            }
        }
        names.extend(set.left.iter().map(|left| NameRecord {
            path: Name::new(&left.path),
            file: None,
            fate: "leave",
            why: Some(typed(&left.why)),
            code: Some(left.why.name()),
            facts: Some(left.why.facts().clone()),
            keeper: None,
            to: None,
            frees: 0,
        }));
        let record = SetRecord {
            size: set.size,
            digest: set.digest.as_deref(),
            names,
        };
        self.objects.borrow_mut().item(out, &record)
    }

    /// Where each name that is moved goes, in their order.
    fn destinations(&self, set: &SetPlan) -> Vec<Vec<u8>> {
        let Some(folder) = &self.destination else {
            return Vec::new();
        };
        let names = set
            .files
            .iter()
            .flat_map(|file| file.names.iter().filter(|name| acts(file, name)));
        names
            .map(|name| [&folder[..], &name.path].concat())
            .collect()
    }

    /// Writes the folders that go, if any may, with their noise, and the totals.
    pub fn end(&self, out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
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
        self.objects.borrow().end_document(out, &tail)
    }
}

fn acts(file: &PlannedFile, name: &PlannedName) -> bool {
    match file.fate {
        Fate::Keep(_) => name.goes,
        Fate::Act { .. } => true,
        Fate::Leave(_) => false,
    }
}

fn record<'a>(
    set: &'a SetPlan,
    file: &'a PlannedFile,
    name: &'a PlannedName,
    nth: usize,
    number: usize,
) -> NameRecord<'a> {
    let first = |file: &'a PlannedFile| file.names.iter().find(|name| !name.goes);
    let (fate, why, keeper, frees) = match &file.fate {
        Fate::Keep(_) if name.goes => ("act", None, first(file), 0),
        Fate::Keep(why) => ("keep", Some((typed(why), why.clone())), None, 0),
        // What a file frees is said once.
        Fate::Act { keeper, frees } => {
            let keeper = set.files.get(*keeper).and_then(first);
            ("act", None, keeper, if nth == 0 { *frees } else { 0 })
        }
        Fate::Leave(why) => ("leave", Some((left_name(why, name), why.clone())), None, 0),
    };
    NameRecord {
        path: Name::new(&name.path),
        file: Some(number),
        fate,
        code: why.as_ref().map(|(_, why)| why.name()),
        facts: why.as_ref().map(|(_, why)| why.facts().clone()),
        why: why.map(|(words, _)| words),
        keeper: keeper.map(|keeper| Name::new(&keeper.path)),
        to: None,
        frees,
    }
}
