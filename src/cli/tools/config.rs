//! `seekless config`: which options files and presets set, and where.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::Command;
use clap::error::ErrorKind::{ArgumentConflict, InvalidValue, ValueValidation};
use seekless::report::{Name, SCHEMA, write_document};
use serde::Serialize;

use crate::cli::args;
use crate::cli::args::common::{ConfigCommandArgs, DocumentFormat};
use crate::cli::args::definition::readers;
use crate::cli::front::config_file::Line;
use crate::cli::front::in_force::{InForce, Options};
use crate::cli::front::{config_folder, refusal};
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::sanitize::{message, path, printed, refuse};

/// What the files and the presets set. `docs/reference/formats.md` says what its JSON promises.
#[derive(Serialize)]
struct Shown<'a> {
    folder: Option<Name<'a>>,
    commands: Vec<Part>,
    presets: Vec<Part>,
}

/// The options of a command, or of a preset.
#[derive(Serialize)]
struct Part {
    name: String,
    options: Vec<Line>,
}

/// Prints what is in force.
pub fn show(args: &ConfigCommandArgs) -> Result<Exit, Exit> {
    let folder = config_folder::config();
    let shown = shown(args, folder.as_ref()).or_else(refuse)?;
    let mut stdout = io::stdout().lock();
    let written = match args.document.format {
        DocumentFormat::Json => write_document(&mut stdout, "seekless-config", SCHEMA, &shown),
        DocumentFormat::Text => text(&shown, folder.as_ref())
            .lines()
            .try_for_each(|line| writeln!(stdout, "{}", message(line))),
    };
    printed(written)?;
    Ok(Exit::Done)
}

fn shown<'a>(args: &ConfigCommandArgs, folder: Option<&'a PathBuf>) -> Result<Shown<'a>, String> {
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
        folder: folder.cloned(),
        is_optional: false,
        program: &program,
    };
    let part = |name: &str, options| Part {
        name: name.to_owned(),
        options,
    };
    let of_command = |name: &&str| {
        let lines = options.of(name, args.preset.as_deref())?;
        check(&lines, name, &program)?;
        Ok(part(name, lines))
    };
    let of_preset = |name: &String| Ok(part(name, options.preset(name)?));
    let presets = if args.command.is_none() {
        options.presets()
    } else {
        Vec::new()
    };
    Ok(Shown {
        folder: folder.map(|folder| Name::new(folder.as_os_str().as_bytes())),
        commands: commands
            .iter()
            .map(of_command)
            .collect::<Result<_, String>>()?,
        presets: presets
            .iter()
            .map(of_preset)
            .collect::<Result<_, String>>()?,
    })
}

fn text(shown: &Shown<'_>, folder: Option<&PathBuf>) -> String {
    let folder = folder.map_or("none (HOME and XDG_CONFIG_HOME are not set)".into(), |it| {
        path(it)
    });
    let mut text = format!("Folder: {folder}\n");
    for part in &shown.commands {
        push(&mut text, &part.name, &part.options);
    }
    for part in &shown.presets {
        push(&mut text, &format!("--preset {}", part.name), &part.options);
    }
    text
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
            let sources = in_force.line().unwrap_or_default();
            Err(format!("{said}. {sources}"))
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
        let _ = writeln!(text, "  {:width$}  {}", line.shown(), line.place);
    }
}
