//! Words of other programs, and words that are nearly ours: what to type in their place.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::definition::DEFAULT;
use super::foreign_commands::{command_for, effect};
use super::option_files::{DANGEROUS, listed};
use super::option_row::ACTIONS;
use super::{clusters, option_files, other_options, shell_word};

/// The command that the words are for, if its name is the first word; else the default one.
fn asked<'w>(words: &'w [OsString], program: &Command) -> &'w str {
    let name = words.get(1).and_then(|word| word.to_str());
    name.filter(|name| *name == HELP || program.find_subcommand(name).is_some())
        .unwrap_or(DEFAULT)
}

const HELP: &str = "help";

/// Says what to type in place of words that are not understood. Only an option that is one slip away is proposed, and
/// no dangerous one.
pub fn answer(error: &clap::Error, words: &[OsString], program: &Command) -> Option<String> {
    let asked = asked(words, program);
    if let answer @ Some(_) = option_files::answer(error, words) {
        return answer;
    }
    if let (
        ErrorKind::UnknownArgument
        | ErrorKind::InvalidValue
        | ErrorKind::ValueValidation
        | ErrorKind::ArgumentConflict,
        answer @ Some(_),
    ) = (error.kind(), clusters::answer(error, words, asked, program))
    {
        return answer;
    }
    match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::ArgumentConflict => {
            let said = match error.kind() {
                ErrorKind::ArgumentConflict => conflict(error, words)?,
                _ => wrong_value(error)?,
            };
            return Some(said + elsewhere(error, words, asked));
        }
        ErrorKind::TooManyValues => {
            let option = listed(error, ContextKind::InvalidArg)?;
            // The parser marks options that can be repeated.
            let option = option.trim_end_matches("...");
            return Some(format!("{option} takes no value: write {option} alone"));
        }
        ErrorKind::MissingRequiredArgument | ErrorKind::TooFewValues => {
            return missing(error, asked);
        }
        ErrorKind::InvalidSubcommand => return task(error, asked, program),
        ErrorKind::UnknownArgument => {}
        _ => return None,
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let option = option.split('=').next().unwrap_or(option);
    if let answer @ Some(_) = negative(option, words) {
        return answer;
    }
    if let answer @ Some(_) = other_options::answer(option, asked, program) {
        return answer;
    }
    if option.starts_with('-') && option[1..].parse::<f64>().is_ok() {
        return Some(format!(
            "{option} is neither an option nor a value: no option takes a negative number; to name such a file, write \
             ./{option}"
        ));
    }
    if let Some(command) = option.strip_prefix("--")
        && program.find_subcommand(command).is_some()
    {
        return Some(format!(
            "no such option: {option}; use the command 'seekless {command}'{}",
            effect(command)
        ));
    }
    let suggested = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    };
    let is_proposed =
        |word: &&String| !DANGEROUS.contains(&word.as_str()) && slip_away(option, word);
    Some(match suggested.filter(is_proposed) {
        Some(word) => format!("no such option: {option}. Did you mean {word}?"),
        None if option.starts_with('-') => match of_another_command(option, asked, program) {
            Some(answer) => format!("no such option: {option}; {answer}"),
            None => format!("no such option: {option}; --help lists all options"),
        },
        None if program.find_subcommand(option).is_some() && asked == "man" => format!(
            "one argument too many: {option}; 'seekless {option} --help' shows its text, and 'seekless man --out DIR' \
             writes all manual pages"
        ),
        None if asked == "config" => format!(
            "one argument too many: {option}; config shows the settings, and the file that you can edit"
        ),
        None => {
            format!("one argument too many: {option}; 'seekless {asked} --help' shows the usage")
        }
    })
}

/// Answers a slip in an option that only other commands have.
fn of_another_command(option: &str, asked: &str, program: &Command) -> Option<String> {
    let options = program.get_subcommands().flat_map(Command::get_arguments);
    let options = options.filter(|arg| !arg.is_hide_set());
    let mut options = options.filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
    let meant = options.find(|long| slip_away(option, long) && !DANGEROUS.contains(&&**long))?;
    other_options::answer(&meant, asked, program)
}

/// Says what stands for `-d` and `-f` of fdupes and jdupes, which take no value.
fn elsewhere(error: &clap::Error, words: &[OsString], asked: &str) -> &'static str {
    let typed = |option: &str| words.iter().any(|word| word == option);
    match listed(error, ContextKind::InvalidArg).as_deref() {
        Some("--max-depth <N>") if typed("-d") && asked == DEFAULT => {
            "; to remove duplicates, use 'seekless remove PATH', which asks first (--dry-run shows the plan)"
        }
        Some("--format <FORMAT>") if typed("-f") && asked == DEFAULT && is_path(error) => {
            "; to omit the first file of each set, use -f fdupes --omit-first"
        }
        // In rm, mv and ln.
        Some("--format <FORMAT>")
            if ["-f", "-fr", "-fv"].into_iter().any(typed) && ACTIONS.contains(&asked) =>
        {
            "; to answer the question in advance, check the plan with --dry-run, then use --yes"
        }
        _ => "",
    }
}

/// True if the value that was not understood looks like a path, or is one.
fn is_path(error: &clap::Error) -> bool {
    let value = listed(error, ContextKind::InvalidValue).unwrap_or_default();
    value.contains(['/', '.', '~']) || Path::new(&value).exists()
}

/// Only `seekless cache` and `seekless help` are followed by the name of a command; a word after any other command is
/// an argument.
fn task(error: &clap::Error, asked: &str, program: &Command) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    if asked != HELP {
        return Some(format!(
            "no such command: seekless cache {word}; use info, prune or clear, and to search a folder named cache \
             write ./cache"
        ));
    }
    let commands = program.get_subcommands().map(Command::get_name);
    let meant = command_for(word).or_else(|| nearly(word, commands));
    Some(match meant {
        Some(meant) => format!("no such command: {word}. Did you mean 'seekless {meant} --help'?"),
        None => format!("no such command: {word}; 'seekless --help' lists all commands"),
    })
}

/// Options that take a whole number, and what to write.
const NUMBERS: &[(&str, &str)] = &[
    (
        "--patience",
        "a whole number of seconds, 1 or more, as in --patience 60",
    ),
    ("--top", "a whole number, 1 or more, as in --top 10"),
    ("--rf-over", "a whole number, 1 or more, as in --rf-over 2"),
    (
        "--rf-under",
        "a whole number, 2 or more, as in --rf-under 3",
    ),
    ("--keep-n", "a whole number, 1 or more, as in --keep-n 2"),
    ("--max-depth", "a whole number, as in --max-depth 1"),
    ("--seed", "a whole number, 0 or more, as in --seed 1"),
    (
        "--min-overlap",
        "a percentage from 1 to 100, as in --min-overlap 80",
    ),
    (
        "--depth-random",
        "a whole number, 1 or more, as in --depth-random 8",
    ),
];

/// Options that take a number and something else, and what to write.
const AMOUNTS: &[(&str, &str)] = &[
    (
        "--threads",
        "numbers of threads, as in --threads 8 or --threads ssd:64,4",
    ),
    ("--bwlimit", "a rate without a sign, as in --bwlimit 5M"),
    ("--memory", "a size without a sign, as in --memory 500M"),
    ("--scratch", "a size without a sign, as in --scratch 4G"),
    ("--time", "a span of time, as in --time 30s"),
];

/// Says what to write in place of a negative number behind an option: the parser reads it as an option.
fn negative(option: &str, words: &[OsString]) -> Option<String> {
    option.strip_prefix('-')?.parse::<f64>().ok()?;
    let mut pairs = words.windows(2).filter_map(|pair| {
        let (name, value) = (pair[0].to_str()?, pair[1].to_str()?);
        let name = if name == "-d" { "--max-depth" } else { name };
        (name.starts_with("--") && value.starts_with(option)).then_some((name, value))
    });
    let (name, value) = pairs.next()?;
    let mut rows = NUMBERS.iter().chain(AMOUNTS);
    let (_, right) = rows.find(|(known, _)| *known == name)?;
    Some(format!("{name} {value} is negative: write {right}"))
}

/// Says what is wrong with the value of an option that the command has, or with several options together.
pub fn wrong_value(error: &clap::Error) -> Option<String> {
    match error.kind() {
        ErrorKind::ArgumentConflict => conflict(error, &[]),
        _ => value(error),
    }
}

/// Says in one line which options exclude each other: of those that the parser lists, the typed ones.
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
    let others = bare(listed(error, ContextKind::PriorArg)?);
    if let Some(task) = listed(error, ContextKind::InvalidSubcommand) {
        return Some(format!("{others}: write it after {task}"));
    }
    let arg = bare(listed(error, ContextKind::InvalidArg)?);
    match arg == others {
        true => Some(format!("{arg} was given twice: give it once")),
        false => Some(format!(
            "{arg} cannot be used with {others}: omit one or the other"
        )),
    }
}

/// Says in one line what is required and not there.
fn missing(error: &clap::Error, asked: &str) -> Option<String> {
    if asked == "compare" {
        return Some("compare needs at least two sides: seekless compare SIDE SIDE".to_owned());
    }
    let args = listed(error, ContextKind::InvalidArg)?;
    Some(match args.as_str() {
        "--to <DIR>" => "move needs the folder to move files into: add --to DIR".to_owned(),
        // What requires them is the only other option that was given.
        "--remove-empty-folders" => {
            "--with-noise applies to the folders that are removed: add --remove-empty-folders"
                .to_owned()
        }
        "--with-noise" | "--remove-empty-folders, --with-noise" => {
            "--noise names the files that --with-noise takes: add --remove-empty-folders --with-noise"
                .to_owned()
        }
        args => format!("{args} is required: --help explains it"),
    })
}

/// Says in one line which value is not understood, and what to write.
fn value(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let arg = text(ContextKind::InvalidArg)?;
    let value = text(ContextKind::InvalidValue)?;
    let option = arg.split(' ').next().unwrap_or(arg);
    let number = NUMBERS.iter().find(|(known, _)| *known == option);
    let shown = match value {
        "" => format!("{option} needs a value"),
        value => format!("{option} {}", shell_word::word(value.as_bytes())),
    };
    Some(match (number, error.get(ContextKind::ValidValue)) {
        // The least number of each is 0 to 2.
        (Some((_, number)), _) if is_large(value) => {
            format!("{shown} is too large: write {number}")
        }
        (Some((_, number)), _) => format!("{shown}: write {number}"),
        (_, Some(ContextValue::Strings(values))) if !values.is_empty() => {
            let lower = value.to_lowercase();
            let nearly = [lower.as_str(), lower.trim_end_matches('s')];
            if let Some(meant) = values.iter().find(|value| nearly.contains(&value.as_str())) {
                return Some(format!("{shown}: write {option} {meant}"));
            }
            let values = values.join(", ");
            // In fdupes and jdupes, the order of the files in a set.
            let elsewhere = match option {
                "--order" => ", or --keep RULE for the file to list first",
                "--type" => ", or --ext LIST for extensions",
                _ => "",
            };
            format!("{shown}: use one of {values}{elsewhere}")
        }
        _ => match std::error::Error::source(error) {
            Some(cause) => format!("{option} {}: {cause}", shell_word::word(value.as_bytes())),
            None => format!("{option} needs a value: --help explains it"),
        },
    })
}

/// True for a whole number of two digits or more.
fn is_large(value: &str) -> bool {
    let digits = value.trim_start_matches('0');
    digits.len() > 1 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The command that a word is a slip away from: a letter too many, missing, wrong, or exchanged with the next one.
pub fn nearly<'c>(word: &str, commands: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let mut commands = commands.filter(|command| command.len() > 3);
    commands.find(|command| slip_away(word, command))
}

fn slip_away(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[start..], &b[start..]);
    match (a, b) {
        ([], []) => false,
        ([_, rest_a @ ..], [_, rest_b @ ..]) if rest_a == rest_b => true,
        ([_, rest @ ..], b) if rest == b => true,
        (a, [_, rest @ ..]) if a == rest => true,
        ([x, y, rest_a @ ..], [v, w, rest_b @ ..]) => x == w && y == v && rest_a == rest_b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_noticed_and_another_word_is_none() {
        let commands = [
            "find", "remove", "hardlink", "move", "man", "undo", "devices", "probe",
        ];
        for (word, command) in [
            ("remov", "remove"),
            ("removee", "remove"),
            ("remvoe", "remove"),
            ("rwmove", "remove"),
            ("hardlinks", "hardlink"),
            ("device", "devices"),
            ("udno", "undo"),
        ] {
            assert_eq!(nearly(word, commands.into_iter()), Some(command), "{word}");
        }
        for word in ["Pictures", "re", "men", "remove-me", "", "findings"] {
            assert_eq!(nearly(word, commands.into_iter()), None, "{word}");
        }
    }
}
