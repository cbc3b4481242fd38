//! Runs that stand still between two calls, until they are told to go on.
//!
//! Builds without debug assertions cannot be stopped there (`sys::fault`).
#![cfg(debug_assertions)]

use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::run::{Run, Seekless, finish};

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

    /// Waits until a process that was started has stopped.
    pub fn stands(child: Child) -> Self {
        let stopped = Self(child);
        let seen = waitpid(Some(stopped.pid()), WaitOptions::UNTRACED).expect("a child");
        let (_, status) = seen.expect("it was waited for");
        assert!(status.stopped(), "it does not come so far: {status:?}");
        stopped
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
