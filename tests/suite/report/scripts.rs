//! What scripts rely on: bare names, plans and progress as JSON, and exit status that answers a question.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::children::all_at_once;
use crate::common::{Tree, seekless};

fn tree() -> Tree {
    Tree::new()
        .file("a/1", "one")
        .file("b/1", "one")
        .file("b/two\nlines", "one")
        .file("a/2", "second")
        .hard_link("a/2 again", "a/2")
        .file("b/2", "second")
        .file("b/alone", "alone")
}

#[test]
fn xargs_gets_the_names_to_remove_and_no_empty_one() {
    let tree = tree();
    let names = seekless(tree.root(), "-q -f nul --omit-first .")
        .run()
        .exits(0);
    let mut names: Vec<&[u8]> = names
        .stdout
        .strip_suffix(b"\0")
        .expect("an end")
        .split(|&b| b == 0)
        .collect();
    names.sort_unstable();
    assert_eq!(names, [&b"./b/1"[..], b"./b/2", b"./b/two\nlines"]);
    let line = format!(
        "{} -q -f nul --omit-first . | xargs -0 rm --",
        env!("CARGO_BIN_EXE_seekless")
    );
    let shell = Command::new("sh")
        .args(["-c", &line])
        .current_dir(tree.root())
        .stdin(Stdio::null())
        .output();
    let shell = shell.expect("a shell");
    assert!(
        shell.status.success() && shell.stderr.is_empty(),
        "{shell:?}"
    );
    seekless(tree.root(), "-f nul .").run().exits(0).finds([]);
    assert!(tree.path("b/alone").exists() && tree.path("a/1").exists());
}

#[test]
fn the_exit_status_answers_whether_anything_was_found() {
    let tree = tree().file("c/one", "c1").file("c/other", "other");
    for (line, code) in [
        ("a b", 1),
        ("c", 0),
        ("--unique c", 1),
        ("--unique --name none c", 0),
        ("-f nul a b", 1),
        ("none", 2),
        ("a b none", 2),
        ("c none", 2),
        ("--min-size 1x c", 2),
    ] {
        seekless(tree.root(), &format!("--exit-code {line}"))
            .run()
            .exits(code);
    }
    seekless(tree.root(), "a b").run().exits(0);
}

#[test]
fn a_plan_can_be_read_by_programs() {
    let tree = tree().file("b/gone?", "one");
    let plan = |options: &str| {
        let line = format!("{options} --dry-run -f json .");
        seekless(tree.root(), &line).run().exits(0).json()
    };
    let document = plan("remove");
    assert_eq!(document["format"], "seekless-plan");
    assert_eq!(
        (&document["schema"], &document["action"]),
        (&1.into(), &"remove".into())
    );
    assert_eq!(document["command"][1]["text"], "remove");
    let sets = document["sets"].as_array().expect("sets");
    let name = |set: usize, place: usize| &sets[1 - set]["names"][place];
    assert_eq!(sets.len(), 2, "{document:#}");
    let root = tree.root().canonicalize().expect("a path");
    let path = |name: &str| serde_json::json!({"text": root.join(name).to_str()});
    assert_eq!(name(1, 0)["fate"], "keep");
    assert_eq!(name(1, 0)["path"], path("a/1"));
    assert_eq!(name(1, 1)["fate"], "act");
    assert_eq!(name(1, 1)["keeper"], path("a/1"));
    assert_eq!(name(1, 3)["path"], path("b/two\nlines"));
    // The second set has two names of the file that stays.
    assert_eq!(
        (&name(0, 0)["file"], &name(0, 1)["file"]),
        (&1.into(), &1.into())
    );
    assert_eq!(name(0, 1)["fate"], "keep");
    assert_eq!(document["totals"]["steps"], 4);
    let moved = plan("move --to aside");
    let to = moved["sets"][1]["names"][2]["to"]["text"]
        .as_str()
        .expect("a path");
    assert_eq!(
        to,
        format!("{}/aside{}/b/2", root.display(), root.display())
    );
    // Each set is on a line, and nothing is done.
    let text = seekless(tree.root(), "remove --dry-run -f json --name none .")
        .run()
        .exits(0)
        .json();
    assert_eq!(text["sets"], serde_json::json!([]));
    seekless(tree.root(), "remove -f json --yes .")
        .run()
        .exits(2)
        .says("add --dry-run");
    assert!(tree.path("b/1").exists() && !tree.path("aside").exists());
}

/// Starts a command that waits for the rest of a report.
fn waiting(tree: &Tree, command: &str) -> (Child, ChildStdin) {
    let line = format!("{command} --from -");
    let run = seekless(tree.root(), &line).stdin("").stdout(Stdio::null());
    let mut child = run.spawn();
    let mut stdin = child.stdin.take().expect("a pipe");
    writeln!(stdin, "# seekless 0.1.0 report, text, schema 1").expect("a report");
    (child, stdin)
}

/// The first line that it says meanwhile.
fn first_line_while_waiting(tree: &Tree, command: &str) -> String {
    let (mut child, stdin) = waiting(tree, command);
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let first = lines.next().expect("a line").expect("text");
    drop(stdin);
    lines.for_each(drop);
    child.wait().expect("an end");
    first
}

/// All that it says if it had time to tell of progress.
fn said_after_waiting(tree: &Tree, command: &str) -> String {
    let (child, stdin) = waiting(tree, command);
    thread::sleep(Duration::from_secs(1));
    drop(stdin);
    let output = child.wait_with_output().expect("an end");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn progress_can_be_read_where_there_is_no_terminal() {
    let tree = tree();
    let json = first_line_while_waiting(&tree, "remove --dry-run --progress json");
    let json: serde_json::Value = serde_json::from_str(&json).expect("an object");
    assert_eq!(json["type"], "progress");
    assert_eq!(json["stages"][0]["stage"], "report");
    let silent = ["", "--progress never", "--progress json -q"];
    all_at_once(silent, |options| {
        let said = said_after_waiting(&tree, &format!("remove --dry-run {options}"));
        assert!(
            said.starts_with("seekless: standard input:"),
            "{options}: {said}"
        );
    });
}
