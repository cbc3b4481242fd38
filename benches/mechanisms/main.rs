//! What each mechanism contributes: seekless with all of them, and without one at a time, in turns.
//! `cargo bench --features mechanisms --bench mechanisms -- [--cold] [--runs N] [--options OPTIONS] DIR`
//!
//! With this feature, the program also has the option `--without`.

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use seekless::engine::MECHANISMS;

#[path = "../peers/measure.rs"]
mod measure;
#[path = "../peers/order.rs"]
mod order;
#[path = "../peers/turns.rs"]
mod turns;

use measure::Measured;

/// The name of a mechanism that is left out, if any, and the effect of that.
type Way = (Option<&'static str>, &'static str);

/// Measures what each mechanism contributes.
#[derive(Parser)]
struct Args {
    /// What is searched
    dir: PathBuf,
    /// Drop the page cache before each run (root only)
    #[arg(long)]
    cold: bool,
    /// Runs of each, in turns
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Further options, in one word
    #[arg(long, default_value = "-f fdupes")]
    options: String,
    /// What `cargo bench` hands to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    measure::main(|| compare(&Args::parse()).map(|()| ExitCode::SUCCESS))
}

fn compare(args: &Args) -> Result<(), Box<dyn Error>> {
    let without = MECHANISMS.map(|(_, name)| (Some(name), name));
    let ways: Vec<Way> = [(None, "(nothing)")].into_iter().chain(without).collect();
    let commands: Vec<_> = ways.iter().map(|(name, _)| command(args, *name)).collect();
    let runs = turns::in_turns(&commands, args.runs, args.cold)?;
    print(args, &ways, &runs);
    Ok(())
}

fn command(args: &Args, without: Option<&str>) -> Vec<OsString> {
    let mut command: Vec<OsString> = vec![env!("CARGO_BIN_EXE_seekless").into()];
    command.extend(["find", "-q", "--cache=off"].map(OsString::from));
    command.extend(args.options.split_whitespace().map(OsString::from));
    if let Some(mechanism) = without {
        command.extend(["--without", mechanism].map(OsString::from));
    }
    command.push(args.dir.clone().into());
    command
}

fn print(args: &Args, ways: &[Way], runs: &[Vec<Measured>]) {
    let cache = if args.cold { "cold" } else { "hot" };
    println!(
        "{}, {cache}, `{}`, medians of {} in turns\n\n\
         | without | wall, s | × all | CPU, s | × all | from disk, MB |\n\
         |---|--:|--:|--:|--:|--:|",
        args.dir.display(),
        args.options,
        args.runs
    );
    let all = runs
        .first()
        .map(|runs| (median(runs, wall), median(runs, cpu)));
    let (all_wall, all_cpu) = all.unwrap_or((1.0, 1.0));
    for ((_, name), runs) in ways.iter().zip(runs) {
        let (wall, cpu) = (median(runs, wall), median(runs, cpu));
        let disk = median(runs, |run| run.disk_read.unwrap_or(0) as f64 / 1e6);
        println!(
            "| {name} | {wall:.3} | {:.2} | {cpu:.3} | {:.2} | {disk:.0} |",
            wall / all_wall,
            cpu / all_cpu
        );
    }
}

fn wall(run: &Measured) -> f64 {
    run.wall.as_secs_f64()
}

fn cpu(run: &Measured) -> f64 {
    run.cpu.as_secs_f64()
}

fn median(runs: &[Measured], of: impl Fn(&Measured) -> f64) -> f64 {
    let mut all: Vec<f64> = runs.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}
