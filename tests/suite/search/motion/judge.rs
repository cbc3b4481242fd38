//! Holds what a run reported against what was true while it ran.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::options::Options;
use super::truth::{Content, FileId, Span, Truth, lasts, overlap};
use crate::common::Run;

/// The ways to be wrong. All must never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// Files that never had the same content, or one file that is shown as two.
    FalseSet,
    /// Names that were never names of one file, or a name that is shown twice.
    FalseName,
    /// Names of one file that it did not have at any one moment.
    NotTogether,
    /// A set that is no answer to what was asked, of files that nobody touched.
    NotAsked,
    /// A set of files that nobody touched is missing, or not whole.
    Missed,
    /// Where the answer depends on having seen everything: a file that was there all the time, wherever, is
    /// not shown, and the run says that all is well.
    Unsaid,
}

/// How often each, with what it was.
#[derive(Debug, Default)]
pub struct Verdict {
    pub runs: usize,
    /// Runs that ended with status 0.
    pub clean: usize,
    pub wrong_runs: usize,
    counts: BTreeMap<Wrong, usize>,
    examples: Vec<String>,
}

impl Verdict {
    fn wrong(&mut self, wrong: Wrong, text: String) {
        let count = self.counts.entry(wrong).or_default();
        *count += 1;
        // A few of each.
        if *count <= 3 {
            self.examples.push(format!("{wrong:?}: {text}"));
        }
    }

    pub fn is_right(&self) -> bool {
        self.counts.is_empty()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (runs, clean) = (self.runs, self.clean);
        write!(f, "{} of {runs} runs wrong", self.wrong_runs)?;
        writeln!(f, " {:?}; {clean} ended with status 0", self.counts)?;
        self.examples.iter().try_for_each(|e| writeln!(f, "  {e}"))
    }
}

/// A reported set: the length of its files, and the names of each.
#[derive(Debug)]
struct Set {
    size: usize,
    members: Vec<Vec<String>>,
}

fn sets_of(run: &Run) -> Vec<Set> {
    let document = run.json();
    let name = |name: &serde_json::Value| {
        let name = name["text"].as_str().expect("names are ASCII");
        canonical(name.strip_prefix("./").unwrap_or(name))
    };
    let member = |member: &serde_json::Value| {
        let more = member["hard_links"].as_array();
        let names = std::iter::once(&member["path"]).chain(more.into_iter().flatten());
        names.map(name).collect()
    };
    let sets = document["sets"].as_array().expect("sets is a list");
    sets.iter()
        .map(|set| {
            let members = set["members"].as_array().expect("members is a list");
            Set {
                size: usize::try_from(set["size"].as_u64().expect("a size")).expect("small"),
                members: members.iter().map(member).collect(),
            }
        })
        .collect()
}

/// The name without symbolic links on the way; there are two in the tree.
fn canonical(name: &str) -> String {
    for (link, target) in super::stage::LINKS {
        if let Some(rest) = name.strip_prefix(&format!("{link}/")) {
            return format!("{target}/{rest}");
        }
    }
    name.to_owned()
}

/// The files that had all these names at one moment.
fn together(truth: &Truth, names: &[String], during: Span) -> Vec<FileId> {
    let first = truth.tenures(&names[0], during);
    let files: BTreeSet<FileId> = first.iter().map(|(file, _)| *file).collect();
    let whole = |file: &FileId| {
        let spans = |name: &String| -> Vec<Span> {
            let tenures = truth.tenures(name, during);
            let own = tenures.into_iter().filter(|(other, _)| other == file);
            own.map(|(_, span)| span).collect()
        };
        let mut common = vec![during];
        for name in names {
            let spans = spans(name);
            let pairs = common
                .iter()
                .flat_map(|one| spans.iter().map(|other| overlap(*one, *other)));
            common = pairs.filter(|span| lasts(*span)).collect();
        }
        !common.is_empty()
    };
    files.into_iter().filter(whole).collect()
}

/// What a file contained during a time; `None` while it was being written.
fn contents(truth: &Truth, file: FileId, during: Span) -> Vec<Option<Content>> {
    let all = &truth.known(file).contents;
    let ends = all.iter().skip(1).map(|(from, _)| *from);
    let ends = ends.chain([u64::MAX]);
    let spans = all
        .iter()
        .zip(ends)
        .map(|((from, content), to)| ((*from, to), *content));
    spans
        .filter(|(span, _)| lasts(overlap(*span, during)))
        .map(|(_, content)| content)
        .collect()
}

/// True if each member can be another one of its candidates.
fn distinct(candidates: &[Vec<FileId>], taken: &mut Vec<FileId>) -> bool {
    let Some((first, rest)) = candidates.split_first() else {
        return true;
    };
    first.iter().any(|file| {
        if taken.contains(file) {
            return false;
        }
        taken.push(*file);
        let fits = distinct(rest, taken);
        taken.pop();
        fits
    })
}

/// Judges one run.
pub fn judge(verdict: &mut Verdict, truth: &Truth, options: &Options, run: &Run, during: Span) {
    verdict.runs += 1;
    verdict.clean += usize::from(run.code() == 0);
    let before: usize = verdict.counts.values().sum();
    let sets = sets_of(run);
    let mut listed: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, set) in sets.iter().enumerate() {
        for name in set.members.iter().flatten() {
            if listed.insert(name, number).is_some() {
                verdict.wrong(
                    Wrong::FalseName,
                    format!("{name} is shown twice by '{options}'"),
                );
            }
        }
        check_set(verdict, truth, options, set, during);
    }
    check_sure(verdict, truth, options, &sets, &listed, during);
    if (options.unique || options.isolate) && run.code() == 0 {
        check_unsaid(verdict, truth, options, &listed, during);
    }
    let after: usize = verdict.counts.values().sum();
    verdict.wrong_runs += usize::from(after > before);
}

fn check_set(verdict: &mut Verdict, truth: &Truth, options: &Options, set: &Set, during: Span) {
    let mut candidates = Vec::new();
    for names in &set.members {
        let files = together(truth, names, during);
        if files.is_empty() {
            let had: Vec<_> = names
                .iter()
                .map(|name| (name, truth.tenures(name, during)))
                .collect();
            let text = format!("never one file during {during:?} of '{options}': {had:?}");
            let owners = names.iter().map(|name| -> BTreeSet<FileId> {
                let tenures = truth.tenures(name, during).into_iter();
                tenures.map(|(file, _)| file).collect()
            });
            let common = owners.reduce(|one, other| &one & &other);
            let wrong = match common.is_none_or(|common| common.is_empty()) {
                true => Wrong::FalseName,
                false => Wrong::NotTogether,
            };
            return verdict.wrong(wrong, text);
        }
        candidates.push(files);
    }
    let possible: BTreeSet<Option<Content>> = candidates[0]
        .iter()
        .flat_map(|file| contents(truth, *file, during))
        .collect();
    let fits = |content: &Option<Content>| {
        // What is being written is equal to nothing, and of any length.
        if content.is_none() {
            return candidates.len() == 1;
        }
        let carried = |file: &FileId| contents(truth, *file, during).contains(content);
        let carriers: Vec<Vec<FileId>> = candidates
            .iter()
            .map(|files| files.iter().copied().filter(|f| carried(f)).collect())
            .collect();
        content.is_some_and(|content| content.size == set.size)
            && distinct(&carriers, &mut Vec::new())
    };
    if !possible.iter().any(fits) {
        let had: Vec<_> = candidates
            .iter()
            .map(|files| {
                let one = |file: &FileId| (*file, contents(truth, *file, during));
                files.iter().map(one).collect::<Vec<_>>()
            })
            .collect();
        let text = format!("'{options}' during {during:?}: {set:?} of {had:?}");
        verdict.wrong(Wrong::FalseSet, text);
    }
}

/// The names of a file at the end of a run.
fn names_now(truth: &Truth) -> BTreeMap<FileId, Vec<&str>> {
    let mut names: BTreeMap<FileId, Vec<&str>> = BTreeMap::new();
    for (name, file) in truth.now() {
        names.entry(file).or_default().push(name);
    }
    names
}

/// True if content in these files, each with these names, is asked for.
fn is_asked_for(options: &Options, files: &[&Vec<&str>]) -> bool {
    let names: Vec<&str> = files
        .iter()
        .flat_map(|names| names.iter().copied())
        .collect();
    let root = |name: &str| name.split('/').next().map(str::to_owned);
    let roots: BTreeSet<_> = names.iter().map(|name| root(name)).collect();
    match (options.unique, options.isolate, options.hard_links) {
        (false, false, false) => files.len() > 1,
        (false, false, true) => names.len() > 1,
        (false, true, false) => files.len() > 1 && roots.len() > 1,
        (false, true, true) => roots.len() > 1,
        (true, true, _) => roots.len() == 1,
        (true, false, false) => files.len() == 1,
        (true, false, true) => names.len() == 1,
    }
}

/// Whatever nobody touched is found as if nobody touched anything.
fn check_sure(
    verdict: &mut Verdict,
    truth: &Truth,
    options: &Options,
    sets: &[Set],
    listed: &BTreeMap<&str, usize>,
    during: Span,
) {
    let names = names_now(truth);
    let mut by_content: BTreeMap<Content, Vec<FileId>> = BTreeMap::new();
    for at in 0..truth.files.len() {
        for content in contents(truth, FileId(at), during).into_iter().flatten() {
            by_content.entry(content).or_default().push(FileId(at));
        }
    }
    for files in by_content.values() {
        // What is gone is not sure, unless it was gone before.
        let files: Vec<FileId> = files
            .iter()
            .copied()
            .filter(|file| names.contains_key(file) || !truth.known(*file).sure)
            .collect();
        if files.is_empty() || !files.iter().all(|file| truth.known(*file).sure) {
            continue;
        }
        let all: Vec<&Vec<&str>> = files.iter().map(|file| &names[file]).collect();
        let asked = is_asked_for(options, &all);
        let all: BTreeSet<&str> = all.into_iter().flatten().copied().collect();
        let found: BTreeSet<&usize> = all.iter().filter_map(|name| listed.get(name)).collect();
        match (asked, found.first()) {
            (true, Some(&&set)) => {
                let shown: BTreeSet<&str> = sets[set]
                    .members
                    .iter()
                    .flatten()
                    .map(String::as_str)
                    .collect();
                if shown != all {
                    let text = format!("'{options}': {all:?} is shown as {shown:?}");
                    verdict.wrong(Wrong::Missed, text);
                }
            }
            (true, None) => {
                let text = format!("'{options}': {all:?}, files {files:?}");
                verdict.wrong(Wrong::Missed, text);
            }
            (false, Some(_)) => {
                let text = format!("'{options}': {all:?}");
                verdict.wrong(Wrong::NotAsked, text);
            }
            (false, None) => {}
        }
    }
}

/// A file that had one name at every moment, whichever, and was not written to.
struct Steady<'a> {
    names: Vec<&'a str>,
    content: Content,
}

/// All such files, by content; none of a content that others had too.
fn steady(truth: &Truth, during: Span) -> BTreeMap<Content, Vec<Steady<'_>>> {
    let mut tenures: BTreeMap<FileId, Vec<(&str, Span)>> = BTreeMap::new();
    for name in truth.names.keys() {
        for (file, span) in truth.tenures(name, during) {
            tenures.entry(file).or_default().push((name, span));
        }
    }
    let mut carriers: BTreeMap<Content, usize> = BTreeMap::new();
    let mut found: BTreeMap<Content, Vec<Steady<'_>>> = BTreeMap::new();
    for (file, mut spans) in tenures {
        let contents = contents(truth, file, during);
        for content in contents.iter().flatten() {
            *carriers.entry(*content).or_default() += 1;
        }
        let [Some(content)] = contents[..] else {
            continue;
        };
        spans.sort_by_key(|(_, span)| span.0);
        let mut at = during.0;
        let one_name = spans.iter().all(|(_, span)| {
            let follows = span.0 == at;
            at = span.1;
            follows
        });
        if one_name && at == during.1 {
            let names = spans.into_iter().map(|(name, _)| name).collect();
            found
                .entry(content)
                .or_default()
                .push(Steady { names, content });
        }
    }
    found.retain(|content, files| carriers[content] == files.len());
    found
}

/// What was there all the time, under whatever name, is shown under one of its names if it is asked for.
fn check_unsaid(
    verdict: &mut Verdict,
    truth: &Truth,
    options: &Options,
    listed: &BTreeMap<&str, usize>,
    during: Span,
) {
    for files in steady(truth, during).values() {
        let root = |name: &&str| name.split('/').next().map(str::to_owned);
        let roots = |file: &Steady<'_>| file.names.iter().map(root).collect::<BTreeSet<_>>();
        if options.isolate && files.iter().any(|file| roots(file).len() > 1) {
            continue;
        }
        let firsts: Vec<Vec<&str>> = files.iter().map(|file| vec![file.names[0]]).collect();
        if !is_asked_for(options, &firsts.iter().collect::<Vec<_>>()) {
            continue;
        }
        let set = |file: &Steady<'_>| file.names.iter().find_map(|name| listed.get(name).copied());
        let sets: BTreeSet<Option<usize>> = files.iter().map(set).collect();
        if sets.len() > 1 || sets.contains(&None) {
            let names: Vec<_> = files.iter().map(|file| &file.names).collect();
            let content = files[0].content;
            let text = format!("'{options}' during {during:?}: {names:?}, {content:?}");
            verdict.wrong(Wrong::Unsaid, text);
        }
    }
}
