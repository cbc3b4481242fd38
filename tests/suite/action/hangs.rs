//! A table: an action or its undo, and a call that hangs. The file system of the call is named, the run ends, and a
//! sweep and an undo restore what was there. Root only.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::common::daemon::{Daemon, FLUSH, LOOKUP, OPEN, OPENDIR, READ, READDIR};
use crate::common::mirror::{self, CREATE, FSYNC, LINK, MKDIR, RENAME2, SYMLINK, UNLINK, WRITE};
use crate::common::run::{LONGEST, await_end, finish, until};
use crate::common::scene::{Picture, picture};
use crate::common::stage::Stage;
use crate::common::{Run, Tree, noise};
use rustix::process::{Pid, Signal, kill_process};

const ACTIONS: [&str; 6] = [
    "remove",
    "remove --trash",
    "hardlink",
    "symlink",
    "move --to mounted/away",
    "move --to there",
];

/// The kinds of calls, with the names that a failure shows.
const CALLS: [(&str, u32); 14] = [
    ("stat", LOOKUP),
    ("list", READDIR),
    ("opendir", OPENDIR),
    ("open", OPEN),
    ("read", READ),
    ("write", WRITE),
    ("close", FLUSH),
    ("rename", RENAME2),
    ("sync", FSYNC),
    ("link", LINK),
    ("unlink", UNLINK),
    ("symlink", SYMLINK),
    ("create", CREATE),
    ("mkdir", MKDIR),
];

/// The cells that cannot be: calls that an action, or its undo, does not make there.
const NEVER_MADE: [(&str, bool, &str); 11] = [
    ("remove", false, "list write link symlink create mkdir"),
    ("remove --trash", false, "list link unlink symlink"),
    (
        "remove --trash",
        true,
        "list open read write close sync link symlink create mkdir",
    ),
    ("hardlink", false, "write list symlink create mkdir"),
    ("hardlink", true, "list link symlink mkdir"),
    ("symlink", false, "list write link create mkdir"),
    ("symlink", true, "list link symlink mkdir"),
    (
        "move --to mounted/away",
        false,
        "list write link unlink symlink create",
    ),
    (
        "move --to mounted/away",
        true,
        "list open read write close sync link unlink symlink create mkdir",
    ),
    (
        "move --to there",
        false,
        "list write link symlink create mkdir",
    ),
    (
        "move --to there",
        true,
        "list open read link unlink symlink mkdir",
    ),
];

#[derive(Clone, Copy, Debug)]
struct Cell {
    action: &'static str,
    is_undo: bool,
    call: (&'static str, u32),
    nth: u64,
}

/// Four pairs in a real folder, which a daemon shows at `mounted`.
fn stage() -> Stage {
    let mut tree = Tree::new().folder("mounted").folder("there");
    for pair in 0..4 {
        let names = [0, 1].map(|copy| format!("real/{pair}-{copy}"));
        tree = tree.copies([&names[0], &names[1]], noise(pair, 40_000));
    }
    Stage::new(tree)
}

fn shown(stage: &Stage) -> Daemon {
    mirror::mount(&stage.tree.path("real"), stage.tree.path("mounted"))
}

fn real(stage: &Stage) -> Picture {
    picture(&stage.tree.path("real"))
}

/// True if the call was reached.
fn check(cell: Cell) -> bool {
    let stage = stage();
    let before = real(&stage);
    let daemon = shown(&stage);
    if cell.call.1 == FLUSH {
        // Once the kernel got no answer, it does not ask again.
        daemon.flushes();
    }
    stage.run("find -f json -o report mounted").exits(0);
    let act = format!("{} --yes --from report", cell.action);
    if cell.is_undo {
        stage.run(&act).exits(0);
    }
    // The kernel remembers names for a second.
    thread::sleep(Duration::from_millis(1100));
    daemon.be_silent_at(cell.call.1, cell.nth);
    let line = if cell.is_undo { "undo" } else { &act };
    let run = stage.seekless(&format!("{line} --patience 1"));
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    await_end(&run);
    let is_reached = daemon.is_silent();
    drop(daemon);
    let run = finish(run, LONGEST);
    if !is_reached {
        assert_eq!(run.code(), 0, "{cell:?}\n{run}");
        return false;
    }
    is_named(&run, cell);
    is_restored(&stage, &before, cell, &run);
    true
}

/// Insists that the run ended because of this file system, and of no other.
fn is_named(run: &Run, cell: Cell) {
    let said = run.stderr_text();
    let named = |line: &&str| line.starts_with("seekless: /") && line.contains("not answer");
    let named: Vec<&str> = said.lines().filter(named).collect();
    let is_right = named.iter().all(|line| line.contains("/mounted"));
    assert!(is_right && !named.is_empty(), "{cell:?}\n{run}");
    assert!([1, 2].contains(&run.code()), "{cell:?}\n{run}");
}

fn is_restored(stage: &Stage, before: &Picture, cell: Cell, run: &Run) {
    let daemon = shown(stage);
    let swept = stage.run("undo --sweep");
    let undone = stage.run("undo");
    drop(daemon);
    let is_gone = cell.action == "remove";
    assert!(
        is_gone || &real(stage) == before,
        "{cell:?}: {:?}\n{run}{swept}{undone}",
        stage.names()
    );
    // A permanent removal is not taken back: each content is there.
    for pair in 0..4 {
        let names = [0, 1].map(|copy| stage.tree.path(format!("real/{pair}-{copy}")));
        let content = names.iter().find_map(|name| fs::read(name).ok());
        assert!(
            content == Some(noise(pair, 40_000)),
            "{cell:?}: {pair}\n{run}"
        );
    }
}

fn check_all(cells: Vec<Cell>) -> Vec<Cell> {
    let cells = Mutex::new(cells.into_iter());
    let (failed, missed) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let next = cells.lock().expect("no panic").next();
                    let Some(cell) = next else { return };
                    match std::panic::catch_unwind(|| check(cell)) {
                        Ok(true) => {}
                        Ok(false) => missed.lock().expect("no panic").push(cell),
                        Err(_) => failed.lock().expect("no panic").push(cell),
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic");
    assert!(failed.is_empty(), "{} cells: {failed:#?}", failed.len());
    missed.into_inner().expect("no panic")
}

fn cells(nths: &[u64]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for action in ACTIONS {
        // A permanent removal cannot be undone.
        for is_undo in [false, true]
            .into_iter()
            .take(if action == "remove" { 1 } else { 2 })
        {
            for call in CALLS {
                cells.extend(nths.iter().map(|&nth| Cell {
                    action,
                    is_undo,
                    call,
                    nth,
                }));
            }
        }
    }
    cells
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_call_that_hangs_names_its_disk_and_costs_nothing() {
    let missed = check_all(cells(&[1]));
    let rows = NEVER_MADE.map(|(action, is_undo, _)| {
        let of_row = |cell: &&Cell| (cell.action, cell.is_undo) == (action, is_undo);
        let missed = missed.iter().filter(of_row);
        let missed: BTreeSet<&str> = missed.map(|cell| cell.call.0).collect();
        (action, is_undo, missed)
    });
    let expected = NEVER_MADE.map(|(action, is_undo, calls)| {
        let calls: BTreeSet<&str> = calls.split(' ').collect();
        (action, is_undo, calls)
    });
    assert_eq!(rows, expected);
}

/// A run in a file system that answers no read; its messages go into the file `said`.
fn waiting(stage: &Stage, options: &str) -> (Daemon, Child) {
    let daemon = shown(stage);
    stage.run("find -f json -o report mounted").exits(0);
    daemon.be_silent_at(READ, 1);
    let said = fs::File::create(stage.tree.path("said")).expect("a file");
    let line = format!("hardlink --yes {options} --from report");
    let run = stage.seekless(&line).hangups(libc::SIG_DFL).stderr(said);
    (daemon, run.spawn())
}

fn said(stage: &Stage) -> String {
    fs::read_to_string(stage.tree.path("said")).expect("text")
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn an_interruption_ends_the_wait_and_says_how_to_go_on() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let stage = stage();
        let before = real(&stage);
        let (daemon, run) = waiting(&stage, "");
        until("it is silent", || daemon.is_silent());
        kill_process(Pid::from_child(&run), signal).expect("it runs");
        await_end(&run);
        drop(daemon);
        finish(run, LONGEST).exits(130);
        for words in [
            "interrupted: stopping",
            "mounted: does not answer",
            "the current step may be unfinished",
            "seekless undo --sweep ",
        ] {
            assert!(said(&stage).contains(words), "{words}: {}", said(&stage));
        }
        let _daemon = shown(&stage);
        stage.run("undo --sweep").exits(0);
        stage.run("undo");
        assert!(real(&stage) == before, "not as before: {:?}", stage.names());
    }
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn an_action_goes_on_if_the_file_system_answers_again() {
    let stage = stage();
    let (daemon, run) = waiting(&stage, "--patience 5");
    until("it is named", || {
        said(&stage).contains("does not answer; waiting for it")
    });
    daemon.be_silent(false);
    finish(run, LONGEST).exits(0);
    assert!(said(&stage).contains("Done: replaced 4 files with hard links"));
}

#[test]
#[ignore = "mounts a file system of its own: root only; takes twenty minutes"]
fn in_full_a_later_call_that_hangs_names_its_disk_and_costs_nothing() {
    let nths: Vec<u64> = (2..=13).collect();
    check_all(cells(&nths));
}
