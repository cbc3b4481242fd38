//! A plan for programs: one document, each set on a line. Its keys are a promise (`docs/reference/formats.md`).

use std::io::{self, Write};

use seekless::action::Raw;
use seekless::action::plan::Plan;
use seekless::report::{Layout, Name, Objects, SCHEMA};
use serde::Serialize;

use super::rows::{Row, rows, takes_part};
use crate::cli::resolve::act::ActRun;

#[derive(Serialize)]
struct Head {
    format: &'static str,
    schema: u32,
    version: &'static str,
    command: Vec<Raw>,
    action: &'static str,
}

#[derive(Serialize)]
struct SetRecord<'a> {
    size: u64,
    digest: Option<String>,
    names: Vec<Row<'a>>,
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

/// Writes a plan.
pub fn write(out: &mut dyn Write, run: &ActRun, plan: &Plan) -> io::Result<()> {
    let mut objects = Objects::new(Layout::Document, "set", "sets");
    let head = Head {
        format: "seekless-plan",
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        command: run.header().command,
        action: plan.action().name(),
    };
    objects.begin_document(out, &head)?;
    for set in plan.sets().iter().filter(|set| takes_part(set)) {
        let record = SetRecord {
            size: set.size,
            digest: set.digest.map(|digest| digest.to_string()),
            names: rows(run, plan.action(), set),
        };
        objects.item(out, &record)?;
    }
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
    objects.end_document(out, &tail)
}
