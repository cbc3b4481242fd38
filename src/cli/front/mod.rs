//! Before a command begins: its words, the files of arguments, and what is said about wrong ones. Some typed words mean
//! something else than they seem to: files that look like options, and a `~` that no shell replaced.

pub mod config;
pub mod problems;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use clap::{ArgMatches, Command};
use seekless::heartbeat::within;

use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Stop, refuse};

/// How long the current folder may take to say whether it has an entry. A server that does not answer must not
/// keep a command waiting that may not need it.
const ANSWER: Duration = Duration::from_secs(1);

/// Refuses an option that is also the name of a file: a shell may have written it for `*`.
pub fn file_or_option(words: &[OsString]) -> Result<(), Stop> {
    let words = words.iter().skip(1).take_while(|word| *word != "--");
    let options = words.filter(|word| word.len() > 1 && word.as_bytes().starts_with(b"-"));
    let Some(word) = first_here(options) else {
        return Ok(());
    };
    let word = console::path(Path::new(&word));
    refuse(format!(
        "{word} is read as an option, and is also a file here: to name the file, write ./{word}, or -- before all \
        names; to give the option, run the command in another folder"
    ))
}

/// Refuses a search of what has the name of a command, and is no file here; and of a first word that is neither.
pub fn path_or_command(matches: &ArgMatches, program: &Command) -> Result<(), Stop> {
    let roots = matches.get_many::<OsString>("roots").into_iter().flatten();
    for (nth, word) in roots.filter_map(|root| root.to_str()).enumerate() {
        let command = |is_meant: fn(&str, &str) -> bool| {
            let mut commands = program.get_subcommands().map(Command::get_name);
            commands.find(|name| is_meant(word, name))
        };
        let meant = command(str::eq_ignore_ascii_case);
        // An empty path is refused with the others.
        let is_word = !word.is_empty() && !word.contains(['/', '.']);
        let is_first = nth == 0 && matches.subcommand().is_none() && is_word;
        if meant.is_none() && !is_first || !is_nowhere(word) {
            continue;
        }
        if let Some(meant) = meant {
            return refuse(format!(
                "no such file: {word}. Did you mean the command 'seekless {meant}'? The command is the first word"
            ));
        }
        let way_out = match command(is_near) {
            Some(near) => format!(". Did you mean 'seekless {near}'?"),
            None => "; 'seekless --help' lists all commands".to_owned(),
        };
        let word = console::path(Path::new(word));
        return refuse(format!(
            "{word}: neither a command nor a path that exists{way_out}"
        ));
    }
    Ok(())
}

/// True if two words differ in a letter or two, as a slip makes them.
pub fn is_near(typed: &str, word: &str) -> bool {
    strsim::damerau_levenshtein(typed, word) <= typed.len() / 3
}

/// Refuses a path that begins with `~/`: a shell replaces the tilde only at the beginning of a word without quotes.
pub fn no_tilde(words: &[OsString]) -> Result<(), Stop> {
    let value = |word: &OsString| {
        let word = word.as_bytes();
        let equals = word.iter().position(|&byte| byte == b'=');
        let start = equals.filter(|_| word.starts_with(b"-"));
        OsStr::from_bytes(&word[start.map_or(0, |at| at + 1)..]).to_owned()
    };
    let is_tilde = |value: &OsStr| value == "~" || value.as_bytes().starts_with(b"~/");
    let Some(word) = words.iter().find(|word| is_tilde(&value(word))) else {
        return Ok(());
    };
    if first_here(["~"]).is_some() {
        return Ok(());
    }
    let rest = value(word);
    let rest = console::path(Path::new(&rest))
        .trim_start_matches(['~', '/'])
        .to_owned();
    refuse(format!(
        "the shell did not replace the ~ in {}: write the whole path, as in \"$HOME/{rest}\", or './~/{rest}' for a \
        folder with the name ~",
        console::path(Path::new(word))
    ))
}

/// True if the current folder says that it has no such name.
fn is_nowhere(name: &str) -> bool {
    let name = name.to_owned();
    let found = within(Some(ANSWER), move || Path::new(&name).symlink_metadata());
    found.is_ok_and(|found| found.is_err())
}

/// The first of these names that the current folder has.
fn first_here(names: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Option<OsString> {
    let names = names.into_iter().map(|name| name.as_ref().to_owned());
    let mut names: Vec<OsString> = names.collect();
    if names.is_empty() {
        return None;
    }
    let found = within(Some(ANSWER), move || {
        let is_here = |name: &OsString| Path::new(name).symlink_metadata().is_ok();
        names.drain(..).find(is_here)
    });
    found.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_a_letter_or_two() {
        for (typed, word, expected) in [
            ("remvoe", "remove", true),
            ("trsah", "trash", true),
            ("min-szie", "min-size", true),
            ("force", "format", false),
            ("none", "move", false),
            ("symlinks", "hard-links", false),
            ("min-overlap", "ignore-case", false),
        ] {
            assert_eq!(is_near(typed, word), expected, "{typed} {word}");
        }
    }
}
