//! Refuses values that begin with `~/`: a shell replaces the tilde only at the beginning of a word without quotes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use clap::{ArgMatches, Command};

use super::sanitize;

/// A line for the first such value of the command, unless the current folder has an entry with the name `~`.
pub fn refused(matches: &ArgMatches, command: &Command) -> Option<String> {
    if let Some((name, below)) = matches.subcommand()
        && let Some(command) = command.find_subcommand(name)
        && let Some(line) = refused(below, command)
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
