//! The commands of the program, and what the help of each says.

use std::process::Command;

/// Every command.
pub const COMMANDS: [&str; 14] = [
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
    "completions",
    "man",
];

/// What a command says of itself.
pub fn help(command: &str) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_seekless"))
        .args(command.split_whitespace())
        .arg("--help")
        .output();
    String::from_utf8(run.expect("seekless runs").stdout).expect("help is text")
}

/// What `-h` says.
fn short_help(command: &str) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_seekless"))
        .args(command.split_whitespace())
        .arg("-h")
        .output();
    String::from_utf8(run.expect("seekless runs").stdout).expect("help is text")
}

#[test]
fn every_command_of_the_program_is_known() {
    for help in [help(""), short_help("")] {
        let group = help.split("\nCommands:\n").nth(1).expect("commands");
        let lines = group.lines().take_while(|line| !line.is_empty());
        let names = lines.filter_map(|line| line.split_whitespace().next());
        let mut listed: Vec<&str> = names.filter(|name| *name != "help").collect();
        let mut known = COMMANDS.to_vec();
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}
