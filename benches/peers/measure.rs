//! Runs one command and measures it from a process of its own.
//!
//! The kernel counts what a process had resident before `exec` into its peak, so the measuring process has to be small:
//! this bench starts itself again for every run, and only that small process starts the tool.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::mount::MountPropagationFlags;
use rustix::thread::UnshareFlags;
use serde::{Deserialize, Serialize};

/// The first argument of a process that measures.
const MEASURE: &str = "measure-one-command";

/// The `main` of a bench that measures: in a process that it started for one command, that is
/// measured; else the bench is run.
pub fn main(bench: impl FnOnce() -> Result<ExitCode, Box<dyn Error>>) -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let outcome = match arguments.next() {
        Some(first) if first == MEASURE => measure_here(arguments)
            .map(|()| ExitCode::SUCCESS)
            .map_err(Into::into),
        _ => bench(),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

/// What one run of a command cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    pub wall: Duration,
    /// User and system time.
    pub cpu: Duration,
    /// Of its largest process, in bytes.
    pub peak_rss: u64,
    /// Bytes that had to come from a disk; `None` where the kernel does not count them.
    pub disk_read: Option<u64>,
    pub ending: Ending,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    Exit(i32),
    Signal(i32),
    /// It was killed after the longest time allowed.
    TimedOut,
}

/// Runs `command` with its standard output in the file `stdout`, and kills it after `limit`.
///
/// If there is a `flag`, the command finds a zero in that file.
pub fn measure(
    command: &[OsString],
    stdout: &Path,
    limit: Duration,
    flag: Option<&Path>,
) -> io::Result<Measured> {
    let measured = Command::new(env::current_exe()?)
        .arg(MEASURE)
        .arg(stdout)
        .arg(limit.as_secs().to_string())
        .arg(flag.unwrap_or(Path::new("")))
        .args(command)
        .stderr(Stdio::inherit())
        .output()?;
    serde_json::from_slice(&measured.stdout).map_err(|_| {
        let command = command.join(" ".as_ref());
        io::Error::other(format!("could not run {}", command.display()))
    })
}

/// The measuring process: `STDOUT SECONDS FLAG PROGRAM ARGUMENTS…`.
fn measure_here(mut arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let mut next = || arguments.next().ok_or(io::ErrorKind::InvalidInput);
    let (stdout, seconds, flag, program) = (next()?, next()?, next()?, next()?);
    let seconds = seconds
        .to_str()
        .and_then(|text| text.parse().ok())
        .ok_or(io::ErrorKind::InvalidInput)?;
    if !flag.is_empty() {
        zero(Path::new(&flag), Path::new(&stdout))?;
    }
    let mut stderr = stdout.clone();
    stderr.push(".stderr");
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(File::create(stdout)?)
        .stderr(File::create(stderr)?);
    let measured = run(&mut command, Duration::from_secs(seconds))?;
    serde_json::to_writer(io::stdout(), &measured)?;
    Ok(())
}

/// Puts a file with a zero in the place of `flag`, for this process and its children only.
fn zero(flag: &Path, beside: &Path) -> io::Result<()> {
    let zero = beside.with_extension("zero");
    fs::write(&zero, "0\n")?;
    // SAFETY: a new mount namespace changes nothing that Rust code relies on, and this process has one thread.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private)?;
    rustix::mount::mount_bind(&zero, flag)?;
    Ok(())
}

fn run(command: &mut Command, limit: Duration) -> io::Result<Measured> {
    let start = Instant::now();
    let child = command.spawn()?;
    let pid = child.id() as libc::pid_t;
    let (ended, watch) = mpsc::channel::<()>();
    let watchdog = thread::spawn(move || {
        let timed_out = watch.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        if timed_out {
            // SAFETY: sends a signal; the child is not reaped before this thread has ended, so the number is still its
            // own.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        timed_out
    });
    wait_unreaped(pid)?;
    let wall = start.elapsed();
    // A process that has ended but was not waited for still has its counters.
    let disk_read = disk_read(pid);
    drop(ended);
    let timed_out = watchdog
        .join()
        .map_err(|_| io::Error::other("the watchdog panicked"))?;
    let (status, usage) = reap(pid)?;
    let ending = if timed_out {
        Ending::TimedOut
    } else if libc::WIFEXITED(status) {
        Ending::Exit(libc::WEXITSTATUS(status))
    } else {
        Ending::Signal(libc::WTERMSIG(status))
    };
    Ok(Measured {
        wall,
        cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
        peak_rss: usage.ru_maxrss as u64 * 1024,
        disk_read,
        ending,
    })
}

/// Waits for the end of a child and leaves it to be reaped.
fn wait_unreaped(pid: libc::pid_t) -> io::Result<()> {
    let mut information = MaybeUninit::<libc::siginfo_t>::uninit();
    loop {
        let flags = libc::WEXITED | libc::WNOWAIT;
        // SAFETY: `information` is large enough for what the kernel writes, and is not read.
        let result = unsafe {
            libc::waitid(
                libc::P_PID,
                pid as libc::id_t,
                information.as_mut_ptr(),
                flags,
            )
        };
        if result == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn reap(pid: libc::pid_t) -> io::Result<(i32, libc::rusage)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are valid for writing for the length of the call.
    if unsafe { libc::wait4(pid, &mut status, 0, usage.as_mut_ptr()) } != pid {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all zeros is a valid `rusage`, and `wait4` has filled it in.
    Ok((status, unsafe { usage.assume_init() }))
}

fn disk_read(pid: libc::pid_t) -> Option<u64> {
    let counters = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    let line = counters
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: "))?;
    line.parse().ok()
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
}
