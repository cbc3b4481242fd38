//! A file system that falls silent while seekless plans, acts, undoes or sweeps: it is named, the run ends with a line
//! that says how to go on, an interruption ends it at once, and nothing is lost. Root only.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::daemon::{Daemon, READ};
use crate::common::mirror::{self, FSYNC, RENAME2};
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
