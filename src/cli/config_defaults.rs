//! Puts the settings of the configuration file into the definition of the command line, as defaults: what is typed
//! comes first, and values are checked as if they were typed.

use std::cell::Cell;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::config_file::{ConfigFile, Setting, Value};
use super::config_rules::{is_never_set, refusal};
use super::config_values::{check_one, check_together};
use super::definition::{DEFAULT, arg_of, command_of};
use super::{args, shell_word, slips};

/// The option that every command has that reads the file.
const READER: &str = "no_config";

/// Options of which the one that is typed undoes the others of the file. Those that exclude each other by definition
/// (`conflicts_with`) need no row.
const EXCLUSIVE: [&[&str]; 7] = [
    &["cache", "no-cache"],
    &["no-cache", "trust-mtime"],
    &["trash", "no-trash"],
    &["hidden", "no-hidden"],
    &["progress", "no-progress", "quiet"],
    &["quiet", "verbose"],
    &["rf-over", "rf-under", "unique"],
];

/// The settings that a run follows.
#[derive(Clone, Debug, Default)]
pub struct InForce {
    /// The file that they may be from.
    file: String,
    /// Those that are in force.
    pub settings: Vec<Setting>,
    /// The user was told where they come from.
    is_told: Cell<bool>,
}

impl InForce {
    /// Adds to a message where the options come from that it names and nobody typed. Then nothing more is said of them.
    pub fn explained(&self, message: &str) -> String {
        self.is_told.set(true);
        let is_named = |setting: &&Setting| {
            let option = format!("--{}", setting.option);
            message.match_indices(&option).any(|(at, _)| {
                let next = message[at + option.len()..].chars().next();
                !next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-')
            })
        };
        let named = self.settings.iter().filter(is_named).map(|setting| {
            let place = match (&setting.preset, setting.line) {
                (Some(preset), None) => format!("the built-in preset {preset}"),
                (_, line) => format!("{}:{}", self.file, line.unwrap_or_default()),
            };
            format!("{} comes from {place}", words_of(setting))
        });
        let named: Vec<String> = named.collect();
        match named.is_empty() {
            true => message.to_owned(),
            false => format!("{message} ({})", named.join("; ")),
        }
    }

    /// Says which options come from where; nothing if all were typed, or if it was said before.
    pub fn line(&self) -> Option<String> {
        if self.is_told.replace(true) {
            return None;
        }
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for setting in &self.settings {
            let source = match (&setting.preset, setting.line) {
                (None, _) => self.file.clone(),
                (Some(preset), None) => format!("the built-in preset {preset}"),
                (Some(preset), Some(_)) => format!("the preset {preset} in {}", self.file),
            };
            match groups.iter_mut().find(|(known, _)| *known == source) {
                Some((_, words)) => words.push(words_of(setting)),
                None => groups.push((source, vec![words_of(setting)])),
            }
        }
        let groups = groups
            .iter()
            .map(|(source, words)| format!("from {source}: {}", words.join(", ")));
        let line = groups.collect::<Vec<_>>().join("; ");
        (!line.is_empty()).then(|| format!("Options {line}."))
    }
}

/// The setting as it would be typed.
pub fn words_of(setting: &Setting) -> String {
    let Setting { option, value, .. } = setting;
    match value {
        Value::Flag(_) => format!("--{option}"),
        Value::Words(words) => {
            let words = words
                .iter()
                .map(|word| format!("--{option} {}", shell_word::word(word.as_bytes())));
            words.collect::<Vec<_>>().join(" ")
        }
    }
}

/// Looks which command was typed, reads the file unless that is not wanted, and chooses what the run follows.
///
/// # Errors
/// One line that names the file, the line in it and what is wrong.
pub fn chosen(matches: &ArgMatches, path: Option<PathBuf>) -> Result<InForce, String> {
    let (name, matches) = matches.subcommand().unwrap_or((DEFAULT, matches));
    // Commands without the option read no file.
    let Ok(Some(&without)) = matches.try_get_one::<bool>(READER) else {
        return Ok(InForce::default());
    };
    let config = match without {
        true => ConfigFile::none(),
        false => ConfigFile::read(path, true)?,
    };
    let preset = matches.get_one::<String>("preset").map(String::as_str);
    // What is built in is sound, and in force only where a preset is named.
    if !config.is_there && preset.is_none() {
        return Ok(InForce::default());
    }
    let definition = args::command();
    check(&config, &definition)?;
    let command = command_of(&definition, name);
    if let Some(preset) = preset
        && config.presets().contains(&preset)
        && !config.settings.iter().any(|setting| {
            setting.preset.as_deref() == Some(preset) && is_for(command, name, setting)
        })
    {
        return Err(format!(
            "the preset '{preset}' has no option of {name}: omit --preset {preset}"
        ));
    }
    let typed: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine))
        .collect();
    let in_force = in_force(&config, &definition, name, preset, &typed)?;
    let mut together = in_force.settings.clone();
    // A limit of 0 in the file needs it.
    if typed.iter().any(|arg| arg.get_long() == Some("empty")) {
        together.insert(0, Setting::typed_flag("empty"));
    }
    check_together(&config, &together)?;
    Ok(in_force)
}

/// What a command follows if these arguments are typed.
pub fn in_force(
    config: &ConfigFile,
    definition: &Command,
    name: &str,
    preset: Option<&str>,
    typed: &[&Arg],
) -> Result<InForce, String> {
    if let Some(preset) = preset
        && let Some((_, line)) = config
            .empty_presets
            .iter()
            .find(|(empty, _)| empty == preset)
    {
        return Err(format!(
            "{}:{line}: the preset '{preset}' has no options: write options below [preset.{preset}], or omit \
             --preset {preset}",
            config.shown_path()
        ));
    }
    if let Some(preset) = preset
        && !config.presets().contains(&preset)
    {
        return Err(format!(
            "there is no preset '{preset}': use one of {}, or write a table [preset.{preset}] into the configuration file",
            config.presets().join(", ")
        ));
    }
    let command = command_of(definition, name);
    let mut chosen: Vec<Setting> = Vec::new();
    // What comes later counts: the command, the preset, the preset for the command.
    let rank = |setting: &Setting| (setting.preset.is_some(), setting.command.is_some());
    let mut meant: Vec<&Setting> = config.settings.iter().collect();
    meant.retain(|setting| {
        let is_preset = setting.preset.is_none() || setting.preset.as_deref() == preset;
        is_preset && is_for(command, name, setting)
    });
    meant.sort_by_key(|setting| rank(setting));
    for setting in meant {
        let Some(arg) = arg_of(command, &setting.option) else {
            continue;
        };
        check_one(config, name, setting)?;
        if let Some(other) = chosen
            .iter()
            .find(|other| contradicts(command, other, setting, arg))
        {
            let line = other
                .line
                .map_or_else(String::new, |line| format!(" of line {line}"));
            let (one, two) = (&setting.option, &other.option);
            let wrong = format!("--{one} cannot be used with --{two}{line}: omit one or the other");
            return Err(config.at(setting, &wrong));
        }
        chosen.retain(|other| {
            rank(other) == rank(setting) || !is_undone_by(command, &other.option, arg)
        });
        if !typed
            .iter()
            .any(|typed| is_undone_by(command, &setting.option, typed))
            && setting.value != Value::Flag(false)
        {
            chosen.push(setting.clone());
        }
    }
    Ok(InForce {
        file: config.shown_path(),
        settings: chosen,
        is_told: Cell::new(false),
    })
}

/// True if a setting is one of this command.
fn is_for(command: &Command, name: &str, setting: &Setting) -> bool {
    setting.command.as_deref().is_none_or(|it| it == name)
        && refusal(name, &setting.option).is_none()
        && arg_of(command, &setting.option).is_some()
}

/// The definition of the command line with these settings as its defaults.
pub fn with_defaults(definition: Command, name: &str, in_force: &InForce) -> Command {
    in_force.settings.iter().fold(definition, |all, setting| {
        let id = arg_of(command_of(&all, name), &setting.option).map(|arg| arg.get_id().clone());
        let Some(id) = id else { return all };
        let put = |arg: Arg| {
            let values = match &setting.value {
                Value::Flag(_) if matches!(arg.get_action(), ArgAction::Count) => {
                    vec!["1".to_owned()]
                }
                Value::Flag(_) => vec!["true".to_owned()],
                Value::Words(words) => match arg.get_value_delimiter() {
                    Some(delimiter) => {
                        let parts = words.iter().flat_map(|word| word.split(delimiter));
                        parts.map(str::to_owned).collect()
                    }
                    None => words.clone(),
                },
            };
            arg.default_values(values)
        };
        match all.find_subcommand(name).is_some() && name != DEFAULT {
            true => all.mut_subcommand(name, |command| command.mut_arg(id, put)),
            // Both 'seekless PATH' and 'seekless find PATH'.
            false => all
                .mut_arg(&id, put)
                .mut_subcommand(DEFAULT, |command| command.mut_arg(id, put)),
        }
    })
}

/// True if two settings of one table exclude each other. `quiet` beside others only shows less.
fn contradicts(command: &Command, one: &Setting, two: &Setting, arg: &Arg) -> bool {
    let is_same_table = one.preset == two.preset && one.command == two.command;
    let is_quiet = one.option == "quiet" || two.option == "quiet";
    is_same_table
        && !is_quiet
        && two.value != Value::Flag(false)
        && one.option != two.option
        && is_undone_by(command, &one.option, arg)
}

/// True if an option of the file does not count where this one is given.
pub fn is_undone_by(command: &Command, option: &str, given: &Arg) -> bool {
    let Some(long) = given.get_long() else {
        return false;
    };
    let excludes = |a: &Arg, b: &str| {
        let all = command.get_arg_conflicts_with(a);
        all.iter().any(|arg| arg.get_long() == Some(b))
    };
    option == long
        || EXCLUSIVE
            .iter()
            .any(|options| options.contains(&option) && options.contains(&long))
        || excludes(given, option)
        || arg_of(command, option).is_some_and(|arg| excludes(arg, long))
}

/// Refuses what no command may be told by a file, wherever it stands.
pub fn check(config: &ConfigFile, definition: &Command) -> Result<(), String> {
    for setting in &config.settings {
        let wrong = match &setting.command {
            Some(command) => wrong_in(definition, command, &setting.option),
            None => wrong_in_all(definition, &setting.option),
        };
        if let Some(wrong) = wrong {
            return Err(config.at(setting, &wrong));
        }
    }
    Ok(())
}

fn wrong_in(definition: &Command, command: &str, option: &str) -> Option<String> {
    if !readers(definition).contains(&command) {
        return Some(format!(
            "no command '{command}' reads this file: {}",
            readers(definition).join(", ")
        ));
    }
    match arg_of(command_of(definition, command), option) {
        None if !is_never_set(option) => Some(no_option(definition, command, &[command], option)),
        _ => refusal(command, option),
    }
}

fn wrong_in_all(definition: &Command, option: &str) -> Option<String> {
    let readers = readers(definition);
    let mut having = readers
        .iter()
        .filter(|command| arg_of(command_of(definition, command), option).is_some())
        .peekable();
    let Some(first) = having.peek() else {
        return Some(no_option(definition, "seekless", &readers, option));
    };
    let refused = refusal(first, option);
    match having.all(|command| refusal(command, option).is_some()) {
        true => refused,
        false => None,
    }
}

/// Says that none of the commands has the option, and which key may be meant.
fn no_option(definition: &Command, who: &str, commands: &[&str], option: &str) -> String {
    let settable = commands.iter().flat_map(|command| {
        let args = command_of(definition, command).get_arguments();
        let longs = args.filter_map(Arg::get_long);
        longs.filter(|long| refusal(command, long).is_none())
    });
    let longs: Vec<&str> = settable.collect();
    let hyphens = option.replace('_', "-").to_lowercase();
    let same = longs.iter().find(|long| **long == hyphens).copied();
    match same.or_else(|| slips::nearly(&hyphens, longs.iter().copied())) {
        Some(meant) => format!("{who} has no option --{option}: write {meant}"),
        None => format!("{who} has no option --{option}: --help lists all options"),
    }
}

/// The commands that read the file.
pub fn readers(definition: &Command) -> Vec<&str> {
    let commands = definition.get_subcommands();
    let reading = commands.filter(|it| it.get_arguments().any(|arg| arg.get_id() == READER));
    reading.map(Command::get_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_presets_suit_every_command() {
        let config = ConfigFile::none();
        let definition = args::command();
        check(&config, &definition).expect("sound");
        for command in readers(&definition) {
            for preset in config.presets() {
                let chosen =
                    in_force(&config, &definition, command, Some(preset), &[]).expect("sound");
                with_defaults(args::command(), command, &chosen).debug_assert();
            }
        }
    }
}
