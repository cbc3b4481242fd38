//! What help shows: commands in groups, and with `-h` the options that most people need.

use std::fmt::Write;
use std::mem;

use clap::Command;

use super::definition::{READER, command_of};

/// The commands, by what they are for.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Find", &["find", "folders", "compare"]),
    (
        "Act",
        &["remove", "move", "hardlink", "reflink", "symlink", "undo"],
    ),
    ("Disks", &["devices", "probe", "cache"]),
    ("Set up", &["config", "completions", "man"]),
];

/// The options of `find` that `-h` shows.
const COMMON: [&str; 26] = [
    "exclude",
    "name",
    "type",
    "ext",
    "min-size",
    "max-size",
    "newer",
    "max-depth",
    "one-file-system",
    "follow-links",
    "no-hidden",
    "null",
    "isolate",
    "unique",
    "hard-links",
    "keep",
    "format",
    "output",
    "from",
    "top",
    "sort-by",
    "summary-only",
    "exit-code",
    "threads",
    "preset",
    "quiet",
];

/// Puts the commands into groups, and leaves options out of `-h`: of commands that search, those that `find` has and
/// few people need.
pub fn arranged(mut command: Command) -> Command {
    let find = command_of(&command, "find").get_arguments();
    let rare = find.filter_map(|arg| arg.get_long());
    let rare = rare.filter(|long| !COMMON.contains(long));
    let rare: Vec<String> = rare.map(str::to_owned).collect();
    let shortened = |command: Command| {
        command.mut_args(|arg| {
            let is_rare = arg
                .get_long()
                .is_some_and(|long| rare.iter().any(|it| it == long));
            arg.hide_short_help(is_rare)
        })
    };
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{all-args}}{{after-help}}",
        commands(&command)
    );
    for command in command.get_subcommands_mut() {
        let searches = command.get_arguments().any(|arg| arg.get_id() == READER);
        let taken = mem::take(command).hide(true);
        *command = if searches { shortened(taken) } else { taken };
    }
    shortened(command)
        .override_usage("seekless [OPTIONS] [PATH]...\n       seekless COMMAND ...")
        .help_template(template)
}

/// The list of commands.
fn commands(command: &Command) -> String {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for name in names {
            let about = command_of(command, name).get_about();
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:11}{literal:#}  {about}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args;

    #[test]
    fn each_command_is_in_one_group_and_each_common_option_exists() {
        let command = args::command();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
        let find = command_of(&command, "find");
        for option in COMMON {
            assert!(
                find.get_arguments()
                    .any(|arg| arg.get_long() == Some(option)),
                "{option}"
            );
        }
    }
}
