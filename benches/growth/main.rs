//! How time and memory grow with the number of files, hot, and that nothing grows faster:
//! `cargo bench --bench growth -- [--dir DIR] [--small N] [--large N] [--shape NAME,…] [--keep]`.
//!
//! Makes each shape twice, small and large, in DIR (of holes and a few bytes; an inode each), runs seekless on both and
//! compares what a file costs. Fails if a file of the large one costs much more than one of the small.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

#[path = "../peers/measure.rs"]
mod measure;
#[path = "../peers/order.rs"]
mod order;
#[path = "../peers/turns.rs"]
mod turns;

use measure::Measured;

/// Measures how time and memory grow with the number of files.
#[derive(Parser)]
struct Args {
    /// Where trees are made, and deleted afterwards: on a disk with room for the inodes
    #[arg(long, default_value = concat!(env!("CARGO_TARGET_TMPDIR"), "/growth"))]
    dir: PathBuf,
    /// Files in the small trees
    #[arg(long, default_value_t = 100_000)]
    small: u64,
    /// Files in the large trees; 10000000 take 10 GB of memory for the inodes alone, to be hot
    #[arg(long, default_value_t = 1_000_000)]
    large: u64,
    /// Shapes [default: all]
    #[arg(long, value_delimiter = ',')]
    shape: Vec<String>,
    /// Runs of each, of which the fastest counts
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// How many times more CPU a file of the large tree may cost
    #[arg(long, default_value_t = 1.5)]
    allowed: f64,
    /// Leave the trees there
    #[arg(long)]
    keep: bool,
    /// What `cargo bench` hands to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// A tree of any size.
struct Shape {
    name: &'static str,
    about: &'static str,
    /// Folder, length and first bytes of file number `i` of so many.
    file: fn(u64, u64) -> (String, u64, u64),
    options: &'static str,
    /// Files for each that was asked for: a chain of folders is as long as a path may be.
    share: u64,
}

fn folder(i: u64) -> String {
    format!("{}/{}", i / 10_000, i / 100 % 100)
}

const SHAPES: [Shape; 5] = [
    Shape {
        name: "sparse",
        about: "half of the files with a size of their own",
        file: |i, _| match i % 2 {
            0 => (folder(i), (1 << 20) + i, 0),
            _ => (folder(i), 16 + i / 2 % 4000, i / 4),
        },
        options: "",
        share: 1,
    },
    Shape {
        name: "copies",
        about: "one content",
        file: |i, _| (folder(i), 100, 7),
        options: "",
        share: 1,
    },
    Shape {
        name: "flat",
        about: "one folder, pairs",
        file: |i, n| (String::new(), 10, i % n.div_ceil(2)),
        options: "",
        share: 1,
    },
    Shape {
        name: "empty",
        about: "empty files, with --empty",
        file: |i, _| (folder(i), 0, 0),
        options: "--empty",
        share: 1,
    },
    Shape {
        name: "deep",
        about: "each folder in the one before, with a file",
        file: |_, _| (String::new(), 10, 7),
        // Nothing is printed: paths as long as these would be most of it.
        options: "--unique",
        share: 100,
    },
];

fn main() -> ExitCode {
    measure::main(|| grow(&Args::parse()))
}

fn grow(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    let mut good = true;
    println!(
        "| shape | files | wall, µs a file | CPU, µs a file | peak memory, bytes a file | CPU × the small one's |\n\
         |---|--:|--:|--:|--:|--:|"
    );
    for shape in &SHAPES {
        if !args.shape.is_empty() && !args.shape.iter().any(|name| name == shape.name) {
            continue;
        }
        let mut small = None;
        for asked in [args.small, args.large] {
            let files = (asked / shape.share).max(1);
            let tree = args.dir.join(format!("{}-{files}", shape.name));
            make(shape, &tree, files)?;
            let fastest = fastest(args, shape, &tree)?;
            let each = |time: Duration| time.as_secs_f64() * 1e6 / files as f64;
            let (wall, cpu) = (each(fastest.wall), each(fastest.cpu));
            let times = cpu / *small.get_or_insert(cpu);
            let memory = fastest.peak_rss / files;
            let note = if times > args.allowed {
                " TOO MUCH"
            } else {
                ""
            };
            good &= times <= args.allowed;
            println!(
                "| {} ({}) | {files} | {wall:.2} | {cpu:.2} | {memory} | {times:.2}{note} |",
                shape.name, shape.about
            );
            if !args.keep {
                remove(&tree)?;
            }
        }
    }
    Ok(match good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn fastest(args: &Args, shape: &Shape, tree: &Path) -> Result<Measured, Box<dyn Error>> {
    let mut command: Vec<OsString> = vec![env!("CARGO_BIN_EXE_seekless").into()];
    command.extend("find -q --cache off -f nul".split(' ').map(OsString::from));
    command.extend(shape.options.split_whitespace().map(OsString::from));
    command.push(tree.into());
    let runs = turns::in_turns(&[command], args.runs, false)?;
    let fastest = runs.into_iter().flatten().min_by_key(|run| run.cpu);
    fastest.ok_or_else(|| "--runs 0 measures nothing".into())
}

/// Makes a tree unless it is there. Folders are entered one after the other, since a path may be longer than the
/// kernel takes at once.
fn make(shape: &Shape, tree: &Path, files: u64) -> io::Result<()> {
    let done = tree.with_extension("done");
    if done.exists() {
        return Ok(());
    }
    remove(tree)?;
    fs::create_dir_all(tree)?;
    let mut last = String::new();
    let deep = shape.name == "deep";
    let home = env::current_dir()?;
    for i in 0..files {
        let (folder, length, first) = (shape.file)(i, files);
        if i == 0 && deep {
            env::set_current_dir(tree)?;
        }
        if folder != last {
            fs::create_dir_all(tree.join(&folder))?;
        }
        let path = match deep {
            true => PathBuf::from("file"),
            false => tree.join(&folder).join(format!("{i:08}")),
        };
        let file = File::create(path)?;
        if length > 0 {
            file.set_len(length)?;
            file.write_all_at(&first.to_le_bytes(), 0)?;
        }
        if deep {
            fs::create_dir("d")?;
            env::set_current_dir("d")?;
        }
        last = folder;
    }
    env::set_current_dir(home)?;
    File::create(done)?;
    Ok(())
}

fn remove(tree: &Path) -> io::Result<()> {
    let done = tree.with_extension("done");
    for result in [fs::remove_dir_all(tree), fs::remove_file(done)] {
        match result {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
