//! Messages of undo: before the question, on the way, and at the end.

use std::os::unix::ffi::OsStrExt;

use seekless::action::{SET_ID, UndoTally, Undone, UndoneFile};
use seekless::report::escape::escape;
use seekless::units::{counted, plural};

use super::journal_place::JournalPlace;
use crate::cli::front::problems::ProblemLimit;

/// A line for a step that went wrong, if it did and its path is to be named.
pub fn problem(step: &UndoneFile, limit: &ProblemLimit) -> Option<String> {
    let path = escape(step.path.as_os_str().as_bytes());
    let words = problem_words(step).filter(|words| limit.meets_at(&path, words))?;
    Some(format!("{path}: {words}"))
}

fn problem_words(step: &UndoneFile) -> Option<String> {
    match &step.outcome {
        Undone::Refused(why) => Some(format!("{why}; left alone")),
        Undone::RestoredWithout(missing) => {
            let why = match missing.contains(&SET_ID) {
                true => "the mount that it was on ignored these (nosuid)",
                false => "only root can set that",
            };
            let missing = missing.join(", ");
            Some(format!("restored without its {missing}: {why}"))
        }
        Undone::RestoredUnproven(missing) => Some(format!(
            "restored without its {}: this journal cannot prove its content, and another user could write to \
            the kept file",
            missing.join(", ")
        )),
        Undone::Torn => Some(TORN.to_owned()),
        _ => None,
    }
}

const TORN: &str = "was removed permanently before the run was killed; a file that belongs together with it is still there";

/// A line for a step that went well, if it did anything.
pub fn success(step: &UndoneFile) -> Option<String> {
    let path = escape(step.path.as_os_str().as_bytes());
    match &step.outcome {
        Undone::Restored => Some(format!("{path}: restored")),
        Undone::Cleaned => Some(format!("{path}: cleaned up")),
        Undone::FolderRemoved => Some(format!("{path}: empty folder removed")),
        _ => None,
    }
}

/// A line for what would become of a step.
pub fn wish(step: &UndoneFile) -> String {
    let path = escape(step.path.as_os_str().as_bytes());
    let what = match &step.outcome {
        Undone::Restored | Undone::RestoredWithout(_) => "would be restored".to_owned(),
        Undone::RestoredUnproven(missing) => format!(
            "would be restored without its {}, because its content is not proven",
            missing.join(", ")
        ),
        Undone::Cleaned => "what a killed run left there would be removed".to_owned(),
        Undone::FolderRemoved => {
            "the run created this folder; it would be removed if it is empty by then".to_owned()
        }
        Undone::AsBefore => "is already restored".to_owned(),
        Undone::Impossible => "was removed permanently and cannot be restored".to_owned(),
        Undone::Torn => TORN.to_owned(),
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
pub fn lines(tally: &UndoTally) -> Vec<String> {
    let back = tally.restored + tally.cleaned;
    let folders = tally.folders + tally.folders_refused + tally.folders_removed;
    let what = match tally.refused {
        _ if back > 0 => &format!(": {} restored.", files(back)),
        0 if folders > 0 => ": no file to undo.",
        0 if !tally.damaged.is_empty() => ": nothing else to undo.",
        0 if tally.was_killed && tally.impossible > 0 => " did not finish.",
        0 if tally.was_killed && tally.as_before == 0 => {
            " did not finish: its journal names no file."
        }
        0 if tally.was_killed => " did not finish: its files are as before.",
        0 => ": nothing to undo.",
        _ if tally.as_before > 0 => ": nothing else could be undone.",
        _ => ": nothing could be undone.",
    };
    let first = format!("Run {}{what}", tally.run);
    let words = [
        "restored.",
        "left alone, as reported above.",
        "removed: the run had created",
    ];
    with_rest(first, tally.apart, words, tally)
}

/// The summary of a dry run; the command of the run has a line of its own.
pub fn wishes(tally: &UndoTally, command: &str) -> Vec<String> {
    let first = match tally.restored + tally.cleaned {
        0 if tally.folders_removed > 0 => "No file would be restored.".to_owned(),
        0 => "Nothing would be undone.".to_owned(),
        number => format!("{} would be restored.", files(number)),
    };
    let words = [
        "would be restored.",
        "would be left alone.",
        "would be removed: the run created",
    ];
    let mut lines = vec![format!("Run {}: {command}", tally.run)];
    lines.extend(with_rest(first, 0, words, tally));
    lines
}

/// Adds the files and folders that the first line leaves out.
fn with_rest(
    first: String,
    apart: u64,
    [restored, left, removed]: [&str; 3],
    tally: &UndoTally,
) -> Vec<String> {
    let rest = [
        (tally.as_before - tally.never_changed, "already restored."),
        (tally.never_changed, "not changed by the run."),
        (tally.refused, left),
        (
            tally.impossible,
            "removed permanently and cannot be restored.",
        ),
        (
            apart,
            "no longer linked to names (hard links) that this run had not changed.",
        ),
    ];
    let rest = rest.into_iter().filter(|(number, _)| *number > 0);
    let rest = rest.map(|(number, words)| format!("{} {words}", files(number)));
    std::iter::once(first)
        .chain(rest)
        .chain(folders_line(tally.folders, restored))
        .chain(empty_folders_line(tally.folders_removed, removed))
        .chain(folders_line(tally.folders_refused, left))
        .collect()
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

fn folders_line(number: u64, words: &str) -> Option<String> {
    (number > 0).then(|| format!("{} {words}", counted(number, "folder", "folders")))
}

fn empty_folders_line(number: u64, words: &str) -> Option<String> {
    let folders = counted(number, "empty folder", "empty folders");
    let them = plural(number, "it", "them");
    (number > 0).then(|| format!("{folders} {words} {them}."))
}

fn files(number: u64) -> String {
    counted(number, "file", "files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_claimed_about_steps_that_are_restored_or_damaged() {
        let run = "r".to_owned();
        let of = |as_before, refused, damaged: &[usize]| UndoTally {
            run: run.clone(),
            as_before,
            refused,
            damaged: damaged.to_vec(),
            ..UndoTally::default()
        };
        for (tally, first) in [
            (of(0, 0, &[]), "Run r: nothing to undo."),
            (of(2, 0, &[3]), "Run r: nothing else to undo."),
            (of(0, 1, &[]), "Run r: nothing could be undone."),
            (of(2, 1, &[]), "Run r: nothing else could be undone."),
        ] {
            assert_eq!(lines(&tally)[0], first);
        }
    }
}
