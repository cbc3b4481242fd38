//! The house stands: imports point downward, `unsafe` has one room, the library keeps quiet.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::sources::{Source, contains, paths_named, sources, tokens};

/// Rooms by floor. A room may know those on lower floors and itself, nobody beside or above it.
const FLOORS: [&[&str]; 9] = [
    &["lock"],
    &["units", "event", "heartbeat"],
    &["sys"],
    &["file", "tree"],
    &["device", "hash", "media"],
    &[
        "scan", "read", "decide", "folders", "compare", "cache", "catalog", "fleet",
    ],
    &["engine", "report", "action", "probe"],
    &["acting"],
    &["library"],
];

fn floor(room: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&room))
}

/// Rooms that a module names by a path from the crate's root, or by climbing up to it.
fn rooms_named(source: &Source) -> BTreeSet<String> {
    let paths = paths_named(source).into_iter();
    paths.filter_map(|path| path.into_iter().next()).collect()
}

/// What is wrong with a library module's imports.
fn wrong_edges(source: &Source) -> Vec<String> {
    let path = source.path.display();
    let Some(room) = source.room() else {
        // lib.rs knows everybody.
        return Vec::new();
    };
    let Some(own) = floor(room) else {
        return vec![format!("{path}: {room} has no floor in this house")];
    };
    let mut wrong = Vec::new();
    for other in rooms_named(source) {
        let allowed = other == room || floor(&other).is_some_and(|below| below < own);
        if !allowed {
            wrong.push(format!("{path}: {room} (floor {own}) uses crate::{other}"));
        }
    }
    if source.tokens.iter().any(|token| token == "seekless") {
        wrong.push(format!("{path}: the library names itself as seekless::"));
    }
    wrong
}

/// Something the library never does: a macro or function, as it looks in tokens.
const LOUD: [(&str, &[&str]); 7] = [
    ("println!", &["println", "!"]),
    ("eprintln!", &["eprintln", "!"]),
    ("print!", &["print", "!"]),
    ("eprint!", &["eprint", "!"]),
    ("dbg!", &["dbg", "!"]),
    ("process::exit", &["process", "::", "exit"]),
    ("process::abort", &["process", "::", "abort"]),
];

#[test]
fn imports_of_the_library_point_downward_only() {
    let wrong: Vec<String> = sources()
        .iter()
        .filter(|source| !source.is_binary())
        .flat_map(wrong_edges)
        .collect();
    assert!(
        wrong.is_empty(),
        "upward or sideways:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_binary_knows_the_library_by_its_public_name_only() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| source.is_binary()) {
        for room in rooms_named(source) {
            if room != "cli" {
                wrong.push(format!("{}: crate::{room}", source.path.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "the binary reaches past seekless:: with\n{}",
        wrong.join("\n")
    );
}

#[test]
fn every_room_has_a_floor() {
    for source in sources() {
        if let Some(room) = source.room() {
            assert!(
                room == "cli" || floor(room).is_some(),
                "{room} has no floor"
            );
        }
    }
}

#[test]
fn unsafe_has_one_room() {
    let wrong: Vec<String> = sources()
        .iter()
        .filter(|source| source.room() != Some("sys"))
        .filter(|source| source.tokens.iter().any(|token| token == "unsafe"))
        .map(|source| source.path.display().to_string())
        .collect();
    assert!(wrong.is_empty(), "unsafe outside sys: {wrong:?}");
}

/// System calls by which bytes of files are read.
const READS: [&str; 1] = ["reads"];

/// Rooms that make them.
const READERS: [&str; 2] = ["sys", "read"];

/// Which of these calls a source imports, or names by their whole path.
fn reads_named(source: &Source) -> Vec<&'static str> {
    let paths = paths_named(source);
    let is_named = |call: &&str| {
        let mut paths = paths.iter();
        paths.any(|path| path.len() > 1 && path[0] == "sys" && path[1] == *call)
    };
    READS.into_iter().filter(is_named).collect()
}

#[test]
fn bytes_of_files_are_read_in_one_room() {
    let mut wrong = Vec::new();
    for source in sources() {
        if !source.room().is_some_and(|room| READERS.contains(&room)) {
            let calls = reads_named(source).into_iter();
            wrong.extend(calls.map(|call| format!("{}: sys::{call}", source.path.display())));
        }
    }
    assert!(wrong.is_empty(), "past crate::read:\n{}", wrong.join("\n"));
}

#[test]
fn the_library_neither_prints_nor_exits() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| !source.is_binary()) {
        for (name, pattern) in LOUD {
            if contains(&source.tokens, pattern) {
                wrong.push(format!("{}: {name}", source.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_library_names_no_options_of_the_program() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| !source.is_binary()) {
        let path = source.path.to_string_lossy().into_owned();
        let text = fs::read_to_string(top.join(&source.path)).expect("sources are text");
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let option = |line: &&str| {
            let after = line.split("--").skip(1);
            let mut after = after.filter_map(|rest| rest.chars().next());
            let is_long = after.any(|first| first.is_ascii_lowercase());
            is_long
                || [" -f ", "use -o ", "seekless find "]
                    .iter()
                    .any(|word| line.contains(word))
        };
        wrong.extend(
            code.filter(option)
                .map(|line| format!("{path}: {}", line.trim())),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

mod the_reader_of_sources {
    use super::*;

    fn edges(path: &str, text: &str) -> usize {
        wrong_edges(&Source::new(path, text)).len()
    }

    #[test]
    fn sees_imports_that_point_up_or_sideways_and_lets_others_be() {
        for (path, text, wrong) in [
            ("scan/walk.rs", "use crate::engine::Config;", 1),
            ("scan/walk.rs", "use crate::decide;", 1),
            (
                "scan/walk.rs",
                "use crate::{file::Id, read::Pool, engine};",
                2,
            ),
            ("scan/walk.rs", "fn f() -> crate::report::Format {}", 1),
            ("scan/mod.rs", "use super::engine;", 1),
            ("scan/deep/walk.rs", "use super::super::super::engine;", 1),
            (
                "scan/walk.rs",
                "use super::super::{decide::{a, b}, units};",
                1,
            ),
            ("scan/walk.rs", "use crate::*;", 1),
            ("units.rs", "use crate::event::Event;", 1),
            ("attic/mod.rs", "", 1),
            ("scan/walk.rs", "use seekless::scan;", 1),
            (
                "scan/walk.rs",
                "use crate::{file::{Id, Table}, sys, units::Bytes};",
                0,
            ),
            ("scan/walk.rs", "use super::links; use self::x::y;", 0),
            ("scan/walk.rs", "use super::super::units;", 0),
            ("units.rs", "#[cfg(test)] mod tests { use super::*; }", 0),
            ("lib.rs", "pub use crate::engine::Config;", 0),
            ("scan/walk.rs", "// crate::engine unsafe", 0),
            (
                "scan/walk.rs",
                "/// [`crate::engine::Progress`]\nfn f() {}",
                0,
            ),
            ("scan/walk.rs", r#"fn f() { g("crate::engine") }"#, 0),
        ] {
            assert_eq!(edges(path, text), wrong, "{path}: {text}");
        }
        let acts = tokens("fn f<'a>(x: &'a u8) { unsafe { std::process::exit(1) } }");
        assert!(contains(&acts, &["unsafe"]) && contains(&acts, &["process", "::", "exit"]));
    }
}
