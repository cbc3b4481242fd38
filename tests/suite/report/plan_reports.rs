//! Reports that somebody edited, cut off, made by hand or meant to do harm.

use std::fs;

use crate::common::stage::Stage;
use crate::common::{Run, Tree};
use proptest::prelude::*;
use seekless::report::read::read_each;

use super::ReadReport;

impl Stage {
    /// A report on the whole tree.
    fn report_in(&self, format: &str) -> String {
        self.report(&format!("find . -f {format}"))
    }

    /// Removes what a report says, as far as that is safe.
    fn remove(&self, report: impl Into<Vec<u8>>) -> Run {
        self.seekless("remove --yes --from -").stdin(report).run()
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
            .exits(2)
            .says("2 files left alone because each no longer exists");
        assert_eq!(stage.names(), ["a"], "{format}");
    }
    let stage = abc();
    crate::common::write(stage.state.path().join("r.txt"), stage.report_in("text"))
        .expect("written");
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

/// A report on a, b and c in which b would be kept by its time, with its stars put somewhere.
fn starred(stars: &[usize]) -> (Stage, String) {
    let stage = abc();
    let tree = Tree::new().copies(["a", "b", "c"], "the same bytes");
    let tree = tree.modified("a", 1_000).modified("b", 3_000);
    let stage = Stage {
        tree: tree.modified("c", 2_000),
        ..stage
    };
    let mut report = stage.report_in("text").replace("  1 *", "  1  ");
    for star in stars {
        report = report.replace(&format!("  {star}  "), &format!("  {star} *"));
    }
    (stage, report)
}

#[test]
fn a_star_that_the_user_moved_wins_over_rules() {
    for (stars, stays) in [
        (&[2][..], &["c"][..]),
        (&[3], &["b"]),
        // Both of them were marked by somebody: one of the two is not where reports have it.
        (&[1, 2], &["a", "c"]),
        // As it was written: the rule decides.
        (&[1], &["b"]),
        (&[], &["b"]),
    ] {
        let (stage, report) = starred(stars);
        let run = stage.on_report("remove -n --keep newest --from -", report.clone());
        let told = run.stdout_text().contains("marked in the report");
        assert_eq!(told, stars != [1] && !stars.is_empty(), "{stars:?}\n{run}");
        stage
            .on_report("remove --yes --keep newest --from -", report)
            .exits(0);
        assert_eq!(stage.names(), stays, "{stars:?}");
    }
}

#[test]
fn a_report_cut_off_anywhere_does_nothing_or_what_it_says() {
    for format in ["text", "json", "ndjson"] {
        let report = abc().report_in(format);
        for end in (0..report.len()).step_by(report.len() / 10) {
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
    let report = stage.report_in("text --digest always");
    let digest = report.split("blake3 ").nth(1).expect("a digest")[..64].to_owned();
    let wrong = report.replace(&digest, &"0".repeat(64));
    stage.remove(wrong).exits(0);
    assert_eq!(stage.names(), ["a"], "bytes count, not digests");

    let stage = abc();
    let longer = stage
        .report_in("text")
        .replace("(14 bytes) *", "(15 bytes) *");
    stage.remove(longer).exits(2).says("has a different size");
    assert_eq!(stage.names().len(), 3);
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

const ONE_BYTE: &str = "1 B (1 byte) * 2, reclaimable 1 B (1 byte)\n";

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
        (format!("{there}/x"), "is outside the searched paths"),
        (format!("../{name}/x"), "is outside the searched paths"),
        ("way/x".to_owned(), "is outside the searched paths"),
        ("link".to_owned(), "is a symbolic link"),
        (".".to_owned(), "is not a regular file"),
        ("a/".to_owned(), "is not a regular file"),
        ("no/such".to_owned(), "no longer exists"),
    ] {
        let report = with_header(&stage, &format!("{ONE_BYTE}  1 * a\n  2   {listed}\n"));
        stage.remove(report).exits(2).says(said);
    }
    assert_eq!(stage.names(), ["a", "b", "link", "way"]);
    assert_eq!(outside.names(), ["x", "y"]);
}

#[test]
fn a_file_takes_part_in_one_set_only() {
    let stage = Stage::new(Tree::new().copies(["a", "b", "c"], "x"));
    let sets = format!(
        "{ONE_BYTE}  1 * a\n  2   b\n\n{ONE_BYTE}  1 * b\n  2   a\n\n{ONE_BYTE}  1 * c\n  2   a\n"
    );
    let report = with_header(&stage, &sets);
    let run = stage.seekless("symlink --yes --from -").stdin(report).run();
    run.exits(1).says("already in another set");
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
                prop_assert!(!set.set.members.is_empty());
                for member in &set.set.members {
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
    /// The fuzz target. `PROPTEST_CASES=1000000 cargo test --release --test suite fuzz_` runs it in full.
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
