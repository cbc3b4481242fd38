//! Looking after a program that runs.

use std::process::Child;
use std::thread;
use std::time::Instant;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::*;

pub fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id() as i32).expect("a pid")
}

pub fn finish(child: Child) -> Run {
    let output = child.wait_with_output().expect("it ends");
    Run {
        status: output.status,
        stdout: output.stdout,
        stderr: output.stderr,
    }
}

/// Waits until it has used a moment of processor time: it is in the middle of things.
pub fn wait_until_busy(child: &Child) {
    wait_until(|| {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()));
        let stat = stat.unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks = after_name.split_whitespace().skip(11).take(2);
        ticks.flat_map(str::parse::<u64>).sum::<u64>() > 15
    });
}

/// Waits until something is true of a program that runs.
pub fn wait_until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "the program does nothing"
        );
        thread::sleep(Duration::from_millis(2));
    }
}

/// Bytes that its calls have read so far, from whatever.
pub fn bytes_read(child: &Child) -> u64 {
    let counts = fs::read_to_string(format!("/proc/{}/io", child.id()));
    let counts = counts.expect("it was not waited for");
    let bytes = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    let bytes = bytes.and_then(|bytes| bytes.parse().ok());
    bytes.expect("a count")
}

/// Makes it stand still; false if it was over first.
pub fn hold(child: &Child) -> bool {
    kill_process(pid(child), Signal::STOP).expect("a child");
    let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
    let state = waitid(WaitId::Pid(pid(child)), options).expect("a child");
    state.expect("waited for").stopped()
}
