//! Says in one line why words are not understood, and what to type in their place.

use std::error::Error;
use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::definition::{DEFAULT, command_of};
use super::option_files::{self, DANGEROUS, listed};
use super::{shell_word, slips};

/// Says what is wrong and the way out; `None` for help and version, which come as errors, too.
pub fn answer(error: &clap::Error, words: &[OsString], program: &Command) -> Option<String> {
    if let answer @ Some(_) = option_files::answer(error, words) {
        return answer;
    }
    let name = words.get(1).and_then(|word| word.to_str());
    let name = name.filter(|name| program.find_subcommand(name).is_some());
    let asked = name.unwrap_or(DEFAULT);
    match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let slip = slips::answer("-d").filter(|_| is_delete(error, words));
            let slip = slip.map_or_else(String::new, |answer| format!("; {answer}"));
            Some(value(error)? + &slip)
        }
        ErrorKind::ArgumentConflict => conflict(error, words),
        ErrorKind::TooManyValues => {
            let option = listed(error, ContextKind::InvalidArg)?;
            // The parser marks options that can be repeated.
            let option = option.trim_end_matches("...");
            Some(format!("{option} takes no value: write {option} alone"))
        }
        ErrorKind::MissingRequiredArgument | ErrorKind::TooFewValues => missing(error, asked),
        ErrorKind::InvalidSubcommand => {
            let word = listed(error, ContextKind::InvalidSubcommand)?;
            // Only 'cache' and 'help' are followed by the name of a command.
            let start = if asked == "cache" { "cache " } else { "" };
            Some(format!(
                "no such command: {start}{word}; 'seekless {start}--help' lists the commands"
            ))
        }
        ErrorKind::UnknownArgument => unknown(error, words, asked, program),
        _ => None,
    }
}

/// Refuses the long name of an option after one hyphen, as find and rdfind have it: the parser would read `-output`
/// as `-o utput`.
pub fn one_hyphen(words: &[OsString], program: &Command) -> Option<String> {
    let is_long = |name: &str| {
        let commands = program.get_subcommands().chain([program]);
        let mut args = commands.flat_map(Command::get_arguments);
        let is_there = args.any(|arg| arg.get_long() == Some(name));
        name.len() > 1 && (is_there || matches!(name, "help" | "version"))
    };
    let mut options = option_files::options(words).filter_map(|word| word.to_str());
    let word = options.find(|word| {
        let name = word.strip_prefix('-').unwrap_or_default();
        is_long(name.split('=').next().unwrap_or(name)) && !option_files::is_here(word.as_ref())
    })?;
    Some(format!("no such option: {word}; use -{word}"))
}

/// Says what stands for an argument that the command does not have. An option is proposed only if it is one slip away
/// and not dangerous.
fn unknown(
    error: &clap::Error,
    words: &[OsString],
    asked: &str,
    program: &Command,
) -> Option<String> {
    let typed = listed(error, ContextKind::InvalidArg)?;
    let word = typed.split('=').next().unwrap_or(&typed);
    // The parser reads each letter of '-iname' as an option.
    let is_letter = word.len() == 2 && word.as_bytes()[1].is_ascii_alphabetic();
    let is_whole = |typed: &&str| {
        let is_short = typed.starts_with('-') && !typed.starts_with("--");
        is_letter && is_short && typed.len() > 4 && typed.contains(&word[1..])
    };
    let mut all = words.iter().filter_map(|word| word.to_str());
    let word = all.find(is_whole).unwrap_or(word);
    // '-d' is an option of 'find'.
    if let Some(answer) = slips::answer(word).filter(|_| word != "-d") {
        return Some(format!("no such option: {word}; {answer}"));
    }
    let Some(letters) = word.strip_prefix('-') else {
        return Some(format!(
            "one argument too many: {word}; 'seekless {asked} --help' shows the usage"
        ));
    };
    if letters.parse::<f64>().is_ok() {
        let mut pairs = words.windows(2).filter_map(|pair| {
            let (option, value) = (pair[0].to_str()?, pair[1].to_str()?);
            (option.starts_with('-') && value.starts_with(word)).then_some((option, value))
        });
        return Some(match pairs.next() {
            Some((option, value)) => {
                format!("{option} {value} is negative: {option} takes no negative number")
            }
            None => format!("no such option: {word}; to name such a file, write ./{word}"),
        });
    }
    let long = letters.strip_prefix('-');
    if let Some(command) = long.and_then(|long| program.find_subcommand(long)) {
        let name = command.get_name();
        return Some(format!(
            "no such option: {word}; use the command 'seekless {name}'"
        ));
    }
    if let Some(meant) = near(long, [command_of(program, asked)]) {
        return Some(format!("no such option: {word}. Did you mean --{meant}?"));
    }
    // An option of other commands, or nearly one.
    let letter = letters.chars().next();
    let meant = near(long, program.get_subcommands()).or(long);
    let has_it = |command: &&Command| {
        shown(command).any(|arg| match meant {
            Some(meant) => arg.get_long() == Some(meant),
            None => letters.len() == 1 && arg.get_short() == letter,
        })
    };
    let others = program.get_subcommands().filter(has_it);
    let others: Vec<_> = others.map(Command::get_name).collect();
    let of_others = match &others[..] {
        [] => String::new(),
        others => format!(
            " ({} is an option of {})",
            meant.map_or_else(|| word.to_owned(), |meant| format!("--{meant}")),
            others.join(", ")
        ),
    };
    Some(format!(
        "'seekless {asked}' has no option {word}{of_others}; 'seekless {asked} --help' lists all options"
    ))
}

fn shown(command: &Command) -> impl Iterator<Item = &clap::Arg> {
    command.get_arguments().filter(|arg| !arg.is_hide_set())
}

/// The harmless option of these commands that is one slip away.
fn near<'c>(
    long: Option<&str>,
    commands: impl IntoIterator<Item = &'c Command>,
) -> Option<&'c str> {
    let options = commands.into_iter().flat_map(shown);
    let options = options.filter_map(clap::Arg::get_long);
    let is_harmless = |long: &&str| !DANGEROUS.iter().any(|known| known[2..] == **long);
    slips::nearly(long?, options.filter(is_harmless))
}

/// True for `-d` with something else than a number: in fdupes and jdupes it takes no value.
fn is_delete(error: &clap::Error, words: &[OsString]) -> bool {
    let option = listed(error, ContextKind::InvalidArg).unwrap_or_default();
    let mut words = words.iter().filter_map(|word| word.to_str());
    option.starts_with("--max-depth ") && words.any(|word| word.starts_with("-d"))
}

/// Says which options exclude each other: of those that the parser lists, the typed ones.
fn conflict(error: &clap::Error, words: &[OsString]) -> Option<String> {
    // Without the names of their values.
    let bare = |args: String| {
        let options = args.split(", ").map(|arg| arg.split(" <").next());
        let all: Vec<_> = options.flatten().collect();
        let is_typed = |arg: &&&str| {
            let mut words = words.iter().filter_map(|word| word.to_str());
            words.any(|word| word.split('=').next() == Some(**arg))
        };
        let typed: Vec<_> = all.iter().filter(is_typed).copied().collect();
        if typed.is_empty() { all } else { typed }.join(", ")
    };
    let others = listed(error, ContextKind::PriorArg).map(bare);
    if let Some(task) = listed(error, ContextKind::InvalidSubcommand) {
        return Some(match others {
            Some(others) => format!("{others}: write it after {task}"),
            None => format!("options come after the task: write {task} first"),
        });
    }
    let others = others?;
    let arg = bare(listed(error, ContextKind::InvalidArg)?);
    Some(if arg == others {
        format!("{arg} was given twice: give it once")
    } else {
        format!("{arg} cannot be used with {others}: omit one or the other")
    })
}

/// Says what is required and not there.
fn missing(error: &clap::Error, asked: &str) -> Option<String> {
    if asked == "compare" {
        return Some("compare needs at least two sides: seekless compare SIDE SIDE".to_owned());
    }
    let args = listed(error, ContextKind::InvalidArg)?;
    Some(format!("'seekless {asked}' needs {args} here: add it"))
}

/// Says which value is not understood, and what to write.
fn value(error: &clap::Error) -> Option<String> {
    let arg = listed(error, ContextKind::InvalidArg)?;
    let value = listed(error, ContextKind::InvalidValue)?;
    let option = arg.split(' ').next().unwrap_or(&arg);
    let shown = match value.as_str() {
        "" => format!("{option} needs a value"),
        value => format!("{option} {}", shell_word::word(value.as_bytes())),
    };
    if let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue)
        && !values.is_empty()
    {
        let lower = value.to_lowercase();
        let nearly = [lower.as_str(), lower.trim_end_matches('s')];
        let meant = values.iter().find(|value| nearly.contains(&value.as_str()));
        return Some(match meant {
            Some(meant) => format!("{shown}: write {option} {meant}"),
            None => format!("{shown}: use one of {}", values.join(", ")),
        });
    }
    Some(match error.source().map(ToString::to_string) {
        None => format!("{shown}: 'seekless --help' explains {arg}"),
        // In the words of the parser: "0 is not in 1..=100", "invalid digit found in string".
        Some(cause) => match cause.split_once(" is not in ") {
            Some((_, range)) => format!("{shown}: write a whole number{}", bounds(range)),
            None if ["integer", "in string", "too large"]
                .iter()
                .any(|it| cause.contains(it)) =>
            {
                format!("{shown}: write a whole number, as in {option} 5")
            }
            None => format!("{shown}: {cause}"),
        },
    })
}

/// The bounds of a range of whole numbers, without one that nobody reaches.
fn bounds(range: &str) -> String {
    let (least, most) = range.split_once("..").unwrap_or((range, ""));
    let most = most.trim_start_matches('=');
    if most.len() > 3 {
        format!(", {least} or more")
    } else {
        format!(" from {least} to {most}")
    }
}
