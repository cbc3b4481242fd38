//! Which options a file may set: an action touches only what its command line says.

use clap::Command;

use super::config_file::Line;
use crate::cli::args::definition::{arg_of, command_of, readers, takes_value};

/// How something is shown, and how files are read; for every command.
const READING: [&str; 9] = [
    "color",
    "progress",
    "no-progress",
    "quiet",
    "verbose",
    "page-cache",
    "bwlimit",
    "io-idle",
    "patience",
];

/// How a search reads, and which file of a set comes first; for actions.
const SEARCHING: [&str; 6] = [
    "threads",
    "depth-random",
    "memory",
    "cache",
    "verify",
    "keep",
];

/// Which files of a set stay, and how the others go; for actions.
const ACTING: [&str; 5] = ["keep-n", "sidecars", "trash", "same-metadata", "absolute"];

/// What a search is about, where its result goes, and what the exit status says: find takes every other option from a
/// file.
const TYPED: [&str; 10] = [
    "from",
    "stdin",
    "null",
    "isolate",
    "output",
    "summary-only",
    "omit-first",
    "exit-code",
    "preset",
    "no-config",
];

/// The command that a file is for.
#[derive(Clone, Copy, Debug)]
pub enum Files<'c> {
    /// All that have an option.
    All,
    /// This one.
    Command(&'c str),
    /// This one, at the user's request for this run; the file may be for others as well.
    Preset(&'c str),
}

/// Checks a line by itself.
///
/// # Errors
/// One line that names the place, the option and the way out.
pub fn check(line: &Line, file: &Files<'_>, program: &Command) -> Result<(), String> {
    let option = line.option.as_str();
    let mut having = readers(program);
    having.retain(|name| arg_of(command_of(program, name), option).is_some());
    let having_own = |name: &str| having.contains(&name);
    let arg = match *file {
        Files::Command(name) if !having_own(name) => None,
        _ => having
            .first()
            .and_then(|name| arg_of(command_of(program, name), option)),
    };
    let Some(arg) = arg else {
        let name = match file {
            Files::Command(name) => name,
            _ => "seekless",
        };
        return Err(line.wrong(&format!("{name} has no option --{option}")));
    };
    let is_settable = match *file {
        Files::All => having.iter().all(|name| may_set(name, option)),
        Files::Preset(name) if !having_own(name) => having.iter().any(|name| may_set(name, option)),
        Files::Command(name) | Files::Preset(name) => may_set(name, option),
    };
    if !is_settable {
        let way_out = match file {
            Files::All if having_own("find") && may_set("find", option) => {
                "move this line to config.find"
            }
            Files::Preset(_) => "omit --preset",
            _ => "delete this line",
        };
        return Err(line.wrong(&format!("--{option} must be typed each time: {way_out}")));
    }
    let wrong = match (takes_value(arg), line.value.as_deref()) {
        (true, None) => format!("--{option} needs a value: write --{option}=VALUE"),
        (false, Some(_)) => format!("--{option} takes no value: write --{option}"),
        (_, Some(value)) if value == "~" || value.starts_with("~/") => {
            format!("--{option}: a ~ stands for no folder in this file: write the whole path")
        }
        (_, Some("mtime")) if option == "cache" => {
            "--cache=mtime must be typed each time: delete this line".to_owned()
        }
        (_, Some(value)) if option == "cache" && !value.starts_with('/') && value != "off" => {
            "--cache: a relative path would depend on the current folder: write the whole path"
                .to_owned()
        }
        _ => return Ok(()),
    };
    Err(line.wrong(&wrong))
}

fn may_set(command: &str, option: &str) -> bool {
    match command {
        "find" => !TYPED.contains(&option),
        "compare" | "folders" => READING.contains(&option),
        _ => [&READING[..], &SEARCHING, &ACTING]
            .concat()
            .contains(&option),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args;

    #[test]
    fn each_named_option_exists() {
        let program = args::command();
        let all = [&READING[..], &SEARCHING, &ACTING, &TYPED].concat();
        for option in all {
            let mut commands = program.get_subcommands();
            let is_there = commands.any(|command| arg_of(command, option).is_some());
            assert!(is_there, "{option}");
        }
    }
}
