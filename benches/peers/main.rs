//! Compares seekless with its peers: `cargo bench --bench peers -- [--corpus NAME,…] [--tools NAME,…] [--hot]
//! [--cold]`.
//!
//! Installs the peers that are missing, makes the corpora that are missing, runs all tools in turns, checks every
//! answer against the ground truth, and prints medians. `--memory` measures how memory and time grow with the number of
//! files.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

#[path = "../corpus/mod.rs"]
mod corpus;

mod cache;
mod install;
mod machine;
mod measure;
mod memory;
mod order;
mod page;
mod rounds;
mod table;
mod tools;
mod truth;

use cache::Cache;
use install::Installed;
use machine::Machine;
use rounds::Rounds;
use tools::{Origin, TOOLS};
use truth::Truth;

/// As many times the base's time are a loss.
const SLOWER: f64 = 1.03;

/// From then on rows are kept of a file.
const SETTLED: Duration = Duration::from_secs(61);

/// Compares seekless with other duplicate finders.
#[derive(Parser)]
struct Args {
    /// Corpora to run on [default: all but `names` and `sparse`]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    corpus: Vec<String>,
    /// Tools to run [default: all that are installed or quick to install]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    tools: Vec<String>,
    /// Runs of each tool on each corpus
    #[arg(long, default_value_t = 5, value_name = "N")]
    runs: usize,
    /// Only with the cache warmed before each run
    #[arg(long)]
    hot: bool,
    /// Only with the cache dropped before each run
    #[arg(long)]
    cold: bool,
    /// Where the corpora are [default: a folder in cargo's target folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Longest time of one run in seconds
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    timeout: u64,
    /// Page to write the tables into, between its markers
    #[arg(long, value_name = "PAGE")]
    write: Option<PathBuf>,
    /// Measure memory and time at these numbers of files instead
    #[arg(long, value_delimiter = ',', value_name = "N", num_args = 0.., default_missing_value = "1000000")]
    memory: Vec<u64>,
    /// A release of seekless to compare with, in the same turns: fails if a row takes 3 % longer than it
    #[arg(long, value_name = "FILE")]
    base: Option<PathBuf>,
    /// Another binary of seekless than the one that was just built
    #[arg(long, value_name = "FILE", default_value = env!("CARGO_BIN_EXE_seekless"))]
    seekless: PathBuf,
    #[command(flatten)]
    options: corpus::Options,
    /// Cargo says so; without it nothing is run
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    measure::main(|| compare(&Args::parse()))
}

fn compare(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    if !args.bench {
        println!("peers: run me by `cargo bench --bench peers`");
        return Ok(ExitCode::SUCCESS);
    }
    let dir = args
        .dir
        .clone()
        .unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpora"));
    fs::create_dir_all(&dir)?;
    let dir = fs::canonicalize(dir)?;
    let machine = Machine::look(&dir)?;
    let rotational = machine
        .rotational_flag()
        .filter(|_| rustix::process::geteuid().is_root());
    let mut tools = tools(args)?;
    tools.retain(|installed| !installed.tool.told_ssd || rotational.is_some());
    if let Some(base) = &args.base {
        let ours = tools.iter().filter(|tool| tool.tool.origin == Origin::Here);
        let bases: Vec<_> = ours.map(|tool| tool.base(base)).collect();
        tools.extend(bases);
    }
    let scratch = tempfile::tempdir()?;
    let limit = Duration::from_secs(args.timeout);
    let rounds = Rounds {
        tools: &tools,
        runs: args.runs,
        limit,
        scratch: scratch.path(),
        rotational,
    };
    let mut text = heading(args, &machine, &rounds);
    println!("{text}");
    let mut slower = Vec::new();
    if args.memory.is_empty() {
        print!("{}", table::HEAD);
        text += table::PAGE_HEAD;
        for name in corpora(args) {
            text += &on_corpus(args, &rounds, &dir, name, &mut slower)?;
        }
    } else {
        let table = memory::growth(&rounds, &dir, &args.memory, &args.options)?;
        println!("{table}");
        text += &table;
    }
    if let Some(page) = &args.write {
        page::write(page, &text)?;
    }
    for row in &slower {
        eprintln!("slower than the base: {row}");
    }
    if slower.is_empty() {
        Ok(ExitCode::SUCCESS)
    } else {
        Ok(ExitCode::FAILURE)
    }
}

/// No row is kept of a file that changed a moment ago, so a repeated run would not be one.
fn settle(dir: &Path) -> Result<(), Box<dyn Error>> {
    let truth = corpus::truth::path_for(dir);
    let made = fs::metadata(truth)?
        .modified()?
        .elapsed()
        .unwrap_or_default();
    std::thread::sleep(SETTLED.saturating_sub(made));
    Ok(())
}

/// Finds or installs the tools that were asked for, and names those that are left out.
fn tools(args: &Args) -> Result<Vec<Installed>, String> {
    if let Some(unknown) = args
        .tools
        .iter()
        .find(|name| TOOLS.iter().all(|tool| tool.name != **name))
    {
        let names: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
        return Err(format!(
            "no tool is named {unknown:?}; there are {}",
            names.join(", ")
        ));
    }
    let mut installed = Vec::new();
    for tool in TOOLS {
        let asked = args.tools.iter().any(|name| name == tool.name);
        if !args.tools.is_empty() && !asked {
            continue;
        }
        match install::ensure(tool, &args.seekless, asked) {
            Ok(tool) => installed.push(tool),
            Err(reason) => eprintln!("{} is left out: {reason}", tool.name),
        }
    }
    Ok(installed)
}

fn corpora(args: &Args) -> Vec<&str> {
    if args.corpus.is_empty() {
        let names = corpus::CORPORA.iter().map(|corpus| corpus.name);
        names
            .filter(|name| !["names", "sparse"].contains(name))
            .collect()
    } else {
        args.corpus.iter().map(String::as_str).collect()
    }
}

/// Prints the rows of one corpus; returns those for the page. Names the rows that are slower than the base.
fn on_corpus(
    args: &Args,
    rounds: &Rounds,
    dir: &Path,
    name: &str,
    slower: &mut Vec<String>,
) -> Result<String, Box<dyn Error>> {
    let corpus = corpus::named(name)?;
    let scale = if args.options.scale == 1.0 {
        String::new()
    } else {
        format!("@{}", args.options.scale)
    };
    let dir = dir.join(format!("{name}{scale}"));
    eprintln!("{}: {}", dir.display(), corpus.summary);
    corpus.build(&dir, &args.options)?;
    settle(&dir)?;
    let truth = Truth::read(&dir)?;
    let (mut hot, mut cold) = (Vec::new(), Vec::new());
    for cache in [Cache::Hot, Cache::Cold] {
        let asked = if cache == Cache::Hot {
            args.hot
        } else {
            args.cold
        };
        if !asked && (args.hot || args.cold) {
            continue;
        }
        if let Err(reason) = cache.check(&dir) {
            eprintln!("{name}, {}, is left out: {reason}", cache.name());
            continue;
        }
        let series = rounds.run(&dir, cache, &truth)?;
        print!("{}", table::rows(name, cache.name(), &series, rounds.limit));
        let of = |tool: &str| series.iter().find(|series| series.tool == tool);
        for ours in series.iter().filter(|series| series.ours) {
            let base = of(&format!("{} (base)", ours.tool));
            let Some(ratio) = base.and_then(|base| table::ratio(ours, base)) else {
                continue;
            };
            let row = format!("{name}, {}, {}: {ratio:.2}", cache.name(), ours.tool);
            println!("times the base: {row}");
            if ratio > SLOWER {
                slower.push(row);
            }
        }
        if cache == Cache::Hot {
            hot = series
        } else {
            cold = series
        }
    }
    Ok(table::page_rows(name, &hot, &cold, rounds.limit))
}

/// What a reader needs to know before the tables.
fn heading(args: &Args, machine: &Machine, rounds: &Rounds) -> String {
    let corpus::Options { scale, seed, .. } = args.options;
    let runs = args.runs;
    let mut text = format!(
        "Measured on {machine}. Medians of {runs} runs, all tools in turns; corpora at scale {scale} with seed {seed}.\n\
         *Hot*: right before each run every file whose size occurs twice was read. *Cold*: right before each run the page\n\
         cache was dropped (`sync; echo 3 > /proc/sys/vm/drop_caches`), then the tool was started once for its version.\n\
         In parentheses: times that of seekless. A time stands only where every answer was right.\n\
         *Peak memory* is that of the largest process, the larger of hot and cold.\n\n\
         | tool | version | command |\n|---|---|---|\n"
    );
    for Installed {
        tool,
        name,
        version,
        ..
    } in rounds.tools
    {
        let note = if tool.told_ssd {
            ", told that the disk does not spin"
        } else {
            ""
        };
        text += &format!(
            "| {} | {version} | `{} {} DIR`{note} |\n",
            name, tool.program, tool.options
        );
    }
    if rounds.tools.iter().any(|installed| installed.tool.told_ssd) {
        text += "\n*Told that the disk does not spin*: run in a mount namespace of its own, where a file with a zero is bound over the\n\
                 disk's `queue/rotational`, which says 1 here.\n";
    }
    text + "\n"
}
