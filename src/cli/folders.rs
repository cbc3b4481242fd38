//! `seekless folders`: a run from its arguments to its exit status.

use seekless::engine::{self, Control};
use seekless::folders::{Answer, Percent, Seen, Wanted};
use seekless::report::fit::fitting;
use seekless::report::folders::FolderReport;
use seekless::tree::{Scope, Tree};
use seekless::units::{count, plural};

use super::begin::begin;
use super::config_defaults::InForce;
use super::console::Console;
use super::engine_watch::EngineWatch;
use super::exit::Exit;
use super::folders_args::FoldersArgs;
use super::listener::Listener;
use super::output::{NotWritten, Place};
use super::resolve_folders::{FoldersRun, resolve};
use super::run::watched;

/// Looks at folders and says what they have in common.
pub fn folders(args: FoldersArgs, in_force: &InForce) -> Exit {
    let begun = begin(|around| resolve(args, around), |run: &FoldersRun| run.talk);
    let (run, console) = match begun {
        Ok(begun) => begun,
        Err(exit) => return exit,
    };
    // Before any work is done.
    let place = match Place::open(run.output.as_deref(), &console) {
        Ok(place) => place,
        Err(error) => {
            console.complain(&error.to_string());
            return Exit::Nothing;
        }
    };
    let control = Control::default();
    let listener = Listener::new(&console);
    let words = "interrupted: nothing is said about folders that were not fully seen";
    let mut watch = EngineWatch::new(&control, &console, words, || ());
    let seen = watched(
        || engine::classify(&run.config, Scope::AllFiles, &listener, &control),
        &mut watch,
    );
    watch.draw.clear();
    listener.sum_up();
    if watch.interrupted {
        return Exit::Interrupted;
    }
    let exit = listener.exit(run.config.roots.len());
    match seen {
        Err(error) => {
            console.complain(&error.to_string());
            Exit::Nothing
        }
        Ok(_) if exit == Exit::Nothing => exit,
        Ok(seen) => {
            let told = tell(&run, &seen, place, &console);
            if run.talk.summary {
                in_force.line().iter().for_each(|line| console.line(line));
            }
            exit.worse(told)
        }
    }
}

/// Answers, and writes the answer.
fn tell(run: &FoldersRun, seen: &Tree, place: Place, console: &Console) -> Exit {
    let is_noise = |name: &[u8]| {
        run.is_noise
            .as_ref()
            .is_some_and(|noise| noise.matches(name))
    };
    let seen = Seen::new(seen, is_noise);
    let is_wanted = |name: &[u8]| run.names.as_ref().is_none_or(|names| names.matches(name));
    let wanted = Wanted {
        min_bytes: run.min_size.0,
        min_overlap: Percent(run.min_overlap),
        is_wanted: &is_wanted,
    };
    let answer = Answer::of(&seen, &wanted);
    let report = FolderReport {
        answer: &answer,
        noise: &run.noise,
        min_overlap: run.min_overlap,
        style: run.style,
    };
    let mut place = place;
    let written = place.write(|out| (run.format.write)(out, &report));
    match written.and_then(|()| place.finish()) {
        Ok(()) => {}
        Err(NotWritten::Closed) => return Exit::Done,
        Err(error) => {
            console.complain(&error.to_string());
            return Exit::Nothing;
        }
    }
    if run.talk.summary {
        let (folders, files) = (answer.folders as u64, answer.files as u64);
        let said: usize = answer.entries.iter().map(|entry| entry.folders.len()).sum();
        let mut lines = vec![format!(
            "Reported {} of {} folders, compared {} {}.",
            count(said as u64),
            count(folders),
            count(files),
            plural(files, "file", "files"),
        )];
        if said > 0 {
            lines.push(
                "After you remove a folder, run seekless again: other lines may no longer apply."
                    .to_owned(),
            );
        }
        let width = run.talk.columns.unwrap_or(usize::MAX);
        fitting(lines, width)
            .iter()
            .for_each(|line| console.line(line));
    }
    Exit::Done
}
