//! A run of the program that stands still once, when it has opened some of the watched folders.

use std::io::Read;
use std::path::Path;
use std::process::Child;
use std::thread;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::super::hostile::running::hold;
use super::watch::Watch;
use crate::common::{Run, seekless};

/// Runs the program, stops it once when it has opened so many of the watched folders, and does something with
/// those that it has opened, in order. If that says that it is too late, all begins again.
pub fn stopped_once(
    folder: &Path,
    arguments: &str,
    watch: &Watch,
    after: usize,
    mut does: impl FnMut(&[String]) -> bool,
) -> Run {
    // On a machine with other work it may be late a few times.
    for _ in 0..200 {
        while watch.wait(0).1 > 0 {}
        // So few that it holds hardly a folder open, or their inodes would not be given back.
        let child = seekless(folder, arguments).descriptors(64).spawn();
        let mut done = false;
        let run = end(child, |child| {
            let pid = Pid::from_child(child);
            let mut opened = Vec::new();
            while opened.len() < after && !is_over(pid) {
                opened.extend(watch.wait(2).0);
            }
            if !is_over(pid) && hold(child) {
                opened.extend(watch.wait(0).0);
                done = does(&opened);
                kill_process(pid, Signal::CONT).expect("a child");
            }
        });
        if done {
            return run;
        }
    }
    panic!("it is always over before it can be stopped");
}

/// Waits for the end of a run, whose output is read meanwhile.
fn end(mut child: Child, meanwhile: impl FnOnce(&Child)) -> Run {
    fn all(mut stream: impl Read) -> Vec<u8> {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a pipe can be read");
        bytes
    }
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let run = thread::scope(|scope| {
        let stdout = scope.spawn(|| all(stdout.expect("a pipe")));
        let stderr = scope.spawn(|| all(stderr.expect("a pipe")));
        let leash = Leash(Pid::from_child(&child));
        meanwhile(&child);
        drop(leash);
        Run {
            status: child.wait().expect("it ends"),
            stdout: stdout.join().expect("stdout can be read"),
            stderr: stderr.join().expect("stderr can be read"),
        }
    });
    assert!([0, 1].contains(&run.code()), "{run}");
    run
}

/// Ends a run that stands still when a test fails; else nobody would.
struct Leash(Pid);

impl Drop for Leash {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = kill_process(self.0, Signal::KILL);
        }
    }
}

fn is_over(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let state = waitid(WaitId::Pid(pid), options);
    state.expect("a child").is_some()
}
