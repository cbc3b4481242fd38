//! Lets options stand before the command's name.
//!
//! `seekless -v find photos` reads naturally, but the parser takes `find` for a folder once it has
//! seen an option of the default command. So the first word that is no option comes first, if it
//! names a command. `./find`, or anything after `--`, is a path. Where the current folder has an entry of
//! that name, a line says what was taken.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use clap::{ArgMatches, Command};

use super::option_files::{self, is_here};
use super::{sanitize, slips};

/// Moves the command's name to the front of the words, if it is there.
pub fn first(mut words: Vec<OsString>, command: &Command) -> Vec<OsString> {
    if let Some(place) =
        first_bare(&words, command).filter(|&place| names_command(&words[place], command))
    {
        words[1..=place].rotate_right(1);
    }
    words
}

/// Refuses a command's name behind options if the name and an option are also entries of the current folder: a shell
/// may have written both for `*`.
pub fn refused(words: &[OsString], command: &Command) -> Option<String> {
    let place = first_bare(words, command)?;
    let name = words[place].to_str()?;
    let is_entry = place > 1 && names_command(name.as_ref(), command) && is_here(name.as_ref());
    let mut options = option_files::options(&words[..place]).filter(|_| is_entry);
    let option = sanitize::path(Path::new(options.find(|option| is_here(option))?));
    Some(format!(
        "{option} would be read as an option and '{name}' as a command, and both are entries of the current folder: to \
         search them, write ./{option} and ./{name}, or -- before all names; to run the command, write its name first"
    ))
}

/// Says that a word was taken as a command if the current folder has an entry of that name.
pub fn tell(matches: &ArgMatches) {
    let Some((name, options)) = matches.subcommand() else {
        return;
    };
    let is_quiet = matches!(options.try_get_one("quiet"), Ok(Some(true)));
    // With a command of its own behind it, nothing else can be meant.
    let is_certain = options.subcommand().is_some();
    if !is_quiet && !is_certain && is_here(name.as_ref()) {
        sanitize::complain(&format!(
            "'{name}' is read as a command; to search the entry of that name in the current folder, write ./{name}"
        ));
    }
}

/// Says so if the first word is nearly a command's name, or a command of another program, and there is no such file.
pub fn mistyped(words: &[OsString], command: &Command) -> Option<String> {
    let place = first_bare(words, command)?;
    // The word may be the value of an option that is not ours: that option is what is wrong.
    if words[1..place].iter().any(|word| is_unknown(word, command)) {
        return None;
    }
    let word = words[place].to_str()?;
    if names_command(word.as_ref(), command) || Path::new(word).symlink_metadata().is_ok() {
        return None;
    }
    let names = command.get_subcommands().map(Command::get_name);
    let names: Vec<&str> = names.chain(["help"]).collect();
    let lower = word.to_ascii_lowercase();
    let same = names.iter().find(|name| **name == lower).copied();
    if let Some(meant) = same.or_else(|| slips::nearly(&lower, names)) {
        let plan = match has_plan(command, meant) {
            true => " (--dry-run shows the plan)",
            false => "",
        };
        return Some(format!(
            "no such file: {word}. Did you mean the command 'seekless {meant}'{plan}?"
        ));
    }
    slips::answer(&lower).map(|answer| format!("no such file: {word}; {answer}"))
}

/// True for a command that changes files.
fn has_plan(program: &Command, name: &str) -> bool {
    let command = program.find_subcommand(name);
    command.is_some_and(|it| it.get_arguments().any(|arg| arg.get_id() == "dry_run"))
}

fn names_command(word: &OsStr, command: &Command) -> bool {
    word.to_str()
        .is_some_and(|name| name == "help" || command.find_subcommand(name).is_some())
}

/// Finds the first word that is no option nor an option's value.
fn first_bare(words: &[OsString], command: &Command) -> Option<usize> {
    let mut value_follows = false;
    for (place, word) in words.iter().enumerate().skip(1) {
        let bytes = word.as_bytes();
        if value_follows {
            value_follows = false;
        } else if bytes == b"--" {
            return None;
        } else if let Some(long) = bytes.strip_prefix(b"--") {
            value_follows = takes_value(command, |arg| {
                arg.get_long().is_some_and(|name| name.as_bytes() == long)
            });
        } else if bytes.len() > 1 && bytes[0] == b'-' {
            value_follows = cluster_wants_value(&bytes[1..], command);
        } else {
            return Some(place);
        }
    }
    None
}

/// Looks through `-qf json`: a letter that takes a value takes the rest of the word, or the next.
fn cluster_wants_value(letters: &[u8], command: &Command) -> bool {
    let with_value = letters.iter().position(|&letter| {
        takes_value(command, |arg| arg.get_short() == Some(char::from(letter)))
    });
    with_value.is_some_and(|place| place + 1 == letters.len())
}

/// True for an option that neither the search nor any command has.
fn is_unknown(word: &OsStr, command: &Command) -> bool {
    let has = |is_meant: &dyn Fn(&clap::Arg) -> bool| {
        let commands = command.get_subcommands().chain([command]);
        commands.flat_map(Command::get_arguments).any(is_meant)
    };
    let Some(word) = word.to_str().filter(|word| word.starts_with('-')) else {
        return false;
    };
    match word.strip_prefix("--") {
        Some(long) => {
            let name = long.split('=').next();
            !has(&|arg| arg.get_long() == name) && !matches!(name, Some("help" | "version"))
        }
        None => {
            let mut letters = word.chars().skip(1);
            // Behind a letter that takes a value, the rest of the word is the value.
            let mut letters = letters
                .by_ref()
                .take_while(|letter| !takes_value(command, |arg| arg.get_short() == Some(*letter)));
            letters.any(|letter| {
                !has(&|arg| arg.get_short() == Some(letter)) && !matches!(letter, 'h' | 'V')
            })
        }
    }
}

fn takes_value(command: &Command, is_meant: impl Fn(&clap::Arg) -> bool) -> bool {
    let arg = command.get_arguments().find(|arg| is_meant(arg));
    arg.is_some_and(option_files::takes_value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args;

    #[test]
    fn command_comes_first() {
        for (line, expected) in [
            ("s", "s"),
            ("s a", "s a"),
            ("s find a", "s find a"),
            ("s -x find a", "s find -x a"),
            ("s -xvv find a", "s find -xvv a"),
            ("s -f text find a", "s find -f text a"),
            ("s -ftext find a", "s find -ftext a"),
            ("s -qf text find", "s find -qf text"),
            ("s --format text find", "s find --format text"),
            ("s --format=text find", "s find --format=text"),
            ("s -f find a", "s -f find a"),
            ("s --name find a", "s --name find a"),
            ("s --name find find a", "s find --name find a"),
            ("s -v man", "s man -v"),
            ("s -v help", "s help -v"),
            ("s a find", "s a find"),
            ("s -x ./find", "s -x ./find"),
            ("s -x -- find", "s -x -- find"),
            ("s - find", "s - find"),
        ] {
            let words = line.split(' ').map(OsString::from).collect();
            let expected: Vec<_> = expected.split(' ').map(OsString::from).collect();
            assert_eq!(first(words, &args::command()), expected, "{line}");
        }
    }
}
