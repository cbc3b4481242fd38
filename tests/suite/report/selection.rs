//! `find --from REPORT`: filters and sorts what a report lists, without reading a file.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::common::run::{Run, Seekless, finish};
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
        .says("read no file")
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
            .says("2 removed since the report")
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

/// A disk that is plugged in again gets another device number, and has the same files.
#[test]
fn files_on_a_disk_that_was_plugged_in_again_have_not_changed() {
    let tree = tree();
    report(&tree, "whole.json", "-f json .");
    let text = std::fs::read_to_string(tree.path("whole.json")).expect("a report");
    let mut earlier: Value = serde_json::from_str(&text).expect("JSON");
    let number = |report: &mut Value, add: u64| {
        for set in report["sets"].as_array_mut().expect("sets") {
            for member in set["members"].as_array_mut().expect("members") {
                let dev = member["dev"].as_u64().expect("a number");
                member["dev"] = (dev + add).into();
            }
        }
    };
    number(&mut earlier, 1);
    tree.write("earlier.json", earlier.to_string());
    let now = from(&tree, "earlier.json", "-f json").run().exits(0);
    let mut wanted: Value = serde_json::from_str(&text).expect("JSON");
    let shown: Value = serde_json::from_str(&now.stdout_text()).expect("JSON");
    number(&mut wanted, 0);
    assert_eq!(shown["sets"], wanted["sets"]);
    let plan = seekless(tree.root(), "remove --dry-run --from earlier.json").run();
    plan.exits(0).never_says("has changed since the report");
    let plan = seekless(
        tree.root(),
        "remove --dry-run --allow uncompared --from earlier.json",
    )
    .run();
    plan.exits(2).says("has changed since the report");
}

#[test]
fn a_digest_is_shown_only_if_the_report_has_it() {
    let tree = tree();
    report(&tree, "with.json", "-f json a b");
    report(&tree, "without.txt", "a b");
    let digests = |report: &str, options: &str| {
        let run = from(&tree, report, &format!("-q -f json {options}"))
            .run()
            .exits(0);
        let document = run.json();
        let sets = document["sets"].as_array().expect("sets").clone();
        sets.iter()
            .map(|set| set["digest"].is_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(digests("with.json", ""), [true; 3]);
    assert_eq!(digests("with.json", "--digest when-needed"), [false; 3]);
    assert_eq!(digests("without.txt", "--digest always"), [false; 3]);
}

#[test]
fn names_of_a_report_from_another_folder_lead_to_the_same_files() {
    let tree = tree();
    report(&tree, "r.json", "-f json a b");
    let elsewhere = Tree::new();
    let absolute = tree.path("r.json");
    let run = seekless(elsewhere.root(), "find -q --ext jpg -o selected.txt --from")
        .arg(absolute)
        .run()
        .exits(0);
    assert!(run.stdout.is_empty());
    seekless(elsewhere.root(), "remove --yes --from selected.txt")
        .env("XDG_STATE_HOME", elsewhere.root().to_str().expect("plain"))
        .run()
        .exits(0);
    assert!(tree.path("a/photo.jpg").exists() && !tree.path("b/photo.jpg").exists());
}

#[test]
fn a_report_that_a_program_rewrote_is_read() {
    let tree = tree();
    report(&tree, "r.json", "-f json a b");
    let text = fs::read(tree.path("r.json")).expect("a report");
    let mut document: Value = serde_json::from_slice(&text).expect("JSON");
    let sets = document["sets"].as_array_mut().expect("sets");
    sets.retain(|set| set["size"] == 5000);
    // Another layout, and keys in another order, as jq -S writes them.
    let rewritten = serde_json::to_vec_pretty(&document).expect("JSON");
    seekless(tree.root(), "find -q -f nul --from -")
        .stdin(rewritten)
        .run()
        .exits(0)
        .finds(["a/song.mp3 b/.old/song.mp3 b/c/song.mp3"]);
}

#[test]
fn the_exit_status_answers_whether_anything_was_selected() {
    let tree = tree();
    report(&tree, "r", "a b");
    for (options, code) in [("--ext jpg", 1), ("--ext png", 0), ("--min-size 1x", 2)] {
        from(&tree, "r", &format!("--exit-code {options}"))
            .run()
            .exits(code);
    }
    fs::remove_file(tree.path("a/short")).expect("removed");
    from(&tree, "r", "--exit-code --max-size 10").run().exits(0);
    tree.write("b/photo.jpg", "changed");
    from(&tree, "r", "--exit-code --ext jpg").run().exits(2);
}

#[test]
fn an_absent_disk_is_not_an_empty_answer() {
    let tree = tree();
    report(&tree, "r", "a b");
    tree.write("answer", "# seekless of yesterday");
    fs::rename(tree.path("b"), tree.path("unplugged")).expect("renamed");
    from(&tree, "r", "-o part")
        .run()
        .exits(1)
        .says("b: No such file or directory")
        .says("mount the disk");
    from(&tree, "r", "-q a").run().exits(0);
    fs::rename(tree.path("a"), tree.path("unplugged too")).expect("renamed");
    from(&tree, "r", "-o answer")
        .run()
        .exits(2)
        .says("r: none of the searched paths can be reached now");
    assert_eq!(
        fs::read(tree.path("answer")).expect("there"),
        b"# seekless of yesterday"
    );
}

#[test]
fn a_report_that_cannot_answer_is_refused() {
    let tree = tree();
    report(&tree, "over", "--copies 3.. a b");
    report(&tree, "unique", "-f json --unique a b");
    report(&tree, "list", "--unique a b");
    let whole = fs::read_to_string(tree.path("over")).expect("a report");
    let without = |part: &str| {
        let lines = whole.lines().filter(|line| !line.starts_with(part));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    let folders = seekless(tree.root(), "folders -q -o folders a b").run();
    assert!(folders.code() < 2, "{folders}");
    tree.write("headless", without("# ") + "# complete: by hand\n");
    tree.write("cut", without("# complete"));
    for (line, message) in [
        (
            "over --copies 2..",
            "only contents whose number of copies is 3..: ask for that, or search again",
        ),
        (
            "unique --copies 4..",
            "only contents whose number of copies is 1: ask for that, or search again",
        ),
        (
            "list",
            "list: line 8: a list of unique files cannot be read back as text: create it again as json or ndjson",
        ),
        (
            "headless",
            "headless: the report has no header, which says where and when it was made: create it again",
        ),
        (
            "folders",
            "folders: this is a report of folders, and only remove and move can use it",
        ),
        ("cut", "the report is truncated here"),
        ("missing", "to write a report: seekless -o FILE PATH"),
        ("over nowhere", "nowhere: No such file or directory"),
    ] {
        let run = seekless(tree.root(), &format!("find --from {line}"))
            .run()
            .exits(2)
            .says(message);
        assert!(run.stdout.is_empty(), "{line}");
    }
}

#[test]
fn options_about_searching_and_reading_contradict_a_report() {
    let tree = tree();
    report(&tree, "r", "a b");
    for option in [
        "--stdin",
        "--null",
        "--max-depth 2",
        "--one-file-system",
        "--follow-links",
        "--ignore-file .gitignore",
        "--isolate",
        "--verify",
        "--threads ssd:1",
        "--depth-random 2",
        "--cache .",
        "--cache off",
        "--memory 1G",
        "--io-idle",
        "--bwlimit 1M",
        "--page-cache keep",
        "--hard-links",
        "--unique",
    ] {
        from(&tree, "r", option)
            .run()
            .exits(2)
            .says("cannot be used with");
    }
    // A setting for searches is not typed, and so contradicts nothing.
    tree.write(
        "home/seekless/config.find",
        "--threads=ssd:1\n--min-size=1k\n",
    );
    tree.set_mode("home/seekless/config.find", 0o600);
    let home = tree.path("home");
    from(&tree, "r", "-q -f nul --ext jpg,mp3")
        .env("XDG_CONFIG_HOME", home.to_str().expect("plain"))
        .run()
        .exits(0)
        .finds([
            "a/photo.jpg b/photo.jpg",
            "a/song.mp3 b/.old/song.mp3 b/c/song.mp3",
        ]);
}

/// The names in a list lie below the paths of the report, whatever path is given, and wherever the user is.
/// A pipe may end hours later, so the place of the output is refused before it is read.
#[test]
fn a_place_is_refused_before_a_report_from_a_pipe() {
    let tree = tree().file("letter", "Dear reader,\n");
    let mut child = seekless(tree.root(), "find --from - -f nul -o letter")
        .stdin("")
        .spawn();
    // The pipe stays open.
    let pipe = child.stdin.take();
    finish(child, Duration::from_secs(60))
        .exits(2)
        .says("letter: it exists");
    drop(pipe);
}
