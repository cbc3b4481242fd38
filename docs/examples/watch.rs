//! Watches a search and ends it after a number of seconds: `cargo run --example watch -- SECONDS PATH...`

use std::error::Error;
use std::time::Duration;
use std::{env, process, thread};

use seekless::{Cancel, Search};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let Some(seconds) = words.next() else {
        eprintln!("usage: watch SECONDS PATH...");
        process::exit(2);
    };
    let limit = Duration::from_secs_f64(seconds.parse()?);

    // Any thread may cancel; a program with a window does so when its button is pressed.
    let cancel = Cancel::new();
    let clock = cancel.clone();
    thread::spawn(move || {
        thread::sleep(limit);
        clock.cancel();
    });

    let summary = Search::new(words)
        .cancel(&cancel)
        .on_progress(|stages| {
            for at in stages {
                let of = if at.total_is_final { "" } else { "at least " };
                eprintln!(
                    "{} {}: {} of {of}{} files",
                    at.stage, at.device, at.files_done, at.files_total
                );
            }
        })
        .on_problem(|problem| eprintln!("{}: {problem}", problem.path.display()))
        .each(|set| println!("{} × {} bytes", set.files.len(), set.size))?;
    if summary.incomplete {
        println!("ended early, with {} sets", summary.sets);
    } else {
        println!("{} sets", summary.sets);
    }
    Ok(())
}
