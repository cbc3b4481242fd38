//! Test files that a plan creates on a mount to find out what it can do: whenever the run is killed, a sweep or the
//! next action there removes them. Root only, in a debug build (`sys::fault`).
#![cfg(debug_assertions)]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::mounts::{Shown, Shows};
use crate::common::run::{Seekless, finish};
use crate::common::{Run, noise, seekless};
use seekless::action;
use tempfile::TempDir;

/// Two copies below a mount, and a place for journals.
struct Ground {
    shows: Shows,
    state: TempDir,
}

/// The calls of one action that are counted, at most: a test that gets there counts nothing.
const MANY: usize = 200;

impl Ground {
    fn new() -> Self {
        let shows = Shows::new(Shown::Bindfs);
        for name in ["a", "b"] {
            fs::write(shows.source().join(name), noise(7, 9_000)).expect("written");
        }
        let state = tempfile::Builder::new()
            .prefix("seekless-state-")
            .tempdir()
            .expect("a temporary folder can be made");
        Self { shows, state }
    }

    fn command(&self, arguments: &str) -> Seekless {
        let state = self.state.path().to_str().expect("plain");
        seekless(self.state.path(), arguments)
            .env("XDG_STATE_HOME", state)
            .env("XDG_DATA_HOME", state)
    }

    fn run(&self, arguments: &str) -> Run {
        self.command(arguments).run()
    }

    fn runs(&self) -> Vec<action::Run> {
        action::runs(&self.journals()).expect("a list")
    }

    fn journals(&self) -> PathBuf {
        self.state.path().join("seekless/journals")
    }

    /// Killed before this call that acts, with no journals of earlier runs; true if it came so far as to record a step,
    /// or to its end.
    fn kill(&self, arguments: &str, at: usize) -> bool {
        if self.journals().exists() {
            fs::remove_dir_all(self.journals()).expect("removed");
        }
        let command = self.command(arguments);
        let command = command.env("SEEKLESS_FAULT", &format!("kill@{at}"));
        let run = finish(command.spawn(), Duration::from_secs(60));
        run.status.signal() != Some(9) || self.runs().iter().any(|run| run.steps > 0)
    }

    fn test_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.shows.source()).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let is_ours = |path: &PathBuf| path.to_string_lossy().contains(".seekless-survey-");
        paths.filter(is_ours).collect()
    }

    fn assert_as_before(&self, context: &str) {
        assert_eq!(self.test_files(), [] as [&Path; 0], "{context}");
        for name in ["a", "b"] {
            let read = fs::read(self.shows.source().join(name)).expect("it is there");
            assert_eq!(read, noise(7, 9_000), "{context}");
        }
    }
}

/// Kills an action before each call of its tests, clears up by this command, and returns how often that was needed.
fn each_death(places: fn(&Ground) -> String, action: &str, clearing: &str) -> usize {
    let mut left = 0;
    let ground = Ground::new();
    let line = |how: &str| format!("{how} {}", places(&ground));
    for at in 1..MANY {
        if ground.kill(&line(&format!("{action} --yes")), at) {
            return left;
        }
        let context = format!("{action}, killed before call {at}");
        if ground.test_files().is_empty() {
            continue;
        }
        left += 1;
        let found = ground.run(&line("find"));
        let found = found.says("test file").says("undo --sweep");
        assert!(!found.stderr_text().contains("unfinished"), "{found}");
        let cleared = match clearing {
            "undo --sweep" => ground.run(clearing).exits(0),
            "undo RUN" => {
                let run = ground.runs().remove(0).name;
                ground.run(&format!("undo --yes {run}")).exits(0)
            }
            clearing => ground.run(&line(clearing)),
        };
        let cleared = cleared.says("test file").says("removed.");
        ground.assert_as_before(&format!("{context}\n{cleared}"));
        ground
            .run("undo --sweep")
            .exits(0)
            .says("No killed run left unfinished files.");
    }
    panic!("{action} never records a step");
}

fn below_the_mount(ground: &Ground) -> String {
    ground.shows.point().display().to_string()
}

fn on_both_sides(ground: &Ground) -> String {
    let source = ground.shows.source();
    format!("{} {}", below_the_mount(ground), source.display())
}

#[test]
#[ignore = "mounts file systems of programs: root only"]
fn a_sweep_removes_what_a_killed_test_of_hard_links_left() {
    assert!(each_death(below_the_mount, "hardlink", "undo --sweep") > 3);
}

#[test]
#[ignore = "mounts file systems of programs: root only"]
fn undo_removes_what_a_killed_test_of_symbolic_links_left() {
    assert!(each_death(below_the_mount, "symlink", "undo RUN") > 2);
}

#[test]
#[ignore = "mounts file systems of programs: root only"]
fn the_next_action_removes_what_a_killed_test_of_views_left() {
    let next = "remove --yes --min-size 1G";
    assert!(each_death(on_both_sides, "remove", next) > 2);
}

#[test]
#[ignore = "mounts file systems of programs: root only"]
fn tests_of_a_mount_that_end_leave_no_journal_of_their_own() {
    let ground = Ground::new();
    let run = ground.run(&format!("hardlink --yes {}", below_the_mount(&ground)));
    let run = run.exits(0).says("Done: ");
    let runs = ground.runs();
    assert_eq!(runs.len(), 1, "{run}");
    assert_eq!(runs[0].steps, 1, "{run}");
}
