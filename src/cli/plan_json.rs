//! A plan for programs: one document, each set on a line. Its keys are a promise (`docs/reference/formats.md`).

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use seekless::action::ActionKind;
use seekless::action::plan::{Fate, Plan, PlannedFile, PlannedName, SetPlan, Totals};
use seekless::action::reason::Facts;
use seekless::report::{Name, SCHEMA, write_json};
use serde::Serialize;

use super::option_words::typed;
use super::plan_text::{left_name, takes_part};
use super::resolve_act::ActRun;

/// Writes a plan set by set.
pub struct PlanJson {
    action: ActionKind,
    destination: Option<Vec<u8>>,
    command: Vec<Vec<u8>>,
    any_set: std::cell::Cell<bool>,
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
        let command = run.command.iter().map(|word| word.as_bytes().to_vec());
        Self {
            action: plan.action(),
            destination: run.acting.destination.clone(),
            command: command.collect(),
            any_set: false.into(),
        }
    }

    /// Says what it is.
    pub fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(
            out,
            "{{\"format\":\"seekless-plan\",\"schema\":{SCHEMA},\"version\":"
        )?;
        write_json(out, &env!("CARGO_PKG_VERSION"))?;
        out.write_all(b",\"command\":")?;
        let words: Vec<Name<'_>> = self.command.iter().map(|word| Name::new(word)).collect();
        write_json(out, &words)?;
        out.write_all(b",\"action\":")?;
        write_json(out, &self.action.name())?;
        out.write_all(b",\n\"sets\":[\n")
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
        if self.any_set.replace(true) {
            out.write_all(b",\n")?;
        }
        let digest = set.digest.as_deref();
        let size = set.size;
        write_json(
            out,
            &SetRecord {
                size,
                digest,
                names,
            },
        )
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

    fn noise<'p>(&self, plan: &'p Plan) -> Vec<NoiseRecord<'p>> {
        let noise = plan.noise().map(|file| NoiseRecord {
            path: Name::new(&file.path),
            size: file.expected.size,
        });
        noise.collect()
    }

    /// Writes the folders that go, if any may, with their noise, and the totals.
    pub fn end(&self, out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
        out.write_all(b"\n],\n")?;
        if plan.removes_empty_folders() {
            let folders = plan.empty_folders().iter();
            let folders: Vec<Name<'_>> = folders.map(|folder| Name::new(&folder.path)).collect();
            out.write_all(b"\"empty_folders\":")?;
            write_json(out, &folders)?;
            out.write_all(b",\n")?;
        }
        if plan.takes_noise() {
            out.write_all(b"\"noise\":")?;
            write_json(out, &self.noise(plan))?;
            out.write_all(b",\n")?;
        }
        let totals = plan.totals();
        out.write_all(b"\"totals\":")?;
        let &Totals {
            sets,
            steps,
            bytes,
            frees,
            kept,
            ..
        } = totals;
        let left = totals.left.values().sum();
        write_json(
            out,
            &TotalsRecord {
                sets,
                steps,
                bytes,
                frees,
                kept,
                left,
            },
        )?;
        out.write_all(b"}\n")
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
        Fate::Keep(why) => {
            let why = name.why_kept().unwrap_or_else(|| why.clone());
            ("keep", Some((typed(&why), why)), None, 0)
        }
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
