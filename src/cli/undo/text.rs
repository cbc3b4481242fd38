//! Messages of undo: before the question, on the way, and at the end.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use seekless::action::{SET_ID, UndoTally, Undone, UndoneFile};
use seekless::report::escape::escape;
use seekless::units::{counted, files};

use super::journal_place::JournalPlace;
use crate::cli::front::problems::ProblemLimit;
use crate::cli::terminal::console;

/// A line for a step that went wrong, if it did and its path is to be named.
pub fn problem(step: &UndoneFile, limit: &ProblemLimit) -> Option<String> {
    let path = escape(step.path.as_os_str().as_bytes());
    let words = match &step.outcome {
        Undone::Refused(why) => format!("{why}; left alone"),
        Undone::RestoredWithout(missing) => {
            let why = if missing.contains(&SET_ID) {
                "the mount that it was on ignored these (nosuid)"
            } else {
                "only root can set that"
            };
            format!("restored without its {}: {why}", missing.join(", "))
        }
        Undone::Torn(left) => torn(left),
        _ => return None,
    };
    limit
        .meets_at(&path, &words)
        .then(|| format!("{path}: {words}"))
}

fn torn(left: &Path) -> String {
    let left = console::path(left);
    format!(
        "was removed permanently before the run was killed; {left}, which belongs together with it, is still there"
    )
}

/// A line for a step that went well, if it did anything.
pub fn success(step: &UndoneFile) -> Option<String> {
    let path = escape(step.path.as_os_str().as_bytes());
    let what = match &step.outcome {
        Undone::Restored => "restored",
        Undone::Cleaned => "cleaned up",
        _ => return None,
    };
    Some(format!("{path}: {what}"))
}

/// A line for what would become of a step.
pub fn wish(step: &UndoneFile) -> String {
    let path = escape(step.path.as_os_str().as_bytes());
    let what = match &step.outcome {
        Undone::Restored | Undone::RestoredWithout(_) => "would be restored".to_owned(),
        Undone::Cleaned => "what a killed run left there would be removed".to_owned(),
        Undone::AsBefore => "is as it was before the run".to_owned(),
        Undone::Impossible => "was removed permanently and cannot be restored".to_owned(),
        Undone::Torn(left) => torn(left),
        Undone::Refused(why) => format!("{why}; would be left alone"),
    };
    format!("{path}: {what}")
}

/// The message for a run of which nothing can be undone.
pub fn permanent(run: &str, removed: u64) -> String {
    format!(
        "run {run} cannot be undone: {} removed permanently ('remove --trash' can be undone)",
        files(removed)
    )
}

/// The outcome.
pub fn done(tally: &UndoTally) -> Vec<String> {
    let back = tally.restored + tally.cleaned;
    let what = if back > 0 {
        format!(": {} restored.", files(back))
    } else if tally.was_killed {
        // It may have changed files that its journal does not name.
        " did not finish.".to_owned()
    } else if tally.refused > 0 {
        ": nothing could be undone.".to_owned()
    } else if tally.damaged.is_empty() {
        ": nothing to undo.".to_owned()
    } else {
        ": nothing else to undo.".to_owned()
    };
    let mut lines = vec![format!("Run {}{what}", tally.run)];
    lines.extend(rest(tally, ""));
    lines
}

/// The summary of what would be done.
pub fn wishes(tally: &UndoTally, command: &str) -> Vec<String> {
    let back = match tally.restored + tally.cleaned {
        0 => "No file would be restored.".to_owned(),
        number => format!("{} would be restored.", files(number)),
    };
    let mut lines = vec![format!("Run {}: {command}", tally.run), back];
    lines.extend(rest(tally, "would be "));
    lines
}

/// The files and folders besides those that are restored, of an undo that was done, or that `would be`.
fn rest(tally: &UndoTally, would_be: &str) -> Vec<String> {
    let left = match would_be {
        "" => "left alone, as reported above.",
        _ => "left alone.",
    };
    let file = ("file", "files");
    let folder = ("folder", "folders");
    let lines = [
        (
            tally.as_before - tally.never_changed,
            file,
            "",
            "as before the run.",
        ),
        (tally.never_changed, file, "", "not changed by the run."),
        (tally.refused, file, would_be, left),
        (
            tally.impossible,
            file,
            "",
            "removed permanently and cannot be restored.",
        ),
        (tally.folders, folder, would_be, "restored."),
        (tally.folders_refused, folder, would_be, left),
    ];
    let lines = lines.into_iter().filter(|(number, ..)| *number > 0);
    let lines = lines.map(|(number, (one, many), would_be, words)| {
        format!("{} {would_be}{words}", counted(number, one, many))
    });
    lines.collect()
}

/// Messages about the journal itself.
pub fn of_the_journal(tally: &UndoTally, place: &JournalPlace) -> Vec<String> {
    let damaged = tally.damaged.iter().map(|line| {
        format!(
            "journal {}: line {line} is damaged; its step was not undone",
            tally.run
        )
    });
    let unwritten = tally.unwritten.as_ref().map(|error| {
        format!(
            "the journal could not record every undone step ({error}): the files are restored, and {} finds them \
            restored",
            place.undo(&tally.run)
        )
    });
    damaged.chain(unwritten).collect()
}
