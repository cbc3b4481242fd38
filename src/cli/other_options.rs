//! Options that a command does not have: those of other programs, and those of other commands.

use clap::Command;

/// The commands that search for duplicates.
const SEARCHES: &[&str] = &["find", "remove", "hardlink", "symlink", "reflink", "move"];
/// The commands that change files, and ask first.
const CHANGES: &[&str] = &["remove", "hardlink", "symlink", "reflink", "move", "undo"];
const ACTIONS: &[&str] = &["remove", "hardlink", "symlink", "reflink", "move"];
/// The commands with filters for files.
const FILTERS: &[&str] = &[
    "find", "remove", "hardlink", "symlink", "reflink", "move", "compare",
];
/// The commands that list folders.
const FOLDERS: &[&str] = &[
    "find", "remove", "hardlink", "symlink", "reflink", "move", "compare", "folders",
];
const COMPARISONS: &[&str] = &["compare", "folders"];
/// The commands that write reports.
const REPORTS: &[&str] = &["find", "compare", "folders"];
const FIND: &[&str] = &["find"];
const EVERY: &[&str] = &[];

/// Options of other programs, and what to type in their place.
struct Row {
    options: &'static [&'static str],
    /// The commands for which the answer is correct; [`EVERY`] if it is correct for all.
    commands: &'static [&'static str],
    answer: &'static str,
}

const fn row(
    options: &'static [&'static str],
    commands: &'static [&'static str],
    answer: &'static str,
) -> Row {
    Row {
        options,
        commands,
        answer,
    }
}

/// Options of fdupes, jdupes, rmlint, fclones, czkawka and find. The first row for an option and a command counts.
const FOREIGN: &[Row] = &[
    row(
        &["-r", "-R", "--recurse", "--recursive"],
        SEARCHES,
        "seekless always descends into folders; use -d 1 to search only the given folders",
    ),
    row(
        &["-r", "-R", "--recurse", "--recursive"],
        COMPARISONS,
        "seekless always includes all folders below the given ones; omit it",
    ),
    row(
        &["--no-traverse", "--not-recursive", "--no-recurse"],
        SEARCHES,
        "use -d 1",
    ),
    row(&["--depth"], SEARCHES, "use --max-depth N"),
    row(
        &["--delete"],
        &["remove"],
        "omit it: the command removes duplicates; --dry-run shows the plan",
    ),
    row(
        &["--delete"],
        EVERY,
        "use the command 'seekless remove PATH'; 'seekless remove --dry-run PATH' shows the plan",
    ),
    row(
        &["-N", "--noprompt", "--no-prompt", "--noconfirm"],
        CHANGES,
        "check the plan with --dry-run, then use --yes to answer the question in advance",
    ),
    row(
        &["-N", "--noprompt", "--no-prompt", "--noconfirm"],
        EVERY,
        "only the commands that change files ask a question, and they take --yes; 'seekless remove --dry-run PATH' \
         shows a plan",
    ),
    row(&["-Q"], ACTIONS, "use --dry-run"),
    row(
        &["-Q"],
        FIND,
        "a search changes nothing; 'seekless remove --dry-run PATH' shows a plan",
    ),
    row(
        &["-n"],
        FIND,
        "a search skips empty files and changes nothing; 'seekless remove --dry-run PATH' shows a plan",
    ),
    row(
        &["--noempty", "--no-empty"],
        SEARCHES,
        "empty files are skipped by default; --empty includes them",
    ),
    row(
        &["-S", "--size", "--show-size"],
        FILTERS,
        "reports always show sizes; use --min-size and --max-size to filter by size",
    ),
    row(
        &["-S", "--size", "--show-size"],
        &["folders"],
        "reports always show sizes; use --min-size to omit small folders",
    ),
    row(
        &["-G", "--minsize", "--min"],
        FOLDERS,
        "use --min-size SIZE",
    ),
    row(&["--maxsize", "--max"], FILTERS, "use --max-size SIZE"),
    row(
        &["-m"],
        FIND,
        "use --min-size SIZE to skip small files, or --summary-only for the totals alone",
    ),
    row(&["-m"], FOLDERS, "use --min-size SIZE"),
    row(&["--summarize", "--summary"], FIND, "use --summary-only"),
    row(
        &["--omitfirst"],
        FIND,
        "use --omit-first with --flat and -f nul",
    ),
    row(&["-A", "--nohidden"], FILTERS, "use --no-hidden"),
    row(
        &["-s", "--symlinks", "--followlinks"],
        SEARCHES,
        "use -L to follow symbolic links, or the command 'seekless symlink' to create them",
    ),
    row(
        &["--linkhard", "--link", "--hardlink"],
        EVERY,
        "use the command 'seekless hardlink'",
    ),
    row(
        &["-l", "--linksoft", "--soft"],
        SEARCHES,
        "use the command 'seekless symlink'",
    ),
    row(
        &["-B", "--dedupe"],
        EVERY,
        "use the command 'seekless reflink'",
    ),
    row(
        &["-c", "-D"],
        FIND,
        "use the command 'seekless remove', 'seekless hardlink', 'seekless symlink' or 'seekless reflink'",
    ),
    row(
        &["-c", "-D"],
        ACTIONS,
        "the command says what happens to duplicates; omit it",
    ),
    row(&["--priority"], SEARCHES, "use --keep RULE"),
    row(
        &["-O", "--param-order"],
        SEARCHES,
        "use --keep first-root, which keeps the file below the PATH that comes first",
    ),
    row(
        &["--keep-path"],
        ACTIONS,
        "use --protect GLOB, or --reference DIR to act only on copies of files in DIR",
    ),
    row(
        &["--keep-path"],
        FIND,
        "use 'seekless remove --dry-run --protect GLOB PATH', which shows a plan",
    ),
    row(&["-u", "--print-unique"], FIND, "use --unique"),
    row(&["-C"], &["find", "folders"], "use -f json with -o FILE"),
    row(&["-C", "-j", "--json"], REPORTS, "use -f json"),
    row(&["-C", "-j", "--json"], ACTIONS, "use --dry-run -f json"),
    row(
        &["-z", "--zeromatch", "--print0", "--print-null"],
        FIND,
        "use --empty for empty files, and -f nul for NUL-separated names",
    ),
    row(
        &["-z", "--zeromatch"],
        ACTIONS,
        "use --empty to include empty files",
    ),
    row(
        &["-z", "--print0", "--print-null"],
        &["compare"],
        "use -f nul for NUL-separated names",
    ),
    row(
        &["-t", "-T"],
        SEARCHES,
        "use --threads N, or --threads ssd:16,4 for the devices of one class",
    ),
    row(
        &["-t", "-T", "--threads"],
        COMPARISONS,
        "seekless chooses the number of threads for each device; omit it",
    ),
    row(
        &["-1"],
        FOLDERS,
        "use -x to stay on one file system; no option takes a negative number",
    ),
    row(&["--iname"], FILTERS, "use --name with -i"),
    row(
        &["-X", "--extfilter"],
        FILTERS,
        "use --ext, --name, --min-size or --newer",
    ),
    row(
        &["-p", "--paranoid"],
        SEARCHES,
        "use --verify to compare files byte by byte",
    ),
    row(
        &["--no-ignore"],
        SEARCHES,
        "seekless obeys no ignore file unless --ignore-file names it; omit it",
    ),
    row(
        &["--no-ignore"],
        COMPARISONS,
        "seekless obeys no ignore file; omit it",
    ),
    row(&["--keep-cache"], FOLDERS, "use --page-cache keep"),
    row(&["--drop-cache"], FOLDERS, "use --page-cache drop"),
];

/// Says what to type in place of an option that the command `asked` does not have. Only an option with the meaning of
/// the typed one is named.
pub fn answer(option: &str, asked: &str, program: &Command) -> Option<String> {
    let mut rows = FOREIGN.iter();
    let row = rows.find(|row| {
        row.options.contains(&option) && (row.commands.is_empty() || row.commands.contains(&asked))
    });
    match row {
        Some(row) => Some(format!("no such option: {option}; {}", row.answer)),
        None => elsewhere(option, asked, program),
    }
}

/// Says which other commands have the option.
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
    let with = match &names[..] {
        [] => return None,
        [only] => format!("the command 'seekless {only}'"),
        [others @ .., last] => format!("the commands {} and {last}", others.join(", ")),
    };
    Some(format!(
        "'seekless {asked}' has no option {option}; use it with {with}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args;

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
        for row in FOREIGN {
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
        for row in FOREIGN {
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
            let is_answered = answer(option, "find", &program).is_some();
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
