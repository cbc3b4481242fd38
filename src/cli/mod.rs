//! The command line: arguments in, decisions made once, a run watched until its end.

mod act;
mod act_args;
mod answers;
mod args;
mod ask;
mod cache;
mod cache_args;
mod color;
mod common_args;
mod compare;
mod compare_args;
mod config;
mod config_file;
mod config_folder;
mod config_rules;
mod console;
mod dangling_text;
mod definition;
mod devices;
mod draw;
mod environment;
mod exit;
mod filter_args;
mod find;
mod find_args;
mod find_report;
mod fit;
mod folder_direction;
mod folders;
mod folders_args;
mod from_folders;
mod from_report;
mod gather;
mod help;
mod in_force;
mod journal_place;
mod man;
mod option_words;
mod output;
mod perform;
mod plan_json;
mod plan_preview;
mod plan_summary;
mod plan_text;
mod probe;
mod probe_args;
mod problems;
mod progress_text;
mod question;
mod read_args;
mod refusal;
mod report_output;
mod resolve;
mod resolve_act;
mod resolve_filter;
mod resolve_search;
mod root_links;
mod root_list;
mod sanitize;
mod search_args;
mod shell_word;
mod slips;
mod summary;
mod sweep;
mod time_arg;
mod undo;
mod undo_list;
mod undo_text;
mod watch;
mod words;
mod wrong_use;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;
use seekless::engine::make_room;

use args::{Cli, Command};
use exit::Exit;
use in_force::{InForce, chosen};

/// Runs the program; everything that it does begins here.
pub fn main() -> ExitCode {
    let mut command = help::arranged(args::command());
    let mut words: Vec<OsString> = std::env::args_os().collect();
    // As long as there is no second thread.
    make_room();
    let refused = words::refused(&words).or_else(|| words::mistyped(&words, &command));
    if let Some(line) = refused {
        sanitize::complain(&line);
        return Exit::Nothing.into();
    }
    let mut matches = command.try_get_matches_from_mut(&words);
    let mut in_force = InForce::default();
    if let Ok(typed) = &matches {
        words::tell(typed);
        in_force = match chosen(typed, &command, config_folder::config()) {
            Ok(in_force) => in_force,
            Err(wrong) => {
                sanitize::complain(&wrong);
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
        let misplaced = words::misplaced(&words, matches, &command);
        misplaced.or_else(|| words::unexpanded(matches, &command))
    });
    if let Some(line) = meant {
        sanitize::complain(&line);
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
    watch::watched(move || obey(cli, &in_force)).into()
}

/// Does what a command says.
fn obey(cli: Cli, in_force: &InForce) -> Exit {
    let exit = match cli.command {
        None => find::find(cli.find, in_force),
        Some(Command::Find(args)) => find::find(*args, in_force),
        Some(Command::Compare(args)) => compare::compare(*args, in_force),
        Some(Command::Remove(args)) => act::remove(*args, in_force),
        Some(Command::Hardlink(args)) => act::hardlink(*args, in_force),
        Some(Command::Symlink(args)) => act::symlink(*args, in_force),
        Some(Command::Reflink(args)) => act::reflink(*args, in_force),
        Some(Command::Move(args)) => act::relocate(*args, in_force),
        Some(Command::Undo(args)) => undo::undo(&args),
        Some(Command::Devices(args)) => devices::show(&args),
        Some(Command::Folders(args)) => folders::folders(*args, in_force),
        Some(Command::Probe(args)) => probe::probe(args),
        Some(Command::Cache(args)) => cache::cache(args),
        Some(Command::Config(args)) => config::show(&args),
        Some(Command::Completions(args)) => man::completions(&args),
        Some(Command::Man(args)) => man::write(&args),
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
        .for_each(|line| sanitize::complain(line));
}

/// Says why the words are not understood. Help and version come as errors, too.
fn refuse(
    error: &clap::Error,
    words: &[OsString],
    command: &clap::Command,
    in_force: &InForce,
) -> Exit {
    if error.use_stderr() {
        let answer = refusal::answer(error, words, command);
        sanitize::complain(&answer);
        tell_sources(in_force);
        return Exit::Nothing;
    }
    let printed = sanitize::printed(error.print());
    printed.map_or_else(|exit| exit, |()| Exit::Done)
}
