//! What the kernel and BLAKE3 alone take for small files: the least that any duplicate finder can take.
//! `cargo bench --bench floor -- [--threads N] [--runs N] [--cold] DIR`
//!
//! Three loops without tables, without order and without an answer: list folders and ask for metadata; then also
//! open, read and close each file; then also ask what was read what it is, and hash it. Files are read to their ends,
//! as seekless reads small ones. seekless itself is run in the same turns.

use std::env;
use std::error::Error;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use clap::Parser;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, StatxFlags, openat, statx};

#[path = "../peers/measure.rs"]
mod measure;
#[path = "../peers/order.rs"]
mod order;
#[path = "../peers/turns.rs"]
mod turns;

use measure::Measured;

/// Measures what the system alone takes.
#[derive(Parser)]
struct Args {
    /// What is read
    dir: PathBuf,
    /// Threads
    #[arg(long, default_value_t = thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
    /// Runs of each, in turns
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Drop the page cache before each run (root only)
    #[arg(long)]
    cold: bool,
    /// Do one of the loops, here
    #[arg(long, hide = true)]
    only: Option<usize>,
    /// What `cargo bench` hands to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// What the loops do, each what the one before does and more.
const LOOPS: [&str; 3] = [
    "list and ask for metadata",
    "and open, read, close",
    "and ask again, and hash",
];

/// Bytes read at a time: seekless reads no longer files whole at once.
const READ: usize = 128 << 10;

fn main() -> ExitCode {
    measure::main(|| {
        let args = Args::parse();
        match args.only {
            Some(which) => drop(list(&args, which)?),
            None => compare(&args)?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn compare(args: &Args) -> Result<(), Box<dyn Error>> {
    let dir: OsString = args.dir.clone().into();
    let own = env::current_exe()?;
    let mut commands: Vec<Vec<OsString>> = Vec::new();
    for which in 0..LOOPS.len() {
        let (which, threads) = (which.to_string(), args.threads.to_string());
        let options = ["--only", &which, "--threads", &threads].map(OsString::from);
        let command = [own.clone().into()].into_iter().chain(options);
        commands.push(command.chain([dir.clone()]).collect());
    }
    let seekless: OsString = env!("CARGO_BIN_EXE_seekless").into();
    let options = ["find", "-q", "--cache=off", "-f", "fdupes"].map(OsString::from);
    let command = [seekless].into_iter().chain(options);
    commands.push(command.chain([dir]).collect());

    let runs = turns::in_turns(&commands, args.runs, args.cold)?;
    let files = list(args, 0)?;
    println!(
        "{files} files, {} threads, medians of {} runs\n",
        args.threads, args.runs
    );
    println!("| what | wall, µs a file | CPU, µs a file |\n|---|--:|--:|");
    for (name, runs) in LOOPS.iter().chain([&"seekless find"]).zip(&runs) {
        let each = |of: fn(&Measured) -> Duration| {
            let mut all: Vec<Duration> = runs.iter().map(of).collect();
            all.sort();
            all[all.len() / 2].as_secs_f64() / files.max(1) as f64 * 1e6
        };
        println!(
            "| {name} | {:.2} | {:.2} |",
            each(|m| m.wall),
            each(|m| m.cpu)
        );
    }
    Ok(())
}

/// Does one of the loops; returns how many files there are.
fn list(args: &Args, which: usize) -> io::Result<usize> {
    let work = Work {
        which,
        folders: Mutex::new(vec![args.dir.clone()]),
        busy: AtomicUsize::new(0),
        files: AtomicUsize::new(0),
    };
    let ends: Vec<io::Result<()>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..args.threads)
            .map(|_| scope.spawn(|| work.run()))
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(io::Error::other("panic")))
            })
            .collect()
    });
    ends.into_iter().collect::<io::Result<()>>()?;
    Ok(work.files.into_inner())
}

/// Folders that are still to be listed, and who may find more of them.
struct Work {
    which: usize,
    folders: Mutex<Vec<PathBuf>>,
    busy: AtomicUsize,
    files: AtomicUsize,
}

impl Work {
    fn run(&self) -> io::Result<()> {
        let mut listing = vec![MaybeUninit::uninit(); 64 << 10];
        let mut buffer = vec![0; READ];
        loop {
            let folder = {
                let mut folders = self.lock();
                let folder = folders.pop();
                if folder.is_some() {
                    self.busy.fetch_add(1, Ordering::SeqCst);
                }
                folder
            };
            match folder {
                Some(folder) => {
                    let done = self.folder(&folder, &mut listing, &mut buffer);
                    self.busy.fetch_sub(1, Ordering::SeqCst);
                    done?;
                }
                None if self.busy.load(Ordering::SeqCst) == 0 => return Ok(()),
                None => thread::sleep(Duration::from_micros(50)),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn folder(
        &self,
        path: &Path,
        listing: &mut [MaybeUninit<u8>],
        buffer: &mut [u8],
    ) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = openat(CWD, path, flags, Mode::empty())?;
        let mut names: Vec<(u64, CString)> = Vec::new();
        let mut entries = RawDir::new(dir.as_fd(), listing);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            match (entry.file_name().to_bytes(), entry.file_type()) {
                (b"." | b"..", _) => {}
                (name, FileType::Directory) => {
                    let child = path.join(OsStr::from_bytes(name));
                    self.lock().push(child);
                }
                (_, FileType::RegularFile) => {
                    names.push((entry.ino(), entry.file_name().to_owned()));
                }
                _ => {}
            }
        }
        names.sort_unstable_by_key(|&(ino, _)| ino);
        for (_, name) in &names {
            let wanted = StatxFlags::BASIC_STATS;
            let found = statx(&dir, name, AtFlags::SYMLINK_NOFOLLOW, wanted)?;
            if self.which > 0 {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = openat(&dir, name, flags, Mode::empty())?;
                let mut longer = (found.stx_size > READ as u64).then(blake3::Hasher::new);
                let mut offset = 0;
                while offset < found.stx_size {
                    let len = (found.stx_size - offset).min(READ as u64) as usize;
                    let read = rustix::io::pread(&file, &mut buffer[..len], offset)?;
                    if read == 0 {
                        break;
                    }
                    offset += read as u64;
                    match (&mut longer, self.which > 1) {
                        (Some(hasher), true) => {
                            hasher.update(&buffer[..read]);
                        }
                        (None, true) => {
                            std::hint::black_box(blake3::hash(&buffer[..read]));
                        }
                        _ => {}
                    }
                }
                if self.which > 1 {
                    statx(&file, c"", AtFlags::EMPTY_PATH, wanted)?;
                    std::hint::black_box(longer.map(|hasher| hasher.finalize()));
                }
            }
        }
        self.files.fetch_add(names.len(), Ordering::Relaxed);
        Ok(())
    }
}
