//! What is shown on a terminal, and how it differs from what goes into a file or a pipe.

use crate::common::terminal::{on_terminal, stdout_on_terminal};
use crate::common::volume::Mounted;
use crate::common::{Tree, seekless};
use regex::Regex;

/// Two sets: one of three names of two files, one of 60 files.
fn tree() -> Tree {
    let tree = Tree::new()
        .file("Pictures/hard.jpg", vec![b'p'; 3_000_000])
        .hard_link("Pictures/2024/IMG_1.jpg", "Pictures/hard.jpg")
        .file("Pictures/old/copy.jpg", vec![b'p'; 3_000_000]);
    (0..60).fold(tree, |tree, number| {
        tree.file(format!("Notes/{number:02}.txt"), vec![b'n'; 5000])
    })
}

const WIDTHS: [u16; 3] = [40, 80, 200];

#[test]
fn sets_on_a_terminal_are_short_and_long_ones_are_folded() {
    let tree = tree();
    for options in ["", "--digest always"] {
        for columns in WIDTHS {
            let shown = stdout_on_terminal(tree.root(), &format!("-q {options} ."), columns);
            let name = format!(
                "{columns}{}",
                options.trim_start_matches("--").replace(' ', "_")
            );
            insta::assert_snapshot!(name, shown);
        }
    }
}

#[test]
fn nothing_but_a_digest_is_wider_than_the_terminal() {
    let tree = tree();
    // What was read and how fast depends on the machine.
    let digits = Regex::new(r"[0-9][0-9.,]*").expect("a pattern");
    for columns in WIDTHS {
        let shown = on_terminal(tree.root(), "--no-progress .", columns);
        for line in shown.lines() {
            let is_of_a_disk = line.contains(" (");
            assert!(
                line.chars().count() <= columns.into() || is_of_a_disk,
                "{columns}: {line}"
            );
        }
        let shown = digits.replace_all(&shown, "0");
        let found = "Found 0 sets of duplicates:";
        assert!(shown.contains(found), "{columns}: {shown}");
    }
}

#[test]
fn names_in_lines_send_nothing_to_the_terminal() {
    let tree = Tree::new().copies(["a\x1b[31m", "b"], "same");
    let shown = stdout_on_terminal(tree.root(), "-q -f fdupes .", 80);
    assert!(
        shown.contains(r"./a\x1B[31m") && !shown.contains('\x1b'),
        "{shown:?}"
    );
    // As fdupes writes them.
    let run = seekless(tree.root(), "-q -f fdupes .").run().exits(0);
    assert!(run.stdout_text().contains("./a\x1b[31m\n"), "{run}");
}

#[test]
fn messages_fit_the_terminal_and_commands_stay_whole() {
    let tree = tree();
    let whole = "seekless remove --dry-run --from found.txt";
    for columns in [40, 60, 80] {
        let mut said = String::new();
        for line in [
            "--min-size 10k --max-size 1k .",
            "remove --yes --from none",
            "remove --dry-run 'not there'",
            "--cache mtime --cache off .",
            "--delete .",
            "--no-progress -v --threads ssd:1,1 --threads hdd:1,1 -o found.txt .",
        ] {
            said.push_str(&on_terminal(tree.root(), line, columns));
        }
        for line in said.lines() {
            let is_whole = line.contains(whole) || line.contains(" (") || line.contains("/");
            let fits = line.chars().count() <= columns.into();
            assert!(fits || is_whole, "{columns}: {line}");
        }
        assert!(said.contains(whole), "{said}");
        assert!(said.lines().any(|line| line.starts_with("  ")), "{said}");
    }
}

#[test]
fn a_pipe_and_a_file_hold_every_name_and_are_read_back() {
    let tree = tree();
    let piped = seekless(tree.root(), "-q .").run().exits(0).stdout_text();
    assert!(piped.starts_with("# seekless "), "{piped}");
    assert!(
        piped.ends_with("kB\n") || piped.ends_with("MB\n"),
        "{piped}"
    );
    assert!(!piped.contains('…'), "{piped}");
    assert_eq!(piped.matches("/Notes/").count(), 60, "{piped}");
    // A file that is written from a terminal is the same.
    stdout_on_terminal(tree.root(), "-q -o report.txt .", 40);
    let filed = std::fs::read_to_string(tree.path("report.txt")).expect("a report");
    let sets = |report: &str| report.split_once("\n\n").map(|(_, sets)| sets.to_owned());
    assert_eq!(sets(&filed), sets(&piped));
    let plan = seekless(tree.root(), "remove --dry-run --from report.txt").run();
    assert_eq!(plan.exits(0).stdout_text().matches("  remove ").count(), 60);
}

#[test]
fn what_was_copied_from_a_terminal_is_refused_as_a_report() {
    let tree = tree();
    let shown = stdout_on_terminal(tree.root(), "-q .", 80);
    seekless(tree.root(), "remove --dry-run --from -")
        .stdin(shown)
        .run()
        .exits(2);
}

#[test]
fn text_has_digests_only_if_they_are_asked_for() {
    let tree = tree();
    let digest = Regex::new("blake3 [0-9a-f]{64}").expect("a pattern");
    let hex = Regex::new("\\b[0-9a-f]{64}\\b").expect("a pattern");
    for (options, digests) in [("", 0), ("--digest when-needed", 0), ("--digest always", 2)] {
        let text = seekless(tree.root(), &format!("-q {options} ."))
            .run()
            .exits(0);
        let text = text.stdout_text();
        assert_eq!(
            digest.find_iter(&text).count(),
            digests,
            "{options}: {text}"
        );
    }
    for (options, digests) in [
        ("json", true),
        ("ndjson", true),
        ("csv", true),
        ("json --digest when-needed", false),
        ("ndjson --digest when-needed", false),
        ("csv --digest when-needed", false),
    ] {
        let run = seekless(tree.root(), &format!("-q -f {options} ."))
            .run()
            .exits(0);
        assert_eq!(
            hex.is_match(&run.stdout_text()),
            digests,
            "{options}\n{run}"
        );
    }
}

#[test]
fn only_the_first_sets_are_reported_in_every_format() {
    let tree = tree();
    for format in ["text", "json", "ndjson", "csv", "fdupes", "nul"] {
        let run = seekless(tree.root(), &format!("-f {format} --top 1 ."))
            .run()
            .exits(0);
        let text = run.stdout_text();
        assert!(
            text.contains("2024/IMG_1.jpg") && !text.contains("Notes/0"),
            "{run}"
        );
        run.says("Found 2 sets")
            .says("Reported 1 of 2 sets (--top 1).");
    }
    seekless(tree.root(), "--top 2 .")
        .run()
        .exits(0)
        .never_says("--top");
    seekless(tree.root(), "--top 0 .")
        .run()
        .exits(2)
        .says("--top");
}

#[test]
fn sets_come_in_the_order_that_is_asked_for() {
    let tree = tree().file("a/1", "abc").file("a/2", "abc");
    for (order, firsts) in [
        ("reclaimable", ["Pictures", "Notes", "a/"]),
        ("size", ["Pictures", "Notes", "a/"]),
        ("count", ["Notes", "Pictures", "a/"]),
        ("path", ["Notes", "Pictures", "a/"]),
    ] {
        for format in ["text", "nul"] {
            let line = format!("-q -f {format} --sort-by {order} .");
            let text = seekless(tree.root(), &line).run().exits(0).stdout_text();
            let mut places = firsts.map(|first| text.find(&format!("./{first}")));
            assert!(places.iter().all(Option::is_some), "{line}: {text}");
            assert!(places.is_sorted(), "{line}: {text}");
            places.reverse();
            assert!(!places.is_sorted(), "the sets differ");
        }
    }
}

#[test]
fn the_summary_alone_goes_to_standard_output() {
    let tree = tree();
    let run = seekless(tree.root(), "--summary-only .").run().exits(0);
    assert!(
        run.stdout_text()
            .starts_with("Found 2 sets of duplicates: 60 redundant files"),
        "{run}"
    );
    assert_eq!(run.stderr_text(), "", "{run}");
    let json = seekless(tree.root(), "--summary-only -f json .")
        .run()
        .exits(0)
        .json();
    assert_eq!(json["sets"], serde_json::json!([]));
    assert_eq!(json["summary"]["sets"], 2);
    let ndjson = seekless(tree.root(), "--summary-only -f ndjson .")
        .run()
        .exits(0);
    assert_eq!(ndjson.stdout_text().lines().count(), 2, "{ndjson}");
    for format in ["csv", "fdupes", "nul"] {
        let line = format!("--summary-only -f {format} .");
        seekless(tree.root(), &line)
            .run()
            .exits(2)
            .says("text, json or ndjson");
    }
    seekless(tree.root(), "--summary-only -q .").run().exits(2);
}

#[test]
fn after_a_report_the_next_command_is_named_and_works() {
    let tree = tree();
    for (file, shown) in [
        ("found.txt", "found.txt"),
        ("it's.txt", r"'it'\''s.txt'"),
        ("-x.json", "./-x.json"),
    ] {
        let run = seekless(tree.root(), "")
            .arg(format!("-o{file}"))
            .arg(".")
            .run()
            .exits(0);
        let said = run.stderr_text();
        let (_, command) = said
            .split_once("To see what would be removed: ")
            .expect("a next command");
        assert_eq!(
            command,
            format!("seekless remove --dry-run --from {shown}\n"),
            "{run}"
        );
        let command = command.replace("seekless", env!("CARGO_BIN_EXE_seekless"));
        let shell = std::process::Command::new("sh")
            .arg("-c")
            .arg(command)
            .current_dir(tree.root())
            .output();
        assert!(shell.expect("a shell").status.success());
    }
    // Where there is nothing to do, or nothing that reads the report back, or nobody who wants to know.
    for line in [
        "-o x -f csv .",
        "-o x --unique .",
        "-o x --min-size 1G .",
        "-o x -q .",
        "-o /dev/null .",
        ".",
    ] {
        seekless(tree.root(), line)
            .run()
            .exits(0)
            .never_says("Next,");
    }
}

#[test]
fn disks_fit_the_terminal_and_advice_is_given_once() {
    let tree = tree();
    for columns in WIDTHS {
        let shown = stdout_on_terminal(tree.root(), "devices .", columns);
        for line in shown.lines() {
            let is_command = line.starts_with("    ");
            assert!(
                line.chars().count() <= columns.into() || is_command,
                "{line}"
            );
        }
        assert!(
            shown.contains("MOUNT") && shown.contains("CLASS"),
            "{shown}"
        );
    }
}

#[test]
#[ignore = "mounts file systems, needs bindfs: root only"]
fn the_type_of_a_file_system_cannot_steer_the_terminal() {
    let tree = Tree::new()
        .copies(["source/a", "source/b"], "same")
        .folder("view");
    let source = tree.path("source");
    let subtype = r#"-o subtype="$(printf 'q\033]0;TITLE\007z')""#;
    let command = format!("bindfs {subtype} {}", source.display());
    let _view = Mounted::by(&command, tree.path("view"));
    for (line, says) in [
        (
            "remove --dry-run source view",
            "fuse.q\\u{1b}]0;TITLE\\u{7}z",
        ),
        ("find -f csv view", "fuse.q\\x1B]0;TITLE\\x07z"),
        ("find -f json view", "fuse.q\\u001b]0;TITLE\\u0007z"),
        ("find -v view", "TITLE"),
        ("devices view", "TITLE"),
    ] {
        let run = seekless(tree.root(), line).run();
        let shown = format!("{}{}", run.stdout_text(), run.stderr_text());
        assert!(shown.contains(says), "{line}: {run}");
        assert!(!shown.contains(['\x1b', '\x07']), "{line}: {run}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_report_and_nothing_is_wrong() {
    let tree = tree();
    for output in ["", "-o /dev/stdout"] {
        for command in ["find -f fdupes", "find", "remove --dry-run", "folders"] {
            let (reader, writer) = std::io::pipe().expect("a pipe");
            drop(reader);
            seekless(tree.root(), &format!("{command} {output} ."))
                .stdout(writer)
                .run()
                .exits(0)
                .never_says("Broken pipe");
        }
    }
}
