//! The list of commands in the help of the program, in groups.

use std::fmt::Write;
use std::mem;

use clap::Command;

use crate::cli::args::definition::command_of;

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

/// Puts the commands into groups.
pub fn arranged(mut command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{all-args}}{{after-help}}",
        commands(&command)
    );
    for command in command.get_subcommands_mut() {
        *command = mem::take(command).hide(true);
    }
    command
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
    fn each_command_is_in_one_group() {
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
    }
}
