//! Runs of the built binary.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};

use super::children::await_started;
use super::{FileSets, Name, Sets, plain};

/// A run that takes longer hangs. Far above what any of these trees needs.
const PATIENCE: Duration = Duration::from_secs(180);

/// Every run of the program inherits a cache folder that cannot exist, whichever test starts it and however. It neither
/// uses nor changes the cache of the user who runs the tests.
#[used]
#[unsafe(link_section = ".init_array")]
static WITHOUT_CACHE: extern "C" fn() = without_cache;

extern "C" fn without_cache() {
    // SAFETY: this is called before `main`, so no other thread reads the environment.
    unsafe { std::env::set_var("XDG_CACHE_HOME", "/dev/null") };
}

/// Prepares a run with these arguments, separated by spaces, in this folder.
pub fn seekless(folder: &Path, arguments: &str) -> Seekless {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seekless"));
    command
        .args(arguments.split_whitespace())
        .current_dir(folder)
        // What was measured on this machine is no matter of tests.
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Seekless {
        command,
        input: None,
        patience: PATIENCE,
    }
}

/// A run about to start.
pub struct Seekless {
    command: Command,
    input: Option<Vec<u8>>,
    patience: Duration,
}

impl Seekless {
    /// Adds one argument that may hold spaces and any byte.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self.command.stdin(Stdio::piped());
        self
    }

    pub fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.command.stdout(stdout);
        self
    }

    pub fn stderr(mut self, stderr: impl Into<Stdio>) -> Self {
        self.command.stderr(stderr);
        self
    }

    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Root may read everything; take that away. Others never could.
    pub fn without_privileges(mut self) -> Self {
        if !super::is_root() {
            return self;
        }
        let powers = [
            CapabilitySet::DAC_OVERRIDE,
            CapabilitySet::DAC_READ_SEARCH,
            CapabilitySet::FOWNER,
        ];
        let drop_powers = move || {
            for power in powers {
                remove_capability_from_bounding_set(power)?;
            }
            Ok(())
        };
        // SAFETY: between fork and exec only system calls without allocation or locks are made.
        unsafe { self.command.pre_exec(drop_powers) };
        self
    }

    /// Lets the run have no more than so many open descriptors.
    pub fn descriptors(self, most: u64) -> Self {
        self.limited(Resource::Nofile, most)
    }

    /// Lets the run have no more than this of a resource.
    pub fn limited(mut self, resource: Resource, most: u64) -> Self {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        let lower = move || Ok(setrlimit(resource, limit)?);
        // SAFETY: between fork and exec only one system call is made.
        unsafe { self.command.pre_exec(lower) };
        self
    }

    /// Forbids io_uring, as containers do.
    pub fn without_io_uring(mut self) -> Self {
        let forbid = || {
            let filter = forbid_io_uring();
            let program = libc::sock_fprog {
                len: filter.len() as u16,
                filter: filter.as_ptr().cast_mut(),
            };
            // SAFETY: both calls take numbers and a program that outlives them.
            let done = unsafe {
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                    && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
            };
            if done {
                Ok(())
            } else {
                Err(std::io::Error::last_os_error())
            }
        };
        // SAFETY: between fork and exec only system calls are made.
        unsafe { self.command.pre_exec(forbid) };
        self
    }

    /// Runs a function in the child before the program starts: system calls only.
    pub fn before(
        mut self,
        calls: impl FnMut() -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        // SAFETY: the callers pass functions that make system calls, without allocation or locks.
        unsafe { self.command.pre_exec(calls) };
        self
    }

    /// Has a hangup handled like this (`SIG_DFL`, `SIG_IGN`). Otherwise it is ignored if whoever runs the tests ignores
    /// it, as `nohup` does.
    pub fn hangups(self, what: libc::sighandler_t) -> Self {
        self.before(move || {
            // SAFETY: one system call with two numbers.
            match unsafe { libc::signal(libc::SIGHUP, what) } {
                libc::SIG_ERR => Err(std::io::Error::last_os_error()),
                _ => Ok(()),
            }
        })
    }

    /// Starts the run and leaves it to the caller.
    pub fn spawn(mut self) -> Child {
        await_started();
        self.command.spawn().expect("the binary starts")
    }

    /// Runs to the end with a fault at one of its calls (`sys::fault`), which may be its death.
    pub fn with_fault(self, fault: &str) -> Run {
        let patience = self.patience;
        let run = collect(self.env("SEEKLESS_FAULT", fault).spawn(), None, patience);
        assert!(!run.stderr_text().contains("panicked at"), "{fault}\n{run}");
        run
    }

    /// Runs to the end. A hang or a panic fails the test, whatever it is about.
    pub fn run(mut self) -> Run {
        let input = self.input.take();
        let patience = self.patience;
        let run = collect(self.spawn(), input, patience);
        assert!(
            run.status.signal().is_none() && !run.stderr_text().contains("panicked at"),
            "the program crashed:\n{run}"
        );
        run
    }
}

/// A seccomp filter that answers the three calls of io_uring with "not permitted".
fn forbid_io_uring() -> [libc::sock_filter; 5] {
    const FIRST: u32 = libc::SYS_io_uring_setup as u32;
    const LAST: u32 = libc::SYS_io_uring_register as u32;
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    [
        // The call's number, which seccomp_data begins with.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 2, FIRST),
        step(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, 1, 0, LAST),
        step(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// A hang of a run whose file system does not answer, not a slow machine.
pub const LONGEST: Duration = Duration::from_secs(60);

/// Waits for something that will be so.
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LONGEST, "not yet: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the program has ended. The kernel may still hold a thread that waits for a file system.
pub fn await_end(run: &Child) {
    let began = Instant::now();
    let stat = format!("/proc/{}/stat", run.id());
    while !std::fs::read_to_string(&stat)
        .expect("a child")
        .contains(") Z ")
    {
        assert!(began.elapsed() < LONGEST, "it does not end");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a run that was spawned; a hang fails the test.
pub fn finish(child: Child, patience: Duration) -> Run {
    collect(child, None, patience)
}

fn collect(mut child: Child, input: Option<Vec<u8>>, patience: Duration) -> Run {
    thread::scope(|scope| {
        if let (Some(input), Some(mut pipe)) = (input, child.stdin.take()) {
            // A program that ends without reading its list closes the pipe; that is its right.
            scope.spawn(move || pipe.write_all(&input));
        }
        let stdout = child.stdout.take();
        let stdout = scope.spawn(move || read_all(stdout));
        let stderr = child.stderr.take();
        let stderr = scope.spawn(move || read_all(stderr));
        let status = wait(&mut child, patience);
        Run {
            status,
            stdout: stdout.join().expect("stdout can be read"),
            stderr: stderr.join().expect("stderr can be read"),
        }
    })
}

fn read_all(stream: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes).expect("a pipe can be read");
    }
    bytes
}

fn wait(child: &mut Child, patience: Duration) -> ExitStatus {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status;
        }
        if start.elapsed() > patience {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the program hangs: killed after {patience:?}");
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// What a run left behind.
pub struct Run {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Run {
    pub fn code(&self) -> i32 {
        self.status.code().expect("the program ended by itself")
    }

    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Insists on an exit code and goes on.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "exit code\n{self}");
        self
    }

    /// Insists that stderr names something and goes on.
    #[track_caller]
    pub fn says(self, part: &str) -> Self {
        assert!(
            self.stderr_text().contains(part),
            "stderr does not say {part:?}\n{self}"
        );
        self
    }

    /// Insists that stderr does not mention something and goes on.
    #[track_caller]
    pub fn never_says(self, part: &str) -> Self {
        assert!(
            !self.stderr_text().contains(part),
            "stderr says {part:?}\n{self}"
        );
        self
    }

    /// Reads `--format nul`.
    #[track_caller]
    pub fn sets(&self) -> Sets {
        parse_bare(&self.stdout, 0)
    }

    /// Insists on these sets in `--format nul`.
    #[track_caller]
    pub fn finds<const N: usize>(self, expected: [&str; N]) -> Self {
        let (found, expected) = (self.sets(), super::sets(expected));
        assert_eq!(super::shown(&found), super::shown(&expected), "\n{self}");
        self
    }

    /// Insists on one set with one name, whichever of these.
    #[track_caller]
    pub fn finds_one_of(self, names: &[&str]) -> Self {
        let sets = self.sets();
        let found = names.iter().any(|name| sets == super::sets([*name]));
        assert!(found, "not one of {names:?}\n{self}");
        self
    }

    /// Reads `--format json` as a document.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        let parsed = serde_json::from_slice(&self.stdout);
        parsed.unwrap_or_else(|error| panic!("no JSON: {error}\n{self}"))
    }

    /// Reads the sets of `--format json`, with all names of each file.
    #[track_caller]
    pub fn file_sets(&self) -> FileSets {
        let document = self.json();
        let sets = document["sets"].as_array().expect("sets is a list");
        let mut seen = BTreeSet::new();
        let mut file = |member: &serde_json::Value| -> BTreeSet<Name> {
            let more = member["hard_links"].as_array();
            let names = std::iter::once(&member["path"]).chain(more.into_iter().flatten());
            names
                .map(|name| {
                    let name = json_name(name);
                    assert!(
                        seen.insert(name.clone()),
                        "{} is named twice\n{self}",
                        name.escape_ascii()
                    );
                    name
                })
                .collect()
        };
        sets.iter()
            .map(|set| {
                let members = set["members"].as_array().expect("members is a list");
                members.iter().map(&mut file).collect()
            })
            .collect()
    }

    /// Insists on these files with all their names in `--format json`.
    #[track_caller]
    pub fn finds_files<const N: usize>(self, expected: [&str; N]) -> Self {
        assert_eq!(self.file_sets(), super::file_sets(expected), "\n{self}");
        self
    }
}

/// Shows the run as a snapshot: output, diagnostics and exit code together.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => text.to_owned(),
            _ => bytes.escape_ascii().to_string() + "\n",
        };
        write!(
            f,
            "--- stdout\n{}--- stderr\n{}--- {}\n",
            show(&self.stdout),
            show(&self.stderr),
            self.status
        )
    }
}

/// Names, each ended by `end`, an empty one after each set; without any, each name is a set.
#[track_caller]
pub fn parse_bare(bytes: &[u8], end: u8) -> Sets {
    let Some(body) = bytes.strip_suffix(&[end]) else {
        assert!(bytes.is_empty(), "the last line is cut off");
        return Sets::new();
    };
    let mut sets = Sets::new();
    let mut seen = BTreeSet::new();
    let mut set = BTreeSet::new();
    let is_list = !body.ends_with(&[end]);
    for name in body.split(|&byte| byte == end) {
        if name.is_empty() {
            assert!(!set.is_empty(), "a set without names");
            sets.insert(std::mem::take(&mut set));
            continue;
        }
        let name = plain(name).to_vec();
        let shown = name.escape_ascii().to_string();
        assert!(seen.insert(name.clone()), "{shown} is listed twice");
        set.insert(name);
        if is_list {
            sets.insert(std::mem::take(&mut set));
        }
    }
    assert!(set.is_empty(), "the last set is not ended");
    sets
}

pub fn json_name(name: &serde_json::Value) -> Name {
    let bytes = match (name["text"].as_str(), name["bytes"].as_str()) {
        (Some(text), None) => text.as_bytes().to_vec(),
        (None, Some(encoded)) => BASE64_STANDARD.decode(encoded).expect("bytes are base64"),
        _ => panic!("a name is either text or bytes: {name}"),
    };
    plain(&bytes).to_vec()
}

/// True if a signal does not simply end a process any more.
pub fn catches(child: &Child, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let caught = status.unwrap_or_default();
    let caught = caught.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & 1 << (signal.as_raw() - 1) > 0)
}
