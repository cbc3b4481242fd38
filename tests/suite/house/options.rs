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
fn every_command_of_the_program_is_known_and_in_a_group() {
    for help in [help(""), short_help("")] {
        let mut listed = Vec::new();
        for heading in ["Find", "Act", "Disks", "Set up"] {
            let group = help.split(&format!("\n{heading}:\n")).nth(1);
            let group = group.unwrap_or_else(|| panic!("no {heading}: {help}"));
            let lines = group.lines().take_while(|line| !line.is_empty());
            listed.extend(lines.filter_map(|line| line.split_whitespace().next()));
            assert!(
                group.lines().all(|line| line.chars().count() <= 100),
                "{group}"
            );
        }
        let mut known = COMMANDS.to_vec();
        // Commands of a command are in its own help.
        known.retain(|command| !command.contains(' '));
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}
