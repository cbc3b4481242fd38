//! `find --from REPORT`: filters and sorts what a report lists, without reading a file.

use std::fs;

use serde_json::Value;

use crate::common::run::{Run, Seekless};
use crate::common::{Tree, seekless};

/// Two sets of two files, a set of three with a hidden file, and a file with two names.
fn tree() -> Tree {
    Tree::new()
        .copies(["a/photo.jpg", "b/photo.jpg"], "p".repeat(9000))
        .copies(
            ["a/song.mp3", "b/c/song.mp3", "b/.old/song.mp3"],
            "s".repeat(5000),
        )
        .copies(["a/short", "b/short"], "short")
        .copies(["a/empty", "b/empty"], "")
        .hard_link("b/short again", "b/short")
        .file("a/alone", "alone")
}

/// Writes a report into the tree's folder, and says its name. The search does not look there.
fn report(tree: &Tree, name: &str, arguments: &str) -> String {
    seekless(tree.root(), &format!("-q -o {name} {arguments}"))
        .run()
        .exits(0);
    name.to_owned()
}

fn from(tree: &Tree, report: &str, arguments: &str) -> Seekless {
    seekless(tree.root(), &format!("find --from {report} {arguments}"))
}

/// The sets of a text report, and nothing of its header.
fn body(run: &Run) -> String {
    let text = run.stdout_text();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

/// Without what tells about the run itself.
fn without_run(mut report: Value) -> Value {
    report["header"]["command"].take();
    report["header"]["started"].take();
    report["summary"].take();
    report
}

#[test]
fn nothing_asked_for_is_the_report_again() {
    let tree = tree();
    for options in [
        "a b",
        "-H a b",
        "--isolate a b",
        "--unique a b",
        "--copies 3.. a b",
        "--empty a b",
        "--keep newest a b",
    ] {
        report(&tree, "r.json", &format!("-f json {options}"));
        let listed = fs::read(tree.path("r.json")).expect("a report");
        let listed: Value = serde_json::from_slice(&listed).expect("JSON");
        let again = from(&tree, "r.json", "-q -f json").run().exits(0);
        assert_eq!(without_run(again.json()), without_run(listed), "{options}");
        let searched = seekless(tree.root(), &format!("-q {options}"))
            .run()
            .exits(0);
        tree.write("r.txt", &searched.stdout);
        from(&tree, "r.json", "-q -f ndjson -o r.ndjson")
            .run()
            .exits(0);
        for read in ["r.txt", "r.ndjson"] {
            let again = from(&tree, read, "-q").run();
            if read == "r.txt" && options.contains("--unique") {
                again.exits(2).says("create it again as json or ndjson");
                continue;
            }
            let again = again.exits(0);
            assert_eq!(body(&again), body(&searched), "{read} {options}");
        }
    }
}

#[test]
fn options_select_and_sort_as_in_a_search() {
    let tree = tree();
    report(&tree, "text", "a b");
    report(&tree, "json", "-f json a b");
    for options in [
        "--min-size 1k",
        "--max-size 5000",
        "--name song*",
        "--ext jpg,mp3",
        "--exclude .old",
        "--path b/c/*",
        "--no-hidden",
        "--type audio",
        "--regex .mp3$",
        "--older 1d",
        "--copies 3..",
        "--copies 2",
        "--sort-by size",
        "--sort-by path",
        "--sort-by count --top 1",
        "--keep longest-path --sort-by path",
    ] {
        let search = format!("-q {options} a b");
        let searched = seekless(tree.root(), &search).run().exits(0);
        for format in ["text", "json"] {
            let selected = from(&tree, format, &format!("-q {options}")).run().exits(0);
            assert_eq!(body(&selected), body(&searched), "{format} {options}");
        }
    }
    // Only what lies below the paths takes part.
    from(&tree, "text", "-q -f nul b")
        .run()
        .exits(0)
        .finds(["b/.old/song.mp3 b/c/song.mp3"]);
    from(&tree, "json", "-q -f nul b/c a/../a")
        .run()
        .exits(0)
        .finds(["a/song.mp3 b/c/song.mp3"]);
}

#[test]
fn no_file_is_read() {
    let tree = tree();
    report(&tree, "r.json", "-f json a b");
    let names = ["a/photo.jpg", "b/photo.jpg"];
    names.iter().for_each(|name| tree.set_mode(name, 0));
    let photos = || from(&tree, "r.json", "-v -f json --ext jpg").without_privileges();
    let photos = photos()
        .run()
        .exits(0)
        .says("read 0 B")
        .finds_files(["a/photo.jpg b/photo.jpg"]);
    assert!(photos.json()["sets"][0]["digest"].is_string());
}

#[test]
fn files_that_were_removed_are_counted_and_files_that_have_changed_are_named() {
    let tree = tree();
    for format in ["text", "json"] {
        report(&tree, format, &format!("-f {format} a b"));
    }
    fs::remove_file(tree.path("b/photo.jpg")).expect("removed");
    fs::remove_file(tree.path("b/c/song.mp3")).expect("removed");
    for format in ["text", "json"] {
        from(&tree, format, "-f nul")
            .run()
            .exits(0)
            .says("2 removed meanwhile")
            .never_says("photo.jpg")
            .finds(["a/song.mp3 b/.old/song.mp3", "a/short b/short"]);
    }
    tree.tick();
    tree.write("b/short", "other");
    fs::remove_file(tree.path("a/song.mp3")).expect("removed");
    fs::create_dir(tree.path("a/song.mp3")).expect("made");
    for format in ["text", "json"] {
        from(&tree, format, "-f nul")
            .run()
            .exits(1)
            .says("b/short: has changed")
            .says("a/song.mp3: is not a regular file")
            .says("Found no sets of duplicates in 3 files.")
            .finds([]);
    }
}
