//! The rows of a plan: what becomes of each name, and why; and the document of them for programs.
//!
//! Its keys are a promise (`docs/reference/formats.md`).

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use seekless::action::plan::{Fate, Plan, PlannedFile, PlannedName, SetPlan};
use seekless::action::reason::Facts;
use seekless::action::{ActionKind, Code, Raw, Reason};
use seekless::decide::AlikeFile;
use seekless::report::alike::describe;
use seekless::report::{Layout, Name, Objects, Titled};
use seekless::units::counted;
use serde::Serialize;

use crate::cli::front::problems::typed;
use crate::cli::resolve::act::ActRun;

/// One name.
#[derive(Default, Serialize)]
pub struct Row<'a> {
    pub path: Name<'a>,
    /// The file of the set, from 1: names of one file share it. Names that were not looked at as files have none.
    pub file: Option<usize>,
    /// `keep`, `act`, `carry` or `leave`.
    pub fate: &'static str,
    pub why: Option<String>,
    /// The name of the reason, and its facts: `docs/reference/reasons.md`.
    pub code: Option<&'static str>,
    pub facts: Option<&'a Facts>,
    /// What tells the file from others that are the same but for their tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<String>,
    /// The name that stays for this one.
    pub keeper: Option<Name<'a>>,
    /// Where the file is moved to.
    pub to: Option<Raw>,
    pub frees: u64,
}

/// True if something is done in the set, or left alone. Sets without a reference are not what the user asked for: they
/// are only counted.
pub fn takes_part(set: &SetPlan) -> bool {
    let is_left = |file: &PlannedFile| matches!(&file.fate, Fate::Leave(why) if why.code != Code::NoReference);
    let takes_part = |file: &PlannedFile| file.is_carried() || is_left(file);
    set.acts() || !set.left.is_empty() || set.files.iter().any(takes_part)
}

/// For each file of a set, what tells it from others that are the same but for their tags.
pub fn tags(set: &SetPlan) -> Vec<Option<String>> {
    let alike: Vec<&AlikeFile> = set
        .files
        .iter()
        .filter_map(|file| file.alike.as_deref())
        .collect();
    let mut tags = describe(&alike).into_iter();
    let of = |file: &PlannedFile| file.alike.as_ref().and_then(|_| tags.next());
    set.files.iter().map(of).collect()
}

/// The rows of a set.
pub fn rows<'a>(plan: &Plan, set: &'a SetPlan) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for ((number, file), mut tags) in (1..).zip(&set.files).zip(tags(set)) {
        for (nth, name) in file.names.iter().enumerate() {
            let mut row = row(set, file, name, nth, plan.action());
            row.file = Some(number);
            row.tags = tags.take();
            if row.fate == "act" {
                let destination = plan.acting().destination.as_ref();
                row.to = destination.map(|folder| Raw([&folder[..], name.path()].concat()));
            }
            rows.push(row);
        }
    }
    let left = set.left.iter();
    rows.extend(left.map(|left| of_reason(&left.path, "leave", &left.why)));
    rows
}

fn of_reason<'a>(path: &'a [u8], fate: &'static str, why: &'a Reason) -> Row<'a> {
    Row {
        path: Name(path),
        fate,
        why: Some(typed(why)),
        code: Some(why.name()),
        facts: Some(why.facts()),
        ..Row::default()
    }
}

fn row<'a>(
    set: &'a SetPlan,
    file: &'a PlannedFile,
    name: &'a PlannedName,
    nth: usize,
    action: ActionKind,
) -> Row<'a> {
    let path = file.shown(name);
    match &file.fate {
        Fate::Leave(why) => of_reason(path, "leave", why),
        Fate::Keep(why) => of_reason(path, "keep", why),
        Fate::Carry(carried) => Row {
            path: Name(path),
            fate: "carry",
            why: Some("has no copy beside the kept file".to_owned()),
            keeper: Some(Name(carried.beside().as_os_str().as_bytes())),
            to: Some(Raw(carried.to().as_os_str().as_bytes().to_vec())),
            ..Row::default()
        },
        &Fate::Act { frees, .. } => Row {
            path: Name(path),
            fate: "act",
            why: remark(set, file, frees, action),
            keeper: set
                .kept_for(file)
                .map(|(kept, name)| Name(kept.shown(name))),
            // What a file frees is said once.
            frees: if nth == 0 { frees } else { 0 },
            ..Row::default()
        },
    }
}

/// What is special about a name that goes.
fn remark(set: &SetPlan, file: &PlannedFile, frees: u64, action: ActionKind) -> Option<String> {
    if let Some(owner) = set.other_owner(file, action) {
        return Some(format!(
            "the kept file belongs to another owner (uid {owner})"
        ));
    }
    let elsewhere = file.names_elsewhere();
    (action.gives_up_bytes() && frees == 0 && elsewhere > 0).then(|| {
        let names = counted(elsewhere, "other name", "other names");
        format!("frees no space: the file has {names} outside this set")
    })
}

#[derive(Serialize)]
struct Head {
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
    totals: TotalsRecord,
}

#[derive(Serialize)]
struct TotalsRecord {
    sets: u64,
    steps: u64,
    bytes: u64,
    frees: u64,
    carried: u64,
    kept: u64,
    left: u64,
}

/// Writes a plan.
pub fn write(out: &mut dyn Write, run: &ActRun, plan: &Plan) -> io::Result<()> {
    let mut objects = Objects::new(Layout::Document, "set", "sets");
    let head = Head {
        command: run.header.command.clone(),
        action: plan.action().name(),
    };
    objects.begin_document(out, &Titled::new("seekless-plan", head))?;
    for set in plan.sets().iter().filter(|set| takes_part(set)) {
        let record = SetRecord {
            size: set.size,
            digest: set.digest.map(|digest| digest.to_string()),
            names: rows(plan, set),
        };
        objects.item(out, &record)?;
    }
    let folders = plan.empty_folders().iter();
    let folders = folders.map(|folder| Name(&folder.path));
    let totals = plan.totals();
    let tail = Tail {
        empty_folders: plan.removes_empty_folders().then(|| folders.collect()),
        totals: TotalsRecord {
            sets: totals.sets,
            steps: totals.steps,
            bytes: totals.bytes,
            frees: totals.frees,
            carried: totals.carried,
            kept: totals.kept,
            left: totals.left.values().sum(),
        },
    };
    objects.end_document(out, &tail)
}
