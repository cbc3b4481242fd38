//! What is printed.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::*;

/// Of three files two threads share the last.
#[test]
fn a_digest_does_not_depend_on_how_many_threads_shared_the_file() {
    // Mostly holes; long enough to be shared, and no power of two.
    let (length, marks) = (70_000_001, [(0, 0), (40_000_000, 1), (70_000_000, 2)]);
    let tree = Tree::new();
    for name in ["a", "b", "c"] {
        let file = File::create(tree.root().join(name)).expect("made");
        file.set_len(length).expect("made longer");
        for (at, seed) in marks {
            file.write_all_at(&noise(seed, 1), at).expect("written");
        }
    }
    let mut content = vec![0; length as usize];
    for (at, seed) in marks {
        content[at as usize] = noise(seed, 1)[0];
    }
    let digest = blake3::hash(&content).to_hex();
    for options in [
        "--threads 1",
        "--threads default:4,2",
        "--threads default:4,2 --page-cache drop --bwlimit 2G",
        "--threads default:4,2 --without holes",
        "--threads hdd",
    ] {
        let arguments = format!("find -f json --digest always {options} .");
        let document = seekless(tree.root(), &arguments).run().exits(0).json();
        assert_eq!(document["sets"][0]["digest"], digest.as_str(), "{options}");
        assert_eq!(document["sets"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn a_report_goes_into_a_file_as_a_whole() {
    let tree = photos();
    let run = seekless(tree.root(), "find -f nul -o report photos backup")
        .run()
        .exits(0);
    assert_eq!(run.stdout, b"", "{run}");
    let written = fs::read(tree.path("report")).expect("the report is there");
    assert_eq!(crate::common::run::parse_bare(&written, 0).len(), 2);
    let others: Vec<_> = fs::read_dir(tree.root())
        .expect("listable")
        .map(|entry| entry.expect("readable").file_name())
        .filter(|name| {
            !["photos", "backup", "report"]
                .iter()
                .any(|known| name == known)
        })
        .collect();
    assert!(others.is_empty(), "left behind: {others:?}");
}

#[test]
fn the_report_itself_is_not_searched() {
    let tree = Tree::new().copies(["1", "2"], "same");
    let runs = [(); 3].map(|()| {
        tree.write("report", "");
        seekless(tree.root(), "find -f fdupes -o report .")
            .run()
            .exits(0)
    });
    drop(runs);
    let written = fs::read(tree.path("report")).expect("the report is there");
    assert_eq!(
        crate::common::run::parse_bare(&written, b'\n'),
        crate::common::sets(["1 2"])
    );
}

#[test]
fn an_earlier_report_is_replaced_only_by_a_finished_one() {
    const EARLIER: &str = "# seekless 0.1.0 report, text, schema 1\n";
    let tree = photos().file("report", EARLIER);
    seekless(tree.root(), "find -f nul -o report nowhere")
        .run()
        .exits(2);
    assert_eq!(
        fs::read(tree.path("report")).expect("still there"),
        EARLIER.as_bytes()
    );
    seekless(tree.root(), "find -f nul -o report photos")
        .run()
        .exits(0);
    assert_ne!(
        fs::read(tree.path("report")).expect("there"),
        EARLIER.as_bytes()
    );
}

#[test]
fn a_file_that_is_no_earlier_result_is_not_replaced() {
    let contents = [
        "Dear reader,\n",
        "#!/bin/sh\nrm x\n",
        "{}",
        "\n",
        "/* licence */\n",
        "// licence\n",
        "/etc/passwd\n",
        "./configure\nmake\n",
        "photos/a and others\nare here.\n",
        "Found 3 sets of keys: who lost them?\n",
    ];
    let commands = [
        "find",
        "find -f json",
        "find -f csv",
        "find -f fdupes",
        "find -f nul",
        "folders",
        "remove -n",
    ];
    let tree = photos();
    for (content, command) in contents.iter().zip(commands.iter().cycle()) {
        tree.write("letter", content);
        seekless(tree.root(), &format!("{command} -o letter photos"))
                .run()
                .exits(2)
                .says("cannot write letter: it exists, and seekless does not recognize it as an earlier result; choose another name");
        let now = fs::read(tree.path("letter")).expect("there");
        assert_eq!(now, content.as_bytes(), "{command}");
    }
}

#[test]
fn a_summary_goes_to_stderr_and_quiet_leaves_it_out() {
    let tree = photos();
    let run = seekless(tree.root(), "find -f nul .").run().exits(0);
    assert!(!run.stderr.is_empty());
    for quiet in ["-q", "--quiet"] {
        let run = seekless(tree.root(), &format!("find -f nul {quiet} ."))
            .run()
            .exits(0);
        assert_eq!(run.stderr, b"", "{run}");
        assert_eq!(run.sets().len(), 2, "{run}");
    }
}

#[test]
fn quiet_runs_still_name_what_went_wrong() {
    seekless(photos().root(), "find -q -f nul . nowhere")
        .run()
        .exits(1)
        .says("nowhere");
}

#[test]
fn the_summary_counts_what_there_is() {
    let tree = Tree::new()
        .copies(["x/1", "x/2", "x/3"], noise(1, 6000))
        .file("x/other", "alone")
        .hard_link("x/4", "x/1");
    let summary = &seekless(tree.root(), "find -f json x")
        .run()
        .exits(0)
        .json()["summary"];
    assert_eq!(summary["incomplete"], false);
    assert_eq!(summary["files"], 4);
    assert_eq!(summary["extra_names"], 1);
    assert_eq!(summary["bytes_present"], 3 * 6000 + 5);
    assert_eq!(summary["sets"], 1);
    assert_eq!(summary["redundant_files"], 2);
    assert_eq!(summary["redundant_bytes"], 12_000);
    assert_eq!(summary["reclaimable"], 2 * 8192);
}
