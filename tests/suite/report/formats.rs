//! Every format over names that nobody would choose, written and read back.

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use seekless::decide::{DeviceTally, DuplicateSet, LeftOut, Member, StageTally, Summary, Unread};
use seekless::engine::Copies;
use seekless::hash::ContentDigest;
use seekless::report::read::{Ending, ReadSet};
use seekless::report::{FORMATS, Format, Header, Options, Raw, Style, escape, format, printable};

use super::ReadReport;

type Tested = Result<(), Box<dyn Error>>;

fn write(
    format: &Format,
    style: Style,
    sets: &[DuplicateSet],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut report = (format.make)(&style);
    report.begin(out, &header())?;
    for set in sets {
        report.set(out, set)?;
    }
    report.end(out, &summary())
}

fn written(name: &str, sets: &[DuplicateSet]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut out = Vec::new();
    write(
        format(name).ok_or("no such format")?,
        Style::default(),
        sets,
        &mut out,
    )?;
    Ok(out)
}

fn header() -> Header {
    Header {
        version: "0.1.0".to_owned(),
        command: [&b"seekless"[..], b"--name", b"*.jpg copy\xff"]
            .map(|word| Raw(word.to_vec()))
            .to_vec(),
        folder: Raw(b"/home/me".to_vec()),
        roots: vec![Raw(b"photos".to_vec()), Raw(b" backup\n".to_vec())],
        catalogs: Vec::new(),
        started_ns: 1_795_225_396_123_456_789,
        options: Options {
            verify: true,
            copies: Copies::default(),
            ..Options::default()
        },
    }
}

fn summary() -> Summary {
    Summary {
        files: 12,
        bytes_present: u64::MAX,
        total_time: Duration::from_millis(1234),
        stages: vec![StageTally {
            name: "head",
            files: 7,
            bytes_read: 28_672,
        }],
        devices: vec![DeviceTally {
            name: "sda \"1\"".to_owned(),
            class: "rotational".to_owned(),
            bytes_read: 28_672,
        }],
        sets: 3,
        redundant_files: 4,
        redundant_bytes: 4096,
        reclaimable: 8192,
        unread: Unread {
            files: 1,
            bytes: 4096,
        },
        left_out: LeftOut {
            hidden: 2,
            ..LeftOut::default()
        },
        ..Summary::default()
    }
}

fn member(names: &[&[u8]]) -> Member {
    Member {
        names: names.iter().map(|name| name.to_vec()).collect(),
        dev: 2049,
        ino: u64::MAX,
        links: names.len() as u64,
        mtime_ns: -1,
        allocated: 4096,
        disk: Arc::from("sda"),
        ambiguous: false,
        root: 1,
    }
}

fn set(size: u64, members: Vec<Member>) -> DuplicateSet {
    DuplicateSet {
        size,
        digest: Some(ContentDigest::of_nothing()),
        cached: false,
        replicas: members.len() as u64,
        reclaimable: 4096,
        members,
        ..DuplicateSet::default()
    }
}

fn hostile_sets() -> Vec<DuplicateSet> {
    let long = [b'n'; 255];
    vec![
        set(
            u64::MAX,
            vec![
                member(&[b"plain/IMG_1.jpg", b"plain/hard \"link\".jpg"]),
                member(&[b"not utf-8 \xff\xfe.jpg", b"\xff"]),
                member(&[b"two\nlines\r\n"]),
                member(&[b" space at both ends "]),
            ],
        ),
        DuplicateSet {
            cached: true,
            ..set(
                1_500_000,
                vec![
                    member(&[b"\x1b]0;title\x07\x1b[31mred"]),
                    member(&["override \u{202e}gpj.exe, CSI \u{9b}31m, tag \u{e0041}".as_bytes()]),
                    member(&["Grüße, 日本, 👩\u{200d}🚀".as_bytes()]),
                    member(&[b"# no comment"]),
                    member(&[b"= no link", b"* no keeper"]),
                    member(&[b"back\\slash \\n \\xFF", b"it's $(a) `name`; with,commas"]),
                    member(&[&long]),
                ],
            )
        },
        DuplicateSet {
            digest: None,
            ..set(0, vec![member(&[b"-"])])
        },
    ]
}

/// What a reader should give back of a set.
fn as_read(set: &DuplicateSet, format: &Format) -> ReadSet {
    let mut set = set.clone();
    let has_facts = format.name != "text";
    for member in set.members.iter_mut().filter(|_| !has_facts) {
        *member = Member {
            names: std::mem::take(&mut member.names),
            ..Member::default()
        };
    }
    ReadSet {
        set,
        has_facts,
        marked: Vec::new(),
    }
}

fn readable_back() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.readable_back)
}

/// Bytes that are no text, with their line breaks.
fn shown(raw: &[u8]) -> String {
    let lines = raw.split(|&b| b == b'\n');
    let lines: Vec<String> = lines.map(|line| line.escape_ascii().to_string()).collect();
    lines.join("\n").replace("\\x00", "␀")
}

#[test]
fn each_format_looks_as_documented() -> Tested {
    for format in FORMATS {
        let out = written(format.name, &hostile_sets())?;
        let shown = String::from_utf8(out).unwrap_or_else(|raw| shown(raw.as_bytes()));
        insta::assert_snapshot!(format.name, shown);
    }
    Ok(())
}

#[test]
fn every_format_survives_every_byte_and_is_documented() -> Tested {
    let docs = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/docs/reference/formats.md"
    ))?;
    let members = (0..=255).map(|b| member(&[&[b], &[b'a', b, b'z'], &[b, 0xc3]]));
    let sets = [set(1, members.collect())];
    for format in FORMATS {
        assert!(!written(format.name, &sets)?.is_empty());
        let title = format!("\n## `{}`", format.name);
        assert!(
            docs.contains(&title),
            "docs/reference/formats.md lacks {title}"
        );
        let rows = FORMATS.iter().filter(|other| other.name == format.name);
        assert_eq!(rows.count(), 1, "{} is there twice", format.name);
    }
    Ok(())
}

#[test]
fn json_is_json_whatever_the_names() -> Tested {
    use serde_json::Value;

    let document: Value = serde_json::from_slice(&written("json", &hostile_sets())?)?;
    let members = &document["sets"][0]["members"];
    assert_eq!(members[0]["path"]["text"], "plain/IMG_1.jpg");
    assert_eq!(members[1]["hard_links"][0]["bytes"], "/w==");
    assert_eq!(document["sets"][2]["digest"], Value::Null);
    let none: Value = serde_json::from_slice(&written("json", &[])?)?;
    assert_eq!(none["sets"], serde_json::json!([]));

    let lines = String::from_utf8(written("ndjson", &hostile_sets())?)?;
    let mut lines: Vec<Value> = lines
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let types: Vec<_> = lines
        .iter_mut()
        .filter_map(|line| line.as_object_mut()?.remove("type"))
        .collect();
    assert_eq!(types, ["header", "set", "set", "set", "summary"]);
    assert_eq!(document["sets"], Value::from(&lines[1..4]));
    assert_eq!(document["summary"], lines[4]);
    Ok(())
}

#[test]
fn what_is_shown_on_terminals_is_printable() -> Tested {
    for name in ["text", "json", "ndjson", "csv"] {
        let out = String::from_utf8(written(name, &hostile_sets())?)?;
        for line in out.lines() {
            assert!(printable::is_printable(line), "{name}: {line}");
        }
    }
    Ok(())
}

#[test]
fn a_report_is_read_back_as_it_was_written() -> Tested {
    for format in readable_back() {
        for sets in [hostile_sets(), Vec::new()] {
            let report = ReadReport::read(&written(format.name, &sets)?[..])?;
            assert_eq!(report.frame.header, Some(header()), "{}", format.name);
            assert_eq!(report.frame.ending, Ending::Complete);
            let expected: Vec<_> = sets.iter().map(|set| as_read(set, format)).collect();
            assert_eq!(report.sets, expected, "{}", format.name);
        }
    }
    Ok(())
}

#[test]
fn text_may_be_edited_in_the_ways_of_editors() -> Tested {
    let text = String::from_utf8(written("text", &hostile_sets())?)?;
    let commented = text
        .replace("  3   two", "  # 3   two")
        .replace('\n', "\r\n");
    let report = ReadReport::read(commented.as_bytes())?;
    assert_eq!(report.sets[0].set.members.len(), 3);
    // Another file marked to be kept.
    let moved = text
        .replace("  1 * plain", "  1   plain")
        .replace("  3   two", "  3 * two");
    let members = &ReadReport::read(moved.as_bytes())?.sets[0].set.members;
    assert_eq!(members[0].names, [b"two\nlines\r\n"]);
    assert_eq!(members[1].names[0], b"plain/IMG_1.jpg");
    Ok(())
}

fn assert_refused(report: &str, said: &str) {
    match ReadReport::read(report.as_bytes()) {
        Ok(read) => panic!("{report:?} was read as {read:?}"),
        Err(error) => {
            let error = error.to_string();
            assert!(
                error.contains(said),
                "{report}\n  said {error}\n  not  {said}"
            );
        }
    }
}

#[test]
fn what_is_no_text_report_is_refused_with_line_and_reason() {
    let head = "5 B (5 bytes) * 2, reclaimable 4.1 kB (4096 bytes)\n";
    let first = "# seekless 1.0 report, text, schema 1\n";
    for (files, said) in [
        ("  a\n", "line 2: expected a file: its number"),
        ("  1 a\n", "line 2: expected a file: its number"),
        ("  1 * \n", "line 2: no file can have the name \"\""),
        (
            "  1 * a\\x00\n",
            "line 2: no file can have the name \"a\\x00\"",
        ),
        ("  1 * a\\q\n", "line 2: unknown escape \\q"),
        (
            "  1 * a\n  1   b\n",
            "line 3: file 1 of this set is listed twice",
        ),
        (
            "  1 * a\n  2   photos/ab",
            "line 3: the report is truncated here",
        ),
        (first, "line 2: a second report starts here"),
    ] {
        assert_refused(&format!("{head}{files}"), said);
    }
    for (report, said) in [
        ("", "the report is empty"),
        (" \n\n", "the report is empty"),
        ("hello\n", "not a report in text, json or ndjson"),
        (
            "# a comment\n\nhello\n",
            "not a report in text, json or ndjson",
        ),
        ("# a comment\n", "not a report in text, json or ndjson"),
        (&format!("{first}hello\n"), "line 2: expected a set"),
        ("  1 * a\n", "line 1: a file before the first set"),
        (
            &head.replace("(4096 bytes)", "(4096 bytes), blake3 beef"),
            "\"beef\" is not a BLAKE3 digest",
        ),
        (
            &format!("{first}{}", head.replace("5 bytes", "-5 bytes")),
            "line 2: expected a set",
        ),
        (
            &first.replace("schema 1", "schema 2"),
            "schema 2, this version reads schema 1",
        ),
        (
            &format!("{first}# header: {{}}\n"),
            "line 2: missing field `version`",
        ),
        (
            &format!(
                "{first}# header: {{\"version\":\"1\",\"command\":[],\"folder\":{{\"text\":\"/\"}},\"roots\":[],\
                 \"started\":\"today\"}}\n"
            ),
            "\"today\" is not an RFC 3339 time",
        ),
    ] {
        assert_refused(report, said);
    }
}

#[test]
fn what_is_no_json_report_is_refused_with_line_and_reason() -> Tested {
    let json = |digest: &str, path: &str| {
        format!(
            r#"{{"format":"seekless","schema":1,
                "sets":[{{"size":1,"digest":{digest},"replicas":1,"reclaimable":0,"members":[
                {{"path":{path},"mtime":"1970-01-01T00:00:00Z","dev":1,"ino":1,"links":1,
                "allocated":0,"disk":"","root":0}}]}}]}}"#
        )
    };
    let good = json("null", r#"{"text":"a"}"#);
    assert_eq!(ReadReport::read(good.as_bytes())?.sets.len(), 1);
    // Keys in another order and keys of a later version.
    let (head, sets) = good.split_once(",\n").ok_or("one line")?;
    let sets = sets.trim().strip_suffix('}').ok_or("no end")?;
    let other = format!("{{{sets},\"more\":[1],{}}}", head.trim_start_matches('{'));
    assert_eq!(ReadReport::read(other.as_bytes())?.sets.len(), 1);
    for (report, said) in [
        ("{}", "not a seekless report"),
        (r#"{"a": 1}"#, "not a seekless report"),
        (
            r#"{"format":"seekless","schema":7,"sets":[{}]}"#,
            "the report has schema 7",
        ),
        (
            r#"{"format":"seekless","#,
            "line 1: the report is truncated",
        ),
        (r#"{"type":"set"}"#, "line 1: missing field `size`"),
        (r#"{"type":"set""#, "line 1: the report is truncated"),
        (r#"{"type":"sets"}"#, "unknown variant `sets`"),
        (&json("\"beef\"", r#"{"text":"a"}"#), "not a BLAKE3 digest"),
        (&json("null", r#"{"bytes":"!"}"#), "not valid base64"),
        (
            &json("null", r#"{"text":""}"#),
            "no file can have the name \"\"",
        ),
        (
            &json("null", r#"{"text":"a\u0000"}"#),
            "the name \"a\\x00\"",
        ),
        (&json("null", "\"a\""), "at line 4 column"),
        (&format!("{good}{{}}"), "trailing characters"),
    ] {
        assert_refused(report, said);
    }
    Ok(())
}

fn any_name() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        1..=255u8,
        Just(b'\\'),
        Just(b' '),
        Just(b'\n'),
        0x80..=0xf4u8
    ];
    let text = "\\PC{1,20}".prop_map(String::into_bytes);
    let unprintable = "[\u{80}-\u{a0}\u{2000}-\u{206f}\u{e0000}-\u{e01ff}\\p{Di}]{1,5}";
    let shaped = "([\u{200c}\u{200d}\u{fe0f}\u{20e3}\u{301}\u{94d} 1#a]|[कبد❤👩🚀]){1,12}";
    prop_oneof![
        prop::collection::vec(byte, 1..40),
        text,
        unprintable.prop_map(String::into_bytes),
        shaped.prop_map(String::into_bytes)
    ]
}

/// True if a character may be shown only where it changes how others look.
fn is_shaper(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0f}')
}

prop_compose! {
    fn any_member()(
        names in prop::collection::vec(any_name(), 1..4),
        (dev, ino, links, allocated) in any::<(u64, u64, u64, u64)>(),
        mtime_ns: i64,
        disk in "\\PC{0,8}",
        (ambiguous, root) in any::<(bool, u32)>(),
    ) -> Member {
        let disk = Arc::from(disk);
        Member { names, dev, ino, links, mtime_ns, allocated, disk, ambiguous, root }
    }
}

prop_compose! {
    fn any_set()(
        (size, replicas, reclaimable) in any::<(u64, u64, u64)>(),
        digest: Option<[u8; 32]>,
        cached: bool,
        members in prop::collection::vec(any_member(), 1..12),
    ) -> DuplicateSet {
        let digest = digest.map(ContentDigest::from_bytes);
        let cached = cached && digest.is_some();
        DuplicateSet { size, digest, cached, members, replicas, reclaimable, ..DuplicateSet::default() }
    }
}

proptest! {
    #[test]
    fn any_names_are_read_back(sets in prop::collection::vec(any_set(), 0..6)) {
        for format in readable_back() {
            let out = written(format.name, &sets)
                .map_err(|error| TestCaseError::fail(error.to_string()))?;
            let report = ReadReport::read(&out[..])
                .map_err(|error| TestCaseError::fail(error.to_string()))?;
            let expected: Vec<_> = sets.iter().map(|set| as_read(set, format)).collect();
            prop_assert_eq!(&report.sets, &expected, "{}", format.name);
        }
    }

    #[test]
    fn escaped_names_hold_nothing_that_deceives(name in any_name()) {
        let escaped = escape::escape(&name);
        prop_assert_eq!(escape::unescape(escaped.as_bytes()), Ok(name.clone()));
        prop_assert!(printable::is_printable(&escaped));
        prop_assert!(!escaped.starts_with(' ') && !escaped.ends_with(' '));
        let invisible = regex::Regex::new(
            r"[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{2800}]--[\x20\p{Prepended_Concatenation_Mark}]]",
        );
        let invisible = invisible.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let plain: String = escaped.chars().filter(|&c| !is_shaper(c)).collect();
        prop_assert!(!invisible.is_match(&plain), "{}", escaped.escape_unicode());
        // Nor any two of them in a row, nor one at either end.
        let shapers: Vec<bool> = escaped.chars().map(is_shaper).collect();
        let joined = |two: &[char]| two[0] == '\u{fe0f}' && two[1] == '\u{200d}';
        let chars: Vec<char> = escaped.chars().collect();
        prop_assert!(chars.windows(2).all(|two| joined(two) || !(is_shaper(two[0]) && is_shaper(two[1]))));
        prop_assert!(shapers.first() != Some(&true));
    }

}
