//! The pages for people say what is so: crates, options, links, paths.
//! Also the commands of the program, and what the help of each says.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

/// A page of documentation.
struct Page {
    /// Its path below the top.
    path: PathBuf,
    text: String,
}

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    let text = fs::read_to_string(top().join(path));
    text.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The README, the changelog and every page below `docs`.
fn pages() -> Vec<Page> {
    let docs = walkdir::WalkDir::new(top().join("docs")).into_iter();
    let docs = docs.map(|entry| entry.expect("docs can be listed").into_path());
    let below_top = |path: PathBuf| path.strip_prefix(top()).expect("below the top").to_owned();
    let mut paths: Vec<PathBuf> = docs.map(below_top).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.extend(["README.md", "CHANGELOG.md"].map(PathBuf::from));
    paths.sort();
    let page = |path: PathBuf| Page {
        text: read(&path),
        path,
    };
    paths.into_iter().map(page).collect()
}

/// A page's prose and its fenced code.
fn split(text: &str) -> (String, String) {
    let (mut prose, mut code) = (String::new(), String::new());
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let part = if fenced { &mut code } else { &mut prose };
        part.push_str(line);
        part.push('\n');
    }
    (prose, code)
}

/// What stands between single backticks.
fn spans(prose: &str) -> Vec<String> {
    let span = Regex::new("`([^`\n]+)`").expect("a pattern");
    let spans = span.captures_iter(prose);
    spans.map(|found| found[1].to_owned()).collect()
}

/// Names in the first column of a page's tables that stand in backticks.
fn first_cells(text: &str) -> BTreeSet<String> {
    let cell = Regex::new("(?m)^\\| `([^`]+)` \\|").expect("a pattern");
    let cells = cell.captures_iter(text);
    cells.map(|found| found[1].to_owned()).collect()
}

/// Names of all crates in the manifest's tables of dependencies.
fn crates() -> BTreeSet<String> {
    let mut crates = BTreeSet::new();
    let mut inside = false;
    for line in read("Cargo.toml").lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if let (true, Some((name, _))) = (inside, line.split_once('=')) {
            crates.insert(name.trim().to_owned());
        }
    }
    crates
}

#[test]
fn every_crate_has_its_reason_and_no_other_is_named() {
    let crates = crates();
    assert!(crates.contains("blake3") && crates.contains("insta"));
    assert_eq!(first_cells(&read("docs/dependencies.md")), crates);
}

/// The options that the help of each command explains.
fn options() -> BTreeSet<String> {
    let option = Regex::new("(?m)^ +(?:(-[A-Za-z0-9]), )?(--[a-z][a-z-]*)").expect("a pattern");
    let mut options = BTreeSet::new();
    for command in COMMANDS.into_iter().chain(CATALOG) {
        let help = help(command);
        for found in option.captures_iter(&help) {
            let names = [found.get(1), found.get(2)].into_iter().flatten();
            options.extend(names.map(|name| name.as_str().to_owned()));
        }
    }
    options
}

/// The texts of a page in which an option is one of `seekless find`.
fn calls(page: &Page) -> Vec<String> {
    let (prose, code) = split(&page.text);
    let lines = code.lines().map(str::trim).filter_map(|line| {
        line.strip_prefix("seekless ")
            .or_else(|| line.strip_prefix("cargo run --release -- "))
            .map(str::to_owned)
    });
    let spans = spans(&prose).into_iter().filter(|span| {
        // Bare options on the page about benchmarks are the benchmarks' own.
        span.starts_with("seekless ")
            || span.starts_with('-') && !page.path.ends_with("benchmarks.md")
    });
    // What comes after a pipe is another program's.
    let own = |call: String| call.split(['|', '>']).next().unwrap_or("").to_owned();
    lines.chain(spans).map(own).collect()
}

#[test]
fn every_option_that_is_mentioned_exists() {
    let options = options();
    assert!(options.contains("--isolate") && options.contains("-0"));
    let mention = Regex::new("(?:^|\\s)(--[a-z][a-z-]*|-[A-Za-z0-9])\\b").expect("a pattern");
    let mut mentioned = 0;
    for page in pages() {
        for call in calls(&page) {
            for found in mention.captures_iter(&call) {
                mentioned += 1;
                assert!(
                    options.contains(&found[1]),
                    "{}: `{call}`: there is no {}",
                    page.path.display(),
                    &found[1]
                );
            }
        }
    }
    assert!(mentioned > 30, "the pages were not understood");
}

/// The anchors that a page's headings can be reached by.
fn anchors(text: &str) -> BTreeSet<String> {
    let (prose, _) = split(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_lead_somewhere() {
    let link = Regex::new("\\]\\(([^)\\s]+)\\)").expect("a pattern");
    for page in pages() {
        let (prose, _) = split(&page.text);
        for found in link.captures_iter(&prose) {
            let target = &found[1];
            if target.starts_with("https://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => page.path.clone(),
                file => page.path.parent().unwrap_or(Path::new("")).join(file),
            };
            let here = page.path.display();
            assert!(top().join(&path).exists(), "{here} links to {target}");
            assert!(
                anchor.is_empty() || anchors(&read(&path)).contains(anchor),
                "{here} links to {target}: no such heading"
            );
        }
    }
}

#[test]
fn paths_of_this_repository_exist() {
    for page in pages() {
        let (prose, _) = split(&page.text);
        for span in spans(&prose) {
            let first = span.split('/').next().unwrap_or("");
            let is_path = span.contains('/') && !span.contains([' ', '<']);
            if is_path && ["src", "tests", "benches", "docs"].contains(&first) {
                let here = page.path.display();
                assert!(top().join(&span).exists(), "{here}: there is no {span}");
            }
        }
    }
}

#[test]
fn every_reason_is_listed() {
    let page = read("docs/reference/reasons.md");
    let listed = page.lines().filter(|line| line.starts_with("| `"));
    let listed: Vec<&str> = listed.collect();
    let rows = seekless::action::reason::TABLE.iter();
    let rows = rows.map(|row| format!("| `{}` | {} |", row.name, row.words));
    assert_eq!(listed, rows.collect::<Vec<_>>());
    for row in seekless::action::reason::TABLE {
        let (before, _) = page
            .split_once(&format!("| `{}` |", row.name))
            .expect("a row");
        let (_, class) = before.rsplit_once("\n## ").expect("a heading");
        let class = class.lines().next().expect("a line").to_lowercase();
        assert_eq!(
            class,
            format!("{:?}", row.class).to_lowercase(),
            "{}",
            row.name
        );
    }
}

#[test]
fn every_kind_of_managed_folder_is_explained() {
    let page = read("docs/reference/actions.md");
    let rows = seekless::file::MANAGED.iter().map(|row| {
        let lifted = if row.is_lifted { "*" } else { "" };
        format!("| {}{lifted} | {} |", row.words, row.told_by())
    });
    let head = "| What | Recognized by |";
    let table = page.lines().skip_while(|line| *line != head).skip(2);
    let table: Vec<_> = table.take_while(|line| line.starts_with('|')).collect();
    assert_eq!(table, rows.collect::<Vec<_>>());
}

#[test]
fn every_keep_rule_is_explained_as_the_help_does() {
    let page = read("docs/reference/actions.md");
    for rule in seekless::action::keep::RULES {
        let argument = rule.argument.map(|a| format!(" {a}")).unwrap_or_default();
        let start = format!("| `{}{argument}` | ", rule.name);
        let line = page.lines().find(|line| line.starts_with(&start));
        let line = line.unwrap_or_else(|| panic!("no row {start}"));
        let about = rule.about.split([',', ':']).next().unwrap_or("");
        assert!(line.contains(about), "{line}\nis not: {about}");
    }
    let rows = page
        .lines()
        .skip_while(|line| *line != "| Rule | Prefers |")
        .skip(2);
    let rows = rows.take_while(|line| line.starts_with('|')).count();
    assert_eq!(rows, seekless::action::keep::RULES.len());
}

/// Every command.
pub const COMMANDS: [&str; 16] = [
    "find",
    "folders",
    "compare",
    "remove",
    "hardlink",
    "symlink",
    "reflink",
    "move",
    "undo",
    "devices",
    "probe",
    "cache",
    "catalog",
    "fleet",
    "completions",
    "man",
];

/// The commands of `catalog` and `fleet`.
const CATALOG: [&str; 8] = [
    "catalog create",
    "catalog update",
    "catalog show",
    "catalog tree",
    "catalog import",
    "catalog export",
    "fleet sql",
    "fleet job",
];

/// What a command says of itself.
pub fn help(command: &str) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_seekless"))
        .args(command.split_whitespace())
        .arg("--help")
        .output();
    String::from_utf8(run.expect("seekless runs").stdout).expect("help is text")
}

/// What `-h` says.
fn short_help(command: &str) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_seekless"))
        .args(command.split_whitespace())
        .arg("-h")
        .output();
    String::from_utf8(run.expect("seekless runs").stdout).expect("help is text")
}

#[test]
fn every_command_of_the_program_is_known() {
    for help in [help(""), short_help("")] {
        let group = help.split("\nCommands:\n").nth(1).expect("commands");
        let lines = group.lines().take_while(|line| !line.is_empty());
        let names = lines.filter_map(|line| line.split_whitespace().next());
        let mut listed: Vec<&str> = names.filter(|name| *name != "help").collect();
        let mut known = COMMANDS.to_vec();
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}
