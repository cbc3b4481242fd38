//! Options that a command does not have: those of other programs, and those of other commands.

use clap::Command;

use super::czkawka_options::CZKAWKA;
use super::foreign_options::FOREIGN;
use super::option_row::Row;
use super::own_options::{OWN, TOOLS};

/// Says what to type in place of an option that the command `asked` does not have. Only an option with the meaning of
/// the typed one is named.
pub fn answer(option: &str, asked: &str, program: &Command) -> Option<String> {
    let foreign = row_for(FOREIGN, option, asked).or_else(|| row_for(CZKAWKA, option, asked));
    match foreign {
        Some(row) => Some(format!("no such option: {option}; {}", row.answer)),
        None => elsewhere(option, asked, program),
    }
}

/// The row of a table for an option and a command.
pub fn row_for(rows: &'static [Row], option: &str, asked: &str) -> Option<&'static Row> {
    let is_for = |row: &&Row| row.commands.is_empty() || row.commands.contains(&asked);
    let mut rows = rows.iter().filter(is_for);
    rows.find(|row| row.options.contains(&option))
}

/// Says what to type in place of an option that other commands have.
fn elsewhere(option: &str, asked: &str, program: &Command) -> Option<String> {
    let has_it = |command: &&Command| {
        let mut args = command.get_arguments().filter(|arg| {
            !arg.is_hide_set() && arg.get_id() != "help" && arg.get_id() != "version"
        });
        args.any(|arg| match option.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => arg
                .get_short()
                .is_some_and(|short| option == format!("-{short}")),
        })
    };
    let commands = program.get_subcommands().filter(has_it);
    let names: Vec<_> = commands.map(Command::get_name).collect();
    if names.is_empty() {
        // A task of the command may have it, as only 'cache prune' has --older-than.
        let tasks = program.find_subcommand(asked)?.get_subcommands();
        let task = tasks.into_iter().find(has_it)?.get_name();
        return Some(format!(
            "no such option here: {option}; use 'seekless {asked} {task} {option}'"
        ));
    }
    let start = format!("'seekless {asked}' has no option {option}");
    if let Some(row) = row_for(OWN, option, asked) {
        return Some(format!("{start}; {}", row.answer));
    }
    // What such a command does has nothing in common with a search.
    if TOOLS.contains(&asked) {
        return Some(format!(
            "{start}; omit it, or see 'seekless {asked} --help'"
        ));
    }
    let with = match &names[..] {
        [] => return None,
        [only] => format!("the command 'seekless {only}'"),
        [others @ .., last] => format!("the commands {} and {last}", others.join(", ")),
    };
    Some(format!("{start}; use it with {with}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args;
    use crate::cli::find_words::FIND_WORDS;
    use crate::cli::rdfind_words::RDFIND_WORDS;

    /// The options that an answer names for a command: those behind 'seekless COMMAND' are for that one.
    fn named<'a>(answer: &'a str, asked: &'a str) -> Vec<(&'a str, &'a str)> {
        let mut command = asked;
        let mut named = Vec::new();
        let mut words = answer.split([' ', ';', ',', ':']).peekable();
        while let Some(word) = words.next() {
            if word == "'seekless" {
                command = words
                    .peek()
                    .map_or(asked, |next| next.trim_end_matches('\''));
            }
            let option = word.trim_end_matches('\'');
            if option.len() > 1 && option.starts_with('-') {
                named.push((command, option));
            }
            if word.ends_with('\'') {
                command = asked;
            }
        }
        named
    }

    fn has(command: &Command, option: &str) -> bool {
        let mut args = command.get_arguments();
        args.any(|arg| match option.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => arg.get_short() == option[1..].chars().next(),
        })
    }

    #[test]
    fn an_answer_names_only_options_that_its_command_has() {
        let program = args::command();
        let words = FIND_WORDS.iter().chain(RDFIND_WORDS);
        for row in FOREIGN.iter().chain(words).chain(CZKAWKA) {
            for asked in row.commands {
                assert!(program.find_subcommand(asked).is_some(), "{asked}");
                for (command, option) in named(row.answer, asked) {
                    let command = program.find_subcommand(command).expect("a command");
                    assert!(has(command, option), "{asked}: {option}: {}", row.answer);
                    assert!(!row.options.contains(&option), "{option} is there");
                }
            }
        }
    }

    #[test]
    fn no_answer_stands_for_an_option_that_the_command_has() {
        let program = args::command();
        for row in FOREIGN.iter().chain(FIND_WORDS).chain(RDFIND_WORDS) {
            let commands = program.get_subcommands();
            let asked = commands
                .filter(|it| row.commands.is_empty() || row.commands.contains(&it.get_name()));
            for command in asked {
                for option in row.options {
                    let is_there = command.get_arguments().any(|arg| {
                        let long = arg.get_long().map(|long| format!("--{long}"));
                        let short = arg.get_short().map(|short| format!("-{short}"));
                        long.as_deref() == Some(option) || short.as_deref() == Some(option)
                    });
                    assert!(!is_there, "{} {option}", command.get_name());
                }
            }
        }
    }

    /// The commands that an answer tells the user to use.
    fn pointed_at(answer: &str) -> Vec<&str> {
        let Some((_, with)) = answer.split_once("use it with the command") else {
            return Vec::new();
        };
        let words = with.split([' ', ',', '\'']);
        let words = words.filter(|word| !["", "s", "and", "seekless"].contains(word));
        words.collect()
    }

    #[test]
    fn each_option_of_a_command_is_answered_by_each_other_one() {
        let program = args::command();
        let is_shown = |arg: &&clap::Arg| !arg.is_hide_set();
        let options = |command: &Command| {
            let args = command.get_arguments().filter(is_shown);
            let both = args.flat_map(|arg| {
                let long = arg.get_long().map(|long| format!("--{long}"));
                let short = arg.get_short().map(|short| format!("-{short}"));
                long.into_iter().chain(short)
            });
            both.collect::<Vec<_>>()
        };
        let commands = || {
            program
                .get_subcommands()
                .filter(|it| it.get_name() != "help")
        };
        let mut pairs = 0;
        for asked in commands() {
            for option in commands().flat_map(options) {
                if has(asked, &option) || ["--help", "-h", "--version", "-V"].contains(&&*option) {
                    continue;
                }
                pairs += 1;
                let answer = answer(&option, asked.get_name(), &program)
                    .unwrap_or_else(|| panic!("{} {option}", asked.get_name()));
                let pointed_at = pointed_at(&answer);
                for name in &pointed_at {
                    let command = program.find_subcommand(name);
                    let command = command.unwrap_or_else(|| panic!("{name}: {answer}"));
                    assert!(has(command, &option), "{answer}");
                    // A command that searches nothing, or the other way round, is no way out.
                    assert_ne!(asked.get_name(), *name, "{answer}");
                    assert!(!TOOLS.contains(&asked.get_name()), "{answer}");
                }
                let (_, way_out) = answer.split_once("; ").expect("a way out");
                for (command, option) in named(way_out, asked.get_name()) {
                    let is_task = command == "cache" && option == "--yes";
                    let command = program.find_subcommand(command).expect("a command");
                    assert!(
                        is_task || option == "--help" || has(command, option),
                        "{answer}"
                    );
                }
            }
        }
        assert!(pairs > 1000, "{pairs}");
    }

    #[test]
    fn each_row_is_for_an_option_that_another_command_has() {
        let program = args::command();
        for row in OWN {
            for option in row.options {
                let mut commands = program.get_subcommands();
                assert!(commands.any(|command| has(command, option)), "{option}");
            }
            for asked in row.commands {
                assert!(program.find_subcommand(asked).is_some(), "{asked}");
            }
        }
    }

    /// The options in a table of Markdown, each before its value: those of the columns after the first two.
    fn foreign_options(page: &str) -> Vec<&str> {
        let rows = page.lines().filter(|line| line.starts_with("| "));
        let columns = rows.flat_map(|row| row.split('|').skip(3));
        let words = columns.flat_map(|column| column.split([' ', ',', ';', '(', ')']));
        let is_option = |word: &&str| word.starts_with('-') && !word.trim_matches('-').is_empty();
        words.filter(is_option).collect()
    }

    #[test]
    fn each_option_in_the_table_of_the_guide_is_answered() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guide/other-tools.md");
        let guide = std::fs::read_to_string(guide).expect("the guide");
        let program = args::command();
        let find = program.find_subcommand("find").expect("a command");
        let options = foreign_options(&guide);
        assert!(options.len() > 50 && options.contains(&"--keep-path"));
        for option in options {
            let is_answered = answer(option, "find", &program).is_some()
                || row_for(RDFIND_WORDS, option, "find").is_some();
            assert!(is_answered || has(find, option), "{option}");
        }
    }

    #[test]
    fn an_option_of_other_commands_is_answered_with_their_names() {
        let program = args::command();
        let said = |option, asked| elsewhere(option, asked, &program).unwrap_or_default();
        assert_eq!(
            said("--sidecars", "find"),
            "'seekless find' has no option --sidecars; use it with the commands remove, hardlink, symlink, reflink \
             and move"
        );
        assert_eq!(
            said("--to", "find"),
            "'seekless find' has no option --to; use it with the command 'seekless move'"
        );
        assert_eq!(said("--nope", "find"), "");
        assert_eq!(said("--help", "find"), "");
    }
}
