//! The commands of the program, and what the help of each says.

use std::process::Command;

/// Every command.
pub const COMMANDS: [&str; 17] = [
    "find",
    "folders",
    "compare",
    "remove",
    "hardlink",
    "symlink",
    "reflink",
    "move",
    "undo",
    "devices",
    "probe",
    "cache",
    "cache prune",
    "cache clear",
    "config",
    "completions",
    "man",
];

/// What a command says of itself.
pub fn help(command: &str) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_seekless"))
        .args(command.split(" "))
        .arg("--help")
        .output();
    String::from_utf8(run.expect("seekless runs").stdout).expect("help is text")
}

#[test]
fn every_command_of_the_program_is_known() {
    let run = Command::new(env!("CARGO_BIN_EXE_seekless"))
        .arg("--help")
        .output();
    let help = String::from_utf8(run.expect("seekless runs").stdout).expect("help is text");
    let listed = help
        .split("\nCommands:\n")
        .nth(1)
        .expect("a list of commands");
    let listed = listed.lines().take_while(|line| !line.is_empty());
    let mut listed: Vec<&str> = listed
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    listed.retain(|command| *command != "help");
    let mut known = COMMANDS.to_vec();
    // Commands of a command are in its own help.
    known.retain(|command| !command.contains(' '));
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
}
