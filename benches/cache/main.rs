//! What a search with `--cache` costs: the first run, a repeat, and a run after one file in a hundred has changed.
//! `cargo bench --bench cache -- [--files N] [--runs N] [--cold] DIR`
//!
//! It makes its files below DIR, which has to be on a file system of which seekless keeps rows, and removes them.
//! fclones (`--cache`) and rmlint (`--xattr`) are measured too, each on files of its own, if they are installed.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use clap::Parser;

#[path = "../peers/measure.rs"]
mod measure;
#[path = "../peers/medians.rs"]
mod medians;
#[path = "../peers/order.rs"]
mod order;

use measure::{Ending, Measured};
use medians::medians;

/// Measures what a search with a cache costs.
#[derive(Parser)]
struct Args {
    /// Where the files are made
    dir: PathBuf,
    /// Files
    #[arg(long, default_value_t = 100_000)]
    files: u64,
    /// Runs of each, in turns
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Drop the page cache before each run (root only)
    #[arg(long)]
    cold: bool,
    /// What `cargo bench` hands to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// A read counts from then on.
const SETTLED: Duration = Duration::from_secs(61);

/// Longer than any run that is worth waiting for.
const LIMIT: Duration = Duration::from_secs(3600);

/// One file in so many changes.
const ONE_CHANGED: u64 = 100;

/// What is done right before each run.
enum Before {
    Nothing,
    /// The cache is removed.
    Forget(PathBuf),
    /// Some files below this folder get other bytes.
    Change(PathBuf),
}

struct Row {
    name: &'static str,
    before: Before,
    command: Vec<OsString>,
    runs: Vec<Measured>,
}

fn main() -> ExitCode {
    measure::main(|| {
        bench(&Args::parse())?;
        Ok(ExitCode::SUCCESS)
    })
}

fn bench(args: &Args) -> Result<(), Box<dyn Error>> {
    let mut place = tempfile::Builder::new();
    let place = place.prefix("seekless-bench-").tempdir_in(&args.dir)?;
    let mut rows = rows(place.path());
    for tree in ["tree", "changed", "fclones", "rmlint"] {
        let tree = place.path().join(tree).into_os_string();
        if rows.iter().any(|row| row.command.contains(&tree)) {
            (0..args.files)
                .try_for_each(|nth| write(tree.as_ref(), nth, nth % (args.files * 2 / 3)))?;
        }
    }
    rustix::fs::sync();
    thread::sleep(SETTLED);
    let out = place.path().join("out");
    for round in 0..=args.runs {
        for turn in order::order(rows.len(), round) {
            let row = &mut rows[turn];
            match &row.before {
                Before::Nothing => {}
                Before::Forget(cache) if cache.exists() => fs::remove_dir_all(cache)?,
                Before::Forget(_) => {}
                Before::Change(tree) => {
                    let mut changed = (0..args.files).step_by(ONE_CHANGED as usize);
                    let first = args.files * (round as u64 + 1);
                    changed.try_for_each(|nth| write(tree, nth, first + nth))?;
                }
            }
            if args.cold {
                rustix::fs::sync();
                fs::write("/proc/sys/vm/drop_caches", "3")?;
            }
            let run = measure::measure(&row.command, &out, LIMIT, None)?;
            if run.ending != Ending::Exit(0) {
                let said = fs::read_to_string(out.with_extension("stderr")).unwrap_or_default();
                return Err(format!("{}: {:?}: {said}", row.name, run.ending).into());
            }
            // The first round fills the caches.
            if round > 0 {
                row.runs.push(run);
            }
        }
    }
    let kept = fs::read_dir(place.path().join("cache"))?.count();
    if kept == 0 {
        return Err(format!("{}: nothing is kept of files there", args.dir.display()).into());
    }
    let heat = if args.cold { "cold" } else { "hot" };
    println!(
        "{} files, {heat}, medians of {} runs; x: times the scan\n",
        args.files, args.runs
    );
    println!("| what | wall, ms | x | CPU, ms | x |\n|---|--:|--:|--:|--:|");
    let [wall_of_scan, cpu_of_scan] = medians(&rows[0].runs);
    for row in &rows {
        let [wall, cpu] = medians(&row.runs);
        println!(
            "| {} | {:.0} | {:.2} | {:.0} | {:.2} |",
            row.name,
            wall * 1e3,
            wall / wall_of_scan,
            cpu * 1e3,
            cpu / cpu_of_scan
        );
    }
    Ok(())
}

/// The scan first: all others are compared with it.
fn rows(place: &Path) -> Vec<Row> {
    let path = |name: &str| place.join(name).into_os_string();
    let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
    let seekless = |options: &[&str], tree: &OsString| {
        let mut command = vec![OsString::from(env!("CARGO_BIN_EXE_seekless"))];
        command.extend(words("find -q -f fdupes"));
        command.extend(options.iter().map(OsString::from));
        command.push(tree.clone());
        command
    };
    let row = |name, before, command| Row {
        name,
        before,
        command,
        runs: Vec::new(),
    };
    let cached = |cache: &str, tree: &OsString| {
        let cache = place.join(cache).display().to_string();
        seekless(&["--cache", &cache], tree)
    };
    let (tree, changed) = (path("tree"), path("changed"));
    let forget = Before::Forget(place.join("cache of first runs"));
    let change = Before::Change(place.join("changed"));
    let mut rows = vec![
        row(
            "scan: `--min-size 1T`",
            Before::Nothing,
            seekless(&["--cache=off", "--min-size", "1T"], &tree),
        ),
        row(
            "without a cache",
            Before::Nothing,
            seekless(&["--cache=off"], &tree),
        ),
        row("first run", forget, cached("cache of first runs", &tree)),
        row("repeat", Before::Nothing, cached("cache", &tree)),
        row(
            "repeat, 1 % changed",
            change,
            cached("cache of changed", &changed),
        ),
    ];
    let is_installed = |program: &str| {
        let mut version = Command::new(program);
        let version = version.arg("--version").stdout(Stdio::null());
        version.stderr(Stdio::null()).status().is_ok()
    };
    if is_installed("fclones") {
        let mut command = words("env");
        let mut cache = OsString::from("XDG_CACHE_HOME=");
        cache.push(path("cache of fclones"));
        command.push(cache);
        command.extend(words("fclones group --cache"));
        command.push(path("fclones"));
        rows.push(row("fclones --cache, repeat", Before::Nothing, command));
    }
    if is_installed("rmlint") {
        let mut command = words("rmlint --xattr -T duplicates -o fdupes:stdout");
        command.push(path("rmlint"));
        rows.push(row("rmlint --xattr, repeat", Before::Nothing, command));
    }
    rows
}

/// Writes the file with this number below a folder: 100 to 8000 bytes, which the number of its content decides.
fn write(tree: &Path, nth: u64, content: u64) -> io::Result<()> {
    let folder = tree.join(format!("{}", nth / 300));
    if nth.is_multiple_of(300) {
        fs::create_dir_all(&folder)?;
    }
    let mut bytes = vec![0; 100 + (content.wrapping_mul(0x9e37_79b9) % 7900) as usize];
    let mut hasher = blake3::Hasher::new();
    hasher.update(&content.to_le_bytes());
    hasher.finalize_xof().fill(&mut bytes);
    fs::write(folder.join(nth.to_string()), bytes)
}
