//! The line about trash folders that were not searched.

use seekless::units::{count, plural};

/// The line about trash folders, if there are any.
pub fn skipped(folders: u64) -> Option<String> {
    let line = format!(
        "{} not searched: a copy in the trash does not count. To search {}, give its path.",
        match folders {
            1 => "1 trash folder was".to_owned(),
            _ => format!("{} trash folders were", count(folders)),
        },
        plural(folders, "it", "one of them"),
    );
    (folders > 0).then_some(line)
}
