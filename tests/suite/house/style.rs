//! Pages and doc comments follow the rules of "Words" in `docs/contributing.md`, as far as a program can tell.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Phrases that read like a translation, and the words to use instead.
const PHRASES: &[(&str, &str)] = &[
    ("disk space come free", "frees N of disk space"),
    ("of disk space came free", "N of disk space freed"),
    (
        "It cannot be undone; with",
        "This cannot be undone. Use --trash …",
    ),
    ("Let go of what was read", "drop pages"),
    ("is believed in nothing", "is not trusted"),
    (
        "what the library has already goes aside",
        "move away what the library already has",
    ),
    ("was not decided on", "has no answer yet"),
    ("believe the digests", "rely on the digests"),
    ("leave that option out", "omit that option"),
    ("takes back the whole run", "undoes the whole run"),
    ("comes free", "is freed"),
    ("come free on", "are freed on"),
    ("coming free", "freed"),
    ("turns a minute", "rpm"),
    ("leave that out", "omit that"),
];

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files below a folder whose names end so, with their text.
fn files(folder: &str, end: &str) -> Vec<(PathBuf, String)> {
    let entries = walkdir::WalkDir::new(top().join(folder)).sort_by_file_name();
    let paths = entries
        .into_iter()
        .map(|entry| entry.expect("it can be listed").into_path());
    let paths = paths.filter(|path| path.to_string_lossy().ends_with(end));
    paths
        .map(|path| {
            let text = fs::read_to_string(&path).expect("text");
            (path, text)
        })
        .collect()
}

fn pages() -> Vec<(PathBuf, String)> {
    let mut pages = files("docs", ".md");
    for name in ["README.md", "CHANGELOG.md"] {
        let path = top().join(name);
        let text = fs::read_to_string(&path).expect("text");
        pages.push((path, text));
    }
    pages
}

#[test]
fn no_phrase_reads_like_a_translation() {
    let mut found = Vec::new();
    for (path, text) in pages().into_iter().chain(files("src", ".rs")) {
        // The changelog shows old messages beside the new ones.
        if path.ends_with("CHANGELOG.md") {
            continue;
        }
        for (phrase, instead) in PHRASES {
            if text.contains(phrase) {
                found.push(format!("{}: {phrase:?}; write {instead:?}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn lines_of_pages_have_120_characters_at_most() {
    let mut found = Vec::new();
    for (path, text) in pages() {
        for (number, line) in (1..).zip(text.lines()) {
            // A row of a table is one line.
            let is_row = line.trim_start().starts_with('|');
            let length = line.chars().count();
            if length > 120 && !is_row {
                found.push(format!("{}:{number}: {length}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "too long: {found:#?}");
}

#[test]
fn doc_comments_of_the_library_begin_with_the_thing_itself() {
    let opening =
        Regex::new(r"^\s*//[/!] (What|Who|Whoever|Whatever|So many)\b").expect("a pattern");
    let mut found = Vec::new();
    for (path, text) in files("src/library", ".rs") {
        let mut above = "";
        for (number, line) in (1..).zip(text.lines()) {
            let is_first = !above.trim_start().starts_with("//");
            if is_first && opening.is_match(line) {
                found.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
            above = line;
        }
    }
    assert!(
        found.is_empty(),
        "begin with the name of the thing: {found:#?}"
    );
}
