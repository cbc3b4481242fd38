//! Which options the configuration file may set. An action touches only what its command line says.

/// Options that decide what one run may change, or protect files from it.
const NEVER: [&str; 12] = [
    "yes",
    "allow",
    "trust-hash",
    "trust-mounts",
    "across-owners",
    "follow-roots",
    "no-trash",
    "reference",
    "protect",
    "only-under",
    "remove-empty-folders",
    "with-noise",
];

/// The option that decides what a search takes for unchanged.
const TRUST: &str = "trust-mtime";

/// How something is shown; for every command.
const DISPLAY: [&str; 5] = ["color", "progress", "no-progress", "quiet", "verbose"];

/// How files are read; for every command that searches.
const READING: [&str; 13] = [
    "page-cache",
    "bwlimit",
    "io-idle",
    "patience",
    "threads",
    "depth-random",
    "no-shared-blocks",
    "order",
    "sample-first",
    "memory",
    "cache",
    "no-cache",
    "verify",
];

/// Which file of a set stays, and how the others go.
const ACTING: [&str; 6] = [
    "keep",
    "keep-n",
    "sidecars",
    "trash",
    "same-metadata",
    "absolute",
];

/// What a search finds and reports.
const SEARCHING: [&str; 27] = [
    "keep",
    "format",
    "digest",
    "sort-by",
    "top",
    "max-depth",
    "one-file-system",
    "follow-links",
    "ignore-file",
    "min-size",
    "max-size",
    "name",
    "path",
    "exclude",
    "regex",
    "ignore-case",
    "type",
    "ext",
    "newer",
    "older",
    "no-hidden",
    "hidden",
    "empty",
    "hard-links",
    "rf-over",
    "rf-under",
    "unique",
];

const ACTIONS: [&str; 5] = ["remove", "hardlink", "symlink", "reflink", "move"];

/// True if no file may set this option of any command.
pub fn is_never_set(option: &str) -> bool {
    option == TRUST || NEVER.contains(&option)
}

/// Why the file may not set this option of this command; `None` if it may.
pub fn refusal(command: &str, option: &str) -> Option<String> {
    let is_action = ACTIONS.contains(&command);
    let is_known = match command {
        "find" => READING.contains(&option) || SEARCHING.contains(&option),
        "compare" | "folders" => READING.contains(&option),
        _ if is_action => READING.contains(&option) || ACTING.contains(&option),
        _ => false,
    };
    if is_known || DISPLAY.contains(&option) {
        return None;
    }
    let why = if option == TRUST {
        "decides which files count as unchanged".to_owned()
    } else if is_never_set(option) {
        "decides what a run may change".to_owned()
    } else if is_action && SEARCHING.contains(&option) {
        "chooses the files that an action changes".to_owned()
    } else {
        "applies to a single run".to_owned()
    };
    Some(format!(
        "{option} {why}: write --{option} on the command line"
    ))
}
