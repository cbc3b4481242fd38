//! The command line: arguments in, decisions made once, a run watched until its end.

mod act;
mod answers;
mod args;
mod find;
mod front;
mod resolve;
mod terminal;
mod tools;
mod undo;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;
use seekless::engine::make_room;

use args::{Cli, Command};
use front::in_force::{InForce, chosen};
use terminal::exit::Exit;

/// Runs the program; everything that it does begins here.
pub fn main() -> ExitCode {
    let mut command = front::help::arranged(args::command());
    let mut words: Vec<OsString> = std::env::args_os().collect();
    // As long as there is no second thread.
    make_room();
    let refused =
        front::words::refused(&words).or_else(|| front::words::mistyped(&words, &command));
    if let Some(line) = refused {
        terminal::sanitize::complain(&line);
        return Exit::Nothing.into();
    }
    let mut matches = command.try_get_matches_from_mut(&words);
    let mut in_force = InForce::default();
    if let Ok(typed) = &matches {
        front::words::tell(typed);
        in_force = match chosen(typed, &command, front::config_folder::config()) {
            Ok(in_force) => in_force,
            Err(wrong) => {
                terminal::sanitize::complain(&wrong);
                return Exit::Nothing.into();
            }
        };
        if in_force.words().next().is_some() {
            // Behind the name of the command, if there is one.
            let at = 1 + usize::from(typed.subcommand_name().is_some());
            words.splice(at..at, in_force.words());
            matches = command.try_get_matches_from_mut(&words);
        }
    }
    if let Ok(matches) = &matches {
        in_force.retain(matches, &command);
    }
    let meant = matches.as_ref().ok().and_then(|matches| {
        let misplaced = front::words::misplaced(&words, matches, &command);
        misplaced.or_else(|| front::words::unexpanded(matches, &command))
    });
    if let Some(line) = meant {
        terminal::sanitize::complain(&line);
        return Exit::Nothing.into();
    }
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            let error = error.format(&mut command);
            return refuse(&error, &words, &command, &in_force).into();
        }
    };
    // The definition takes half a megabyte, and nobody asks for it any more.
    drop(command);
    terminal::watch::watched(move || obey(cli, &in_force)).into()
}

/// Does what a command says.
fn obey(cli: Cli, in_force: &InForce) -> Exit {
    let exit = match cli.command {
        None => find::find(cli.find, in_force),
        Some(Command::Find(args)) => find::find(*args, in_force),
        Some(Command::Compare(args)) => find::compare::compare(*args, in_force),
        Some(Command::Remove(args)) => act::remove(*args, in_force),
        Some(Command::Hardlink(args)) => act::hardlink(*args, in_force),
        Some(Command::Symlink(args)) => act::symlink(*args, in_force),
        Some(Command::Reflink(args)) => act::reflink(*args, in_force),
        Some(Command::Move(args)) => act::relocate(*args, in_force),
        Some(Command::Undo(args)) => undo::undo(&args),
        Some(Command::Devices(args)) => tools::devices::show(&args),
        Some(Command::Folders(args)) => find::folders::folders(*args, in_force),
        Some(Command::Probe(args)) => tools::probe::probe(args),
        Some(Command::Cache(args)) => tools::cache::cache(args),
        Some(Command::Config(args)) => tools::config::show(&args),
        Some(Command::Completions(args)) => tools::man::completions(&args),
        Some(Command::Man(args)) => tools::man::write(&args),
    };
    let exit = exit.unwrap_or_else(|exit| exit);
    if exit == Exit::Nothing {
        tell_sources(in_force);
    }
    exit
}

/// What was not typed may be what is wrong.
fn tell_sources(in_force: &InForce) {
    in_force
        .line()
        .iter()
        .for_each(|line| terminal::sanitize::complain(line));
}

/// Says why the words are not understood. Help and version come as errors, too.
fn refuse(
    error: &clap::Error,
    words: &[OsString],
    command: &clap::Command,
    in_force: &InForce,
) -> Exit {
    if error.use_stderr() {
        let answer = front::refusal::answer(error, words, command);
        terminal::sanitize::complain(&answer);
        tell_sources(in_force);
        return Exit::Nothing;
    }
    let printed = terminal::sanitize::printed(error.print());
    printed.map_or_else(|exit| exit, |()| Exit::Done)
}
