//! Names that look like others: in no text for people do they look so.

use std::ffi::OsStr;

use super::common::stage::Stage;
use super::common::{Run, Tree};

/// Cannot be seen, or look like a space.
const UNSEEN: [&str; 14] = [
    "\u{3164}",
    "\u{115f}",
    "\u{ffa0}",
    "\u{2800}",
    "\u{34f}",
    "\u{e0041}",
    "\u{e0100}",
    "\u{fe0f}",
    "\u{200b}",
    "\u{200d}",
    "\u{202e}",
    "\u{a0}",
    "\u{3000}",
    "\u{e000}",
];

fn stage() -> Stage {
    let mut tree = Tree::new().file("keep/a", "the same");
    for unseen in UNSEEN {
        for name in [
            format!("{unseen}a"),
            format!("a{unseen}b"),
            format!("a{unseen}"),
        ] {
            tree = tree.file(format!("go{unseen}/{name}"), "the same");
        }
    }
    for seen in ["❤\u{fe0f}.jpg", "1\u{fe0f}\u{20e3}.jpg", "👩\u{200d}🚀.jpg"] {
        tree = tree.file(format!("go/{seen}"), "the same");
    }
    Stage::new(tree)
}

/// Nothing of it is there raw, neither on standard output nor on standard error.
#[track_caller]
fn shows_nothing_unseen(run: &Run) {
    for text in [run.stdout_text(), run.stderr_text()] {
        let text = text
            .replace("❤\u{fe0f}.jpg", "")
            .replace("1\u{fe0f}\u{20e3}.jpg", "");
        let text = text.replace("👩\u{200d}🚀.jpg", "");
        let raw = UNSEEN.iter().find(|&&unseen| text.contains(unseen));
        assert_eq!(raw, None, "{run}");
    }
}

#[test]
fn reports_plans_and_scripts_show_what_cannot_be_seen() {
    let stage = stage();
    for format in ["text", "json", "ndjson", "csv"] {
        let run = stage.run(&format!("find -f {format} .")).exits(0);
        shows_nothing_unseen(&run);
        let seen = ["❤\u{fe0f}.jpg", "1\u{fe0f}\u{20e3}.jpg", "👩\u{200d}🚀.jpg"];
        assert!(
            seen.iter().all(|seen| run.stdout_text().contains(seen)),
            "{run}"
        );
        if format == "text" {
            assert!(run.stdout_text().contains("\\u{3164}a"), "{run}");
        }
    }
    for line in [
        "remove -n .",
        "hardlink -n .",
        "move --to x -n .",
        "symlink --script .",
        "move --to x --script .",
    ] {
        shows_nothing_unseen(&stage.run(line).exits(0));
    }
    // What the report wrote is read back: each name leads to its file.
    let report = stage.report("find .");
    stage.on_report("remove --yes --from -", report).exits(0);
    assert_eq!(stage.names().len(), 1);
}

#[test]
fn messages_and_logs_show_what_cannot_be_seen() {
    for unseen in UNSEEN {
        let stage = stage();
        let missing = format!("missing{unseen}x");
        for arguments in [
            "find -vvv keep",
            "remove -n -v keep",
            "devices",
            "probe",
            "find --threads",
            "--no-such-option",
        ] {
            let run = stage.seekless(arguments).arg(OsStr::new(&missing)).run();
            shows_nothing_unseen(&run);
        }
        let run = stage
            .seekless("find")
            .arg(format!("--no{unseen}option=\n{unseen}"))
            .run();
        shows_nothing_unseen(&run.exits(2));
        let run = stage
            .seekless("find")
            .arg(format!("--min-size={unseen}1\nseekless: done"))
            .run();
        assert!(!run.stderr_text().contains("\nseekless: done"), "{run}");
        shows_nothing_unseen(&run.exits(2));
    }
    let stage = stage();
    let run = stage.run("hardlink --yes -vvv .").exits(0);
    shows_nothing_unseen(&run);
    shows_nothing_unseen(&stage.run("undo --list").exits(0));
    shows_nothing_unseen(&stage.run("undo --dry-run").exits(0));
    shows_nothing_unseen(&stage.run("undo --yes").exits(0));
}
