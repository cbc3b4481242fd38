//! Files that belong together go together or stay together, whatever happens in between.
//!
//! Builds without debug assertions have nothing to be killed by or to fail (`sys::fault`).
#![cfg(debug_assertions)]

use std::fs::File;
use std::os::unix::process::ExitStatusExt;

use crate::common::stage::Stage;
use crate::common::{Run, Tree};
use rustix::io::Errno;

const ACTIONS: [&str; 3] = ["remove", "remove --trash", "move --to out"];

/// Far more calls than two steps make.
const MANY: usize = 1000;

fn stage() -> Stage {
    Stage::new(
        Tree::new()
            .copies(["a/IMG_1.HEIC", "b/IMG_1.HEIC"], "still ".repeat(1000))
            .copies(["a/IMG_1.MOV", "b/IMG_1.MOV"], "moving ".repeat(2000)),
    )
}

fn line(action: &str) -> String {
    format!("{action} --yes --keep first-root a b")
}

/// Both files are there, or neither.
#[track_caller]
fn is_whole(stage: &Stage, context: &str) -> bool {
    let there = ["b/IMG_1.HEIC", "b/IMG_1.MOV"].map(|name| stage.has(name));
    assert_eq!(there[0], there[1], "{context}: torn: {:?}", stage.names());
    for name in ["a/IMG_1.HEIC", "a/IMG_1.MOV"] {
        assert!(stage.has(name), "{context}: {:?}", stage.names());
    }
    there[0]
}

/// The same, but a permanent removal that was cut short may have torn the group, if that was `said`.
#[track_caller]
fn is_whole_or_named(stage: &Stage, action: &str, said: &Run) -> bool {
    let there = ["b/IMG_1.HEIC", "b/IMG_1.MOV"].map(|name| stage.has(name));
    if action == "remove" && there[0] != there[1] {
        assert!(
            said.stderr_text().contains("was removed permanently"),
            "{said}"
        );
        return false;
    }
    is_whole(stage, &format!("{action}: {said}"))
}

#[track_caller]
fn nothing_lies_about(stage: &Stage, context: &str) {
    let names = stage.names();
    let left = names.iter().find(|name| name.contains(".seekless-"));
    assert_eq!(left, None, "{context}: {names:?}");
}

#[test]
fn a_group_stays_if_one_of_its_files_is_in_use() {
    for action in ACTIONS {
        for in_use in ["b/IMG_1.MOV", "b/IMG_1.HEIC"] {
            let stage = stage();
            let path = stage.tree.path(in_use);
            let writer = File::options().append(true).open(path).expect("a file");
            let run = stage.run(&line(action)).exits(2);
            assert!(is_whole(&stage, action), "{action}: {run}");
            let other = match in_use {
                "b/IMG_1.MOV" => "b/IMG_1.HEIC: belongs together with",
                _ => "b/IMG_1.MOV: belongs together with",
            };
            run.says(&format!("{in_use}: is open for writing"))
                .says(other);
            nothing_lies_about(&stage, action);
            drop(writer);
            stage.run(&line(action)).exits(0);
            assert!(!is_whole(&stage, action));
        }
    }
}

/// Kills the run before its calls, each of them or some. What comes next makes the group whole: undo, a sweep or another
/// run, in turns, or each of them.
fn killed(every: usize, nexts: &[&[Next]]) {
    for (nth, action) in (0..).zip(ACTIONS) {
        let mut deaths = 0;
        let mut nexts = nexts.iter().cycle();
        // The calls of the actions are much the same: each action begins with another one.
        'all: for at in (1 + nth * 2 % every..MANY).step_by(every) {
            for next in *nexts.next().expect("one") {
                let stage = stage();
                let fault = format!("kill@{at}");
                let child = stage.seekless(&line(action)).env("SEEKLESS_FAULT", &fault);
                let output = child.spawn().wait_with_output().expect("it ends");
                if output.status.signal() != Some(9) {
                    assert_eq!(output.status.code(), Some(0), "{action}: {output:?}");
                    assert!(!is_whole(&stage, action));
                    break 'all;
                }
                let context = format!("{action}, killed before call {at}");
                next(&stage, action, &context);
            }
            deaths += 1;
        }
        assert!(deaths > 50 / every, "{action}: killed {deaths} times only");
    }
}

type Next = fn(&Stage, &str, &str);

const NEXTS: [&[Next]; 3] = [&[by_undo], &[by_a_sweep], &[by_another_run]];

fn by_undo(stage: &Stage, action: &str, context: &str) {
    let undone = stage.run("undo");
    // Nothing was begun, or what was removed as a whole is gone.
    assert!([0, 1, 2].contains(&undone.code()), "{context}: {undone}");
    let is_there = is_whole_or_named(stage, action, &undone);
    assert!(is_there || action == "remove", "{context}: {undone}");
    nothing_lies_about(stage, context);
    let names = stage.names();
    stage.run("undo");
    assert_eq!(stage.names(), names, "{context}");
}

fn by_a_sweep(stage: &Stage, action: &str, context: &str) {
    let swept = stage.run("undo --sweep");
    is_whole_or_named(stage, action, &swept);
    nothing_lies_about(stage, context);
    let again = stage.run("undo --sweep").exits(0);
    again.says("No killed run");
}

fn by_another_run(stage: &Stage, action: &str, context: &str) {
    stage.run(&line(action));
    assert!(!is_whole(stage, context), "{context}: {:?}", stage.names());
    let left: Vec<_> = stage.names();
    let left = left.iter().filter(|name| !name.starts_with("out/"));
    assert_eq!(left.count(), 2, "{context}: {:?}", stage.names());
}

#[test]
fn a_group_that_a_killed_run_tore_becomes_whole() {
    killed(4, &NEXTS);
}

#[test]
#[ignore = "takes minutes: killed before each call"]
fn in_full_a_group_that_a_killed_run_tore_becomes_whole() {
    killed(1, &[&[by_undo, by_a_sweep, by_another_run]]);
}

#[test]
fn no_group_is_torn_by_a_call_that_fails() {
    no_group_is_torn(5);
}

#[test]
#[ignore = "takes minutes: each call fails with each error"]
fn in_full_no_group_is_torn_by_a_call_that_fails() {
    no_group_is_torn(1);
}

/// Lets each call fail with each of three errors, or some calls with one.
fn no_group_is_torn(every: usize) {
    for action in ACTIONS {
        let mut failures = 0;
        let errors = if every == 1 { 3 } else { 1 };
        let calls = (1..=calls(action)).step_by(every);
        for (at, turn) in calls.flat_map(|at| (0..errors).map(move |turn| (at, turn))) {
            let error = [Errno::IO, Errno::NOSPC, Errno::PERM][(at + turn) % 3];
            let context = format!("{action}, {error:?} at call {at}");
            let stage = stage();
            let fault = format!("{}@{at}", error.raw_os_error());
            let run = stage
                .seekless(&line(action))
                .env("SEEKLESS_FAULT", &fault)
                .run();
            // What could not be put back is for undo, and is said.
            if run.stderr_text().contains("seekless undo'") {
                stage.run("undo").exits(0);
            }
            // A removal that fails after another one of the group is told.
            if action != "remove" || run.code() == 0 {
                is_whole(&stage, &format!("{context}: {run}"));
            }
            failures += usize::from(run.code() != 0);
            nothing_lies_about(&stage, &context);
        }
        assert!(failures > 20 / every, "{action}: {failures} failures only");
    }
}

/// How many calls a run makes: as many as it can be killed before.
fn calls(action: &str) -> usize {
    let is_reached = |at: &usize| {
        let stage = stage();
        let run = stage.seekless(&line(action));
        let child = run.env("SEEKLESS_FAULT", &format!("kill@{at}")).spawn();
        let output = child.wait_with_output().expect("it ends");
        output.status.signal() == Some(9)
    };
    let all: Vec<usize> = (1..MANY).collect();
    let calls = all.partition_point(is_reached);
    assert!((50..MANY - 1).contains(&calls), "{action}: {calls} calls");
    calls
}

#[test]
fn a_file_that_stays_for_one_of_its_names_keeps_what_belongs_to_the_others() {
    // The still has two names, and what belongs to one of them is no duplicate.
    let tree = Tree::new()
        .copies(["a/IMG_1.HEIC", "b/IMG_1.HEIC"], "still")
        .hard_link("b/COPY.HEIC", "b/IMG_1.HEIC")
        .copies(["a/IMG_1.MOV", "b/IMG_1.MOV"], "moving")
        .file("b/COPY.MOV", "another film");
    let stage = Stage::new(tree);
    let before = stage.names();
    stage
        .run(&line("remove"))
        .exits(0)
        .says("Nothing to remove")
        .says("3 files left alone");
    assert_eq!(stage.names(), before);
}

/// More files than one portion has: what is interrupted ends with whole groups.
#[test]
fn an_interruption_comes_before_a_group_or_after_it() {
    const GROUPS: usize = 300;
    let mut tree = Tree::new();
    for number in 0..GROUPS {
        for (kind, size) in [("HEIC", 1 << 20), ("MOV", 1 << 19)] {
            let names = ["a", "b"].map(|folder| format!("{folder}/IMG_{number}.{kind}"));
            let start = format!("{kind} {number}");
            for name in names {
                tree = tree.sparse(name, size, &[(0, start.as_bytes())]);
            }
        }
    }
    let stage = Stage::new(tree);
    let child = stage.seekless(&line("remove")).spawn();
    let goes = |number: usize| !stage.has(&format!("b/IMG_{number}.MOV"));
    while !(0..GROUPS).any(goes) {
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    assert!(
        [Some(0), Some(130)].contains(&output.status.code()),
        "{output:?}"
    );
    for number in 0..GROUPS {
        let there = ["HEIC", "MOV"].map(|kind| stage.has(&format!("b/IMG_{number}.{kind}")));
        assert_eq!(there[0], there[1], "{number} is torn: {output:?}");
    }
}

#[test]
fn where_every_step_failed_nothing_is_left_of_the_destination() {
    let stage = Stage::new(
        Tree::new()
            .copies(["a/x", "b/deep/x"], "same")
            .mode("b/deep", 0o555),
    );
    let line = "move --yes --to out/of/here --keep first-root a b";
    let run = stage.seekless(line).without_privileges().run();
    stage.tree.set_mode("b/deep", 0o755);
    run.exits(2).says("cannot move it");
    assert_eq!(stage.names(), ["a/x", "b/deep/x"]);
    assert!(!stage.has("out"));
    // What was there before stays, empty or not.
    std::fs::create_dir(stage.tree.path("out")).expect("a folder");
    stage.tree.set_mode("b/deep", 0o555);
    stage.seekless(line).without_privileges().run().exits(2);
    stage.tree.set_mode("b/deep", 0o755);
    assert!(stage.has("out") && !stage.has("out/of"));
}
