//! Which options of files a run follows: they come before the typed ones.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use super::config_file::{self, Line};
use super::config_rules::{Files, check};
use crate::cli::args::definition::{DEFAULT, READER, arg_of, command_of, readers};
use crate::cli::terminal::sanitize;

/// Presets that need no file; a file of the same name replaces one.
const BUILT_IN: [(&str, &str); 2] = [
    // Leaves the disk and the page cache to other programs, and waits for disks that have to spin up.
    ("nas", "--io-idle\n--page-cache=drop\n--patience=300\n"),
    ("photos", "--type=image,video\n"),
];

/// The options of files that a run follows.
#[derive(Debug, Default)]
pub struct InForce {
    /// In the order in which they count.
    lines: Vec<Line>,
    /// The user was told where they come from.
    is_told: Cell<bool>,
}

impl From<Vec<Line>> for InForce {
    fn from(lines: Vec<Line>) -> Self {
        let is_told = Cell::new(false);
        Self { lines, is_told }
    }
}

impl InForce {
    /// The options as they would be typed.
    pub fn words(&self) -> impl Iterator<Item = OsString> {
        self.lines.iter().map(|line| line.word().into())
    }

    /// Forgets those that a typed option undid.
    pub fn retain(&mut self, matches: &ArgMatches, program: &Command) {
        let (name, matches) = matches.subcommand().unwrap_or((DEFAULT, matches));
        let command = command_of(program, name);
        self.lines.retain(|line| {
            let arg = arg_of(command, &line.option);
            arg.is_some_and(|arg| is_typed(matches, arg))
        });
    }

    /// Says which options come from where; nothing if all were typed, or if it was said before.
    pub fn line(&self) -> Option<String> {
        if self.is_told.replace(true) || self.lines.is_empty() {
            return None;
        }
        let sources = self.lines.chunk_by(|one, next| one.source == next.source);
        let sources = sources.map(|lines| {
            let words: Vec<String> = lines.iter().map(Line::shown).collect();
            format!("from {}: {}", lines[0].source, words.join(", "))
        });
        Some(format!(
            "Options {}.",
            sources.collect::<Vec<_>>().join("; ")
        ))
    }
}

/// What the typed command follows, unless it ignores all files.
///
/// # Errors
/// One line that names the file, the line in it and what is wrong.
pub fn chosen(
    matches: &ArgMatches,
    program: &Command,
    folder: Option<PathBuf>,
) -> Result<InForce, String> {
    let (name, matches) = matches.subcommand().unwrap_or((DEFAULT, matches));
    // Commands without the option read no file.
    let Ok(Some(&without)) = matches.try_get_one::<bool>(READER) else {
        return Ok(InForce::default());
    };
    let preset = matches.get_one::<String>("preset").map(String::as_str);
    let files = Options {
        folder: folder.filter(|_| !without),
        is_optional: true,
        program,
    };
    let mut lines = files.of(name, preset)?;
    let command = command_of(program, name);
    for typed in command.get_arguments().filter(|arg| is_typed(matches, arg)) {
        lines.retain(|line| !replaces(command, typed, &line.option));
    }
    Ok(InForce::from(lines))
}

/// Where options may come from.
#[derive(Clone, Debug)]
pub struct Options<'p> {
    /// The folder of the files.
    pub folder: Option<PathBuf>,
    /// The command has the option that ignores them.
    pub is_optional: bool,
    /// The definition of the command line.
    pub program: &'p Command,
}

impl Options<'_> {
    /// The options of a command: those for all commands, its own, and those of a preset. What comes later replaces what
    /// comes before.
    pub fn of(&self, name: &str, preset: Option<&str>) -> Result<Vec<Line>, String> {
        let mut files = Vec::new();
        if let Some(folder) = &self.folder {
            self.refuse_strays(folder)?;
            for (file, kind) in [
                ("config".to_owned(), Files::All),
                (format!("config.{name}"), Files::Command(name)),
            ] {
                let lines = config_file::read(&folder.join(file), self.is_optional)?;
                files.push((lines.unwrap_or_default(), kind));
            }
        }
        if let Some(preset) = preset {
            files.push((self.preset(preset)?, Files::Preset(name)));
        }
        let command = command_of(self.program, name);
        let mut chosen: Vec<Line> = Vec::new();
        for (mut lines, kind) in files {
            lines
                .iter()
                .try_for_each(|line| check(line, &kind, self.program))?;
            lines.retain(|line| arg_of(command, &line.option).is_some());
            if lines.is_empty()
                && let (Files::Preset(_), Some(preset)) = (&kind, preset)
            {
                return Err(format!(
                    "the preset '{preset}' has no option of {name}: omit --preset {preset}"
                ));
            }
            for line in &lines {
                let arg = arg_of(command, &line.option);
                chosen.retain(|it| arg.is_none_or(|arg| !replaces(command, arg, &it.option)));
            }
            chosen.extend(lines);
        }
        Ok(chosen)
    }

    /// The options of a preset, whatever command they are for.
    pub fn preset(&self, name: &str) -> Result<Vec<Line>, String> {
        let presets = self.presets();
        let built_in = BUILT_IN.iter().find(|(built_in, _)| *built_in == name);
        let path = self.folder.as_ref();
        let path = path.map(|folder| folder.join(format!("preset.{name}")));
        let file = path.as_deref().filter(|_| !name.contains('/'));
        let file = file.map(|path| config_file::read(path, self.is_optional));
        match (file.transpose()?.flatten(), built_in) {
            (Some(lines), _) => Ok(lines),
            (None, Some((name, text))) => {
                config_file::parse(text, &format!("the built-in preset {name}"), false)
            }
            (None, None) => Err(format!(
                "there is no preset '{name}': use one of {}, or write its options into {}",
                presets.join(", "),
                path.map_or_else(
                    || "a file".to_owned(),
                    |path| sanitize::path(&path).into_owned()
                )
            )),
        }
    }

    /// The names of all presets, sorted.
    pub fn presets(&self) -> Vec<String> {
        let names = self.names("preset.");
        let built_in = BUILT_IN.iter().map(|(name, _)| (*name).to_owned());
        let mut presets: Vec<String> = names.into_iter().chain(built_in).collect();
        presets.sort_unstable();
        presets.dedup();
        presets
    }

    /// Refuses a file that is meant for a command and is read for none: what it sets would be lost without a word.
    fn refuse_strays(&self, folder: &Path) -> Result<(), String> {
        let readers = readers(self.program);
        let mut names = self.names("config.").into_iter();
        // A copy that an editor or a user made has a name like config.find.old, or config.find~.
        let is_word = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphabetic());
        match names.find(|name| is_word(name) && !readers.contains(&name.as_str())) {
            Some(name) => Err(format!(
                "{}: no command '{name}' reads a file: rename it, to config or to config. and one of {}",
                sanitize::path(&folder.join(format!("config.{name}"))),
                readers.join(", ")
            )),
            None => Ok(()),
        }
    }

    /// What follows this start in the names of files.
    fn names(&self, start: &str) -> Vec<String> {
        // A folder that cannot be listed is named where a file in it is opened.
        let listed = self.folder.as_deref().map(fs::read_dir);
        let entries = listed.into_iter().flatten().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let names = names.filter_map(|name| name.strip_prefix(start).map(str::to_owned));
        names.collect()
    }
}

fn is_typed(matches: &ArgMatches, arg: &Arg) -> bool {
    matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
}

/// True if an option does not count beside this one, which counts more: it is the same, or they exclude each other.
fn replaces(command: &Command, arg: &Arg, option: &str) -> bool {
    let excludes = |one: &Arg, other: &Arg| {
        let excluded = command.get_arg_conflicts_with(one);
        excluded.iter().any(|arg| arg.get_id() == other.get_id())
    };
    arg_of(command, option).is_some_and(|other| {
        other.get_id() == arg.get_id() || excludes(arg, other) || excludes(other, arg)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args;

    #[test]
    fn built_in_presets_have_options_of_find() {
        let program = &args::command();
        let options = Options {
            folder: None,
            is_optional: true,
            program,
        };
        for (preset, _) in BUILT_IN {
            let lines = options.of(DEFAULT, Some(preset)).expect("sound");
            let words = ["seekless".to_owned()].into_iter();
            let words = words.chain(lines.iter().map(Line::word));
            assert!(program.clone().try_get_matches_from(words).is_ok());
        }
    }
}
