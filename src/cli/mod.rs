//! The command line: arguments in, decisions made once, a run watched until its end.

mod act;
mod args;
#[cfg(feature = "catalog")]
mod catalog;
mod find;
mod front;
mod resolve;
mod terminal;
mod tools;
mod undo;

use std::ffi::OsString;
use std::process::ExitCode;

use args::common::DEFAULT;
use args::{Cli, Command};
use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue};
use front::{config, is_near};
use seekless::engine::make_room;

use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};

/// Runs the program; everything that it does begins here.
pub fn main() -> ExitCode {
    // As long as there is no second thread.
    make_room();
    let done = match understood(std::env::args_os().collect()) {
        Ok(cli) => terminal::watch::watched(move || told(obey(cli))),
        stopped => told(stopped.map(|_| Exit::Done)),
    };
    done.into()
}

/// Says why a command ended early.
fn told(done: Result<Exit, Stop>) -> Exit {
    match done {
        Ok(exit) | Err(Stop::Ended(exit)) => exit,
        Err(Stop::Refused(why)) => {
            console::complain(why);
            Exit::Nothing
        }
    }
}

/// The command line, with the options of files; or a line that says what is wrong. Help and version are printed here.
fn understood(mut words: Vec<OsString>) -> Result<Cli, Stop> {
    let mut command = args::command();
    front::file_or_option(&words)?;
    let mut sources = None;
    let mut matches = command.try_get_matches_from_mut(&words);
    if let Ok(typed) = &matches {
        let untyped = config::untyped(typed, &command).or_else(refuse)?;
        // Behind the names of the command, if there are any.
        let at = 1 + config::innermost(typed).0.len();
        words.splice(at..at, untyped.words);
        sources = untyped.sources;
        matches = command.try_get_matches_from_mut(&words);
    }
    let matches = match matches {
        Ok(matches) => matches,
        Err(error) if error.use_stderr() => {
            sources.iter().for_each(console::complain);
            return refuse(in_one_line(&error, &words, &command));
        }
        Err(help) => {
            console::print(|_| help.print())?;
            return Err(Exit::Done.into());
        }
    };
    front::no_tilde(&words)?;
    front::path_or_command(&matches, &command)?;
    let (_, given) = config::innermost(&matches);
    let is_quiet = matches!(given.try_get_one("quiet"), Ok(Some(true)));
    // What was not typed may be what surprises.
    let sources = sources.filter(|_| !is_quiet);
    sources.iter().for_each(console::complain);
    Cli::from_arg_matches(&matches).or_else(refuse)
}

/// What the parser says, without the usage, and the way to all options.
fn in_one_line(error: &clap::Error, words: &[OsString], program: &clap::Command) -> String {
    let name = words.get(1).and_then(|word| word.to_str());
    let asked = name.filter(|name| program.find_subcommand(name).is_some());
    let asked = asked.unwrap_or(DEFAULT);
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim);
    let lines =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let is_misleading = |line: &&str| {
        line.starts_with("tip: to pass")
            || line.starts_with("tip: a similar argument") && !may_be_meant(error)
    };
    let lines: Vec<&str> = lines
        .filter(|line| !line.is_empty() && !is_misleading(line))
        .collect();
    let said = lines.join(" ");
    let said = said.trim_start_matches("error: ").replace(" tip: ", "; ");
    format!("{said}; 'seekless {asked} --help' lists all options")
}

/// True if an option that the parser suggests differs from what was typed as by a slip. Nobody should come to an option
/// that takes a question or a check away in this way.
fn may_be_meant(error: &clap::Error) -> bool {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let typed = text(ContextKind::InvalidArg);
    let near = text(ContextKind::SuggestedArg);
    typed.zip(near).is_some_and(|(typed, near)| {
        !["--yes", "--allow"].contains(&near)
            && is_near(typed.trim_start_matches('-'), near.trim_start_matches('-'))
    })
}

/// Does what a command says.
fn obey(cli: Cli) -> Result<Exit, Stop> {
    match cli.command {
        None => find::find(cli.find),
        Some(Command::Find(args)) => find::find(*args),
        Some(Command::Compare(args)) => find::compare::compare(*args),
        Some(Command::Remove(args)) => act::remove(*args),
        Some(Command::Hardlink(args)) => act::hardlink(*args),
        Some(Command::Symlink(args)) => act::symlink(*args),
        Some(Command::Reflink(args)) => act::reflink(*args),
        Some(Command::Move(args)) => act::relocate(*args),
        Some(Command::Undo(args)) => undo::undo(&args),
        Some(Command::Devices(args)) => tools::devices::show(&args),
        Some(Command::Folders(args)) => find::folders::folders(*args),
        Some(Command::Probe(args)) => tools::probe::probe(args),
        Some(Command::Cache(args)) => tools::cache::cache(args),
        #[cfg(feature = "catalog")]
        Some(Command::Catalog(args)) => catalog::catalog(args),
        Some(Command::Fleet(args)) => tools::fleet::fleet(args),
        Some(Command::Completions(args)) => tools::completions(&args),
        Some(Command::Man(args)) => tools::write(&args),
    }
}
