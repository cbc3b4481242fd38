//! Files of arguments, and presets: options that come before the typed ones. Where settings, journals and the cache are
//! kept.

use std::env;
use std::ffi::OsString;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use seekless::report::read::Source;

use crate::cli::args::common::{DEFAULT, arg_of, command_of, takes_value};
use crate::cli::terminal::console;

/// The options that a file may set for every command that has them. An action changes only what its command line says:
/// its paths, its filters and all that it is allowed to do are typed each time.
const FOR_ALL: [&str; 18] = [
    "absolute",
    "bwlimit",
    "cache",
    "color",
    "depth-random",
    "io-idle",
    "keep",
    "keep-n",
    "page-cache",
    "patience",
    "progress",
    "quiet",
    "same-metadata",
    "sidecars",
    "threads",
    "trash",
    "verbose",
    "verify",
];

/// These choose the files, so a file cannot set them.
const TYPED: [&str; 2] = ["preset", "no-config"];

/// Presets that need no file; a file of the same name replaces one.
const BUILT_IN: [(&str, &str); 2] = [
    // Leaves the disk and the page cache to other programs, and waits for disks that have to spin up.
    ("nas", "--io-idle\n--page-cache=drop\n--patience=300\n"),
    ("photos", "--type=image,video\n"),
];

/// A file of arguments, or a built-in preset.
struct Layer {
    name: String,
    text: String,
    /// It is only for `find`, which takes every option from it.
    is_of_find: bool,
}

/// Options of files, as they would be typed.
#[derive(Default)]
pub struct Untyped {
    /// The options.
    pub words: Vec<OsString>,
    /// One line that says which options come from which file.
    pub sources: Option<String>,
}

/// The options of files that a command follows: those of its preset, and of `config.find` or `config`. An option
/// replaces the same option of a layer that counts less, and those that exclude it.
///
/// # Errors
/// One line that names the file, the line in it, and what is wrong.
pub fn untyped(matches: &ArgMatches, program: &Command) -> Result<Untyped, String> {
    let (names, matches) = innermost(matches);
    let name = names.first().copied().unwrap_or(DEFAULT);
    let command = names.iter().fold(program, |it, name| command_of(it, name));
    let is_typed =
        |arg: &&Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let mut taken: Vec<&Arg> = command.get_arguments().filter(is_typed).collect();
    let mut untyped = Untyped::default();
    let mut sources = Vec::new();
    for layer in layers(name, matches)? {
        let mut options = layer.options(name, command, program)?;
        options.retain(|(arg, _)| !taken.iter().any(|other| exclude(command, arg, other)));
        taken.extend(options.iter().map(|(arg, _)| *arg));
        if !options.is_empty() {
            let words: Vec<&str> = options.iter().map(|(_, word)| word.as_str()).collect();
            sources.push(format!("from {}: {}", layer.name, words.join(", ")));
        }
        // What counts more comes later.
        let words = options.into_iter().map(|(_, word)| word.into());
        untyped.words.splice(0..0, words);
    }
    untyped.sources = (!sources.is_empty()).then(|| format!("options {}", sources.join("; ")));
    Ok(untyped)
}

/// The names of the command and of the one in it, as far as they were typed, and its arguments.
pub fn innermost(mut matches: &ArgMatches) -> (Vec<&str>, &ArgMatches) {
    let mut names = Vec::new();
    while let Some((name, inner)) = matches.subcommand() {
        names.push(name);
        matches = inner;
    }
    (names, matches)
}

const FORM: &str = "write one option on each line, as --name or --name=value";

/// The files of a command, the one that counts most first.
fn layers(name: &str, matches: &ArgMatches) -> Result<Vec<Layer>, String> {
    // Commands without the option read no file.
    let Ok(Some(&is_without)) = matches.try_get_one::<bool>("no_config") else {
        return Ok(Vec::new());
    };
    let folder = config();
    let mut layers = Vec::new();
    if let Some(preset) = matches.get_one::<String>("preset") {
        layers.push(self::preset(preset, folder.as_ref(), name == DEFAULT)?);
    }
    if let Some(folder) = folder.filter(|_| !is_without) {
        let own = folder.join(format!("config.{name}"));
        if name != DEFAULT && own.exists() {
            return Err(format!(
                "{}: is not read: write its options into config, or type them each time",
                console::path(&own)
            ));
        }
        for (file, is_of_find) in [("config.find", true), ("config", false)] {
            if !is_of_find || name == DEFAULT {
                layers.extend(read(folder.join(file), is_of_find)?);
            }
        }
    }
    Ok(layers)
}

fn preset(name: &str, folder: Option<&PathBuf>, is_of_find: bool) -> Result<Layer, String> {
    let path = folder.map(|folder| folder.join(format!("preset.{name}")));
    let file = path.clone().map(|path| read(path, is_of_find));
    if let Some(layer) = file.transpose()?.flatten() {
        return Ok(layer);
    }
    let built_in = BUILT_IN.iter().find(|(built_in, _)| *built_in == name);
    let layer = built_in.map(|(name, text)| Layer {
        name: format!("the built-in preset {name}"),
        text: (*text).to_owned(),
        is_of_find,
    });
    layer.ok_or_else(|| {
        let path = path.unwrap_or_else(|| "a file".into());
        let path = console::path(&path);
        format!("there is no preset '{name}': use nas or photos, or write its options into {path}")
    })
}

impl Layer {
    /// The options for a command, and the words that give them.
    fn options<'c>(
        &self,
        name: &str,
        command: &'c Command,
        program: &Command,
    ) -> Result<Vec<(&'c Arg, String)>, String> {
        let mut options = Vec::new();
        for (number, line) in self.text.lines().map(str::trim).enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: &str| Err(format!("{}:{}: {what}", self.name, number + 1));
            let Some(bare) = line.strip_prefix("--") else {
                return wrong(&format!("{line}: {FORM}"));
            };
            let (option, value) = match bare.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (bare, None),
            };
            let is_for_all = FOR_ALL.contains(&option);
            let arg = arg_of(command, option);
            let mut commands = program.get_subcommands();
            if !commands.any(|command| arg_of(command, option).is_some()) {
                return wrong(&if option.contains(' ') {
                    format!("{line}: {FORM}")
                } else {
                    format!("there is no option --{option}")
                });
            }
            let is_typed = TYPED.contains(&option) || line == "--cache=mtime";
            if is_typed || !is_for_all && !self.is_of_find {
                return wrong(&format!(
                    "--{option} must be typed each time: delete this line, or, for find, move it to config.find"
                ));
            }
            match arg {
                None if is_for_all => {}
                None => return wrong(&format!("{name} has no option --{option}")),
                // The next word would be its value.
                Some(arg) if takes_value(arg) && value.is_none() => {
                    return wrong(&format!("--{option} needs a value: write --{option}=VALUE"));
                }
                Some(arg) => options.push((arg, line.to_owned())),
            }
        }
        Ok(options)
    }
}

/// True if one option does not count beside the other: it is the same, or they exclude each other.
fn exclude(command: &Command, one: &Arg, other: &Arg) -> bool {
    let excludes = |one: &Arg, other: &Arg| {
        let excluded = command.get_arg_conflicts_with(one);
        excluded.iter().any(|arg| arg.get_id() == other.get_id())
    };
    one.get_id() == other.get_id() || excludes(one, other) || excludes(other, one)
}

/// Reads a file, if it is there and nobody else could have written it.
fn read(path: PathBuf, is_of_find: bool) -> Result<Option<Layer>, String> {
    let name = console::path(&path).into_owned();
    let unread = |error: &dyn std::fmt::Display| {
        format!("cannot read the configuration file {name}: {error}; --no-config ignores it")
    };
    match path.metadata() {
        Ok(now) if !now.is_file() => {
            return Err(unread(&"it is not a regular file: replace it by one"));
        }
        Ok(_) => {}
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            // A link to a disk that is not mounted may lead to settings that keep files.
            let Some(link) = path.ancestors().find(|part| is_broken_link(part)) else {
                return Ok(None);
            };
            let link = console::path(link);
            return Err(unread(&format!(
                "{link} is a broken symbolic link: repair or remove it"
            )));
        }
        Err(error) => return Err(unread(&error)),
    }
    let mut source = Source::open(&path).map_err(|error| unread(&error))?;
    if let Some(untrusted) = source.untrusted {
        return Err(format!(
            "the configuration file is not used, because another user could have written it: {untrusted}; {}, or add \
             --no-config",
            untrusted.way_out("XDG_CONFIG_HOME"),
        ));
    }
    let mut text = String::new();
    let read = source.input.read_to_string(&mut text);
    read.map_err(|error| unread(&error))?;
    Ok(Some(Layer {
        name,
        text,
        is_of_find,
    }))
}

fn is_broken_link(path: &Path) -> bool {
    path.is_symlink() && path.metadata().is_err()
}

/// The folder of the user's files of arguments: `$XDG_CONFIG_HOME/seekless`, or in `~/.config`; none without a home.
fn config() -> Option<PathBuf> {
    Some(base("XDG_CONFIG_HOME", ".config")?.join("seekless"))
}

/// Journals of what was done to files: `journals` in `$XDG_STATE_HOME/seekless`, or below `~/.local/state`; none
/// without a home.
pub fn journals() -> Option<PathBuf> {
    Some(base("XDG_STATE_HOME", ".local/state")?.join("seekless/journals"))
}

/// What searches keep of files: `$XDG_CACHE_HOME/seekless`, or below `~/.cache`; none without a home.
pub fn cache() -> Option<PathBuf> {
    Some(base("XDG_CACHE_HOME", ".cache")?.join("seekless"))
}

fn base(variable: &str, below_home: &str) -> Option<PathBuf> {
    folder(env::var_os(variable), env::var_os("HOME"), below_home)
}

/// By the XDG base directory specification, which has relative paths ignored.
fn folder(said: Option<OsString>, home: Option<OsString>, below_home: &str) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let said = said.and_then(absolute);
    said.or_else(|| Some(home.and_then(absolute)?.join(below_home)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args;

    #[test]
    fn each_option_for_all_exists() {
        let program = args::command();
        for option in FOR_ALL {
            let mut commands = program.get_subcommands();
            assert!(
                commands.any(|command| arg_of(command, option).is_some()),
                "{option}"
            );
        }
    }

    #[test]
    fn settings_are_where_the_user_keeps_them() {
        for (config, home, expected) in [
            (Some("/c"), Some("/home/me"), Some("/c")),
            (None, Some("/home/me"), Some("/home/me/.config")),
            (Some(""), Some("/home/me"), Some("/home/me/.config")),
            (Some("c"), Some("/home/me"), Some("/home/me/.config")),
            (Some("/c"), None, Some("/c")),
            (None, Some(""), None),
            (None, None, None),
        ] {
            let found = folder(config.map(Into::into), home.map(Into::into), ".config");
            assert_eq!(found, expected.map(PathBuf::from), "{config:?} {home:?}");
        }
    }
}
