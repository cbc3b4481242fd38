//! Searches inside an async program: `cargo run --example async -- PATH...`
//!
//! A search blocks, so it goes to a thread of its own; progress comes back through a channel.

use std::env;
use std::error::Error;

use seekless::{Cancel, Search};
use tokio::sync::mpsc;
use tokio::task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<_> = env::args_os().skip(1).collect();
    let cancel = Cancel::new();
    let (to_here, mut stages) = mpsc::unbounded_channel();

    let search_cancel = cancel.clone();
    let search = task::spawn_blocking(move || {
        Search::new(paths)
            .cancel(&search_cancel)
            .on_progress(move |now| {
                // Whoever waits may be gone.
                let _ = to_here.send(now.to_vec());
            })
            .run()
    });
    tokio::pin!(search);
    let found = loop {
        tokio::select! {
            found = &mut search => break found??,
            Some(now) = stages.recv() => eprintln!("{} stages are under way", now.len()),
            _ = tokio::signal::ctrl_c() => cancel.cancel(),
        }
    };
    for set in &found.sets {
        println!("{} × {} bytes", set.files.len(), set.size);
    }
    Ok(())
}
