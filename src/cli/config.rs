//! `seekless config`: which options the configuration file and its presets set, and where.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};

use clap::{Arg, ArgAction, Command};

use super::config_args::ConfigCommandArgs;
use super::config_defaults::{InForce, check, in_force, is_undone_by, readers, words_of};
use super::config_file::{ConfigFile, Setting};
use super::config_rules::refusal;
use super::config_values::{check_together, without_places};
use super::definition::{arg_of, command_of};
use super::exit::Exit;
use super::sanitize::{complain, message, path};
use super::{args, config_folder};

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
    let config = ConfigFile::read(config_folder::config_file(), false)?;
    let definition = args::command();
    check(&config, &definition)?;
    let readers = readers(&definition);
    if let Some(command) = &args.command
        && !readers.contains(&command.as_str())
    {
        return Err(format!(
            "no command '{command}' reads the configuration file: 'seekless config' shows the file and the settings of \
             all commands that do, or use one of {}",
            readers.join(", ")
        ));
    }
    let mut text = match &config.path {
        Some(file) if config.is_there => format!("File: {}\n", path(file)),
        Some(file) => format!("File: {} (not found)\n", path(file)),
        None => "File: none (HOME and XDG_CONFIG_HOME are not set)\n".to_owned(),
    };
    let one = args.command.as_deref();
    for name in readers
        .iter()
        .filter(|name| one.is_none_or(|one| one == **name))
    {
        let chosen = in_force(&config, &definition, name, args.preset.as_deref(), &[])?;
        check_together(&config, &without_places(&chosen.settings))?;
        let mut rows = rows_of(&chosen);
        if one.is_some() {
            rows.extend(defaults(command_of(&definition, name), name, &chosen));
        }
        if !rows.is_empty() {
            push(&mut text, name, &rows);
        }
    }
    if one.is_none() && args.preset.is_none() {
        for preset in config.presets() {
            for name in &readers {
                let chosen = in_force(&config, &definition, name, Some(preset), &[])?;
                check_together(&config, &without_places(&chosen.settings))?;
            }
            let of_preset = |setting: &&Setting| setting.preset.as_deref() == Some(preset);
            let rows = config.settings.iter().filter(of_preset).map(row).collect();
            push(&mut text, &format!("--preset {preset}"), &rows);
        }
    }
    if one.is_none() && args.preset.is_none() {
        for (preset, line) in &config.empty_presets {
            let row = ("(no options)".to_owned(), format!("line {line}"));
            push(&mut text, &format!("--preset {preset}"), &vec![row]);
        }
    }
    Ok(text)
}

fn push(text: &mut String, title: &str, rows: &Vec<(String, String)>) {
    let width = rows.iter().map(|(words, _)| words.chars().count()).max();
    let width = width.unwrap_or(0);
    let _ = writeln!(text, "\n{title}");
    for (words, source) in rows {
        let _ = writeln!(text, "  {words:width$}  {source}");
    }
}

fn rows_of(chosen: &InForce) -> Vec<(String, String)> {
    chosen.settings.iter().map(row).collect()
}

/// The setting, and where it comes from.
fn row(setting: &Setting) -> (String, String) {
    let source = match (&setting.preset, setting.line) {
        (_, None) => "built in".to_owned(),
        (None, Some(line)) => format!("line {line}"),
        (Some(preset), Some(line)) => format!("line {line}, preset {preset}"),
    };
    let words = match &setting.command {
        Some(command) if setting.preset.is_some() => {
            format!("{} (with {command})", words_of(setting))
        }
        _ => words_of(setting),
    };
    (words, source)
}

/// The program's own values of the options that the file may set and does not.
fn defaults(command: &Command, name: &str, chosen: &InForce) -> Vec<(String, String)> {
    let set = chosen.settings.iter();
    let set: Vec<&Arg> = set.filter_map(|it| arg_of(command, &it.option)).collect();
    let is_set = |option: &str| set.iter().any(|arg| is_undone_by(command, option, arg));
    let args = command.get_arguments();
    let taking = args.filter(|arg| matches!(arg.get_action(), ArgAction::Set | ArgAction::Append));
    let rows = taking.filter_map(|arg| {
        let option = arg.get_long()?;
        let value = default_of(arg)?;
        let is_shown = !is_set(option) && refusal(name, option).is_none();
        is_shown.then(|| (format!("--{option} {value}"), "default".to_owned()))
    });
    rows.collect()
}

/// The value of an option that is not given: one that the parser fills in, or one that the help states since the
/// program must know whether it was given.
fn default_of(arg: &Arg) -> Option<String> {
    const STATED: &str = "[default: ";
    if let Some(value) = arg.get_default_values().first() {
        return value.to_str().map(str::to_owned);
    }
    let help = arg.get_help()?.to_string();
    let (_, value) = help.split_once(STATED)?;
    let is_one_word = |value: &&str| !value.contains(' ');
    let value = value.split(']').next().filter(is_one_word);
    value.map(str::to_owned)
}
