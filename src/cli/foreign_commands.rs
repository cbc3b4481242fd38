//! Commands of other programs, and those that people expect.

/// Commands of other programs, and what stands for them.
const FOREIGN_COMMANDS: &[(&str, &str)] = &[
    ("group", "find"),
    ("dedupe", "reflink"),
    ("dedup", "remove"),
    ("link", "hardlink"),
    ("delete", "remove"),
    ("rm", "remove"),
    ("mv", "move"),
    ("dup", "find"),
    ("dups", "find"),
    ("trash", "remove --trash"),
    ("scan", "find"),
    ("search", "find"),
    ("list", "find"),
    ("duplicates", "find"),
    ("folder", "folders"),
    ("foldr", "folders"),
    ("dirs", "folders"),
    ("diff", "compare"),
    ("clean", "remove"),
    ("cleanup", "remove"),
    ("purge", "remove"),
    ("del", "remove"),
    ("restore", "undo"),
    ("revert", "undo"),
    ("rollback", "undo"),
    ("status", "undo --list"),
    ("history", "undo --list"),
    ("log", "undo --list"),
    ("disks", "devices"),
    ("benchmark", "probe"),
    ("settings", "config"),
    ("completion", "completions"),
    ("complete", "completions"),
    ("cmp", "compare"),
    ("ln", "hardlink"),
    ("softlink", "symlink"),
    ("clone", "reflink"),
    ("deduplicate", "remove"),
    ("remove-duplicates", "remove"),
    ("ls", "find"),
    ("dupes", "find"),
    ("verify", "find --verify"),
    ("rmdir", "folders"),
    ("bench", "probe"),
    ("lsblk", "devices"),
    ("journal", "undo --list"),
    ("runs", "undo --list"),
    ("configure", "config"),
    ("manual", "man"),
    ("version", "--version"),
];

/// What a command that changes files does, as a part of a question.
pub fn effect(command: &str) -> &'static str {
    match command {
        "remove" => {
            ", which removes duplicates permanently (--dry-run shows the plan; --trash moves them to the \
             trash)"
        }
        "remove --trash" => ", which moves duplicates to the trash (--dry-run shows the plan)",
        "hardlink" => ", which replaces duplicates with hard links (--dry-run shows the plan)",
        "symlink" => ", which replaces duplicates with symbolic links (--dry-run shows the plan)",
        "reflink" => ", which lets duplicates share disk blocks (--dry-run shows the plan)",
        "move" => ", which moves duplicates into another folder (--dry-run shows the plan)",
        "undo" => ", which undoes the last run (--dry-run shows what it would do)",
        _ => "",
    }
}

/// The command that stands for a word which is a command of another program.
pub fn command_for(word: &str) -> Option<&'static str> {
    let row = FOREIGN_COMMANDS
        .iter()
        .find(|(foreign, _)| *foreign == word);
    row.map(|(_, ours)| *ours)
}
