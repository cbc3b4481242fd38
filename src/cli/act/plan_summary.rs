//! The summary of a plan on standard error, and the question before it is carried out.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use seekless::action::plan::{Plan, Totals};
use seekless::action::{self, ActionKind, Code, Reason, Reversal};
use seekless::report::escape::escape;
use seekless::units::{Bytes, counted, plural};

use super::dangling_text;
use crate::cli::front::option_words::typed;
use crate::cli::front::problems::HiddenLinks;
use crate::cli::terminal::fit;
use crate::cli::terminal::progress_text::count;

/// The sentences of the summary: the totals, what is left alone, and last, since a question follows, what cannot be
/// undone. Those that name files are not broken.
pub fn lines(plan: &Plan, acting: &action::Settings) -> Vec<String> {
    let totals = plan.totals();
    let mut lines = vec![what(plan, acting)];
    lines.extend(details(totals));
    lines.extend(empty_folders(plan));
    lines.extend(managed(totals));
    let left = totals.left.iter();
    let left = left.filter(|(why, _)| why.code != Code::Managed);
    lines.extend(left.map(|(why, &names)| left_alone(totals, why, names)));
    lines.extend(without_reference(totals));
    let skipped = plan.skipped_trash().iter().map(|skipped| {
        let used = escape(&skipped.used);
        format!(
            "Trash folder not used: {}. The files go to {used}.",
            skipped.why
        )
    });
    let mut hidden = HiddenLinks::default();
    for (&device, path) in &totals.devices {
        hidden.note(device, Path::new(OsStr::from_bytes(path)));
    }
    let of_files = unmatched(plan).into_iter().chain(skipped);
    let of_files = of_files.chain(dangling_text::before(plan));
    lines.extend(of_files.chain(hidden.lines()).map(|line| fit::whole(&line)));
    lines.extend(warning(plan.action(), acting).filter(|_| totals.steps > 0));
    lines
}

/// A line for each pattern that matches no file of the plan. It may be mistyped, so it is also shown where the summary is
/// not.
pub fn unmatched(plan: &Plan) -> Vec<String> {
    let protected = plan.unmatched().iter();
    let protected = protected.map(|pattern| no_match("--protect", pattern));
    let rules = plan.unmatched_rules().map(|rule| no_match("--keep", rule));
    protected.chain(rules).collect()
}

/// The line about a pattern that matches no file.
pub fn no_match(option: &str, pattern: &str) -> String {
    format!(
        "{option} '{}' matches no duplicate.",
        escape(pattern.as_bytes())
    )
}

/// Details of the files that are acted on, and what snapshots and other files keep on the disk, as far as that can be
/// known.
fn details(totals: &Totals) -> impl Iterator<Item = String> {
    let (alone, further, others) = (
        totals.free_nothing,
        totals.further_names,
        totals.other_owner,
    );
    let details = [
        (
            alone,
            format!(
                "{} of them {} no space: another name (hard link) of the file stays elsewhere.",
                count(alone),
                plural(alone, "frees", "free"),
            ),
        ),
        (
            further,
            format!(
                "{} of them {}: removing {} frees no space.",
                count(further),
                plural(
                    further,
                    "is a hard link to a kept file",
                    "are hard links to kept files"
                ),
                plural(further, "it", "them"),
            ),
        ),
        (
            others,
            format!(
                "For {} of them the kept file belongs to another owner, who can change or remove it.",
                count(others),
            ),
        ),
        (
            totals.frees_unless_shared,
            format!(
                "{} of that are freed only if no snapshot or other file shares these blocks, which the kernel does not \
                report.",
                Bytes(totals.frees_unless_shared),
            ),
        ),
        (
            totals.held,
            format!(
                "{} more are not freed: other files or snapshots share these blocks.",
                Bytes(totals.held)
            ),
        ),
    ];
    let details = details.into_iter().filter(|(number, _)| *number > 0);
    details.map(|(_, line)| line)
}

fn what(plan: &Plan, acting: &action::Settings) -> String {
    let totals = plan.totals();
    if totals.steps == 0 {
        let why = untouched(totals);
        let nothing = match totals.left_managed() {
            0 => "Nothing",
            _ => "Nothing else",
        };
        return format!("{nothing} to {}{why}.", verb(plan.action()));
    }
    let effect = match plan.action() {
        ActionKind::Trash => "frees disk space when the trash is emptied".to_owned(),
        _ => format!("frees {} of disk space", Bytes(totals.frees)),
    };
    format!(
        "To {}: {} ({}) in {}{}; {effect}. {}.",
        verb(plan.action()),
        names(totals.steps),
        Bytes(totals.bytes),
        counted(totals.sets, "set", "sets"),
        destination(acting),
        counted(totals.kept, "file kept", "files kept")
    )
}

/// What the action does to the files, as the question says it.
fn verb(action: ActionKind) -> &'static str {
    match action {
        ActionKind::Trash => "move to the trash",
        other => other.name(),
    }
}

/// The hard links that replace this number of files.
pub fn hard_links(number: u64) -> &'static str {
    plural(number, "a hard link", "hard links")
}

/// The symbolic links that replace this number of files.
pub fn symbolic_links(number: u64) -> &'static str {
    plural(number, "a symbolic link", "symbolic links")
}

/// Which options hold back all files, if nothing is done.
fn untouched(totals: &Totals) -> String {
    let reasons = totals.untouched.iter().map(|(&code, &number)| {
        let place = match code {
            Code::Reference => "below --reference".to_owned(),
            code => typed(&code.into()),
        };
        let are = plural(number, "is", "are");
        format!("{} {are} {place}", names(number))
    });
    let reasons: Vec<String> = reasons.collect();
    match reasons.is_empty() {
        true => String::new(),
        false => format!(": {}", reasons.join(", ")),
    }
}

/// A number of files, with the noun.
pub fn names(number: u64) -> String {
    counted(number, "file", "files")
}

fn destination(acting: &action::Settings) -> String {
    let to = acting.destination.as_ref();
    to.map(|to| format!(" to {}", escape(to)))
        .unwrap_or_default()
}

/// Says how many files are hidden or belong to a program; with -v to which one.
fn managed(totals: &Totals) -> Vec<String> {
    let number = totals.left_managed();
    if number == 0 {
        return Vec::new();
    }
    let mut lines = vec![format!(
        "{} in hidden folders and folders that programs manage {} left alone (--allow managed includes {}).",
        names(number),
        plural(number, "was", "were"),
        plural(number, "it", "them")
    )];
    if tracing::enabled!(tracing::Level::INFO) {
        let left = totals.left.iter();
        lines.extend(left.filter_map(|(why, &number)| {
            let what = why.facts().what.as_ref()?;
            let path = totals
                .managed
                .get(what)
                .filter(|_| why.code == Code::Managed)?;
            Some(format!(
                "{} in {what}, such as {}",
                names(number),
                escape(path)
            ))
        }));
    }
    lines
}

fn left_alone(totals: &Totals, why: &Reason, names: u64) -> String {
    let what = plural(
        names,
        "file left alone because it",
        "files left alone because each",
    );
    let whole = |name: &[u8]| fit::whole(&escape(name));
    let group = totals
        .with_group
        .as_ref()
        .filter(|_| why.code == Code::Group);
    let example = group.map(|(one, other)| format!(": {} stays with {}", whole(one), whole(other)));
    let example = example.unwrap_or_default();
    format!("{} {what} {}{example}.", count(names), typed(why))
}

/// Says how many sets took no part since no reference holds a copy.
pub fn without_reference(totals: &Totals) -> Option<String> {
    let sets = totals.without_reference;
    let what = plural(
        sets,
        "set left alone because it has no file below a --reference",
        "sets left alone because none has a file below a --reference",
    );
    (sets > 0).then(|| format!("{} {what}.", count(sets)))
}

/// Says how many folders go, since nothing is left in them.
pub fn empty_folders(plan: &Plan) -> Option<String> {
    let folders = plan.empty_folders().len() as u64;
    let what = plural(folders, "folder that is", "folders that are");
    let noise = plan.noise().count() as u64;
    let with = match noise {
        0 => String::new(),
        _ => format!(", with {} of noise", names(noise)),
    };
    let folders = (folders > 0).then(|| count(folders))?;
    Some(format!(
        "Then remove {folders} {what} empty afterwards{with}."
    ))
}

/// The warning before the action.
fn warning(action: ActionKind, acting: &action::Settings) -> Option<String> {
    let impossible = action.reversal() == Reversal::Impossible;
    if acting.trust_hash && action != ActionKind::Reflink {
        return Some(match impossible {
            false => "seekless does not compare bytes first (--allow uncompared).".to_owned(),
            true => {
                "seekless does not compare bytes first (--allow uncompared), and the removal cannot be undone."
                    .to_owned()
            }
        });
    }
    impossible.then(|| "This cannot be undone. Use --trash to be able to undo it.".to_owned())
}

/// The question whether the plan shall be carried out: it says what would happen to the files.
pub fn question(plan: &Plan, acting: &action::Settings) -> String {
    let noise = plan.noise().count() as u64;
    let noise = match noise {
        0 => String::new(),
        _ => format!(" and {} of noise", names(noise)),
    };
    let replaced = plan.totals().steps;
    let files = format!("{}{noise}", names(replaced));
    let act = match plan.action() {
        ActionKind::Remove => format!("Permanently remove {files}"),
        ActionKind::Trash => format!("Move {files} to the trash"),
        ActionKind::Hardlink => format!("Replace {files} with {}", hard_links(replaced)),
        ActionKind::Symlink => format!("Replace {files} with {}", symbolic_links(replaced)),
        ActionKind::Reflink => format!("Share the blocks of {files} with the kept files"),
        ActionKind::Move => format!("Move {files}{}", destination(acting)),
    };
    let folders = plan.empty_folders().len() as u64;
    let folders = match folders {
        0 => String::new(),
        _ => format!(
            ", then remove {} empty {}",
            count(folders),
            plural(folders, "folder", "folders")
        ),
    };
    format!("{act}{folders}? [y/N]")
}
