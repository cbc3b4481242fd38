//! The summary of a run on standard error.

use seekless::decide::{LeftOut, Summary, Unread};
use seekless::engine::Copies;
use seekless::report::fit::fitting;
use seekless::units::{Bytes, counted, plural};

use crate::cli::terminal::fit::table;
use crate::cli::terminal::progress_text::{count, duration};

/// The run that a summary is of.
#[derive(Clone, Copy, Debug)]
pub struct SummaryOf {
    /// How many copies were asked for.
    pub copies: Copies,
    /// Copies under one path counted as one.
    pub isolate: bool,
    /// It selected from a report, and neither listed a folder nor read a file.
    pub from_report: bool,
    /// What was read, and what each stage and each disk did, is asked for.
    pub verbose: bool,
}

const INCOMPLETE: &str = "INCOMPLETE: interrupted; there may be more duplicates.";
const REPORT_INCOMPLETE: &str =
    "INCOMPLETE: the report is of an incomplete run; there may be more duplicates.";
const MEMORY_SHORT: &str = "INCOMPLETE: memory ran short, so files were left out: search fewer at a time, or allow more memory.";
const UNREAD: &str =
    "INCOMPLETE: folders or files that could not be listed or read may hold more copies.";
const UNANSWERED: &str = "INCOMPLETE: some file systems did not answer and may hold more copies, so nothing is reported.";

/// Renders the summary, one line each. Lines fit into the columns of the terminal that they are for: sentences continue
/// on the next line, tables leave columns out.
pub fn lines(summary: &Summary, of: SummaryOf, columns: Option<usize>) -> Vec<String> {
    let width = columns.unwrap_or(usize::MAX);
    if of.from_report {
        return fitting(selection(summary, of), width);
    }
    let mut lines = fitting(sentences(summary, of), width);
    if of.verbose {
        lines.extend(table(stage_rows(summary), &[1, 2], width));
        lines.extend(table(device_rows(summary), &[2, 3], width));
    }
    lines.extend(fitting(not_looked_at(&summary.left_out), width));
    lines
}

/// The sentences about a selection from a report.
fn selection(summary: &Summary, of: SummaryOf) -> Vec<String> {
    let left_out = &summary.left_out;
    let mut lines = Vec::new();
    if summary.interrupted {
        lines.push(REPORT_INCOMPLETE.to_owned());
    }
    lines.push(found(summary, of.copies, of.isolate));
    if of.verbose {
        lines.push(format!(
            "Looked up {} of the report, {}; read no file.",
            counted(summary.files, "file", "files"),
            Bytes(summary.bytes_present),
        ));
    }
    lines.extend(skipped(&[
        (left_out.filtered, ["excluded by filters"; 2], ""),
        (left_out.vanished, ["removed since the report"; 2], ""),
        (
            left_out.changed,
            ["changed since the report"; 2],
            "named above",
        ),
    ]));
    lines
}

fn sentences(summary: &Summary, of: SummaryOf) -> Vec<String> {
    let mut lines = Vec::new();
    if summary.interrupted {
        lines.push(INCOMPLETE.to_owned());
    } else if summary.left_out.memory_short > 0 {
        lines.push(MEMORY_SHORT.to_owned());
    }
    if of.copies.most.is_some() {
        lines.extend(not_complete(&summary.left_out).map(str::to_owned));
    }
    lines.push(found(summary, of.copies, of.isolate));
    if of.verbose {
        lines.push(looked_at(summary));
        lines.extend(not_read(summary));
        lines.extend(cached(summary));
    }
    lines
}

/// Why an answer that depends on every file (`--unique`, `--copies ..3`) is not complete.
fn not_complete(left_out: &LeftOut) -> Option<&'static str> {
    let unread =
        left_out.unsettled + left_out.unreadable + left_out.memory_short + left_out.changed;
    match (left_out.unanswered, unread) {
        (0, 0) => None,
        (0, _) => Some(UNREAD),
        _ => Some(UNANSWERED),
    }
}

fn found(summary: &Summary, copies: Copies, isolate: bool) -> String {
    let sets = count(summary.sets);
    let contents = plural(summary.sets, "content", "contents");
    let with = |number: String| {
        if isolate {
            let are = plural(summary.sets, "is", "are");
            format!("{contents} that {are} under {number} of the paths")
        } else {
            format!("{contents} with {number} copies")
        }
    };
    let what = match (copies.least, copies.most) {
        (2, None) => format!("{} of duplicates", plural(summary.sets, "set", "sets")),
        (1, None) => contents.to_owned(),
        (least, None) => with(format!("at least {}", count(least))),
        (1, Some(1)) if isolate => with("only one".to_owned()),
        (1, Some(1)) => plural(summary.sets, "unique file", "unique files").to_owned(),
        (1, Some(most)) => with(format!("at most {}", count(most))),
        (least, Some(most)) if least == most => with(count(least)),
        (least, Some(most)) => with(format!("{} to {}", count(least), count(most))),
    };
    if summary.sets == 0 {
        let files = counted(summary.files, "file", "files");
        return format!("Found no {what} in {files}.");
    }
    if summary.redundant_files == 0 {
        return format!("Found {sets} {what}.");
    }
    let managed = match summary.managed {
        0 => String::new(),
        managed => format!(
            ", {} of it in hidden folders and folders that programs manage, which actions leave alone",
            Bytes(managed)
        ),
    };
    format!(
        "Found {sets} {what}: {} ({}), {} of disk space can be freed{managed}.",
        counted(summary.redundant_files, "redundant file", "redundant files"),
        Bytes(summary.redundant_bytes),
        Bytes(summary.reclaimable),
    )
}

fn looked_at(summary: &Summary) -> String {
    let names = match summary.extra_names {
        0 => String::new(),
        extra => format!(
            " with {} further {}",
            count(extra),
            plural(extra, "name", "names")
        ),
    };
    let read = summary.stages.iter().map(|stage| stage.bytes_read);
    let read = read.fold(0, u64::saturating_add);
    let share = match summary.bytes_present {
        // Heads and tails are read twice, and `--verify` reads all of it again.
        present if read > present => String::new(),
        0 => String::new(),
        present => format!(" ({})", percent(read, present)),
    };
    format!(
        "Searched {}{names} in {}, {}; read {}{share} in {}.",
        counted(summary.files, "file", "files"),
        counted(summary.folders, "folder", "folders"),
        Bytes(summary.bytes_present),
        Bytes(read),
        duration(summary.total_time)
    )
}

fn not_read(summary: &Summary) -> Option<String> {
    let Unread { files, bytes } = summary.unread;
    (files > 0).then(|| {
        format!(
            "Skipped reading {} ({}) that share their blocks with others.",
            counted(files, "file", "files"),
            Bytes(bytes)
        )
    })
}

fn cached(summary: &Summary) -> Option<String> {
    let Unread { files, bytes } = summary.cached;
    let by_mtime = summary.cached_by_mtime;
    // What was read in part may be left of it.
    let level = (by_mtime != Unread::default()).then(|| {
        format!(
            " For {} of them ({}), seekless only checked size and modification time (--cache mtime).",
            count(by_mtime.files),
            Bytes(by_mtime.bytes),
        )
    });
    (files > 0).then(|| {
        format!(
            "Skipped reading {} of {}: an earlier run read them, and their sizes and times are unchanged.{}",
            Bytes(bytes),
            counted(files, "file", "files"),
            level.unwrap_or_default(),
        )
    })
}

fn percent(part: u64, whole: u64) -> String {
    let percent = part as f64 * 100.0 / whole as f64;
    match percent {
        p if p == 0.0 || p >= 10.0 => format!("{percent:.0} %"),
        p if p < 0.1 => "under 0.1 %".to_owned(),
        _ => format!("{percent:.1} %"),
    }
}

fn stage_rows(summary: &Summary) -> Vec<[String; 4]> {
    let mut rows = vec![
        ["stage", "candidates", "read", "time"].map(str::to_owned),
        [
            "scan".to_owned(),
            count(summary.files),
            String::new(),
            duration(summary.scan_time),
        ],
    ];
    rows.extend(
        summary
            .stages
            .iter()
            .filter(|stage| stage.files > 0)
            .map(|stage| {
                [
                    stage.name.to_owned(),
                    count(stage.files),
                    Bytes(stage.bytes_read).to_string(),
                    duration(stage.time),
                ]
            }),
    );
    rows
}

fn device_rows(summary: &Summary) -> Vec<[String; 4]> {
    let mut devices = summary
        .devices
        .iter()
        .filter(|device| device.bytes_read > 0)
        .peekable();
    if devices.peek().is_none() {
        return Vec::new();
    }
    let mut rows = vec![["device", "read", "busy", "rate"].map(str::to_owned)];
    rows.extend(devices.map(|device| {
        let seconds = device.busy.as_secs_f64();
        let rate = if seconds > 0.0 {
            format!("{}/s", Bytes((device.bytes_read as f64 / seconds) as u64))
        } else {
            String::new()
        };
        [
            format!("{} ({})", device.name, device.class),
            Bytes(device.bytes_read).to_string(),
            duration(device.busy),
            rate,
        ]
    }));
    rows
}

/// Names everything that took no part, with the option that would change it: silence would look
/// like completeness.
fn not_looked_at(left_out: &LeftOut) -> Option<String> {
    let it = left_out;
    skipped(&[
        (it.hidden, ["hidden"; 2], "without --no-hidden"),
        (
            it.ignored,
            ["listed in ignore files"; 2],
            "without --ignore-file",
        ),
        (it.filtered, ["excluded by filters"; 2], ""),
        (it.empty, ["empty"; 2], "--empty"),
        (
            it.symlinks,
            ["symbolic link", "symbolic links"],
            "--follow-links",
        ),
        (
            it.special,
            ["pipe, socket or device", "pipes, sockets or devices"],
            "",
        ),
        (
            it.other_file_system,
            ["on other file systems"; 2],
            "without --one-file-system",
        ),
        (
            it.pseudo_file_system,
            ["pseudo file system", "pseudo file systems"],
            "",
        ),
        (
            it.listed_before,
            [
                "folder reached a second time",
                "folders reached a second time",
            ],
            "",
        ),
        (
            it.vanished,
            ["removed before they could be examined"; 2],
            "",
        ),
        (
            it.unsettled,
            ["folder that kept changing", "folders that kept changing"],
            "named above",
        ),
        (it.unreadable, ["unreadable"; 2], "named above"),
        (it.unanswered, ["without an answer"; 2], "named above"),
        (
            it.memory_short,
            ["or more for want of memory"; 2],
            "named above",
        ),
        (it.changed, ["changed during the run"; 2], "named above"),
    ])
}

/// Files by the reason why they took no part, in words for one and for more, each with the way out.
fn skipped(reasons: &[(u64, [&'static str; 2], &str)]) -> Option<String> {
    let parts: Vec<_> = reasons
        .iter()
        .filter(|(number, ..)| *number > 0)
        .map(|&(number, [one, more], way_out)| match way_out {
            "" => counted(number, one, more),
            way_out => format!("{} ({way_out})", counted(number, one, more)),
        })
        .collect();
    (!parts.is_empty()).then(|| format!("Skipped: {}.", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use seekless::decide::{DeviceTally, StageTally};

    use super::*;

    fn of(copies: Copies, isolate: bool) -> SummaryOf {
        SummaryOf {
            copies,
            isolate,
            from_report: false,
            verbose: true,
        }
    }

    fn full() -> Summary {
        let stage = |name, files, bytes_read, ms| StageTally {
            name,
            files,
            bytes_read,
            time: Duration::from_millis(ms),
        };
        let device = |name: &str, class: &str, bytes_read, ms| DeviceTally {
            name: name.to_owned(),
            class: class.to_owned(),
            bytes_read,
            busy: Duration::from_millis(ms),
        };
        Summary {
            interrupted: false,
            folders: 1234,
            files: 200_000,
            extra_names: 12,
            bytes_present: 5_900_000_000,
            scan_time: Duration::from_millis(412),
            total_time: Duration::from_millis(63_400),
            stages: vec![
                stage("head", 150_000, 600_000_000, 1310),
                stage("tail", 0, 0, 0),
                stage("content", 9000, 1_500_000_000, 61_200),
            ],
            devices: vec![
                device("sda", "hdd", 1_400_000_000, 60_100),
                device("nvme0n1", "ssd", 700_000_000, 400),
                device("sdb", "hdd", 0, 0),
            ],
            sets: 4000,
            redundant_files: 5000,
            redundant_bytes: 1_100_000_000,
            reclaimable: 1_050_000_000,
            managed: 0,
            cached: Unread::default(),
            cached_by_mtime: Unread::default(),
            unread: Unread {
                files: 17,
                bytes: 68_000_000,
            },
            left_out: LeftOut {
                hidden: 3,
                ignored: 4,
                filtered: 5,
                empty: 1_006,
                symlinks: 7,
                special: 8,
                other_file_system: 9,
                pseudo_file_system: 1,
                trash: 0,
                listed_before: 2,
                vanished: 3,
                unsettled: 1,
                unreadable: 2,
                unanswered: 0,
                memory_short: 0,
                changed: 1,
            },
        }
    }

    #[test]
    fn a_run_is_told_in_a_few_lines() {
        let text = lines(&full(), of(Copies::default(), false), None).join("\n");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn stages_and_disks_are_shown_if_asked_for() {
        let told = |verbose| {
            let of = SummaryOf {
                verbose,
                ..of(Copies::default(), false)
            };
            lines(&full(), of, None).join("\n")
        };
        for part in ["candidates", "busy"] {
            assert!(told(true).contains(part) && !told(false).contains(part));
        }
        for part in ["Searched ", "share their blocks"] {
            assert!(told(true).contains(part) && !told(false).contains(part));
        }
        assert_eq!(told(false).lines().count(), 2, "{}", told(false));
        assert!(told(false).contains("excluded"));
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_columns_and_shorter_lines() {
        for columns in [40, 60, 80] {
            let told = lines(&full(), of(Copies::default(), false), Some(columns));
            let widest = told.iter().map(|line| line.chars().count()).max();
            assert!(widest <= Some(columns), "{told:#?}");
        }
        let narrow = lines(&full(), of(Copies::default(), false), Some(40)).join("\n");
        insta::assert_snapshot!(narrow);
    }

    #[test]
    fn no_percentage_is_above_a_hundred() {
        for (present, share) in [(2_100_000_000, " (100 %)"), (2_099_999_999, "")] {
            let summary = Summary {
                bytes_present: present,
                ..full()
            };
            let text = lines(&summary, of(Copies::default(), false), None).join("\n");
            assert!(text.contains(&format!("read 2.1 GB{share} in")), "{text}");
        }
    }

    #[test]
    fn little_is_told_of_little() {
        let text = lines(&Summary::default(), of(Copies::default(), false), None).join("\n");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn one_is_not_spoken_of_as_many() {
        let told = |copies: &str| {
            let summary = Summary {
                sets: 1,
                ..Summary::default()
            };
            lines(&summary, of(copies.parse().expect("a range"), false), None)[0].clone()
        };
        assert_eq!(told("2.."), "Found 1 set of duplicates.");
        assert_eq!(told("1"), "Found 1 unique file.");
        assert_eq!(told("5.."), "Found 1 content with at least 5 copies.");
    }

    #[test]
    fn what_is_counted_by_path_is_named_so() {
        let told = |copies: &str, sets| {
            let summary = Summary {
                sets,
                ..Summary::default()
            };
            lines(&summary, of(copies.parse().expect("a range"), true), None)[0].clone()
        };
        for (copies, sets, said) in [
            ("2..", 5, "5 sets of duplicates."),
            (
                "3..",
                5,
                "5 contents that are under at least 3 of the paths.",
            ),
            ("1", 1, "1 content that is under only one of the paths."),
            (
                "1",
                0,
                "no contents that are under only one of the paths in 0 files.",
            ),
            (
                "..2",
                5,
                "5 contents that are under at most 2 of the paths.",
            ),
        ] {
            assert_eq!(told(copies, sets), format!("Found {said}"));
        }
    }

    #[test]
    fn what_was_asked_for_is_named() {
        let told = |copies: &str| {
            let summary = Summary {
                sets: 5,
                interrupted: true,
                ..Summary::default()
            };
            lines(&summary, of(copies.parse().expect("a range"), false), None)[1].clone()
        };
        assert_eq!(told("1"), "Found 5 unique files.");
        assert_eq!(told("..3"), "Found 5 contents with at most 3 copies.");
        assert_eq!(told("5.."), "Found 5 contents with at least 5 copies.");
        assert_eq!(told("3"), "Found 5 contents with 3 copies.");
        assert_eq!(told("3..5"), "Found 5 contents with 3 to 5 copies.");
        assert_eq!(told("1.."), "Found 5 contents.");
    }
}
