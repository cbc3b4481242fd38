//! Words of the command line that a shell may have written for `*`: names of files that look like options or commands.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use clap::{ArgMatches, Command};
use seekless::heartbeat::within;

use super::slips;
use crate::cli::terminal::sanitize;

/// How long the current folder may take to say whether it has an entry. A server that does not answer must not
/// keep a command waiting that may not need it.
const ANSWER: Duration = Duration::from_secs(1);

/// Refuses an option that is also the name of a file: nobody can tell whether it was typed.
pub fn refused(words: &[OsString]) -> Option<String> {
    let options = before_names(words).filter(|word| word.len() > 1);
    let options = options.filter(|word| word.as_bytes().starts_with(b"-"));
    let word = first_here(options)?;
    let word = sanitize::path(Path::new(&word));
    Some(format!(
        "{word} is read as an option, and is also a file here: to name the file, write ./{word}, or -- before all \
        names; to give the option, run the command in another folder"
    ))
}

/// Refuses the name of a command behind options, where the parser takes it for a path.
pub fn misplaced(words: &[OsString], matches: &ArgMatches, program: &Command) -> Option<String> {
    if matches.subcommand_name().is_some() {
        return None;
    }
    let mut paths = matches.get_many::<OsString>("roots")?;
    let is_command = |path: &&OsString| {
        let name = path
            .to_str()
            .filter(|_| before_names(words).any(|word| word == **path));
        name.is_some_and(|name| name == "help" || program.find_subcommand(name).is_some())
    };
    let name = paths.find(is_command)?.display();
    Some(format!(
        "'{name}' is the name of a command: write it before all options; for the entry of that name in the current \
        folder, write ./{name}"
    ))
}

/// Refuses a first word that is no file here, and nearly a command or one of another program.
pub fn mistyped(words: &[OsString], program: &Command) -> Option<String> {
    let word = words.get(1)?.to_str()?;
    if program.find_subcommand(word).is_some() || word == "help" {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let names = program.get_subcommands().map(Command::get_name);
    let answer = match slips::nearly(&lower, names.chain(["help"])) {
        Some(meant) => format!(". Did you mean the command 'seekless {meant}'?"),
        None if word.starts_with('-') => return None,
        None => format!("; {}", slips::answer(&lower)?),
    };
    // Last, since it asks the file system.
    let is_here = first_here([OsStr::new(word)]).is_some();
    (!is_here).then(|| format!("no such file: {word}{answer}"))
}

/// Says that a word was taken as a command if the current folder has an entry of that name.
pub fn tell(matches: &ArgMatches) {
    let Some((name, options)) = matches.subcommand() else {
        return;
    };
    let is_quiet = matches!(options.try_get_one("quiet"), Ok(Some(true)));
    // With a command of its own behind it, nothing else can be meant.
    let is_certain = options.subcommand().is_some();
    if !is_quiet && !is_certain && first_here([OsStr::new(name)]).is_some() {
        sanitize::complain(&format!(
            "'{name}' is read as a command; to search the entry of that name in the current folder, write ./{name}"
        ));
    }
}

/// The words that are not behind `--`, without the name of the program.
fn before_names(words: &[OsString]) -> impl Iterator<Item = &OsStr> {
    let words = words.iter().skip(1).map(OsString::as_os_str);
    words.take_while(|word| *word != "--")
}

/// The first of these names that the current folder has.
fn first_here<'n>(names: impl IntoIterator<Item = &'n OsStr>) -> Option<OsString> {
    let mut names: Vec<OsString> = names.into_iter().map(OsStr::to_owned).collect();
    if names.is_empty() {
        return None;
    }
    let found = within(Some(ANSWER), move || {
        let is_here = |name: &OsString| Path::new(name).symlink_metadata().is_ok();
        names.drain(..).find(is_here)
    });
    found.ok().flatten()
}

/// Refuses values that begin with `~/`: a shell replaces the tilde only at the beginning of a word without quotes. The
/// line is for the first such value, unless the current folder has an entry with the name `~`.
pub fn unexpanded(matches: &ArgMatches, command: &Command) -> Option<String> {
    if let Some((name, below)) = matches.subcommand()
        && let Some(command) = command.find_subcommand(name)
        && let Some(line) = unexpanded(below, command)
    {
        return Some(line);
    }
    let mut given = command.get_arguments().filter_map(|arg| {
        let values = matches.try_get_raw(arg.get_id().as_str()).ok()??;
        let value = values.into_iter().find(|value| begins_with_tilde(value))?;
        Some((arg.get_long(), value))
    });
    let (option, value) = given.next()?;
    if Path::new("~").symlink_metadata().is_ok() {
        return None;
    }
    let option = option.map_or_else(String::new, |option| format!("--{option}: "));
    let value = sanitize::path(Path::new(value));
    let rest = value.trim_start_matches(['~', '/']);
    Some(format!(
        "{option}the shell did not replace the ~ of '{value}': write \"$HOME/{rest}\", or './~/{rest}' for a folder \
        with the name ~"
    ))
}

fn begins_with_tilde(value: &OsStr) -> bool {
    value == "~" || value.as_bytes().starts_with(b"~/")
}
