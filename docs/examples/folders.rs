//! Says which folders lie in another one: `cargo run --example folders -- PATH...`

use std::env;

use seekless::{FolderVerdict, Folders};

fn main() -> Result<(), seekless::Error> {
    let paths: Vec<_> = env::args_os().skip(1).collect();
    let found = Folders::new(paths).min_overlap(90).run()?;
    for folder in found.entries.iter().flat_map(|entry| &entry.folders) {
        let path = folder.path.display();
        match &folder.verdict {
            FolderVerdict::Overlaps { other, overlap } => {
                let (shared, of) = (overlap.shared, overlap.of);
                println!(
                    "{path}: {shared} of {of} bytes are also in {}",
                    other.display()
                );
            }
            FolderVerdict::NotFullySeen { unseen } => {
                println!("{path}: {} places were not seen", unseen.count);
            }
            verdict => match verdict.other() {
                Some(other) => println!("{path}: all of it is also in {}", other.display()),
                None => println!("{path}: all of it is also elsewhere, in several folders"),
            },
        }
    }
    for problem in &found.problems {
        eprintln!("{}: {problem}", problem.path.display());
    }
    Ok(())
}
