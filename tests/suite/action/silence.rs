//! A file system that falls silent while seekless plans, acts, undoes or sweeps: it is named, the run ends with a line
//! that says how to go on, an interruption ends it at once, and nothing is lost. Root only.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::daemon::{Daemon, READ};
use crate::common::mirror::{self, CREATE, FSYNC, LINK, MKDIR, RENAME2, WRITE};
use crate::common::scene::{Picture, picture};
use crate::common::stage::Stage;
use crate::common::{Tree, noise};
use rustix::process::{Pid, Signal, kill_process};

/// A hang, not a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ten pairs of files in a real folder, which a daemon shows at `mounted`.
fn stage() -> Stage {
    let mut tree = Tree::new();
    for pair in 0..10 {
        let names = [0, 1].map(|copy| format!("real/{pair}-{copy}"));
        tree = tree.copies([&names[0], &names[1]], noise(pair, 40_000));
    }
    let stage = Stage::new(tree);
    fs::create_dir(stage.tree.path("mounted")).expect("a folder");
    stage
}

/// The daemon, which still answers, and a report of what it shows.
fn reported(stage: &Stage) -> Daemon {
    let daemon = shown(stage);
    stage.run("find -f json -o report mounted").exits(0);
    daemon
}

fn shown(stage: &Stage) -> Daemon {
    mirror::mount(&stage.tree.path("real"), stage.tree.path("mounted"))
}

fn real(stage: &Stage) -> Picture {
    picture(&stage.tree.path("real"))
}

/// A run whose lines are read as they come.
struct Running {
    child: Child,
    lines: Receiver<String>,
    said: String,
}

impl Running {
    fn start(stage: &Stage, arguments: &str) -> Self {
        let child = stage.seekless(arguments).hangups(libc::SIG_DFL);
        let mut child = child.spawn();
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let (to, lines) = channel();
        thread::spawn(move || {
            stderr.lines().map_while(Result::ok).for_each(|line| {
                let _ = to.send(line);
            });
        });
        Self {
            child,
            lines,
            said: String::new(),
        }
    }

    fn interrupt(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// Waits for a line with these words.
    fn says(&mut self, words: &str) -> bool {
        let began = Instant::now();
        while !self.said.contains(words) {
            let left = PATIENCE.saturating_sub(began.elapsed());
            let Ok(line) = self.lines.recv_timeout(left) else {
                return false;
            };
            self.said.push_str(&line);
            self.said.push('\n');
        }
        true
    }

    /// Ends the daemon, which lets go of whoever waits for it, and insists on the exit status and on these words.
    fn ends(mut self, daemon: Daemon, status: i32, words: &[&str]) {
        let all_said = words.iter().all(|words| self.says(words));
        drop(daemon);
        let code = self.child.wait().expect("it ends").code();
        assert!(
            all_said && code == Some(status),
            "{words:?}, {status}: {code:?}\n{}",
            self.said
        );
    }
}

fn falls_silent(daemon: &Daemon) {
    let began = Instant::now();
    while !daemon.is_silent() {
        assert!(began.elapsed() < PATIENCE, "it never falls silent");
        thread::sleep(Duration::from_millis(5));
    }
}

/// How the wait ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Patience,
    Signal(Signal),
}

const ENDS: [End; 4] = [
    End::Patience,
    End::Signal(Signal::INT),
    End::Signal(Signal::TERM),
    End::Signal(Signal::HUP),
];

/// Runs a command whose daemon falls silent, lets the wait end, and insists on what is said.
fn cut_short(stage: &Stage, daemon: Daemon, command: &str, end: End, words: &[&str]) {
    match end {
        End::Patience => {
            let running = Running::start(stage, &format!("{command} --patience 1"));
            let named = "mounted: does not answer; waiting for it";
            let words = [&[named, "mounted: did not answer for "], words].concat();
            running.ends(daemon, 1, &words);
        }
        End::Signal(signal) => {
            let running = Running::start(stage, command);
            falls_silent(&daemon);
            running.interrupt(signal);
            let words = [
                &["interrupted: stopping", "mounted: does not answer"],
                words,
            ]
            .concat();
            running.ends(daemon, 130, &words);
        }
    }
}

/// Sweeps and undoes with a daemon that answers, and insists that all is as before.
fn is_restored(stage: &Stage, before: &Picture) {
    let daemon = shown(stage);
    stage.run("undo --sweep").exits(0);
    stage.run("undo").exits(0);
    drop(daemon);
    assert!(&real(stage) == before, "not as before: {:?}", stage.names());
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn an_action_that_gets_no_answer_ends_and_is_taken_back() {
    // While it compares, renames, and waits for the kept file to be on the disk.
    let moments = [(READ, 5), (RENAME2, 2), (FSYNC, 1)];
    let commands = ["hardlink", "move --to mounted/away", "remove --trash"];
    for (kind, requests) in moments {
        for (command, end) in commands.iter().zip(ENDS.iter().cycle().skip(kind as usize)) {
            let stage = stage();
            let before = real(&stage);
            let daemon = reported(&stage);
            // The check of the mount syncs a file of its own before.
            let checks = u64::from(kind == FSYNC && *command == "hardlink");
            daemon.be_silent_at(kind, requests + checks);
            let line = format!("{command} --yes --from report");
            let words = [
                "the current step may be unfinished",
                "seekless undo --sweep ",
                "undoes the whole run",
            ];
            cut_short(&stage, daemon, &line, *end, &words);
            is_restored(&stage, &before);
        }
    }
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn an_action_goes_on_if_the_file_system_answers_again() {
    let stage = stage();
    let daemon = reported(&stage);
    daemon.be_silent_at(READ, 1);
    let mut running = Running::start(&stage, "hardlink --yes --patience 5 --from report");
    assert!(
        running.says("does not answer; waiting for it"),
        "{}",
        running.said
    );
    daemon.be_silent(false);
    running.ends(daemon, 0, &["Done: replaced 10 files with hard links"]);
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn an_undo_that_gets_no_answer_ends_and_goes_on_when_called_again() {
    for (kind, end) in [READ, RENAME2, RENAME2].into_iter().zip(ENDS) {
        let stage = stage();
        let before = real(&stage);
        let daemon = reported(&stage);
        stage.run("hardlink --yes --from report").exits(0);
        daemon.be_silent_at(kind, 2);
        cut_short(
            &stage,
            daemon,
            "undo",
            end,
            &["not everything was undone; to continue: seekless undo 2"],
        );
        is_restored(&stage, &before);
    }
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_sweep_that_gets_no_answer_ends_and_goes_on_when_called_again() {
    for end in [End::Patience, End::Signal(Signal::INT)] {
        let stage = stage();
        let before = real(&stage);
        let daemon = reported(&stage);
        // The check of the mount makes the first link.
        daemon.be_silent_at(LINK, 2);
        let line = "hardlink --yes --from report";
        cut_short(&stage, daemon, line, End::Patience, &["may be unfinished"]);
        assert!(real(&stage) != before, "the victim is set aside");
        let daemon = shown(&stage);
        daemon.be_silent_at(RENAME2, 1);
        let words = ["not everything was cleaned up; to continue: seekless undo --sweep 2"];
        cut_short(&stage, daemon, "undo --sweep", end, &words);
        is_restored(&stage, &before);
    }
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_report_on_a_silent_file_system_is_given_up() {
    let stage = stage();
    drop(reported(&stage));
    fs::rename(stage.tree.path("report"), stage.tree.path("real/report")).expect("moved");
    for (end, requests) in [(End::Patience, 1), (End::Signal(Signal::INT), 1)] {
        let daemon = shown(&stage);
        daemon.be_silent_at(READ, requests);
        match end {
            End::Patience => {
                let running =
                    Running::start(&stage, "hardlink --yes --patience 1 --from mounted/report");
                running.ends(
                    daemon,
                    2,
                    &["mounted: did not answer for ", "nothing was done"],
                );
            }
            End::Signal(signal) => {
                let running = Running::start(&stage, "hardlink --yes --from mounted/report");
                falls_silent(&daemon);
                running.interrupt(signal);
                running.ends(daemon, 130, &["nothing was done"]);
            }
        }
    }
}

/// A link with the name of a trash leads to a folder of a file system that does not answer.
#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_trash_behind_a_link_that_gets_no_answer_is_given_up() {
    let stage = Stage::new(
        Tree::new()
            .copies(["data/a/1", "data/b/1"], noise(1, 40_000))
            .folder("real/bin/files")
            .folder("mounted")
            .symlink(".Trash-0", "mounted/bin"),
    );
    stage.run("find -f text -o report data").exits(0);
    stage.run("folders -f text -o folders data").exits(0);
    let before = picture(&stage.tree.path("data"));
    let skipped = "mounted: did not answer; files not read there are skipped";
    for (command, words) in [
        ("remove data", skipped),
        ("remove --from report", "mounted: did not answer for "),
        ("remove --keep oldest --from folders", skipped),
    ] {
        let daemon = shown(&stage);
        daemon.be_silent(true);
        let running = Running::start(&stage, &format!("{command} --yes --patience 1"));
        let named = "mounted: does not answer; waiting for it";
        running.ends(daemon, 2, &[named, words, "nothing was done"]);
        assert!(picture(&stage.tree.path("data")) == before, "{command}");
    }
}

/// The place of a report falls silent while the report is written, synced or put in its place.
#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_report_whose_place_does_not_answer_is_not_waited_for() {
    for kind in [WRITE, FSYNC, RENAME2] {
        for command in [
            "find -f json real",
            "find --from report",
            "folders real",
            "remove --dry-run real",
        ] {
            let stage = stage();
            stage.run("find -f json -o report real").exits(0);
            let daemon = shown(&stage);
            daemon.be_silent_at(kind, 1);
            let command = format!("{command} -o mounted/out --patience 1");
            let running = Running::start(&stage, &command);
            let said = [
                "mounted: did not answer for ",
                "mounted/out",
                "the result may not have been written",
            ];
            running.ends(daemon, 2, &said);
        }
    }
}

/// The file system that does not answer is named, although the step began with another one.
#[test]
#[ignore = "mounts a file system of its own: root only"]
fn the_side_of_a_move_that_does_not_answer_is_named() {
    for (kind, line) in [
        (RENAME2, "move --yes --to there mounted"),
        (MKDIR, "move --yes --to mounted/o/dst local"),
        (CREATE, "move --yes --to mounted local"),
    ] {
        let mut stage = stage();
        stage.tree = stage.tree.copies(["local/a", "local/b"], "local");
        let daemon = shown(&stage);
        daemon.be_silent_at(kind, 1);
        let running = Running::start(&stage, &format!("{line} --patience 1"));
        running.ends(daemon, 1, &["mounted: did not answer for "]);
    }
    let stage = stage();
    let daemon = shown(&stage);
    stage.run("move --yes --to there mounted").exits(0);
    daemon.be_silent_at(CREATE, 1);
    let running = Running::start(&stage, "undo --patience 1");
    running.ends(daemon, 1, &["mounted: did not answer for "]);
}
