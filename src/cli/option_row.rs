//! Rows of tables: options that a command does not have, the commands for which a row is, and what to type.

/// The commands that search for duplicates.
pub const SEARCHES: &[&str] = &["find", "remove", "hardlink", "symlink", "reflink", "move"];
/// The commands that change files, and ask first.
pub const CHANGES: &[&str] = &["remove", "hardlink", "symlink", "reflink", "move", "undo"];
/// The commands that change files and search for them.
pub const ACTIONS: &[&str] = &["remove", "hardlink", "symlink", "reflink", "move"];
/// The commands with filters for files.
pub const FILTERS: &[&str] = &[
    "find", "remove", "hardlink", "symlink", "reflink", "move", "compare",
];
/// The commands that list folders.
pub const FOLDERS: &[&str] = &[
    "find", "remove", "hardlink", "symlink", "reflink", "move", "compare", "folders",
];
/// The commands that compare folders.
pub const COMPARISONS: &[&str] = &["compare", "folders"];
/// The commands that write reports.
pub const REPORTS: &[&str] = &["find", "compare", "folders"];
/// The search.
pub const FIND: &[&str] = &["find"];
/// The commands that make links, and compare owners and modes.
pub const LINKS: &[&str] = &["hardlink", "symlink"];
/// The other actions.
pub const NO_LINKS: &[&str] = &["remove", "reflink", "move"];
/// All commands.
pub const EVERY: &[&str] = &[];

/// Options of other programs, and what to type in their place.
pub struct Row {
    /// The options.
    pub options: &'static [&'static str],
    /// The commands for which the answer is correct; [`EVERY`] if it is correct for all.
    pub commands: &'static [&'static str],
    /// What to type.
    pub answer: &'static str,
}

/// A row of a table.
pub const fn row(
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
