//! A small FUSE daemon in the test's own process, which does what no honest file system does: folders without end,
//! and silence. Root only.
//!
//! [`mirror`](super::mirror) shows a real folder, to act in.
//!
//! It speaks the kernel's protocol (linux/fuse.h) over `/dev/fuse`, so that it needs no library. A request that it
//! does not read stays with the kernel, as when a daemon is stopped: whoever waits for it can still be killed.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

/// What the file system shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// So many files with the same content of so many bytes.
    Files { count: u64, size: u64 },
    /// Names without end in one folder, each a file of a size of its own.
    EndlessFiles,
    /// Names without end in one folder, each an empty folder.
    EndlessFolders,
    /// A folder in a folder, without end. All have one inode number if told so.
    EndlessDepth { one_number: bool },
}

/// What the daemon and the test know of each other.
#[derive(Debug, Default)]
struct State {
    silent: AtomicBool,
    /// It falls silent after so many reads of files; never if 0.
    silent_after_reads: AtomicU64,
    /// It falls silent at so many further requests of this kind, the last of which it has read by then.
    silent_at: Mutex<Option<(u32, u64)>>,
    /// It takes so many milliseconds for each answer, and lists one name in each; it does neither if 0.
    slow: AtomicU64,
    /// Requests answered.
    answered: AtomicU64,
    reads: AtomicU64,
    /// It answers when a file is closed. The kernel asks no more once it did not.
    flushes: AtomicBool,
    over: AtomicBool,
    changed: (Mutex<()>, Condvar),
}

/// A mounted file system; unmounted when dropped, whatever waits for it.
#[derive(Debug)]
pub struct Daemon {
    place: PathBuf,
    state: Arc<State>,
    device: Option<Arc<File>>,
    thread: Option<JoinHandle<()>>,
}

impl Daemon {
    /// Mounts what it shows on a folder.
    pub fn mount(place: PathBuf, shows: Shows) -> Self {
        let state = Arc::new(State::default());
        let own = Arc::clone(&state);
        Self::with(["test", "fuse"], place, state, move |request| {
            answer(request, shows, own.slow.load(Ordering::SeqCst) > 0)
        })
    }

    /// Mounts a file system that is this function on a folder.
    pub fn serving(
        place: PathBuf,
        answer: impl FnMut(&Request<'_>) -> Option<Result<Vec<u8>, i32>> + Send + 'static,
    ) -> Self {
        Self::with(["test", "fuse"], place, Arc::default(), answer)
    }

    /// The same, with the name of what is mounted and the type of the file system.
    pub fn named(
        names: [&str; 2],
        place: PathBuf,
        answer: impl FnMut(&Request<'_>) -> Option<Result<Vec<u8>, i32>> + Send + 'static,
    ) -> Self {
        Self::with(names, place, Arc::default(), answer)
    }

    fn with(
        [name, kind]: [&str; 2],
        place: PathBuf,
        state: Arc<State>,
        answer: impl FnMut(&Request<'_>) -> Option<Result<Vec<u8>, i32>> + Send + 'static,
    ) -> Self {
        let device = OpenOptions::new().read(true).write(true).open("/dev/fuse");
        let device = Arc::new(device.expect("/dev/fuse can be opened"));
        let options = format!(
            "fd={},rootmode=40000,user_id=0,group_id=0,allow_other",
            device.as_raw_fd()
        );
        let options = std::ffi::CString::new(options).expect("no NUL");
        mount(name, &place, kind, MountFlags::empty(), options.as_c_str()).expect("mounted");
        let thread = {
            let (device, state) = (Arc::clone(&device), Arc::clone(&state));
            thread::spawn(move || serve(&device, &state, answer))
        };
        Self {
            place,
            state,
            device: Some(device),
            thread: Some(thread),
        }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.place
    }

    /// Answers nothing from now on, or everything again.
    pub fn be_silent(&self, silent: bool) {
        self.state.silent.store(silent, Ordering::SeqCst);
        self.state.changed.1.notify_all();
    }

    /// Falls silent once it has answered so many reads of files.
    pub fn be_silent_after_reads(&self, reads: u64) {
        self.state.silent_after_reads.store(reads, Ordering::SeqCst);
    }

    /// Falls silent at so many further requests of this kind. It reads the last one and does not answer it: the kernel
    /// lets nobody go who waits for that.
    pub fn be_silent_at(&self, kind: u32, requests: u64) {
        *self.state.silent_at.lock().expect("nobody panics") = Some((kind, requests));
    }

    /// Takes so long for each answer from now on, and lists one name in each.
    pub fn be_slow(&self, each: Duration) {
        let each = each.as_millis() as u64;
        self.state.slow.store(each, Ordering::SeqCst);
    }

    /// True if somebody waits for an answer.
    pub fn is_waited_for(&self) -> bool {
        let waiting = self.connection().and_then(|id| {
            std::fs::read_to_string(format!("/sys/fs/fuse/connections/{id}/waiting")).ok()
        });
        waiting.is_some_and(|number| number.trim() != "0")
    }

    /// Has the kernel ask whenever a file is closed.
    pub fn flushes(&self) {
        self.state.flushes.store(true, Ordering::SeqCst);
    }

    /// Waits until so many requests were answered.
    pub fn wait_for(&self, requests: u64) {
        let began = Instant::now();
        while self.answered() < requests {
            assert!(began.elapsed() < Duration::from_secs(120), "nobody asks");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Requests that were answered.
    pub fn answered(&self) -> u64 {
        self.state.answered.load(Ordering::SeqCst)
    }

    pub fn is_silent(&self) -> bool {
        self.state.silent.load(Ordering::SeqCst)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Whoever waits gets an error, then nobody keeps the mount.
        let id = self.connection();
        self.state.over.store(true, Ordering::SeqCst);
        self.state.changed.1.notify_all();
        if let Some(id) = id {
            let _ = crate::common::write(format!("/sys/fs/fuse/connections/{id}/abort"), "1");
        }
        let _ = unmount(&self.place, UnmountFlags::DETACH);
        self.device.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Daemon {
    /// The connection's number below `/sys/fs/fuse/connections`: the minor number of its device.
    fn connection(&self) -> Option<String> {
        let _ = std::process::Command::new("mount")
            .args(["-t", "fusectl", "none", "/sys/fs/fuse/connections"])
            .stderr(std::process::Stdio::null())
            .status();
        let table = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
        let line = table.lines().rev().find(|line| {
            let point = line.split(' ').nth(4);
            point.map(OsStr::new) == Some(self.place.as_os_str())
        })?;
        let number = line.split(' ').nth(2)?.split(':').nth(1)?;
        Some(number.to_owned())
    }
}

const ROOT: u64 = 1;

impl State {
    /// Waits for as long as the daemon is silent.
    fn wait(&self) {
        let mut held = self.changed.0.lock().expect("nobody panics");
        while self.silent.load(Ordering::SeqCst) && !self.over.load(Ordering::SeqCst) {
            let wait = Duration::from_millis(50);
            let woken = self.changed.1.wait_timeout(held, wait);
            held = woken.expect("nobody panics").0;
        }
    }

    /// Falls silent if this is the request to do so at, and waits then: this one was read. What is not read yet lets
    /// those go who wait for it and are killed.
    fn heed(&self, kind: u32) {
        let mut at = self.silent_at.lock().expect("nobody panics");
        match &mut *at {
            Some((wanted, left)) if *wanted == kind => *left -= 1,
            _ => {}
        }
        if matches!(*at, Some((_, 0))) {
            *at = None;
            drop(at);
            self.silent.store(true, Ordering::SeqCst);
            self.wait();
        }
    }
}

fn serve(
    device: &File,
    state: &State,
    mut answer: impl FnMut(&Request<'_>) -> Option<Result<Vec<u8>, i32>>,
) {
    let mut request = vec![0; 256 << 10];
    loop {
        state.wait();
        let length = match (&*device).read(&mut request) {
            Ok(length) => length,
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => continue,
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => continue,
            Err(_) => return,
        };
        let request = Request(&request[..length]);
        state.heed(request.opcode());
        if state.over.load(Ordering::SeqCst) {
            return;
        }
        let slow = state.slow.load(Ordering::SeqCst);
        thread::sleep(Duration::from_millis(slow));
        let is_flush = request.opcode() == FLUSH && state.flushes.load(Ordering::SeqCst);
        let answer = match is_flush {
            true => Some(Ok(Vec::new())),
            false => answer(&request),
        };
        let Some(answer) = answer else {
            continue;
        };
        if request.opcode() == READ {
            let reads = state.reads.fetch_add(1, Ordering::SeqCst) + 1;
            let most = state.silent_after_reads.load(Ordering::SeqCst);
            if most > 0 && reads >= most {
                state.silent.store(true, Ordering::SeqCst);
            }
        }
        let answered = state.answered.load(Ordering::SeqCst) + 1;
        reply(device, &request, answer);
        state.answered.store(answered, Ordering::SeqCst);
    }
}

/// Sends the answer to a request: what it wants, or an error number.
pub fn reply(mut device: &File, request: &Request<'_>, answer: Result<Vec<u8>, i32>) {
    let (error, body) = match answer {
        Ok(body) => (0, body),
        Err(error) => (-error, Vec::new()),
    };
    let mut reply = Vec::with_capacity(16 + body.len());
    reply.extend_from_slice(&(16 + body.len() as u32).to_ne_bytes());
    reply.extend_from_slice(&error.to_ne_bytes());
    reply.extend_from_slice(&request.long(8).to_ne_bytes());
    reply.extend_from_slice(&body);
    // Who asked may be gone.
    let _ = device.write(&reply);
}

pub const LOOKUP: u32 = 1;
pub const FORGET: u32 = 2;
pub const GETATTR: u32 = 3;
pub const OPEN: u32 = 14;
pub const READ: u32 = 15;
pub const STATFS: u32 = 17;
pub const RELEASE: u32 = 18;
pub const FLUSH: u32 = 25;
pub const INIT: u32 = 26;
pub const OPENDIR: u32 = 27;
pub const READDIR: u32 = 28;
pub const RELEASEDIR: u32 = 29;
pub const INTERRUPT: u32 = 36;
pub const BATCH_FORGET: u32 = 42;

/// Bytes of the header before each request's own.
pub const HEADER: usize = 40;

/// A request as the kernel sends it.
pub struct Request<'a>(pub &'a [u8]);

impl Request<'_> {
    pub fn number(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.0[at..at + 4].try_into().expect("four bytes"))
    }

    pub fn long(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.0[at..at + 8].try_into().expect("eight bytes"))
    }

    pub fn opcode(&self) -> u32 {
        self.number(4)
    }

    pub fn node(&self) -> u64 {
        self.long(16)
    }

    pub fn name(&self) -> &str {
        let name = &self.0[HEADER..];
        let end = name
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(name.len());
        OsStr::from_bytes(&name[..end]).to_str().unwrap_or("")
    }
}

/// The bytes of an answer, or an error number; none where the kernel waits for nothing.
fn answer(request: &Request<'_>, shows: Shows, one_name: bool) -> Option<Result<Vec<u8>, i32>> {
    let mut out = Vec::new();
    match request.opcode() {
        FORGET | BATCH_FORGET | INTERRUPT => return None,
        INIT => out = greeting(request),
        LOOKUP => match child(shows, request.node(), request.name()) {
            Some(node) => {
                // Node, generation, and how long both answers hold: a second.
                for long in [node, 0, 1, 1] {
                    out.extend_from_slice(&u64::to_ne_bytes(long));
                }
                out.extend_from_slice(&[0; 8]);
                attributes(&mut out, shows, node);
            }
            None => return Some(Err(libc::ENOENT)),
        },
        GETATTR => {
            out.extend_from_slice(&1_u64.to_ne_bytes());
            out.extend_from_slice(&[0; 8]);
            attributes(&mut out, shows, request.node());
        }
        OPEN | OPENDIR => out.resize(16, 0),
        RELEASE | RELEASEDIR => {}
        STATFS => out = room(),
        READ => {
            let (offset, size) = (request.long(HEADER + 8), request.number(HEADER + 16));
            let left = size_of(shows, request.node()).saturating_sub(offset);
            out.resize(left.min(size.into()) as usize, b'x');
        }
        READDIR => {
            let (offset, room) = (request.long(HEADER + 8), request.number(HEADER + 16));
            let room = if one_name { 40 } else { room };
            entries(&mut out, shows, request.node(), offset, room as usize);
        }
        _ => return Some(Err(libc::ENOSYS)),
    }
    Some(Ok(out))
}

/// The answer to the first request.
pub fn greeting(request: &Request<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let readahead = request.number(HEADER + 8);
    let words = [7, 31, readahead, 0, 0, 128 << 10, 1, 0];
    words.iter().for_each(|word| push(&mut out, *word));
    out.resize(64, 0);
    out
}

/// What `statfs` tells.
pub fn room() -> Vec<u8> {
    let mut out = vec![0; 80];
    out[40..44].copy_from_slice(&4096_u32.to_ne_bytes());
    out[44..48].copy_from_slice(&255_u32.to_ne_bytes());
    out
}

pub fn push(out: &mut Vec<u8>, word: u32) {
    out.extend_from_slice(&word.to_ne_bytes());
}

fn is_folder(shows: Shows, node: u64) -> bool {
    node == ROOT || matches!(shows, Shows::EndlessFolders | Shows::EndlessDepth { .. })
}

fn size_of(shows: Shows, node: u64) -> u64 {
    match shows {
        Shows::Files { size, .. } => size,
        _ => node,
    }
}

fn child(shows: Shows, node: u64, name: &str) -> Option<u64> {
    match shows {
        Shows::EndlessDepth { .. } => (name == "d").then_some(node + 1),
        _ if node != ROOT => None,
        _ => {
            let number: u64 = name.strip_prefix('n')?.parse().ok()?;
            let is_there = match shows {
                Shows::Files { count, .. } => number < count,
                _ => true,
            };
            is_there.then_some(number + 2)
        }
    }
}

fn inode(shows: Shows, node: u64) -> u64 {
    match shows {
        Shows::EndlessDepth { one_number: true } => 2,
        _ => node,
    }
}

fn attributes(out: &mut Vec<u8>, shows: Shows, node: u64) {
    let is_folder = is_folder(shows, node);
    let size = if is_folder {
        4096
    } else {
        size_of(shows, node)
    };
    // Folders with one number are not to look like the one that they lie in.
    let time = match shows {
        Shows::EndlessDepth { one_number: true } => node,
        _ => 1_000,
    };
    let long = [
        inode(shows, node),
        size,
        size.div_ceil(512),
        time,
        time,
        time,
    ];
    for long in long {
        out.extend_from_slice(&u64::to_ne_bytes(long));
    }
    let mode = if is_folder { 0o40755 } else { 0o100_644 };
    let links = if is_folder { 2 } else { 1 };
    for word in [0, 0, 0, mode, links, 0, 0, 0, 4096, 0] {
        push(out, word);
    }
}

fn entries(out: &mut Vec<u8>, shows: Shows, node: u64, offset: u64, room: usize) {
    let mut at = offset;
    loop {
        let name = match shows {
            Shows::EndlessDepth { .. } if at == 0 => "d".to_owned(),
            Shows::EndlessDepth { .. } => return,
            _ if node != ROOT => return,
            Shows::Files { count, .. } if at >= count => return,
            _ => format!("n{at}"),
        };
        let length = (24 + name.len()).next_multiple_of(8);
        if out.len() + length > room {
            return;
        }
        let child = child(shows, node, &name).unwrap_or(0);
        let end = out.len() + length;
        at += 1;
        out.extend_from_slice(&inode(shows, child).to_ne_bytes());
        out.extend_from_slice(&at.to_ne_bytes());
        push(out, name.len() as u32);
        push(out, if is_folder(shows, child) { 4 } else { 8 });
        out.extend_from_slice(name.as_bytes());
        out.resize(end, 0);
    }
}
