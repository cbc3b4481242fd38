//! Processes that tests start, and what they must not disturb in the tests beside them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// This program again, to run one test of a module: what that does, it does in a process of its own.
pub fn own_process(module: &str, test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let test = format!("{module}::{test}");
    // The names of tests begin below the crate.
    let (_, test) = test.split_once("::").expect("a module");
    command.args(["--exact", test, "--nocapture"]);
    command
}

/// Waits until every child that was forked before, and that the kernel lists, runs its own program. It may miss some:
/// `Tree` waits for the files that it writes.
///
/// Until then it has open what this process had open, of whichever test: files that are being written, and locks. So
/// this stands between what a test writes and an action that refuses files in use.
pub fn await_started() {
    static OURS: OnceLock<Vec<u8>> = OnceLock::new();
    let ours = OURS.get_or_init(|| command_line("self"));
    let is_copy = |child: &str| command_line(child) == *ours;
    while children().split_whitespace().any(is_copy) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// The words of a process; none if it is gone.
fn command_line(process: &str) -> Vec<u8> {
    fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default()
}

/// Numbers of the processes that any thread of this one has started.
fn children() -> String {
    let threads = fs::read_dir("/proc/self/task").expect("proc is mounted");
    let lists = threads.map(|thread| thread.expect("an entry").path().join("children"));
    // A thread that is gone has handed its children on.
    lists
        .map(|list| fs::read_to_string(list).unwrap_or_default())
        .collect()
}

/// Checks all cases at the same time, for checks that mostly wait.
pub fn all_at_once<T: Send>(cases: impl IntoIterator<Item = T>, check: impl Fn(T) + Sync) {
    thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| check(case));
        }
    });
}

/// A child that gets a line and answers with a line.
pub struct Partner {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Partner {
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let orders = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        Self {
            child,
            orders,
            answers,
        }
    }

    pub fn order(&mut self, line: &[u8]) {
        let line = [line, b"\n"].concat();
        self.orders.write_all(&line).expect("it listens");
    }

    /// What follows this word in the next line that has it. The test harness begins lines with words of its own.
    pub fn answer(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.answers.read_line(&mut line).expect("it answers");
            assert!(read > 0, "the other process died");
            if let Some((_, answer)) = line.split_once(word) {
                return answer.trim().to_owned();
            }
        }
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
