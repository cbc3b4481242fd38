//! The same tree gives the same answer, the same plan, the same bytes, whatever was found first.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use regex::bytes::Regex;
use rustix::fs::{Advice, fadvise};

use crate::common::limits::Rng;
use crate::common::stage::Stage;
use crate::common::{Run, Tree, noise, seekless};

/// Ways of walking and reading that bring things in other orders.
const THREADS: [&str; 5] = [
    "",
    "--threads 1",
    "--threads 8,8",
    "--threads hdd",
    "--threads 3,1",
];

/// A file to be made, with all its names.
struct Spec {
    names: Vec<String>,
    content: Vec<u8>,
    /// Seconds since 1970.
    modified: u64,
}

/// Files below three roots. Nothing but names tells most of them apart, and most have several.
fn specs(folders: usize, files: usize) -> Vec<Spec> {
    let mut rng = Rng::new(1);
    let mut specs: Vec<Spec> = Vec::new();
    let mut add = |content: Vec<u8>, names: usize| {
        let nth = specs.len();
        // Some names are those of copies of others.
        let kind = content.get(..2).map_or(0, |bytes| bytes[0]);
        let mut name = |of: usize| {
            let root = ["a", "b", "c"][rng.below(3)];
            let folder = rng.below(folders);
            let deep = ["", "", "", "deep/"][rng.below(4)];
            let bare = match rng.below(5) {
                0 if nth < files / 4 => format!("{kind}"),
                1 => format!("{kind} ({nth})"),
                2 => format!("Copy of {kind}-{nth}"),
                _ => format!("{nth}"),
            };
            format!("{root}/d{folder}/{deep}{bare}.{nth}x{of}")
        };
        let names = (0..names).map(&mut name).collect();
        let modified = 1_000_000 + rng.below(2) as u64;
        specs.push(Spec {
            names,
            content,
            modified,
        });
    };
    let contents = files / 4;
    for nth in 0..files {
        let content = nth % contents;
        // All sets free as much; half of them are of one length.
        let length = 3000 + content % 2 * content;
        add(
            noise(content as u64, length),
            if nth % 5 == 0 { 1 } else { 3 },
        );
    }
    for nth in 0..2 * contents {
        // Alone, but not with their length, and half of them not with their beginning either.
        let (pair, length) = (nth as u64 / 2, 6000 + nth / 4 * 900);
        let beginning = if pair % 2 == 0 { pair } else { nth as u64 };
        let mut content = noise((1 << 32) + beginning, length);
        content[length - 1] = nth as u8;
        add(content, 1 + nth % 2);
    }
    for nth in 0..9 {
        add(noise((1 << 33) + nth / 3, 300_000), 2);
    }
    add(Vec::new(), 2);
    add(Vec::new(), 1);
    specs
}

/// Makes the files in an order of its own, which their inode numbers show.
fn make(tree: &Tree, mut specs: Vec<Spec>, order: u64) {
    let mut rng = Rng::new(order);
    if order > 0 {
        rng.shuffle(&mut specs);
    }
    for Spec {
        mut names,
        content,
        modified,
    } in specs
    {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(modified);
        let times = FileTimes::new().set_modified(time).set_accessed(time);
        if order > 0 {
            rng.shuffle(&mut names);
        }
        tree.write(&names[0], &content);
        for name in &names[1..] {
            let path = tree.path(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders can be made");
            fs::hard_link(tree.path(&names[0]), path).expect("a hard link can be made");
        }
        let file = File::options().write(true).open(tree.path(&names[0]));
        let done = file.and_then(|file| {
            file.sync_all()?;
            file.set_times(times)
        });
        done.expect("times can be set");
    }
}

fn tree() -> Tree {
    let tree = Tree::new();
    make(&tree, specs(40, 160), 0);
    tree
}

/// Lets go of what is in the page cache of every second file.
fn forget(root: &Path, odd: usize) {
    let files = walkdir::WalkDir::new(root).into_iter().flatten();
    let files = files.filter(|entry| entry.file_type().is_file());
    for (_, entry) in files.enumerate().filter(|(nth, _)| nth % 2 == odd) {
        let file = File::open(entry.path()).expect("a file can be opened");
        fadvise(&file, 0, None, Advice::DontNeed).expect("advice can be given");
    }
}

/// A report without what may differ: times, stages, devices, and how many threads there were.
fn comparable(report: &[u8]) -> Vec<u8> {
    let mut report = report.to_vec();
    for (pattern, instead) in [
        (r#""command":\[.*?\],"#, ""),
        (r#""started":".*?","#, ""),
        (r#""(scan|total)_seconds":[0-9.e-]+,"#, ""),
        (r#""(stages|devices)":\[.*?\],"#, ""),
        (r"# (command|started): .*\n", ""),
    ] {
        let pattern = Regex::new(pattern).expect("a pattern");
        report = pattern
            .replace_all(&report, instead.as_bytes())
            .into_owned();
    }
    report
}

/// The same without inode numbers.
fn without_inodes(report: &[u8]) -> Vec<u8> {
    let pattern = Regex::new(r#""ino":[0-9]+,"#).expect("a pattern");
    pattern.replace_all(report, &b""[..]).into_owned()
}

/// The sets of a streamed report, in an order of their own.
fn streamed(report: &[u8], end: &[u8]) -> Vec<Vec<u8>> {
    let mut sets = Vec::new();
    let mut rest = report;
    while !rest.is_empty() {
        let at = rest.windows(end.len()).position(|part| part == end);
        let (set, more) = rest.split_at(at.expect("every set has its end") + end.len());
        sets.push(set.to_vec());
        rest = more;
    }
    sets.sort_unstable();
    sets
}

#[track_caller]
fn same(first: &[u8], again: &[u8], what: &str) {
    let lines = |of: &[u8]| {
        of.split(|&b| b == b'\n')
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    };
    if first != again {
        let (first, again) = (lines(first), lines(again));
        let differing = first.iter().zip(&again).filter(|(a, b)| a != b);
        let shown = differing
            .take(2)
            .map(|(a, b)| format!("{}\n{}\n", a.escape_ascii(), b.escape_ascii()));
        let shown: String = shown.collect();
        panic!("{what}: {} and {} lines\n{shown}", first.len(), again.len());
    }
}

/// Runs find so many times, each with other threads, and compares what comes out.
fn found_alike(folder: &Path, arguments: &str, times: usize) {
    let mut first: Option<Vec<u8>> = None;
    for nth in 0..times {
        let threads = THREADS[nth % THREADS.len()];
        if nth % 3 == 2 {
            forget(folder, nth % 2);
        }
        let line = format!("find {arguments} {threads}");
        let run = seekless(folder, &line).run().exits(0);
        let report = comparable(&run.stdout);
        let end: Option<&[u8]> = match arguments.split_once("--format ") {
            Some((_, rest)) if rest.starts_with("ndjson") => Some(b"\n"),
            Some((_, rest)) if rest.starts_with("fdupes") => Some(b"\n\n"),
            Some((_, rest)) if rest.starts_with("nul --unique") => Some(b"\0"),
            Some((_, rest)) if rest.starts_with("nul") => Some(b"\0\0"),
            _ => None,
        };
        let report = end.map_or_else(|| report.clone(), |end| streamed(&report, end).concat());
        match &first {
            None => first = Some(report),
            Some(first) => same(first, &report, &format!("{line}, run {nth}")),
        }
    }
}

const ROOTS: &str = "c a/d3 a b a/d7";

/// Runs of the short forms: each way of walking, two of them with half of the files out of the page cache.
const FEW: usize = 5;

/// Runs of the long form.
const MANY: usize = 60;

fn collected_formats_are_the_same(times: usize) {
    let tree = tree();
    for format in ["text", "json", "csv"] {
        found_alike(tree.root(), &format!("--format {format} {ROOTS}"), times);
    }
}

#[test]
fn collected_formats_are_the_same_byte_for_byte() {
    collected_formats_are_the_same(FEW);
}

#[test]
#[ignore = "takes minutes: sixty runs of each"]
fn in_full_reports_and_plans_are_the_same() {
    collected_formats_are_the_same(MANY);
    streamed_formats_are_the_same(MANY);
    plans_are_one(MANY);
    reports_make_one_plan(MANY);
}

fn streamed_formats_are_the_same(times: usize) {
    let tree = tree();
    for format in ["ndjson", "fdupes -H", "nul --unique"] {
        found_alike(tree.root(), &format!("--format {format} {ROOTS}"), times);
    }
}

#[test]
fn streamed_formats_are_the_same_set_by_set() {
    streamed_formats_are_the_same(FEW);
}

/// Inode numbers say which file of a folder is looked at first, and which folder.
#[test]
fn the_order_in_which_a_tree_was_made_is_no_matter() {
    let folder = Regex::new(r#""folder":.*?\},"#).expect("a pattern");
    let trees = [0, 1, 2, 3].map(|order| {
        let tree = Tree::new();
        make(&tree, specs(40, 160), order);
        tree
    });
    for options in ["", "-H", "--unique", "--isolate", "-L"] {
        let reports = trees.each_ref().map(|tree| {
            let line = format!("find --format json {options} {ROOTS}");
            let run = seekless(tree.root(), &line).run().exits(0);
            let report = without_inodes(&comparable(&run.stdout));
            folder.replace(&report, &b""[..]).into_owned()
        });
        for (order, report) in reports.iter().enumerate() {
            same(&reports[0], report, &format!("{options}, order {order}"));
        }
    }
}

/// What a plan says of each name.
fn fates(plan: &Run) -> BTreeMap<PathBuf, String> {
    let plan = plan.stdout_text();
    let named = plan.lines().filter_map(|line| {
        let line = line.strip_prefix("  ")?;
        let (fate, path) = line.split_once(' ')?;
        let is_name = !fate.is_empty() && path.trim_start().starts_with('/');
        is_name.then(|| (PathBuf::from(path.trim_start()), fate.to_owned()))
    });
    named.collect()
}

/// Dry runs, all with one plan.
fn one_plan(stage: &Stage, action: &str, times: usize) -> Run {
    let plan = |nth: usize| {
        let threads = THREADS[nth % THREADS.len()];
        stage.run(&format!("{action} {ROOTS} {threads} --dry-run"))
    };
    let first = plan(0);
    for nth in 1..times {
        let again = plan(nth).exits(first.code());
        same(&first.stdout, &again.stdout, action);
        same(&first.stderr, &again.stderr, action);
    }
    first
}

/// Dry runs, all with one plan, and then the run.
fn planned_alike(action: &str, times: usize) {
    let stage = Stage::new(tree());
    let first = one_plan(&stage, action, times).exits(0);
    let fates = fates(&first);
    let number = |path: &PathBuf| fs::symlink_metadata(path).map(|stat| stat.ino()).ok();
    let before: BTreeMap<&PathBuf, Option<u64>> =
        fates.keys().map(|path| (path, number(path))).collect();
    let kept = fates.values().filter(|fate| *fate == "keep").count();
    assert!(kept > 0 && fates.len() > kept, "{first}");
    stage
        .run(&format!("{action} {ROOTS} --threads 8,8 --yes"))
        .exits(0);
    for (path, fate) in &fates {
        let stays = number(path) == before[path];
        assert_eq!(stays, fate == "keep", "{fate} {}", path.display());
    }
}

fn plans_are_one(times: usize) {
    for action in ["remove", "hardlink", "symlink", "move --to aside"] {
        planned_alike(action, times);
    }
    // Not every file system lets files share blocks; elsewhere the plan leaves them alone.
    let first = one_plan(&Stage::new(tree()), "reflink", times);
    assert!([0, 2].contains(&first.code()), "{first}");
}

#[test]
fn plans_are_one_and_the_run_keeps_what_they_show() {
    plans_are_one(2);
}

fn reports_make_one_plan(times: usize) {
    let stage = Stage::new(tree());
    for format in ["text", "json", "ndjson"] {
        let mut first: Option<Vec<u8>> = None;
        for threads in THREADS.iter().cycle().take(times) {
            let report = stage.report(&format!("find --format {format} {ROOTS} {threads}"));
            let plan = stage.on_report("remove --dry-run --keep newest --from -", report);
            // The sets of a streamed report come in another order.
            let plan = plan.exits(0).stdout_text();
            let mut sets: Vec<String> = plan
                .split("\n\n")
                .map(|set| set.trim().to_owned())
                .collect();
            sets.sort_unstable();
            let sets = sets.join("\n\n").into_bytes();
            match &first {
                None => first = Some(sets),
                Some(first) => same(first, &sets, format),
            }
        }
    }
}
