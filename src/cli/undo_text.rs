//! What is said of an undo: before it is asked for, on the way, and in the end.

use seekless::action::{Undo, UndoTally, Undone};
use seekless::report::escape::escape;

use super::journal_place::JournalPlace;
use super::progress_text::count;
use super::summary::plural;

/// A line for a step that went wrong, if it did.
pub fn problem(step: &Undo) -> Option<String> {
    let path = escape(&step.path);
    match &step.undone {
        Undone::Refused(why) => Some(format!("{path}: {why}; left as it is")),
        Undone::RestoredWithout(missing) => Some(format!(
            "{path}: is back, but without its {}: only an administrator may give that",
            missing.join(", ")
        )),
        Undone::RestoredUnproven(missing) => Some(format!(
            "{path}: is back, but without its {}: this journal cannot prove its content, and another user \
             could write the file that was kept",
            missing.join(", ")
        )),
        _ => None,
    }
}

/// A line for a step that went well, if it did anything.
pub fn success(step: &Undo) -> Option<String> {
    let path = escape(&step.path);
    match &step.undone {
        Undone::Restored => Some(format!("{path}: as before")),
        Undone::Cleaned => Some(format!("{path}: cleared up")),
        _ => None,
    }
}

/// A line for what would become of a step.
pub fn wish(step: &Undo) -> String {
    let path = escape(&step.path);
    let what = match &step.undone {
        Undone::Restored | Undone::RestoredWithout(_) => "would be as before again".to_owned(),
        Undone::RestoredUnproven(missing) => format!(
            "would be back without its {}, since its content is not proven",
            missing.join(", ")
        ),
        Undone::Cleaned => "the leftover beside it would be removed".to_owned(),
        Undone::AsBefore => "is as before already".to_owned(),
        Undone::Impossible => "was removed for good: that cannot be undone".to_owned(),
        Undone::Refused(why) => format!("{why}; would be left as it is"),
    };
    format!("{path}: {what}")
}

/// What came of it.
pub fn lines(tally: &UndoTally) -> Vec<String> {
    let first = match (tally.restored + tally.cleaned, tally.refused) {
        (0, 0) => format!("Run {}: nothing was to be undone.", tally.run),
        (0, _) => format!("Run {}: nothing could be undone.", tally.run),
        (number, _) => format!("Run {}: {} as before again.", tally.run, files(number)),
    };
    let apart = (
        tally.apart,
        "apart now from further names (hard links) that this run had not touched.",
    );
    let left = (tally.refused, "left as said above.");
    with_rest(first, [left, apart], tally)
}

/// What would come of it.
pub fn wishes(tally: &UndoTally, command: &str) -> Vec<String> {
    let number = tally.restored + tally.cleaned;
    let first = match number {
        0 => format!("Run {} ({command}): nothing would be undone.", tally.run),
        _ => format!(
            "Run {} ({command}): {} would be as before again.",
            tally.run,
            files(number)
        ),
    };
    let left = (tally.refused, "would be left as they are.");
    with_rest(first, [left, (0, "")], tally)
}

fn with_rest(first: String, rest: [(u64, &str); 2], tally: &UndoTally) -> Vec<String> {
    let [left, apart] = rest;
    let rest = [
        (tally.as_before, "already as before."),
        left,
        (tally.impossible, "removed for good: that cannot be undone."),
        apart,
    ];
    let rest = rest.into_iter().filter(|(number, _)| *number > 0);
    let rest = rest.map(|(number, words)| format!("{} {words}", files(number)));
    std::iter::once(first).chain(rest).collect()
}

/// What the journal itself gave reason to say.
pub fn of_the_journal(tally: &UndoTally, place: &JournalPlace) -> Vec<String> {
    let damaged = tally.damaged.iter().map(|line| {
        format!(
            "journal {}: line {line} is damaged; its step is not undone",
            tally.run
        )
    });
    let unwritten = tally.unwritten.as_ref().map(|error| {
        format!(
            "the journal could not record every undone step ({error}): the files are restored all the same, \
             and {} will find them restored",
            place.undo(&tally.run)
        )
    });
    damaged.chain(unwritten).collect()
}

fn files(number: u64) -> String {
    format!("{} {}", count(number), plural(number, "file", "files"))
}
