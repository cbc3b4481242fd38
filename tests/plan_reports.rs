//! Reports that somebody edited, cut off, made by hand or meant to do harm.

mod common;

use std::fs;
use std::io::{Read, Write};

use common::run::Seekless;
use common::stage::Stage;
use common::{Run, Tree};
use proptest::prelude::*;
use seekless::report::read::{ReadReport, read_each};

impl Stage {
    /// A report on the whole tree.
    fn report_in(&self, format: &str) -> String {
        self.report(&format!("find . -f {format}"))
    }

    /// Removes what a report says, as far as that is safe.
    fn remove(&self, report: impl Into<Vec<u8>>) -> Run {
        self.seekless("remove --yes --from -").stdin(report).run()
    }

    /// The same, about to start with so much memory and no more.
    fn with_memory(&self, bytes: u64) -> Seekless {
        let limit = rustix::process::Rlimit {
            current: Some(bytes),
            maximum: Some(bytes),
        };
        let lower = move || {
            use rustix::process::{Resource, setrlimit};
            Ok(setrlimit(Resource::Data, limit)?)
        };
        let patience = std::time::Duration::from_secs(3600);
        let run = self.seekless("remove --yes --from").patience(patience);
        run.before(lower)
    }
}

fn abc() -> Stage {
    Stage::new(Tree::new().copies(["a", "b", "c"], "the same bytes"))
}

#[test]
fn every_format_that_can_be_read_back_can_be_acted_on() {
    for format in ["text", "json", "ndjson"] {
        let stage = abc();
        let report = stage.report_in(format);
        stage.remove(report.clone()).exits(0);
        assert_eq!(stage.names(), ["a"], "{format}");
        // Again: what is gone is named.
        stage
            .remove(report)
            .exits(1)
            .says("2 names left alone: each is not there any more");
        assert_eq!(stage.names(), ["a"], "{format}");
    }
    let stage = abc();
    fs::write(stage.state.path().join("r.txt"), stage.report_in("text")).expect("written");
    let from = stage.state.path().join("r.txt");
    stage
        .seekless("remove --yes --from")
        .arg(from)
        .run()
        .exits(0);
    assert_eq!(stage.names(), ["a"]);
}

#[test]
fn lines_that_were_taken_out_are_left_alone_and_the_mark_decides() {
    let stage = abc();
    let report = stage.report_in("text");
    let without_b: String = report
        .lines()
        .filter(|line| !line.ends_with("/b") && !line.ends_with(" b"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_ne!(without_b, report);
    stage.remove(without_b).exits(0);
    assert_eq!(stage.names(), ["a", "b"]);
    let stage = abc();
    let moved = stage
        .report_in("text")
        .replace(" 1 *", " 1  ")
        .replace(" 3  ", " 3 *");
    stage.remove(moved).exits(0);
    assert_eq!(stage.names(), ["c"]);
    let stage = abc();
    let only_one: String = stage
        .report_in("text")
        .lines()
        .filter(|line| !line.starts_with("  2") && !line.starts_with("  3"))
        .map(|line| format!("{line}\n"))
        .collect();
    stage.remove(only_one).exits(0).says("Nothing to remove");
    assert_eq!(stage.names().len(), 3);
}

#[test]
fn a_report_cut_off_anywhere_does_nothing_or_what_it_says() {
    for format in ["text", "json", "ndjson"] {
        let report = abc().report_in(format);
        for end in (0..report.len()).step_by(report.len() / 24) {
            let stage = abc();
            let folder = stage.tree.root().canonicalize().expect("there");
            let report = stage.report_in(format);
            assert!(report.contains(folder.to_str().expect("plain")));
            let run = stage.remove(&report.as_bytes()[..end.min(report.len())]);
            assert!(!stage.names().is_empty(), "{run}");
            assert!(stage.names().contains(&"a".to_owned()), "{run}");
            if run.code() == 2 {
                assert_eq!(stage.names().len(), 3, "{run}");
            }
        }
    }
}

#[test]
fn wrong_digests_and_sizes_do_not_matter_or_are_noticed() {
    let stage = Stage::new(Tree::new().copies(["a", "b"], "aaaa").file("c", "bbbb"));
    let report = stage.report_in("text");
    let lied: String = report
        .lines()
        .map(|line| match line.trim_start().starts_with("2  ") {
            true => format!("{line}\n  3   c\n"),
            false => format!("{line}\n"),
        })
        .collect();
    stage
        .remove(lied)
        .exits(1)
        .says("c: differs from the kept file at byte 0");
    assert_eq!(stage.names(), ["a", "c"]);

    let stage = abc();
    let report = stage.report_in("text");
    let digest = report.split("blake3 ").nth(1).expect("a digest")[..64].to_owned();
    let wrong = report.replace(&digest, &"0".repeat(64));
    stage.remove(wrong).exits(0);
    assert_eq!(stage.names(), ["a"], "bytes count, not digests");

    let stage = abc();
    let longer = stage
        .report_in("text")
        .replace("(14 bytes) *", "(15 bytes) *");
    stage.remove(longer).exits(1).says("has another length");
    assert_eq!(stage.names().len(), 3);
}

#[test]
fn the_kept_file_under_two_names_is_one_file() {
    let stage = Stage::new(
        Tree::new()
            .file("a", "x")
            .copies(["b"], "x")
            .symlink("way", "."),
    );
    let here = stage.tree.root().canonicalize().expect("there");
    let here = here.to_str().expect("plain");
    let head = "1 B (1 bytes) * 2, reclaimable 1 B (1 bytes), blake3 -\n";
    for second in [
        "a",
        "./a",
        "./././a",
        "way/a",
        "way/way/a",
        "x/../a",
        &format!("{here}/a"),
    ] {
        let dir = stage.tree.path("x");
        fs::create_dir_all(dir).expect("made");
        let report = with_header(&stage, &format!("{head}  1 * a\n  2   {second}\n"));
        stage.remove(report).exits(0).says("Nothing to remove");
        assert!(stage.names().contains(&"a".to_owned()), "{second}");
    }
}

/// A report in text with the header that a real one has.
fn with_header(stage: &Stage, sets: &str) -> String {
    let report = stage.report_in("text");
    let header = report
        .lines()
        .filter(|line| line.starts_with('#') && !line.starts_with("# complete"));
    let header: String = header.map(|line| format!("{line}\n")).collect();
    format!("{header}\n{sets}\n# complete: sets 1\n")
}

const ONE_BYTE: &str = "1 B (1 bytes) * 2, reclaimable 1 B (1 bytes), blake3 -\n";

#[test]
fn names_that_lead_elsewhere_are_left_alone() {
    let outside = Stage::new(Tree::new().copies(["x", "y"], "x"));
    let there = outside.tree.root().canonicalize().expect("there");
    let there = there.to_str().expect("plain").to_owned();
    let stage = Stage::new(
        Tree::new()
            .copies(["a", "b"], "x")
            .symlink("way", &there)
            .symlink("link", "a"),
    );
    let name = there.rsplit('/').next().expect("a name");
    for (listed, said) in [
        (
            format!("{there}/x"),
            "lies outside the paths that were searched",
        ),
        (
            format!("../{name}/x"),
            "lies outside the paths that were searched",
        ),
        (
            "way/x".to_owned(),
            "lies outside the paths that were searched",
        ),
        ("link".to_owned(), "is a symbolic link"),
        (".".to_owned(), "is not a regular file"),
        ("a/".to_owned(), "is not a regular file"),
        ("no/such".to_owned(), "is not there any more"),
    ] {
        let report = with_header(&stage, &format!("{ONE_BYTE}  1 * a\n  2   {listed}\n"));
        stage.remove(report).exits(1).says(said);
    }
    assert_eq!(stage.names(), ["a", "b", "link", "way"]);
    assert_eq!(outside.names(), ["x", "y"]);
}

#[test]
fn without_a_header_only_absolute_names_are_understood() {
    let stage = abc();
    let here = stage.tree.root().canonicalize().expect("there");
    let here = here.to_str().expect("plain");
    let sets = "14 B (14 bytes) * 2, reclaimable 1 B (1 bytes), blake3 -\n";
    let relative = format!("{sets}  1 * a\n  2   b\n");
    stage
        .remove(relative)
        .exits(1)
        .says("does not say to which folder");
    assert_eq!(stage.names().len(), 3);
    let absolute = format!("{sets}  1 * {here}/a\n  2   {here}/b\n");
    let run = stage
        .seekless("remove --yes --trust-hash --from -")
        .stdin(absolute.clone())
        .run();
    run.exits(2)
        .says("--trust-hash wants a report that says when it was made");
    stage.remove(absolute).exits(0);
    assert_eq!(stage.names(), ["a", "c"]);
}

#[test]
fn a_file_takes_part_in_one_set_only() {
    let stage = Stage::new(Tree::new().copies(["a", "b", "c"], "x"));
    let sets = format!(
        "{ONE_BYTE}  1 * a\n  2   b\n\n{ONE_BYTE}  1 * b\n  2   a\n\n{ONE_BYTE}  1 * c\n  2   a\n"
    );
    let report = with_header(&stage, &sets);
    let run = stage.seekless("symlink --yes --from -").stdin(report).run();
    run.exits(1).says("in another set already");
    for name in ["a", "b", "c"] {
        let content = fs::read(stage.tree.path(name)).expect("leads to a file");
        assert_eq!(content, b"x", "{name}");
    }
    assert!(
        stage
            .tree
            .path("a")
            .symlink_metadata()
            .expect("a stays")
            .is_file()
    );
}

#[test]
fn what_changed_since_the_report_is_left_alone() {
    for format in ["text", "json"] {
        let stage = abc();
        let report = stage.report_in(format);
        std::thread::sleep(std::time::Duration::from_millis(30));
        stage.tree.write("b", "THE SAME BYTES");
        stage
            .remove(report)
            .exits(1)
            .says("has changed since the report");
        assert_eq!(stage.names(), ["a", "b"], "{format}");
    }
}

#[test]
fn trusted_reports_must_be_of_files_left_alone() {
    let stage = abc();
    let report = stage.report_in("json");
    std::thread::sleep(std::time::Duration::from_millis(30));
    fs::rename(stage.tree.path("b"), stage.tree.path("x")).expect("renamed");
    fs::rename(stage.tree.path("x"), stage.tree.path("b")).expect("renamed back");
    let run = stage
        .seekless("remove --yes --trust-hash --from -")
        .stdin(report)
        .run();
    run.exits(1).says("has changed since the report");
    assert_eq!(stage.names(), ["a", "b"]);
}

#[test]
fn names_in_no_encoding_come_through() {
    for format in ["text", "json", "ndjson"] {
        let stage = Stage::new(
            Tree::new()
                .file(b"a", "x")
                .file(b"\xff\xfe\n\x1b", "x")
                .file(b" b\\ ", "x"),
        );
        let report = stage.report_in(format);
        stage.remove(report).exits(0);
        assert_eq!(stage.names().len(), 1, "{format}");
    }
}

#[test]
fn followed_links_lead_to_one_file_each() {
    let stage = Stage::new(
        Tree::new()
            .copies(["in/a", "in/b", "elsewhere/c"], "x")
            .symlink("in/way", "../elsewhere"),
    );
    let run = stage.seekless("find -L in").run().exits(0);
    let report = run.stdout_text();
    assert!(report.contains("in/way/c"), "{report}");
    stage
        .seekless("remove --yes --from -")
        .stdin(report)
        .run()
        .exits(1)
        .says("lies outside the paths that were searched");
    assert!(stage.tree.path("elsewhere/c").exists());
    assert!(stage.tree.path("in/a").exists() && !stage.tree.path("in/b").exists());
}

#[test]
fn what_is_no_report_is_refused() {
    let stage = abc();
    for (report, said) in [
        (&b""[..], "the report is empty"),
        (b"{}", "not a report of seekless"),
        (
            b"{\"format\":\"seekless\",\"schema\":99,\"sets\":[]}",
            "schema 99",
        ),
        (b"a\nb\n", "line 1: expected a set"),
        (b"\x00\x01\x02\n", "line 1"),
        (b"  1 * a\n", "a file before the first set"),
        (b"{\"type\":\"set\"}\n", "line 1"),
    ] {
        stage.remove(report).exits(2).says(said);
    }
    assert_eq!(stage.names().len(), 3);
}

/// Ten million lines that name files which are not there, one set after the other.
struct Endless {
    left: u64,
    line: Vec<u8>,
    at: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.line.len() {
            if self.left == 0 {
                return Ok(0);
            }
            self.left -= 1;
            self.line.clear();
            if self.left % 10 == 9 {
                self.line.extend_from_slice(ONE_BYTE.as_bytes());
            }
            let number = self.left;
            writeln!(self.line, "{:3}   /nonexistent/{number}", number % 10)?;
            self.at = 0;
        }
        let length = buffer.len().min(self.line.len() - self.at);
        buffer[..length].copy_from_slice(&self.line[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

#[test]
#[ignore = "takes three minutes"]
fn in_full_ten_million_lines_take_little_memory() {
    let stage = abc();
    let path = stage.state.path().join("long.txt");
    let mut file = fs::File::create(&path).expect("a file");
    let mut lines = Endless {
        left: 10_000_000,
        line: Vec::new(),
        at: 0,
    };
    std::io::copy(&mut lines, &mut file).expect("written");
    let run = stage.with_memory(256 << 20).arg(&path).run();
    run.exits(1)
        .says("10,000,000 names left alone: each is not there any more");
    assert_eq!(stage.names().len(), 3);
}

/// A report with one set that lists so many names, in text or as JSON.
struct OneSet {
    format: &'static str,
    names: u64,
}

impl OneSet {
    fn write(&self, path: &std::path::Path) -> std::io::Result<()> {
        let mut file = std::io::BufWriter::new(fs::File::create(path)?);
        let set = "\"size\":1,\"digest\":null,\"replicas\":2,\"reclaimable\":1,\"members\":[";
        match self.format {
            "text" => file.write_all(ONE_BYTE.as_bytes())?,
            "json" => {
                let start = "{\"format\":\"seekless\",\"schema\":1,\"sets\":[{";
                write!(file, "{start}{set}")?;
            }
            _ => write!(file, "{{\"type\":\"set\",{set}")?,
        }
        for name in 0..self.names {
            if self.format == "text" {
                writeln!(file, "  1 = /x{}", name % 10)?;
                continue;
            }
            let comma = if name == 0 { "" } else { "," };
            write!(
                file,
                "{comma}{{\"path\":{{\"text\":\"/x\"}},\"mtime\":\"2024-01-01T00:00:00Z\",\"dev\":1,\
                 \"ino\":1,\"links\":1,\"allocated\":1,\"disk\":\"\",\"root\":0}}"
            )?;
        }
        match self.format {
            "text" => {}
            "json" => file.write_all(b"]}]}")?,
            _ => file.write_all(b"]}\n")?,
        }
        file.flush()
    }

    /// It is refused as a whole, by its line and with the way out.
    #[track_caller]
    fn is_refused(&self, stage: &Stage, memory: u64) {
        let path = stage.state.path().join("large");
        self.write(&path).expect("written");
        let run = stage.with_memory(memory).arg(&path).run().exits(2);
        run.says("large: line 1")
            .says(&format!(
                "the set of files of 1 bytes, blake3 -, has {} names",
                self.names
            ))
            .says("2000000 names")
            .says("can be cut into several");
        assert_eq!(stage.names().len(), 3);
    }
}

#[test]
fn a_set_that_no_memory_should_have_to_hold_is_refused() {
    let set = OneSet {
        format: "text",
        names: 2_000_001,
    };
    set.is_refused(&abc(), 256 << 20);
}

#[test]
#[ignore = "takes minutes: ten million names in one set, in three formats"]
fn in_full_ten_million_names_in_one_set_are_refused_in_little_memory() {
    for format in ["text", "ndjson", "json"] {
        let set = OneSet {
            format,
            names: 10_000_000,
        };
        set.is_refused(&abc(), 1 << 30);
    }
}

#[test]
fn a_text_that_is_no_name_is_not_read_to_its_end() {
    let stage = abc();
    let path = stage.state.path().join("long");
    for (start, said) in [
        (
            "{\"type\":\"set\",\"digest\":\"",
            "line 1: the line is too long for a name",
        ),
        ("{\"format\":\"", "a text in it is longer than any name"),
    ] {
        let mut file = fs::File::create(&path).expect("a file");
        file.write_all(start.as_bytes()).expect("written");
        file.write_all(&vec![b'a'; 17 << 20]).expect("written");
        let run = stage.with_memory(256 << 20).arg(&path).run();
        run.exits(2).says(said);
    }
}

#[test]
fn a_set_of_many_files_is_acted_on() {
    large_set(5_000, 64 << 20);
}

#[test]
#[ignore = "takes minutes: a hundred thousand files, each with its entry in the journal"]
fn in_full_a_set_of_a_hundred_thousand_files_is_acted_on() {
    large_set(100_000, 512 << 20);
}

#[test]
#[ignore = "takes minutes: a million files, a gigabyte of memory for them"]
fn in_full_a_set_of_a_million_files_is_planned() {
    let stage = Stage::new(Tree::new());
    let report = one_large_set(&stage, 1_000_000);
    let run = stage.with_memory(3 << 30).arg("-").arg("--dry-run");
    run.stdin(report)
        .run()
        .exits(0)
        .says("To remove: 999,999 files");
}

/// All but one of so many empty files are removed, with so much memory.
fn large_set(files: u64, memory: u64) {
    let stage = Stage::new(Tree::new());
    let report = one_large_set(&stage, files);
    let run = stage.with_memory(memory).arg("-").stdin(report).run();
    run.exits(0);
    assert_eq!(stage.names(), ["0/a file with a usual name 77.jpg"]);
}

/// A report of one set of so many empty files, which are there. The 78th is to stay.
fn one_large_set(stage: &Stage, files: u64) -> String {
    let mut report = "0 B (0 bytes) * 2, reclaimable 0 B (0 bytes), blake3 -\n".to_owned();
    let top = stage.tree.root().canonicalize().expect("there");
    for number in 0..files {
        let folder = top.join((number / 10_000).to_string());
        fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join(format!("a file with a usual name {number}.jpg"));
        fs::File::create(&file).expect("a file");
        let mark = if number == 77 { '*' } else { ' ' };
        report.push_str(&format!("  {} {mark} {}\n", number + 1, file.display()));
    }
    report
}

/// Real reports, to be damaged.
fn specimens() -> &'static [Vec<u8>] {
    use std::sync::OnceLock;
    static SPECIMENS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SPECIMENS.get_or_init(|| {
        let tree = Tree::new()
            .copies(["a", "b's", "sub/c"], "one")
            .hard_link("again", "a")
            .file(b"\xff\n", "two")
            .file("d\\", "two");
        let stage = Stage::new(tree);
        ["text", "json", "ndjson"]
            .map(|format| stage.report_in(format).into_bytes())
            .to_vec()
    })
}

/// One thing that happens to a report.
#[derive(Clone, Debug)]
enum Damage {
    Flip(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Repeat(usize, usize),
    Truncate(usize),
    Swap(usize, usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<usize>;
    let word = prop::sample::select(
        [
            "\n",
            "  ",
            "{",
            "}",
            "[",
            "]",
            "\"",
            "\\",
            "\\u0000",
            "\\x",
            "\\u{",
            "..",
            "/",
            "#",
            "*",
            "=",
            "-1",
            "1e999",
            "18446744073709551616",
            "null",
            "true",
            "\0",
            "\x1b[31m",
            "\u{feff}",
            "blake3 ",
            "\"type\":\"set\"",
            "\"members\":[]",
            "# seekless 0.1.0 report, text, schema 1\n",
        ]
        .map(|word| word.as_bytes().to_vec())
        .to_vec(),
    );
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        (at(), word).prop_map(|(at, word)| Damage::Insert(at, word)),
        (at(), 0_usize..200).prop_map(|(at, length)| Damage::Remove(at, length)),
        (at(), 0_usize..200).prop_map(|(at, length)| Damage::Repeat(at, length)),
        at().prop_map(Damage::Truncate),
        (at(), at(), 0_usize..80).prop_map(|(one, other, length)| Damage::Swap(one, other, length)),
    ]
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |at: usize, length: usize| at % (length + 1);
        let length = bytes.len();
        match *self {
            Self::Flip(at, byte) if length > 0 => bytes[at % length] = byte,
            Self::Insert(at, ref word) => {
                let at = place(at, length);
                bytes.splice(at..at, word.iter().copied());
            }
            Self::Remove(at, count) => {
                let at = place(at, length);
                bytes.drain(at..(at + count).min(length));
            }
            Self::Repeat(at, count) => {
                let at = place(at, length);
                let again = bytes[at..(at + count).min(length)].to_vec();
                bytes.splice(at..at, again);
            }
            Self::Truncate(at) => bytes.truncate(place(at, length)),
            Self::Swap(one, other, count) if length > count => {
                let (one, other) = (one % (length - count), other % (length - count));
                let piece = bytes[one..one + count].to_vec();
                bytes.splice(other..other + count, piece);
            }
            Self::Flip(..) | Self::Swap(..) => {}
        }
    }
}

/// What any report must do: be read, or be refused with one line.
fn read_or_refuse(bytes: &[u8]) -> Result<(), TestCaseError> {
    match ReadReport::read(bytes) {
        Ok(report) => {
            for set in &report.sets {
                prop_assert!(!set.members.is_empty());
                for member in &set.members {
                    prop_assert!(!member.names.is_empty());
                    prop_assert!(
                        member
                            .names
                            .iter()
                            .all(|n| !n.is_empty() && !n.contains(&0))
                    );
                }
            }
        }
        Err(error) => {
            let said = error.to_string();
            prop_assert!(!said.is_empty() && !said.contains('\n'), "{}", said);
        }
    }
    let mut sets = 0_usize;
    let read = read_each(bytes, &mut |_, _| sets += 1).is_ok();
    prop_assert_eq!(
        read,
        ReadReport::read(bytes).is_ok_and(|report| report.sets.len() == sets)
    );
    Ok(())
}

proptest! {
    /// The fuzz target. `PROPTEST_CASES=1000000 cargo test --release --test plan_reports fuzz` runs it in full.
    #[test]
    fn fuzz_damaged_reports(which in 0_usize..3, damages in prop::collection::vec(damage(), 1..8)) {
        let mut bytes = specimens()[which].clone();
        damages.iter().for_each(|damage| damage.apply(&mut bytes));
        read_or_refuse(&bytes)?;
    }

    #[test]
    fn fuzz_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_or_refuse(&bytes)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever becomes of a report on its way: of each content one file is left.
    #[test]
    fn fuzz_acting_on_damaged_reports(which in 0_usize..3, damages in prop::collection::vec(damage(), 0..4)) {
        let stage = Stage::new(Tree::new().copies(["a", "b"], "one").copies(["c", "d", "e"], "two"));
        let mut report = stage.report_in(["text", "json", "ndjson"][which]).into_bytes();
        damages.iter().for_each(|damage| damage.apply(&mut report));
        let run = stage.remove(report);
        let contents: std::collections::BTreeSet<Vec<u8>> = stage.names().iter()
            .map(|name| fs::read(stage.tree.path(name)).expect("a file"))
            .collect();
        prop_assert_eq!(contents.len(), 2, "{}", run);
    }
}
