//! Names that look like others, or like a formula: in no text for people do they look so.

use crate::common::stage::Stage;
use crate::common::{Run, Tree, plain};

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
fn reports_and_plans_show_what_cannot_be_seen() {
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
        "symlink -n -f json .",
    ] {
        shows_nothing_unseen(&stage.run(line).exits(0));
    }
    // What the report wrote is read back: each name leads to its file.
    let report = stage.report("find .");
    stage.on_report("remove --yes --from -", report).exits(0);
    assert_eq!(stage.names().len(), 1);
}

/// The cells of the column `path`.
fn csv_paths(run: &Run) -> Vec<String> {
    let text = run.stdout_text();
    let rows = text.split("\r\n").skip(1).filter(|row| !row.is_empty());
    rows.map(|row| {
        let cell = row.split_once(",\"").expect("a quoted cell").1;
        cell.split_once("\",").expect("its end").0.to_owned()
    })
    .collect()
}

#[test]
fn no_cell_of_a_table_is_a_formula() {
    let names = [
        "=cmd|'/c calc'!A0",
        "-x",
        "@y",
        "+z",
        "＝f",
        "＋f",
        "－f",
        "＠f",
        "\t=1",
        "\r=1",
        " =1",
        "plain",
    ];
    let mut tree = Tree::new();
    for name in names {
        tree = tree
            .file(name, "the same")
            .file(format!("{name}.d/in"), "the same");
    }
    let stage = Stage::new(tree);
    // Names below `.` and bare relative ones, as files and as folders.
    let below = stage.run("find . -f csv").exits(0);
    let mut bare = stage.seekless("find -f csv --");
    for name in names {
        bare = bare.arg(name).arg(format!("{name}.d"));
    }
    let bare = bare.run().exits(0);
    for run in [below, bare] {
        let cells = csv_paths(&run);
        assert_eq!(cells.len(), 2 * names.len(), "{run}");
        for cell in &cells {
            let first = cell.chars().next().expect("a name");
            assert!(
                first.is_ascii_alphanumeric() || "./\\".contains(first),
                "{cell}"
            );
        }
        // What is not escaped is the name of the file as it stands.
        let there = cells.iter().filter(|cell| !cell.contains('\\'));
        let there: Vec<_> = there.map(|cell| plain(cell.as_bytes()).to_vec()).collect();
        assert!(there.contains(&b"=cmd|'/c calc'!A0".to_vec()) && there.contains(&b"-x".to_vec()));
        assert!(
            there.iter().all(|name| stage.tree.path(name).is_file()),
            "{run}"
        );
    }
}
