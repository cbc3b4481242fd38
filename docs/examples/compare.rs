//! Checks whether a folder may be deleted, since all of it is also in another one:
//! `cargo run --example compare -- FOLDER BACKUP`
//!
//! It leaves most of the disk's speed to others, and tells how far it is.

use std::error::Error;
use std::{env, process};

use seekless::{Compare, CompareAnswer, OnSide};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = env::args_os().skip(1).collect();
    let [folder, backup] = words.as_slice() else {
        eprintln!("usage: compare FOLDER BACKUP");
        process::exit(2);
    };
    let compared = Compare::new([folder, backup])
        .one_way(true)
        .bytes_per_second(50_000_000)
        .on_progress(|stages| {
            let read: u64 = stages.iter().map(|stage| stage.bytes_done).sum();
            eprintln!("{read} bytes are read");
        })
        .on_problem(|problem| eprintln!("{}: {problem}", problem.path.display()))
        .run()?;
    for found in &compared.differences {
        match found.on.get(1) {
            Some(OnSide::Same | OnSide::Moved(_)) => {}
            _ => println!("{}", found.path.display()),
        }
    }
    let side = &compared.sides[0];
    match compared.answer {
        CompareAnswer::Yes => println!("files: {}, all of them are also there", side.files.count),
        CompareAnswer::No => println!(
            "files: {}, only here: {}",
            side.files.count, side.only.count
        ),
        CompareAnswer::Unknown => println!("not compared: {}", side.unanswered),
    }
    Ok(())
}
