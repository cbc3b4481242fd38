//! Finds duplicates: `cargo run --example find -- PATH...`

use std::env;
use std::process::ExitCode;

fn main() -> Result<ExitCode, seekless::Error> {
    let paths: Vec<_> = env::args_os().skip(1).collect();
    let found = seekless::Search::new(paths).run()?;
    for set in &found.sets {
        println!("{} × {} bytes", set.files.len(), set.size);
        for file in &set.files {
            println!("  {}", file.path().display());
        }
    }
    println!("{} bytes would be freed", found.summary.reclaimable);
    // What could not be read is no error: everything else was searched.
    for problem in &found.problems {
        eprintln!("{}: {problem}", problem.path.display());
    }
    Ok(if found.problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
