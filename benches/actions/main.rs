//! What actions cost on settled pairs of small files, beside jdupes followed by one `sync -f`:
//! `cargo bench --bench actions -- [--pairs N] [--runs N] [--load] DIR`
//!
//! Every run has a tree of its own below DIR, made before the round. `--load` writes 100 MB/s beside it (needs fio).

use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
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

/// Measures what actions cost.
#[derive(Parser)]
struct Args {
    /// Where the files are made
    dir: PathBuf,
    /// Pairs of files of 5 kB
    #[arg(long, default_value_t = 10_000)]
    pairs: u64,
    /// Runs of each, in turns
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Write 100 MB/s beside them
    #[arg(long)]
    load: bool,
    /// What `cargo bench` hands to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// What the clock of the file system no longer takes for just changed.
const SETTLED: Duration = Duration::from_secs(61);

/// Longer than any run that is worth waiting for.
const LIMIT: Duration = Duration::from_secs(3600);

/// The names and the shell's lines of what is compared; `$S` is seekless, `$T` the tree. `jdupes` keeps the first
/// names.
const ROWS: [(&str, &str); 6] = [
    (
        "jdupes -dN, sync",
        "jdupes -q -r -d -N $T >/dev/null && sync -f $T",
    ),
    (
        "jdupes -L, sync",
        "jdupes -q -r -L $T >/dev/null && sync -f $T",
    ),
    ("remove", "$S remove -q --yes $T"),
    ("remove --trash", "$S remove -q --yes --trash $T"),
    ("move", "$S move -q --yes --to $T.out $T"),
    ("hardlink", "$S hardlink -q --yes $T"),
];

fn main() -> ExitCode {
    measure::main(|| {
        bench(&Args::parse())?;
        Ok(ExitCode::SUCCESS)
    })
}

fn bench(args: &Args) -> Result<(), Box<dyn Error>> {
    let mut place = tempfile::Builder::new();
    let place = place.prefix("seekless-bench-").tempdir_in(&args.dir)?;
    let mut runs: [Vec<Measured>; ROWS.len()] = Default::default();
    let load = args.load.then(|| load(place.path())).transpose()?;
    for round in 1..=args.runs {
        let tree = |turn: usize| place.path().join(format!("{round}-{turn}"));
        (0..ROWS.len()).try_for_each(|turn| pairs(&tree(turn), args.pairs))?;
        rustix::fs::sync();
        thread::sleep(SETTLED);
        for turn in order::order(ROWS.len(), round) {
            let run = run(ROWS[turn].1, &tree(turn), place.path())?;
            if run.ending != Ending::Exit(0) {
                let said = fs::read_to_string(place.path().join("out.stderr")).unwrap_or_default();
                return Err(format!("{}: {:?}: {said}", ROWS[turn].0, run.ending).into());
            }
            runs[turn].push(run);
        }
    }
    if let Some(mut load) = load {
        load.kill()?;
        load.wait()?;
    }
    let beside = if args.load {
        ", beside a writer of 100 MB/s"
    } else {
        ""
    };
    println!(
        "{} pairs{beside}, medians of {} runs\n",
        args.pairs, args.runs
    );
    println!("| what | wall, s | × jdupes -dN | CPU, s |\n|---|--:|--:|--:|");
    let [base, _] = medians(&runs[0]);
    for ((name, _), runs) in ROWS.iter().zip(&runs) {
        let [wall, cpu] = medians(runs);
        println!("| {name} | {wall:.2} | {:.2} | {cpu:.2} |", wall / base);
    }
    Ok(())
}

/// Runs one of the lines on a tree, with a home of its own for journal, trash and cache.
fn run(line: &str, tree: &Path, place: &Path) -> io::Result<Measured> {
    let home = tree.with_extension("home");
    fs::create_dir_all(&home)?;
    let assign = |name: &str, value: &Path| {
        let mut word = OsString::from(format!("{name}="));
        word.push(value);
        word
    };
    let program = Path::new(env!("CARGO_BIN_EXE_seekless"));
    let mut command: Vec<OsString> = vec!["env".into()];
    command.extend([
        assign("HOME", &home),
        assign("XDG_DATA_HOME", &home.join("data")),
        assign("XDG_STATE_HOME", &home.join("state")),
        assign("XDG_CACHE_HOME", &home.join("cache")),
        assign("XDG_CONFIG_HOME", &home.join("config")),
        assign("S", program),
        assign("T", tree),
    ]);
    command.extend(["sh", "-c", line].map(OsString::from));
    measure::measure(&command, &place.join("out"), LIMIT, None)
}

/// Makes pairs of equal files in folders of 100.
fn pairs(tree: &Path, count: u64) -> io::Result<()> {
    for pair in 0..count {
        let mut bytes = [0; 5000];
        let mut hasher = blake3::Hasher::new();
        hasher.update(&pair.to_le_bytes());
        hasher.finalize_xof().fill(&mut bytes);
        for copy in ["a", "b"] {
            let folder = tree.join(copy).join((pair / 100).to_string());
            fs::create_dir_all(&folder)?;
            File::create(folder.join(pair.to_string()))?.write_all(&bytes)?;
        }
    }
    Ok(())
}

/// Starts what writes beside the runs.
fn load(place: &Path) -> io::Result<Child> {
    let line = "--name=load --rw=write --bs=1M --size=2G --rate=100m --time_based --runtime=1h --ioengine=psync";
    let mut command = Command::new("fio");
    command.args(line.split(' ')).current_dir(place);
    command.stdout(Stdio::null()).spawn()
}
