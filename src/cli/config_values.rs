//! Checks the values of the configuration file as if they were typed: each wrong one is named with its line.

use std::io;

use clap::error::ErrorKind::{ArgumentConflict, InvalidValue, ValueValidation};
use clap::{Arg, ArgAction, Command, FromArgMatches};

use super::args::Cli;
use super::config_file::{ConfigFile, Setting, Value};
use super::definition::{DEFAULT, arg_of, command_of};
use super::environment::Environment;
use super::resolve::resolve;
use super::{args, refusal};

/// Checks each value by itself.
///
/// # Errors
/// One line that names the file, the line in it, the key and the right form.
pub fn check_one(config: &ConfigFile, name: &str, setting: &Setting) -> Result<(), String> {
    let definition = args::command();
    let Some(arg) = arg_of(command_of(&definition, name), &setting.option) else {
        return Ok(());
    };
    if let Some(wrong) = wrong_type(arg, setting) {
        return Err(config.at(setting, &wrong));
    }
    let typed = typed(arg, setting);
    let words = ["seekless", name].map(str::to_owned).into_iter();
    let Err(error) = definition.try_get_matches_from(words.chain(typed)) else {
        return Ok(());
    };
    match error.kind() {
        InvalidValue | ValueValidation | ArgumentConflict => {
            let text = refusal::wrong_value(&error);
            let text = text.unwrap_or_else(|| error.kind().to_string());
            Err(config.at(setting, &text))
        }
        // Something else is missing, such as the destination of a move.
        _ => Ok(()),
    }
}

/// Says what is wrong with the type of a value.
fn wrong_type(arg: &Arg, setting: &Setting) -> Option<String> {
    let key = &setting.option;
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let takes_several = matches!(arg.get_action(), ArgAction::Append);
    let words = match (&setting.value, takes_value) {
        (Value::Flag(_), false) => return None,
        (Value::Flag(_), true) => {
            return Some(format!("{key} needs a value: write {key} = \"...\""));
        }
        (Value::Words(_), false) => {
            return Some(format!("{key} takes no value: write {key} = true"));
        }
        (Value::Words(words), true) => words,
    };
    if words.len() != 1 && !takes_several {
        return Some(format!(
            "{key} takes one value, not a list: write {key} = \"...\""
        ));
    }
    // In a shell, the shell replaces it. A name may contain one.
    let is_home = |path: &str| path == "~" || path.starts_with("~/");
    let has_tilde = |word: &&String| match key.as_str() {
        "keep" => word.split([' ', ',']).any(is_home),
        _ => is_home(word),
    };
    if let Some(word) = words.iter().find(has_tilde) {
        let right = word.replacen('~', "/home/NAME", 1);
        return Some(format!(
            "{key}: a ~ stands for no folder in this file: write the whole path, as in {key} = \"{right}\""
        ));
    }
    let is_relative = |word: &String| !word.starts_with('/');
    (key == "cache" && words.iter().any(is_relative)).then(|| {
        "cache needs an absolute path: a relative path would depend on the current folder"
            .to_owned()
    })
}

/// The setting as arguments.
fn typed(arg: &Arg, setting: &Setting) -> Vec<String> {
    let Setting { option, value, .. } = setting;
    match value {
        Value::Flag(false) => Vec::new(),
        Value::Flag(true) => vec![format!("--{option}")],
        Value::Words(_) if !matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) => {
            Vec::new()
        }
        Value::Words(words) => {
            let words = words.iter().map(|word| format!("--{option}={word}"));
            words.collect()
        }
    }
}

/// Checks what the parser does not see: patterns, times, rules, limits, and values that exclude each other.
///
/// # Errors
/// One line that names the file, the line in it, the key and the right form.
pub fn check_together(config: &ConfigFile, settings: &[Setting]) -> Result<(), String> {
    let all: Vec<&Setting> = settings.iter().collect();
    let definition = args::command();
    let Some(wrong) = refused(&definition, &all) else {
        return Ok(());
    };
    // The last setting without which something else is wrong, or nothing.
    let is_cause = |place: &usize| {
        let mut others = all.clone();
        others.remove(*place);
        refused(&definition, &others).as_ref() != Some(&wrong)
    };
    match (0..all.len()).rev().find(is_cause) {
        Some(place) => Err(config.at(all[place], &with_key(all[place], &wrong))),
        None => Ok(()),
    }
}

/// The settings without those values that name a folder or a disk, which need not be there before a run.
pub fn without_places(settings: &[Setting]) -> Vec<Setting> {
    let is_place = |word: &String| {
        let places = ["under ", "not-under ", "dev:"];
        places.iter().any(|place| word.starts_with(place))
    };
    let mut settings = settings.to_vec();
    for setting in &mut settings {
        if let Value::Words(words) = &mut setting.value {
            words.retain(|word| !is_place(word));
        }
    }
    settings
}

/// Why a search with these settings is refused. It has all options with values of which a command refuses some that
/// the parser accepts.
fn refused(definition: &Command, settings: &[&Setting]) -> Option<String> {
    let search = command_of(definition, DEFAULT);
    let typed = settings.iter().flat_map(|setting| {
        let arg = arg_of(search, &setting.option);
        arg.map_or_else(Vec::new, |arg| typed(arg, setting))
    });
    let words = ["seekless", DEFAULT].map(str::to_owned).into_iter();
    // Options that exclude each other by definition replace each other in the file.
    let matches = definition.clone().try_get_matches_from(words.chain(typed));
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    let Some(args::Command::Find(args)) = cli.ok()?.command else {
        return None;
    };
    let nothing = &mut io::empty();
    let refused = resolve(*args, &mut Environment::look(nothing)).err();
    refused.map(|wrong| wrong.to_string())
}

/// The message, with the key if it does not name it.
fn with_key(setting: &Setting, wrong: &str) -> String {
    match wrong.contains(&format!("--{}", setting.option)) {
        true => wrong.to_owned(),
        false => format!("--{}: {wrong}", setting.option),
    }
}
