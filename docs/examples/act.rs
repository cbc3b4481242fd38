//! Replaces duplicates by hard links, with its own questions: `cargo run --example act -- PATH JOURNALS`
//!
//! It plans, shows the plan, asks, acts, and asks whether to undo.

use std::error::Error;
use std::io::{self, Write};
use std::{env, process};

use seekless::{Action, Choice, Fate, Journals, Outcome, PlannedSet, Search};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = env::args_os().skip(1).collect();
    let [path, journals] = words.as_slice() else {
        eprintln!("usage: act PATH JOURNALS");
        process::exit(2);
    };
    let journals = Journals::new(journals);

    let sets = Search::new([path]).run()?;
    let mut plan = Action::hardlink().keep("oldest").plan(&sets)?;
    plan.choose(|set| {
        if asked(&shown(set)) {
            Choice::ByRule
        } else {
            Choice::KeepAll
        }
    });
    let totals = plan.totals();
    println!("{} links, {} bytes are freed", totals.steps, totals.frees);
    if totals.steps == 0 || !asked("Do it?") {
        return Ok(());
    }

    let applied = plan
        .on_step(|step| match &step.outcome {
            Outcome::Skipped(why) | Outcome::Failed(why) => {
                eprintln!("{}: {why}", step.path.display());
            }
            _ => println!("{} → {}", step.path.display(), step.kept.display()),
        })
        .apply(&journals)?;
    println!("run {}: {} done", applied.run, applied.done);

    if asked("Undo it?") {
        let undone = journals.undo(&applied.run)?.run()?;
        println!("{} as before", undone.restored);
    }
    Ok(())
}

fn shown(set: &PlannedSet) -> String {
    let files = set.files.iter().map(|file| {
        let what = match &file.fate {
            Fate::Keep(why) => format!("keep ({why})"),
            Fate::Act { frees, .. } => format!("link, frees {frees}"),
            Fate::Leave(why) => format!("leave: {why}"),
            Fate::Carry(carried) => format!("move to {}", carried.to().display()),
        };
        format!("{}: {what}\n", file.path().display())
    });
    files.collect::<String>() + "Link these?"
}

fn asked(question: &str) -> bool {
    print!("{question} [y/N] ");
    let _ = io::stdout().flush();
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok() && answer.trim() == "y"
}
