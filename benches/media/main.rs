//! What `--ignore-tags` costs over a search for equal files: time, and bytes read.
//! `cargo bench --bench media -- [--runs N] [--cold] FOLDER`
//!
//! ExifTool's hash of image data and czkawka's search for similar images run in turns with it on the same folder, if they
//! are in `PATH`; else it says why not. They answer other questions: ExifTool gives a hash of each file, czkawka pictures
//! that look alike. npm has newer versions of ExifTool than Debian: `exiftool-vendored.pl`.

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;

#[path = "../peers/measure.rs"]
mod measure;
#[path = "../peers/medians.rs"]
mod medians;
#[path = "../peers/order.rs"]
mod order;
#[path = "../peers/turns.rs"]
mod turns;

use medians::medians;
use turns::in_turns;

/// Measures what `--ignore-tags` costs.
#[derive(Parser)]
struct Args {
    /// A folder with pictures
    folder: PathBuf,
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

/// A search in JSON, with these options.
fn search(options: &str, cache: &Path, folder: &Path) -> Vec<OsString> {
    let program = env!("CARGO_BIN_EXE_seekless");
    let words = [
        "find",
        "-q",
        "-f",
        "json",
        "--digest",
        "when-needed",
        "--cache",
    ];
    let words = [program].into_iter().chain(words).map(OsString::from);
    let mut command: Vec<OsString> = words.chain([cache.into()]).collect();
    command.extend(options.split_whitespace().map(OsString::from));
    command.push(folder.into());
    command
}

fn words(words: &str, folder: &Path) -> Vec<OsString> {
    let words = words.split_whitespace().map(OsString::from);
    words.chain([folder.into()]).collect()
}

/// Why a program cannot be measured. Before version 12.58, ExifTool has no such hash.
fn missing(program: &OsString) -> Option<String> {
    let is_exiftool = program == "exiftool";
    let version = if is_exiftool { "-ver" } else { "--version" };
    let said = match Command::new(program).arg(version).output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        Err(error) => return Some(error.to_string()),
    };
    let has_hash = said.parse().is_ok_and(|version: f64| version >= 12.58);
    (is_exiftool && !has_hash).then(|| format!("version {said} has no ImageDataHash"))
}

/// Bytes that a search reads of files.
fn bytes_read(command: &[OsString]) -> Result<u64, Box<dyn Error>> {
    let answer = Command::new(&command[0])
        .args(&command[1..])
        .output()?
        .stdout;
    let answer: serde_json::Value = serde_json::from_slice(&answer)?;
    let stages = answer["summary"]["stages"].as_array().ok_or("no stages")?;
    let bytes = stages
        .iter()
        .filter_map(|stage| stage["bytes_read"].as_u64());
    Ok(bytes.sum())
}

fn bench(args: &Args) -> Result<(), Box<dyn Error>> {
    let caches = tempfile::tempdir()?;
    let off = Path::new("off");
    let of = |options, cache: &Path| search(options, cache, &args.folder);
    let mut rows = vec![
        ("equal files", of("", off)),
        ("--ignore-tags", of("--ignore-tags", off)),
        ("equal files, repeat", of("", &caches.path().join("equal"))),
        (
            "--ignore-tags, repeat",
            of("--ignore-tags", &caches.path().join("tags")),
        ),
        (
            "exiftool ImageDataHash",
            words(
                "exiftool -q -r -ImageDataHash -api ImageHashType=SHA256",
                &args.folder,
            ),
        ),
        (
            "czkawka image",
            words("czkawka_cli image -W -H -d", &args.folder),
        ),
    ];
    rows.retain(|(name, command)| match missing(&command[0]) {
        None => true,
        Some(why) => {
            println!("{name}: not measured: {why}");
            false
        }
    });
    let (names, commands): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let runs = in_turns(&commands, args.runs, args.cold)?;
    let base = medians(&runs[0]);
    println!("| | s | CPU s | × equal files | read of files |\n|---|--:|--:|--:|--:|");
    for ((name, command), runs) in names.iter().zip(&commands).zip(&runs) {
        let [wall, cpu] = medians(runs);
        let read = match command[0] == env!("CARGO_BIN_EXE_seekless") {
            true => format!("{} MB", bytes_read(command)? / 1_000_000),
            false => String::new(),
        };
        println!(
            "| {name} | {wall:.2} | {cpu:.2} | {:.2} | {read} |",
            wall / base[0]
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    measure::main(|| {
        bench(&Args::parse())?;
        Ok(ExitCode::SUCCESS)
    })
}
