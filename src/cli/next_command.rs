//! Lines after the summary of a search: the number of reported sets, and the next command.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use seekless::decide::Summary;
use seekless::units::count;

use super::resolve::FindRun;
use super::shell_word;

/// Renders all of it, one line each.
pub fn lines(run: &FindRun, summary: &Summary) -> Vec<String> {
    let reported = reported(run, summary).into_iter();
    reported.chain(next(run, summary)).collect()
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
