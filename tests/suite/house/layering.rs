//! The house stands: imports point downward, `unsafe` has one room, the library keeps quiet.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::sources::{Source, contains, sources, tokens};

/// Rooms by floor. A room may know those on lower floors and itself, nobody beside or above it.
const FLOORS: [&[&str]; 9] = [
    &["lock"],
    &["units", "event", "heartbeat"],
    &["sys"],
    &["file", "tree"],
    &["device", "hash"],
    &["scan", "read", "decide", "folders", "compare", "cache"],
    &["engine", "report", "action", "probe"],
    &["acting"],
    &["library"],
];

fn floor(room: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&room))
}

/// Rooms that a module names by a path from the crate's root, or by climbing up to it.
fn rooms_named(module: &[String], tokens: &[String]) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    let mut here = module.to_vec();
    // Inline modules around here, each with the depth of braces that it ends at.
    let mut inline: Vec<usize> = Vec::new();
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => {
                if at >= 2 && tokens[at - 2] == "mod" {
                    inline.push(depth);
                    here.push(tokens[at - 1].clone());
                }
                depth += 1;
            }
            "}" => {
                depth = depth.saturating_sub(1);
                if inline.last() == Some(&depth) {
                    inline.pop();
                    here.pop();
                }
            }
            "crate" | "super" | "self" => {
                let begins = at == 0 || tokens[at - 1] != "::";
                if begins && tokens.get(at + 1).is_some_and(|next| next == "::") {
                    rooms.extend(rooms_of_path(&here, &tokens[at..]));
                }
            }
            _ => {}
        }
    }
    rooms
}

/// Rooms that one path names, which begins with `crate`, `super` or `self`.
fn rooms_of_path(here: &[String], path: &[String]) -> Vec<String> {
    let mut base = match path[0].as_str() {
        "crate" => &[][..],
        "self" => here,
        _ => here.split_last().map_or(here, |(_, above)| above),
    };
    let mut rest = &path[2..];
    while rest.first().is_some_and(|token| token == "super") {
        base = base.split_last().map_or(base, |(_, above)| above);
        rest = rest.get(2..).unwrap_or_default();
    }
    match base.first() {
        Some(room) => vec![room.clone()],
        None => first_parts(rest),
    }
}

/// The first parts of a path or of a group of paths in braces.
fn first_parts(tokens: &[String]) -> Vec<String> {
    if tokens.first().is_none_or(|token| token != "{") {
        return tokens.first().cloned().into_iter().collect();
    }
    let mut parts = Vec::new();
    let mut depth = 0;
    let mut at_first = false;
    for token in tokens {
        match token.as_str() {
            "{" => {
                depth += 1;
                at_first = depth == 1;
            }
            "}" if depth == 1 => break,
            "}" => depth -= 1,
            "," => at_first = depth == 1,
            part if at_first => {
                parts.push(part.to_owned());
                at_first = false;
            }
            _ => {}
        }
    }
    parts
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
    for other in rooms_named(&source.module, &source.tokens) {
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
        for room in rooms_named(&source.module, &source.tokens) {
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
const READS: [&str; 2] = ["pread", "ring"];

/// Rooms that make them.
const READERS: [&str; 2] = ["sys", "read"];

/// Which of these calls a source imports, or names by their whole path.
fn reads_named(tokens: &[String]) -> Vec<&'static str> {
    let after_sys = tokens.windows(2).enumerate();
    let after_sys = after_sys.filter(|(_, pair)| pair[0] == "sys" && pair[1] == "::");
    let named = after_sys.flat_map(|(at, _)| first_parts(&tokens[at + 2..]));
    let named: BTreeSet<String> = named.collect();
    READS
        .into_iter()
        .filter(|call| named.contains(*call))
        .collect()
}

#[test]
fn bytes_of_files_are_read_in_one_room() {
    let mut wrong = Vec::new();
    for source in sources() {
        if !source.room().is_some_and(|room| READERS.contains(&room)) {
            let calls = reads_named(&source.tokens).into_iter();
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
    fn sees_imports_that_point_up_or_sideways() {
        assert_eq!(edges("scan/walk.rs", "use crate::engine::Config;"), 1);
        assert_eq!(edges("scan/walk.rs", "use crate::decide;"), 1);
        assert_eq!(
            edges("scan/walk.rs", "use crate::{file::Id, read::Pool, engine};"),
            2
        );
        assert_eq!(
            edges("scan/walk.rs", "fn f() -> crate::report::Format {}"),
            1
        );
        assert_eq!(edges("scan/mod.rs", "use super::engine;"), 1);
        assert_eq!(
            edges("scan/deep/walk.rs", "use super::super::super::engine;"),
            1
        );
        assert_eq!(
            edges("scan/walk.rs", "use super::super::{decide::{a, b}, units};"),
            1
        );
        assert_eq!(edges("scan/walk.rs", "use crate::*;"), 1);
        assert_eq!(edges("hash/mod.rs", "use crate::device::Class;"), 1);
        assert_eq!(edges("units.rs", "use crate::event::Event;"), 1);
        assert_eq!(
            edges("units.rs", "mod tests { use super::*; } use super::event;"),
            1
        );
        assert_eq!(edges("attic/mod.rs", ""), 1);
        assert_eq!(edges("scan/walk.rs", "use seekless::scan;"), 1);
    }

    #[test]
    fn lets_imports_point_down() {
        assert_eq!(
            edges(
                "scan/walk.rs",
                "use crate::{file::{Id, Table}, sys, units::Bytes};"
            ),
            0
        );
        assert_eq!(
            edges(
                "scan/walk.rs",
                "use crate::scan::filter; use super::links; use self::x::y;"
            ),
            0
        );
        assert_eq!(edges("scan/walk.rs", "use super::super::units;"), 0);
        assert_eq!(
            edges("units.rs", "fn f() {} mod tests { use super::*; }"),
            0
        );
        assert_eq!(edges("lib.rs", "pub use crate::engine::Config;"), 0);
        assert_eq!(
            edges("engine/session.rs", "use crate::decide; use crate::read;"),
            0
        );
    }

    #[test]
    fn sees_who_reads() {
        for text in [
            "use crate::sys::pread;",
            "use crate::sys::{stat, pread::full};",
            "fn f() { crate::sys::pread::full(fd, bytes, 0) }",
        ] {
            assert_eq!(reads_named(&tokens(text)), ["pread"], "{text}");
        }
        let others = "use crate::sys::{stat, page_cache}; let pread = ring::new();";
        assert!(reads_named(&tokens(others)).is_empty());
    }

    #[test]
    fn passes_over_comments_strings_and_characters() {
        for text in [
            "// crate::engine unsafe",
            "/// [`crate::engine::Progress`]",
            "/* outer /* crate::engine */ unsafe */",
            r##"let a = "crate::engine \" unsafe"; let b = r#"unsafe " crate::engine"#;"##,
            r#"let c = b"unsafe"; let d = '"'; let e = '\''; let f = "unsafe";"#,
            "let g: &'static str = \"unsafe\";",
        ] {
            assert_eq!(edges("scan/walk.rs", text), 0, "{text}");
            assert!(!tokens(text).contains(&"unsafe".to_owned()), "{text}");
        }
        assert!(tokens("fn f<'a>(x: &'a u8) { unsafe { g() } }").contains(&"unsafe".to_owned()));
        assert!(contains(
            &tokens("std::process::exit(1)"),
            &["process", "::", "exit"]
        ));
    }
}
