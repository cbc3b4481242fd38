//! Makes a corpus: `cargo bench --bench corpus -- NAME DIR [--scale X] [--seed N]`.
//!
//! Beside `DIR` it writes the ground truth, `DIR.truth`. Without a name it lists the corpora.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

#[path = "mod.rs"]
mod corpus;

mod check;

/// Makes a seeded corpus of files with known duplicates.
#[derive(Parser)]
struct Args {
    /// Which corpus; lists them all if left out
    #[arg(requires = "dir")]
    name: Option<String>,
    /// The folder to make; it must not hold anything else
    dir: Option<PathBuf>,
    /// Read everything back and compare it with the ground truth
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    options: corpus::Options,
    /// Cargo says so
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("corpus: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let (Some(name), Some(dir)) = (args.name, args.dir) else {
        for corpus in corpus::CORPORA {
            println!("{:12} {}", corpus.name, corpus.summary);
        }
        return Ok(());
    };
    let start = Instant::now();
    match corpus::named(&name)?.build(&dir, &args.options)? {
        Some(corpus::Totals { files, bytes }) => {
            let megabytes = bytes / 1_000_000;
            println!(
                "{}: {files} files, {megabytes} MB in {:.1} s",
                dir.display(),
                start.elapsed().as_secs_f64()
            );
        }
        None => println!("{}: is there already", dir.display()),
    }
    if args.check {
        let files = check::check_truth(&dir)?;
        println!(
            "{}: all {files} files are as the ground truth says",
            dir.display()
        );
    }
    Ok(())
}
