//! Runs on a pseudo-terminal of a given width.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

/// A terminal: our end, and the one for a program.
pub fn open(columns: u16) -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (-1, -1);
    let size = libc::winsize {
        ws_row: 50,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: both numbers are live places to write to, the size outlives the call; no name or settings are given.
    let done = unsafe {
        libc::openpty(
            &raw mut ours,
            &raw mut theirs,
            std::ptr::null_mut(),
            std::ptr::null(),
            &raw const size,
        )
    };
    assert_eq!(done, 0, "a terminal can be made");
    // SAFETY: both were just opened and belong to nobody else.
    unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) }
}

/// Runs with stdout alone on a terminal of so many columns, without colours; returns what is on it.
pub fn stdout_on_terminal(folder: &Path, arguments: &str, columns: u16) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seekless"));
    command
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("NO_COLOR", "1");
    show(command, columns, false)
}

/// Runs without input, with stdout and, if `both`, stderr on a terminal.
pub fn show(mut command: Command, columns: u16, both: bool) -> String {
    let (mut ours, theirs) = open(columns);
    let clone = || Stdio::from(theirs.try_clone().expect("a descriptor"));
    command
        .stdin(Stdio::null())
        .stdout(clone())
        .stderr(if both { clone() } else { Stdio::null() });
    let mut child = command.spawn().expect("the binary starts");
    // Our copies of its end would keep the terminal alive.
    drop(command);
    drop(theirs);
    let listener = thread::spawn(move || {
        let mut said = Vec::new();
        let mut buffer = [0; 4096];
        // When the program has ended, reading fails.
        while let Ok(read @ 1..) = ours.read(&mut buffer) {
            said.extend_from_slice(&buffer[..read]);
        }
        said
    });
    child.wait().expect("the program ends");
    let said = listener.join().expect("the terminal can be read");
    String::from_utf8_lossy(&said).replace("\r\n", "\n")
}

/// Runs with all three streams on a terminal of its own and types these lines, once the prompt was shown; without a
/// prompt the lines are typed at once, and Ctrl-D after them. Returns the exit status and what is on the terminal.
pub fn converse(
    mut command: Command,
    columns: u16,
    prompt: &'static str,
    typed: &str,
) -> (Option<i32>, String) {
    let (mut ours, theirs) = open(columns);
    let clone = || Stdio::from(theirs.try_clone().expect("a descriptor"));
    command.stdin(clone()).stdout(clone()).stderr(clone());
    // The terminal becomes the program's own, so that Ctrl-C reaches it.
    let own = || {
        rustix::process::setsid()?;
        // SAFETY: a number goes in and nothing comes out.
        match unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec only two system calls are made.
    unsafe { command.pre_exec(own) };
    let mut child = command.spawn().expect("the binary starts");
    // Our copies of its end would keep the terminal alive.
    drop(command);
    drop(theirs);
    let mut reader = ours.try_clone().expect("a descriptor");
    let (prompted, when_prompted) = mpsc::channel();
    let listener = thread::spawn(move || {
        let mut said = Vec::new();
        let mut buffer = [0; 4096];
        // When the program has ended, reading fails.
        while let Ok(read @ 1..) = reader.read(&mut buffer) {
            said.extend_from_slice(&buffer[..read]);
            if String::from_utf8_lossy(&said).contains(prompt) {
                let _ = prompted.send(());
            }
        }
        String::from_utf8_lossy(&said).into_owned()
    });
    if !prompt.is_empty() {
        when_prompted.recv().expect("the prompt is shown");
    }
    ours.write_all(typed.as_bytes()).expect("typed");
    if prompt.is_empty() {
        // Each ends one read; nothing waits for ever.
        ours.write_all(b"\x04\x04\x04").expect("typed");
    }
    let status = child.wait().expect("the program ends");
    drop(ours);
    (status.code(), listener.join().expect("heard"))
}
