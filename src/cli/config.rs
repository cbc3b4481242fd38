//! `seekless config`: which options files and presets set, and where.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};

use clap::Command;
use clap::error::ErrorKind::{ArgumentConflict, InvalidValue, ValueValidation};

use super::config_args::ConfigCommandArgs;
use super::config_file::Line;
use super::definition::readers;
use super::exit::Exit;
use super::in_force::{InForce, Options};
use super::sanitize::{complain, message, path};
use super::{args, config_folder, refusal};

/// Prints what is in force.
pub fn show(args: &ConfigCommandArgs) -> Exit {
    let text = match text(args) {
        Ok(text) => text,
        Err(wrong) => {
            complain(&wrong);
            return Exit::Nothing;
        }
    };
    let mut stdout = io::stdout().lock();
    let written = text
        .lines()
        .try_for_each(|line| writeln!(stdout, "{}", message(line)));
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            complain(&format!("cannot write to standard output: {error}"));
            Exit::Nothing
        }
        _ => Exit::Done,
    }
}

fn text(args: &ConfigCommandArgs) -> Result<String, String> {
    let program = args::command();
    let mut commands = readers(&program);
    if let Some(command) = &args.command {
        if !commands.contains(&command.as_str()) {
            return Err(format!(
                "no command '{command}' reads a file: omit it, or use one of {}",
                commands.join(", ")
            ));
        }
        commands.retain(|name| name == command);
    }
    let options = Options {
        folder: config_folder::config(),
        is_optional: false,
        program: &program,
    };
    let folder = options.folder.as_deref();
    let folder = folder.map_or("none (HOME and XDG_CONFIG_HOME are not set)".into(), path);
    let mut text = format!("Folder: {folder}\n");
    let preset = args.preset.as_deref();
    for name in &commands {
        let lines = options.of(name, preset)?;
        check(&lines, name, &program)?;
        push(&mut text, name, &lines);
    }
    if args.command.is_none() {
        for preset in options.presets() {
            let lines = options.preset(&preset)?;
            push(&mut text, &format!("--preset {preset}"), &lines);
        }
    }
    Ok(text)
}

/// Refuses values that the command would refuse.
fn check(lines: &[Line], name: &str, program: &Command) -> Result<(), String> {
    let in_force = InForce::from(lines.to_vec());
    let words = ["seekless", name].map(OsString::from).into_iter();
    let words: Vec<OsString> = words.chain(in_force.words()).collect();
    match program.clone().try_get_matches_from(&words) {
        Err(error)
            if matches!(
                error.kind(),
                ArgumentConflict | InvalidValue | ValueValidation
            ) =>
        {
            let said = refusal::answer(&error, &words, program);
            Err(in_force.explained(&said.unwrap_or_else(|| error.kind().to_string())))
        }
        // Something else may be missing, such as the destination of a move.
        _ => Ok(()),
    }
}

/// Adds a title, and under it each option with its place.
fn push(text: &mut String, title: &str, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    let width = lines.iter().map(|line| line.shown().chars().count()).max();
    let width = width.unwrap_or(0);
    let _ = writeln!(text, "\n{title}");
    for line in lines {
        let _ = writeln!(text, "  {:width$}  {}", line.shown(), line.place());
    }
}
