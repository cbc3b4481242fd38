//! What is shown on a terminal, and how it differs from what goes into a file or a pipe.

use crate::common::terminal::stdout_on_terminal;
use crate::common::volume::Mounted;
use crate::common::{Tree, seekless};

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
        ("find -f csv view", "fuse.q\\x1B]0;TITLE\\x07z"),
        ("find -f json view", "fuse.q\\u001b]0;TITLE\\u0007z"),
        ("find -v view", "TITLE"),
        ("devices view", "TITLE"),
        ("remove --yes source view", "fuse.q\\u{1b}]0;TITLE\\u{7}z"),
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
