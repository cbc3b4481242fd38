//! Looking after a program that runs.

use std::process::Child;
use std::thread;
use std::time::Instant;

use rustix::process::Pid;

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
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()));
        let stat = stat.unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks = after_name.split_whitespace().skip(11).take(2);
        if ticks.flat_map(str::parse::<u64>).sum::<u64>() > 15 {
            return;
        }
        thread::sleep(Duration::from_millis(2));
    }
    panic!("the program does nothing");
}
