//! A tree to act on, and what a run leaves outside it; runs that stand still between two calls; and journals that a
//! test changes.
//!
//! Builds without debug assertions cannot be stopped (`sys::fault`).

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use regex::Regex;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};
use serde_json::Value;
use tempfile::TempDir;

use super::run::{Run, Seekless, finish, seekless};
use super::tree::Tree;

/// A tree, and a place for journals and answers outside it.
pub struct Stage {
    pub tree: Tree,
    pub state: TempDir,
}

impl Stage {
    pub fn new(tree: Tree) -> Self {
        let state = tempfile::tempdir().expect("a temporary folder can be made");
        Self { tree, state }
    }

    pub fn seekless(&self, arguments: &str) -> Seekless {
        let state = self.state.path().to_str().expect("plain");
        seekless(self.tree.root(), arguments)
            .env("XDG_STATE_HOME", state)
            .env("XDG_DATA_HOME", state)
            .env("HOME", state)
    }

    pub fn run(&self, arguments: &str) -> Run {
        self.seekless(arguments).run()
    }

    /// True if the run was killed before so many calls, and not over by then (`sys::fault`).
    pub fn is_killed(&self, arguments: &str, at: u64) -> bool {
        let run = self.seekless(arguments);
        let run = run.with_fault(&format!("kill@{at}"));
        run.status.signal() == Some(9)
    }

    /// A run with a report on standard input.
    pub fn on_report(&self, arguments: &str, report: impl Into<Vec<u8>>) -> Run {
        self.seekless(arguments).stdin(report).run()
    }

    pub fn report(&self, arguments: &str) -> String {
        let run = self.run(arguments).exits(0);
        run.stdout_text()
    }

    pub fn has(&self, name: &str) -> bool {
        self.tree.path(name).symlink_metadata().is_ok()
    }

    /// Names of all files below the tree, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = walkdir::WalkDir::new(self.tree.root()).sort_by_file_name();
        let files = entries.into_iter().map(|entry| entry.expect("an entry"));
        let files = files.filter(|entry| !entry.file_type().is_dir());
        files
            .map(|entry| {
                let path = entry.path().strip_prefix(self.tree.root()).expect("below");
                path.as_os_str().as_bytes().escape_ascii().to_string()
            })
            .collect()
    }

    /// What a plan shows, without what differs between machines.
    pub fn shown(&self, run: &Run) -> String {
        let root = self.tree.root().canonicalize().expect("the tree is there");
        let text = run
            .to_string()
            .replace(root.to_str().expect("plain"), "TREE");
        let frees = Regex::new(r"frees [0-9.]+ [a-zA-Z]+").expect("a pattern");
        frees.replace_all(&text, "frees SOME").into_owned()
    }
}

/// More than any run takes after it was stopped.
const PATIENCE: Duration = Duration::from_secs(120);

/// A run that stands still in the middle of what it does.
pub struct Stopped(Child);

impl Stopped {
    /// Starts a run that stops before this call of those that are counted.
    pub fn start(run: Seekless, at: u64) -> Self {
        let run = run.env("SEEKLESS_FAULT", &format!("stop@{at}"));
        Self::stands(run.stdout(Stdio::null()).spawn())
    }

    /// The same; `None` if it ends before this call.
    pub fn if_it_comes_so_far(run: Seekless, at: u64) -> Option<Self> {
        let run = run.env("SEEKLESS_FAULT", &format!("stop@{at}"));
        Self::if_it_stands(run.stdout(Stdio::null()).spawn()).ok()
    }

    /// Waits until a process that was started has stopped.
    pub fn stands(child: Child) -> Self {
        let stopped = Self::if_it_stands(child);
        stopped.unwrap_or_else(|status| panic!("it does not come so far: {status:?}"))
    }

    fn if_it_stands(child: Child) -> Result<Self, WaitStatus> {
        let stopped = Self(child);
        let seen = waitpid(Some(stopped.pid()), WaitOptions::UNTRACED).expect("a child");
        let (_, status) = seen.expect("it was waited for");
        if status.stopped() {
            Ok(stopped)
        } else {
            Err(status)
        }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Lets it go on to its end.
    pub fn ends(self) -> Run {
        kill_process(self.pid(), Signal::CONT).expect("it is there");
        finish(self.0, PATIENCE)
    }

    /// The same; only the exit status.
    pub fn goes_on(self) -> Option<i32> {
        self.ends().status.code()
    }
}

/// Changes the records of a journal, or leaves some out (`false`), and makes the sums of its lines right again.
pub fn rewrite(path: &Path, change: impl Fn(&mut Value) -> bool) {
    let text = fs::read_to_string(path).expect("text");
    let mut lines = String::new();
    for line in text.lines() {
        let (_, json) = line.split_once(' ').expect("a sum");
        let mut record: Value = serde_json::from_str(json).expect("JSON");
        if change(&mut record) {
            lines.push_str(&self::line(&record));
        }
    }
    crate::common::write(path, lines).expect("written");
}

/// A record as a line of a journal.
pub fn line(record: &Value) -> String {
    let json = record.to_string();
    let sum = blake3::hash(json.as_bytes()).to_hex();
    format!("{} {json}\n", &sum[..16])
}

/// Takes the digest from a record: undo has only the times of the kept file.
pub fn without_digest(record: &mut Value) -> bool {
    let fields = record.as_object_mut().expect("an object");
    fields.remove("digest");
    true
}

/// Leaves of a journal what a run has written that was killed right after its step.
pub fn as_killed(record: &mut Value) -> bool {
    let fields = record.as_object_mut().expect("an object");
    fields.remove("digest");
    matches!(fields["record"].as_str(), Some("run" | "intent"))
}
