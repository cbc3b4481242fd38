//! Says in one line why words are not understood, and what to type in their place.

use std::error::Error;
use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::slips;
use crate::cli::args::definition::{DEFAULT, command_of};
use crate::cli::terminal::shell_word;

/// Says what is wrong and the way out, in the words of the parser where it has more to say.
pub fn answer(error: &clap::Error, words: &[OsString], program: &Command) -> String {
    let name = words.get(1).and_then(|word| word.to_str());
    let is_command = |name: &&str| *name != "help" && program.find_subcommand(name).is_some();
    let asked = name.filter(is_command);
    let asked = asked.unwrap_or(DEFAULT);
    let arg = listed(error, ContextKind::InvalidArg);
    let said = match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            arg.and_then(|arg| value(error, &arg))
        }
        ErrorKind::ArgumentConflict => {
            arg.map(bare).zip(typed(error, words)).map(|(arg, prior)| {
                if arg == prior {
                    format!("{arg} was given twice: give it once")
                } else {
                    format!("{arg} cannot be used with {prior}: omit one or the other")
                }
            })
        }
        ErrorKind::MissingRequiredArgument | ErrorKind::TooFewValues => {
            arg.map(|args| format!("'seekless {asked}' needs {args} here: add it"))
        }
        ErrorKind::UnknownArgument => arg.map(|word| unknown(&word, asked, program)),
        _ => None,
    };
    let said = said.unwrap_or_else(|| in_one_line(error));
    // A message with a colon ends in the way out.
    if said.contains(": ") {
        said
    } else {
        format!("{said}; 'seekless {asked} --help' lists all options")
    }
}

/// Options that take away a question or a check: none of them is proposed.
const DANGEROUS: [&str; 3] = ["yes", "allow", "cache"];

/// Says what is like a word that the command does not have.
fn unknown(word: &str, asked: &str, program: &Command) -> String {
    let typed = word.split('=').next().unwrap_or(word);
    if let Some(answer) = slips::answer(typed) {
        return format!("no such option: {typed}; {answer}");
    }
    let Some(long) = typed.strip_prefix("--") else {
        return if word.starts_with('-') {
            format!("'seekless {asked}' has no option {word}")
        } else {
            format!("{word} is one argument too many")
        };
    };
    let options = command_of(program, asked).get_arguments();
    let options = options.filter_map(|arg| arg.get_long());
    match slips::nearly(long, options.filter(|name| !DANGEROUS.contains(name))) {
        Some(meant) => format!("no such option: {typed}. Did you mean --{meant}?"),
        None => format!("'seekless {asked}' has no option {typed}"),
    }
}

/// What the parser prints, without the usage.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let said = lines.collect::<Vec<_>>().join(" ");
    said.trim_start_matches("error: ").to_owned()
}

/// Says which value is not understood, and what to write.
fn value(error: &clap::Error, arg: &str) -> Option<String> {
    let value = listed(error, ContextKind::InvalidValue)?;
    let option = arg.split(' ').next().unwrap_or(arg);
    let shown = match value.as_str() {
        "" => format!("{option} needs a value"),
        value => format!("{option} {}", shell_word::word(value.as_bytes())),
    };
    if let Some(values) = listed(error, ContextKind::ValidValue) {
        return Some(format!("{shown}: use one of {values}"));
    }
    Some(match error.source().map(ToString::to_string) {
        None => format!("{shown}: 'seekless --help' explains {arg}"),
        // In the words of the parser: "0 is not in 1..=100", "invalid digit found in string".
        Some(cause) => match cause.split_once(" is not in ") {
            Some((_, range)) => format!("{shown}: write a whole number{}", bounds(range)),
            None if cause.contains("in string") || cause.contains("too large") => {
                format!("{shown}: write a whole number, as in {option} 5")
            }
            None => format!("{shown}: {cause}"),
        },
    })
}

/// The bounds of a range of whole numbers, without one that nobody reaches.
fn bounds(range: &str) -> String {
    let (least, most) = range.split_once("..").unwrap_or((range, ""));
    match most.trim_start_matches('=') {
        most if most.len() > 3 => format!(", {least} or more"),
        most => format!(" from {least} to {most}"),
    }
}

/// The arguments that exclude the one that an error names: of a group, those that were typed.
fn typed(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let all = listed(error, ContextKind::PriorArg)?;
    let all: Vec<String> = all.split(", ").map(|arg| bare(arg.to_owned())).collect();
    let is_typed = |arg: &&String| {
        let mut words = words.iter().filter_map(|word| word.to_str());
        words.any(|word| word.split('=').next() == Some(arg))
    };
    let typed: Vec<_> = all.iter().filter(is_typed).cloned().collect();
    Some(if typed.is_empty() { all } else { typed }.join(", "))
}

/// An option without the name of its value.
fn bare(arg: String) -> String {
    arg.split(" <").next().unwrap_or_default().to_owned()
}

/// The arguments that an error names; the parser marks options that can be repeated.
fn listed(error: &clap::Error, kind: ContextKind) -> Option<String> {
    let listed = match error.get(kind)? {
        ContextValue::String(arg) => arg.clone(),
        ContextValue::Strings(args) if !args.is_empty() => args.join(", "),
        _ => return None,
    };
    Some(listed.trim_end_matches("...").to_owned())
}
