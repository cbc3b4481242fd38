//! Lines after the summary of a search: options without effect, the number of reported sets, and the next command.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use seekless::decide::Summary;
use seekless::device::{Class, Override, Selector, Told};
use seekless::units::count;

use super::resolve::FindRun;
use super::shell_word;

/// Renders all of it, one line each.
pub fn lines(run: &FindRun, summary: &Summary) -> Vec<String> {
    let mut lines = unused_overrides(run, summary);
    lines.extend(reported(run, summary));
    lines.extend(next(run, summary));
    lines
}

/// Rows of `--threads` for classes of which no disk of the run is.
fn unused_overrides(run: &FindRun, summary: &Summary) -> Vec<String> {
    let mut classes: Vec<&str> = summary
        .devices
        .iter()
        .map(|device| device.class.as_str())
        .collect();
    classes.sort_unstable();
    classes.dedup();
    let has = |class: Class| classes.contains(&class.word());
    let is_unused = |row: &&Override| match (&row.selector, row.told) {
        _ if classes.is_empty() => false,
        // Its devices have the other class now.
        (Selector::Class(class), Told::As(now)) => !has(*class) && !has(now),
        (Selector::Class(class), Told::Threads { .. }) => !has(*class),
        (Selector::Device(_) | Selector::Default, _) => false,
    };
    let rows = run.config.overrides.rows.iter().filter(is_unused);
    rows.map(|row| {
        format!(
            "--threads {row} had no effect: the searched devices have the class {}. 'seekless devices' shows classes.",
            classes.join(", ")
        )
    })
    .collect()
}

fn reported(run: &FindRun, summary: &Summary) -> Option<String> {
    let most = run.most.filter(|&most| 0 < most && most < summary.sets)?;
    Some(format!(
        "Reported {} of {} sets (--top {most}).",
        count(most),
        count(summary.sets)
    ))
}

/// The command that shows what an action would do with a report that was written to a file.
fn next(run: &FindRun, summary: &Summary) -> Option<String> {
    let file = run.output.as_deref()?;
    // /dev/stdout and the like may lead to a file, but that file has another name.
    let is_named = file.is_file() && !file.starts_with("/dev") && !file.starts_with("/proc");
    let is_about_duplicates = run.config.copies.least > 1 && run.config.copies.most.is_none();
    if !is_named
        || !run.format.readable_back
        || !is_about_duplicates
        || summary.sets == 0
        || run.summary_only
        || run.style.color
    {
        return None;
    }
    Some(format!(
        "To see what would be removed: seekless remove --dry-run --from {}",
        path_word(file)
    ))
}

/// A path as a shell takes it, and the program after it: not for an option.
fn path_word(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let dash = if bytes.starts_with(b"-") { "./" } else { "" };
    format!("{dash}{}", shell_word::word(bytes))
}
