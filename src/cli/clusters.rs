//! Words with one hyphen and several letters: those of find and rdfind, clusters of fdupes and jdupes, and outputs of
//! rmlint. The parser reads each letter as an option, so its message would name the wrong thing.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue};

use super::find_words::FIND_WORDS;
use super::foreign_options::FOREIGN;
use super::option_row::ACTIONS;
use super::other_options::{self, row_for};
use super::rdfind_words::RDFIND_WORDS;

/// Says what to type in place of such a word.
pub fn answer(
    error: &clap::Error,
    words: &[OsString],
    asked: &str,
    program: &Command,
) -> Option<String> {
    let words = words.iter().skip(1).map_while(|word| word.to_str());
    let words: Vec<&str> = words.take_while(|word| *word != "--").collect();
    let find_word = words.iter().find_map(|word| {
        let row = row_for(FIND_WORDS, word, asked).or_else(|| row_for(RDFIND_WORDS, word, asked));
        row.map(|row| format!("no such option: {word}; {}", row.answer))
    });
    find_word
        .or_else(|| one_hyphen(&words, asked, program))
        .or_else(|| rmlint(error, &words, asked))
        .or_else(|| cluster(error, &words, asked, program))
}

/// Words that the parser would take for `-o FILE`: those of find and rdfind, and slips.
const OUTPUT_WORDS: &[(&str, &str)] = &[
    (
        "-ok",
        "use -f nul --flat --omit-first, and read the names with xargs -0r",
    ),
    ("-out", "use -o FILE"),
    ("-output", "use -o FILE"),
    ("-outputname", "use -o FILE"),
];

/// Says what to type in place of a word that would name a file.
pub fn output_word(words: &[OsString]) -> Option<String> {
    let typed = words.iter().skip(1).take_while(|word| *word != "--");
    let mut rows = typed.filter_map(|word| OUTPUT_WORDS.iter().find(|(known, _)| word == known));
    rows.next()
        .map(|(word, answer)| format!("no such option: {word}; {answer}"))
}

/// Answers a long option after one hyphen, as in `-version`.
fn one_hyphen(words: &[&str], asked: &str, program: &Command) -> Option<String> {
    let command = program.find_subcommand(asked)?;
    let is_long = |name: &str| {
        let mut args = command.get_arguments().filter(|arg| !arg.is_hide_set());
        name == "help" || name == "version" || args.any(|arg| arg.get_long() == Some(name))
    };
    words.iter().find_map(|word| {
        let name = word.strip_prefix('-')?.split('=').next()?;
        (name.len() > 1 && is_long(name)).then(|| format!("no such option: {word}; use -{word}"))
    })
}

/// Answers `-O sh:FILE` and `-c sh:WHAT`. As they are parsed, `-o sh:FILE` names a file: see [`formatter`].
fn rmlint(error: &clap::Error, words: &[&str], asked: &str) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let place = words.iter().position(|word| word == option)?;
    let value = words.get(place + 1)?;
    match option.as_str() {
        "-O" => formatter(value, asked)
            .map(|answer| format!("no such option: {option} {value}; {answer}")),
        "-c" => {
            let what = value.strip_prefix("sh:")?;
            let command = match what {
                "hardlink" | "symlink" | "reflink" => what,
                "clone" => "reflink",
                "remove" => "remove",
                _ => return None,
            };
            Some(match command == asked {
                true => format!("no such option: {option} {value}; the command does that; omit it"),
                false => format!(
                    "no such option: {option} {value}; use the command 'seekless {command}'"
                ),
            })
        }
        _ => None,
    }
}

/// Says what stands for an output of rmlint, `FORMAT:FILE`, for a command that writes reports or plans.
pub fn formatter(value: &str, asked: &str) -> Option<String> {
    let (format, file) = value.split_once(':')?;
    let is_search = asked == "find";
    Some(match format {
        "json" | "csv" | "fdupes" if is_search => format!("use -f {format} -o {file}"),
        "uniques" if is_search => format!("use --unique -o {file}"),
        "sh" if is_search => {
            format!("use 'seekless remove --script -o {file} PATH', which writes a script")
        }
        "json" | "csv" if asked == "folders" => format!("use -f {format} -o {file}"),
        "sh" if asked == "folders" => format!("use -o {file}"),
        "sh" => format!("use --script -o {file}, which writes a script"),
        "json" => format!("use --dry-run -f json -o {file}"),
        "csv" | "fdupes" | "uniques" | "py" | "summary" | "pretty" | "progressbar" | "stamp" => {
            format!("use -o {file}")
        }
        _ => return None,
    })
}

/// Answers each letter of a cluster such as `-rdN`.
fn cluster(error: &clap::Error, words: &[&str], asked: &str, program: &Command) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let (arg, value) = (
        context(ContextKind::InvalidArg),
        context(ContextKind::InvalidValue),
    );
    let is_cluster = |word: &str| {
        word.len() > 2
            && word
                .strip_prefix('-')
                .is_some_and(|letters| letters.bytes().all(|letter| letter.is_ascii_alphabetic()))
    };
    // The letter that the parser does not know, or the value of one that it knows.
    let letter = match arg.strip_prefix('-').filter(|rest| rest.len() == 1) {
        Some(letter) => letter.to_owned(),
        None if arg.starts_with("--max-depth ") => format!("d{value}"),
        None => return None,
    };
    let mut clusters = words.iter().filter(|word| is_cluster(word));
    let word = clusters.find(|word| word.contains(&letter))?;
    let letters = &word[1..];
    if ACTIONS.contains(&asked) && matches!(letters, "rf" | "Rf" | "rfv") {
        return Some(format!(
            "no such option: {word}; omit it: seekless always descends into folders, and asks first (to answer in advance, \
             check the plan with --dry-run, then use --yes)"
        ));
    }
    if letters.contains('d') {
        let asks = match letters.contains('N') {
            true => "; check the plan with --dry-run, then --yes answers the question in advance",
            false => "",
        };
        return Some(match asked {
            "remove" => format!(
                "no such option: {word}; omit it: the command removes duplicates in all folders below the given ones{asks}"
            ),
            _ => format!(
                "no such option: {word}; to remove duplicates, use 'seekless remove PATH', which asks first (--dry-run shows the plan){asks}"
            ),
        });
    }
    let answers = letters.chars().filter_map(|letter| {
        let option = format!("-{letter}");
        row_for(FOREIGN, &option, asked).map(|row| format!("{option}: {}", row.answer))
    });
    let answers: Vec<String> = answers.collect();
    match &answers[..] {
        [] => other_options::answer(arg, asked, program),
        answers => Some(format!("no such option: {word}; {}", answers.join("; "))),
    }
}
