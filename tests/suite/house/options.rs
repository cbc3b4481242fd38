//! `docs/reference/options.md` has every option of every command, in the words of `--help`.
//!
//! The page is made from the help texts; `INSTA_UPDATE=always` writes it, as it does for snapshots.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;

/// Every command.
pub const COMMANDS: [&str; 17] = [
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
    "cache prune",
    "cache clear",
    "config",
    "completions",
    "man",
];

const ACTIONS: [&str; 5] = ["remove", "hardlink", "symlink", "reflink", "move"];

const START: &str = "\
# Options

Every option and argument of every command, by the headings of `--help`. *Actions* are `remove`, `hardlink`, `symlink`,
`reflink` and `move`. `seekless COMMAND --help` explains each option at length.

This page is generated from the help texts: `INSTA_UPDATE=always cargo test --test suite options::` updates it.
";

/// An option as one or more commands explain it.
struct Row {
    heading: String,
    /// Its names and value, as in `-o, --output <FILE>`.
    spelling: String,
    meaning: String,
    commands: Vec<&'static str>,
}

/// What a command says of itself.
pub fn help(command: &str) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_seekless"))
        .args(command.split(" "))
        .arg("--help")
        .output();
    String::from_utf8(run.expect("seekless runs").stdout).expect("help is text")
}

/// The options of one help text: heading, spelling, and the lines of the explanation.
fn options(help: &str) -> Vec<(String, String, Vec<String>)> {
    let start =
        Regex::new(r"^  (?:(-[A-Za-z0-9], )|    )?((?:--|[\[<][A-Z]).*)$").expect("a pattern");
    let mut options: Vec<(String, String, Vec<String>)> = Vec::new();
    let mut heading = String::new();
    let mut is_inside = false;
    for line in help.lines() {
        if let Some(found) = start.captures(line) {
            let short = found.get(1).map_or("", |short| short.as_str());
            options.push((heading.clone(), format!("{short}{}", &found[2]), Vec::new()));
            is_inside = true;
        } else if let (true, Some(text)) = (is_inside, line.strip_prefix("          ")) {
            let lines = options.last_mut().map(|option| &mut option.2);
            lines.expect("an option").push(text.trim_end().to_owned());
        } else if !line.is_empty() {
            is_inside = false;
            heading = line.trim_end_matches(':').to_owned();
        } else if let (true, Some(option)) = (is_inside, options.last_mut()) {
            option.2.push(String::new());
        }
    }
    options
}

/// The first paragraph of an explanation, with the possible values and the default.
fn meaning(lines: &[String]) -> String {
    let text = lines.join("\n");
    let mut paragraphs = text.split("\n\n").map(|part| part.replace('\n', " "));
    let mut meaning = paragraphs.next().unwrap_or_default().trim().to_owned();
    if let Some((_, listed)) = text.split_once("Possible values:\n") {
        let listed = listed.lines().map_while(|line| {
            let value = line.strip_prefix("- ")?;
            Some(value.split(':').next().unwrap_or(value).to_owned())
        });
        let listed: Vec<String> = listed.collect();
        write!(meaning, " [possible values: {}]", listed.join(", ")).expect("a text");
    }
    let paragraphs = paragraphs.map(|part| part.trim().to_owned());
    for note in
        paragraphs.filter(|part| part.starts_with("[default:") || part.starts_with("[possible"))
    {
        write!(meaning, " {note}").expect("a text");
    }
    meaning
}

fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for command in COMMANDS {
        for (heading, spelling, lines) in options(&help(command)) {
            let heading = match heading.as_str() {
                "Arguments" | "Options" => "Arguments and general options".to_owned(),
                _ => heading,
            };
            let meaning = meaning(&lines);
            let known = rows.iter_mut().find(|row| {
                row.heading == heading && row.spelling == spelling && row.meaning == meaning
            });
            match known {
                Some(row) => row.commands.push(command),
                None => rows.push(Row {
                    heading,
                    spelling,
                    meaning,
                    commands: vec![command],
                }),
            }
        }
    }
    rows
}

/// Names the commands, the five actions by one word.
fn commands(row: &Row) -> String {
    if row.commands.len() == COMMANDS.len() {
        return "all".to_owned();
    }
    let has_actions = ACTIONS.iter().all(|action| row.commands.contains(action));
    let single = |command: &&&str| !has_actions || !ACTIONS.contains(command);
    let mut names: Vec<String> = row
        .commands
        .iter()
        .filter(single)
        .map(|name| format!("`{name}`"))
        .collect();
    if has_actions {
        names.push("actions".to_owned());
    }
    names.join(", ")
}

fn page(rows: &[Row]) -> String {
    let mut headings: Vec<&str> = rows.iter().map(|row| row.heading.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    headings.retain(|heading| seen.insert(*heading));
    // Stable: what all commands have comes last.
    headings.sort_by_key(|heading| heading.starts_with("Arguments"));
    let mut page = START.to_owned();
    for heading in headings {
        write!(
            page,
            "\n## {heading}\n\n| Option | Meaning | Commands |\n|---|---|---|\n"
        )
        .expect("a text");
        for row in rows.iter().filter(|row| row.heading == heading) {
            let cell = |text: &str| text.replace('|', "\\|");
            writeln!(
                page,
                "| `{}` | {} | {} |",
                cell(&row.spelling),
                cell(&row.meaning).replace('*', "\\*").replace('<', "&lt;"),
                commands(row)
            )
            .expect("a text");
        }
    }
    page
}

#[test]
fn the_page_of_options_is_what_the_help_of_each_command_says() {
    let rows = rows();
    let isolate = rows.iter().find(|row| row.spelling == "-I, --isolate");
    assert!(isolate.is_some_and(|row| row.commands.len() == 6) && rows.len() > 100);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/options.md");
    let page = page(&rows);
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(&path, &page).expect("the page can be written");
    }
    let written = fs::read_to_string(&path).expect("a page");
    let missing: Vec<&str> = page
        .lines()
        .filter(|line| !written.contains(line))
        .collect();
    assert!(
        written == page,
        "INSTA_UPDATE=always writes docs/reference/options.md anew; these lines are missing: {missing:#?}"
    );
}

#[test]
fn every_command_of_the_program_is_on_the_page() {
    let run = Command::new(env!("CARGO_BIN_EXE_seekless"))
        .arg("--help")
        .output();
    let help = String::from_utf8(run.expect("seekless runs").stdout).expect("help is text");
    let listed = help
        .split("\nCommands:\n")
        .nth(1)
        .expect("a list of commands");
    let listed = listed.lines().take_while(|line| !line.is_empty());
    let mut listed: Vec<&str> = listed
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    listed.retain(|command| *command != "help");
    let mut known = COMMANDS.to_vec();
    // Commands of a command are in its own help.
    known.retain(|command| !command.contains(' '));
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
}
