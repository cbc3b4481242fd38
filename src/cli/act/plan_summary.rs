//! The summary of a plan on standard error, and the question before it is carried out.

use seekless::action::plan::{Plan, Totals};
use seekless::action::{ActionKind, Code, Reason, Reversal};
use seekless::report::escape::escape;
use seekless::units::{Bytes, count, counted, files, plural};

use crate::cli::front::problems::typed;
use crate::cli::terminal::console;

/// Links that are named on the terminal; the plan names more.
const LINKS: usize = 20;

/// The sentences of the summary: the totals, what is left alone, and last, since a question follows, what cannot be
/// undone. Those that name files are not broken.
pub fn lines(plan: &Plan) -> Vec<String> {
    let totals = plan.totals();
    let mut lines = vec![what(plan)];
    lines.extend(carried(totals));
    lines.extend(details(totals));
    lines.extend(empty_folders(plan));
    let managed = totals.left_managed();
    if managed > 0 {
        lines.push(format!(
            "{} in hidden folders and folders that programs manage {} left alone (--allow managed includes {}).",
            files(managed),
            plural(managed, "was", "were"),
            plural(managed, "it", "them")
        ));
    }
    let left = totals.left.iter();
    let left = left.filter(|(why, _)| why.code != Code::Managed);
    lines.extend(left.map(|(why, &names)| left_alone(plan, why, names)));
    lines.extend(without_reference(totals));
    let of_files = unmatched(plan).into_iter().chain(broken_links(plan));
    lines.extend(of_files);
    lines.extend(warning(plan.action()).filter(|_| totals.steps > 0));
    lines
}

/// A line for each pattern that matches no file of the plan. It may be mistyped, so it is also shown where the summary
/// is not.
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
    let (alone, others) = (totals.free_nothing, totals.other_owner);
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
            others,
            format!(
                "For {} of them the kept file belongs to another owner, who can change or remove it.",
                count(others),
            ),
        ),
        (
            totals.shared,
            format!(
                "{} more do not count, because other files or snapshots share these blocks.",
                Bytes(totals.shared)
            ),
        ),
    ];
    let details = details.into_iter().filter(|(number, _)| *number > 0);
    details.map(|(_, line)| line)
}

fn what(plan: &Plan) -> String {
    let totals = plan.totals();
    let verb = match plan.action() {
        ActionKind::Trash => "move to the trash",
        other => other.name(),
    };
    if totals.steps == 0 {
        let why = untouched(totals);
        return format!("Nothing to {verb}{why}.");
    }
    let effect = match plan.action() {
        ActionKind::Trash => "frees disk space when the trash is emptied".to_owned(),
        _ => format!("frees {} of disk space", Bytes(totals.frees)),
    };
    format!(
        "To {verb}: {} ({}) in {}{}; {effect}. {}.",
        files(acted(totals)),
        Bytes(totals.bytes),
        counted(totals.sets, "set", "sets"),
        destination(plan),
        counted(totals.kept, "file kept", "files kept")
    )
}

/// The number of files that the action is for.
pub fn acted(totals: &Totals) -> u64 {
    totals.steps.saturating_sub(totals.carried)
}

/// Says how many sidecar files go beside kept files.
fn carried(totals: &Totals) -> Option<String> {
    let number = totals.carried;
    let what = plural(
        number,
        "sidecar file, which has no copy, goes beside the photo or film that stays",
        "sidecar files, which have no copy, go beside the photos and films that stay",
    );
    (number > 0).then(|| format!("{} {what}.", count(number)))
}

/// What an action does, as a request and as a report, and what follows the files.
pub fn verbs(action: ActionKind) -> (&'static str, &'static str, &'static str) {
    match action {
        ActionKind::Remove => ("Permanently remove", "removed", ""),
        ActionKind::Trash => ("Move", "moved", " to the trash"),
        ActionKind::Hardlink => ("Replace", "replaced", " with hard links"),
        ActionKind::Symlink => ("Replace", "replaced", " with symbolic links"),
        ActionKind::Reflink => ("Share the blocks of", "shared the blocks of", ""),
        ActionKind::Move => ("Move", "moved", ""),
    }
}

/// Which options hold back all files, if nothing is done.
fn untouched(totals: &Totals) -> String {
    let reasons = totals.untouched.iter().map(|(&code, &number)| {
        let place = match code {
            Code::Reference => "in a --reference folder".to_owned(),
            code => typed(&code.into()),
        };
        let are = plural(number, "is", "are");
        format!("{} {are} {place}", files(number))
    });
    let reasons: Vec<String> = reasons.collect();
    if reasons.is_empty() {
        return String::new();
    }
    format!(": {}", reasons.join(", "))
}

fn destination(plan: &Plan) -> String {
    let to = plan.acting().destination.as_ref();
    to.map(|to| format!(" to {}", escape(to)))
        .unwrap_or_default()
}

fn left_alone(plan: &Plan, why: &Reason, names: u64) -> String {
    let what = plural(
        names,
        "file left alone because it",
        "files left alone because each",
    );
    let option = match why.code {
        Code::Group if plan.may_carry() => {
            " (--carry-sidecars moves sidecar files to the kept photo, --sidecars ignore treats files one by one)"
        }
        Code::Group => " (--sidecars ignore treats files one by one)",
        _ => "",
    };
    format!("{} {what} {}{option}.", count(names), typed(why))
}

/// Says how many sets took no part since no reference holds a copy.
pub fn without_reference(totals: &Totals) -> Option<String> {
    let sets = totals.without_reference;
    let what = plural(
        sets,
        "set left alone because it has no file in a --reference folder",
        "sets left alone because none has a file in a --reference folder",
    );
    (sets > 0).then(|| format!("{} {what}.", count(sets)))
}

/// Says how many folders go, since nothing is left in them.
pub fn empty_folders(plan: &Plan) -> Option<String> {
    let folders = plan.empty_folders().len() as u64;
    let what = plural(folders, "folder that is", "folders that are");
    let then = || format!("Then remove {} {what} empty afterwards.", count(folders));
    (folders > 0).then(then)
}

/// Names the links that will be broken.
fn broken_links(plan: &Plan) -> Vec<String> {
    let links = plan.dangling();
    if links.number == 0 {
        return Vec::new();
    }
    let will = plural(
        links.number,
        "symbolic link will break because its target is removed:",
        "symbolic links will break because their targets are removed:",
    );
    let mut lines = vec![format!("{} {will}", count(links.number))];
    lines.extend(links.named.iter().take(LINKS).map(|link| {
        let [link, leads_to] = [&link.link, &link.leads_to].map(|path| console::path(path));
        format!("  {link} (to {leads_to})")
    }));
    if let more @ 1.. = links.number.saturating_sub(LINKS as u64) {
        lines.push(format!("  … and {} more", count(more)));
    }
    lines
}

/// The warning before the action.
fn warning(action: ActionKind) -> Option<String> {
    let impossible = action.reversal() == Reversal::Impossible;
    impossible.then(|| "This cannot be undone. Use --trash to be able to undo it.".to_owned())
}

/// The question whether the plan shall be carried out: it says what would happen to the files.
pub fn question(plan: &Plan) -> String {
    let totals = plan.totals();
    let files = files(acted(totals));
    let (act, _, how) = verbs(plan.action());
    let to = destination(plan);
    let folders = match plan.empty_folders().len() as u64 {
        0 => String::new(),
        folders => format!(
            ", then remove {}",
            counted(folders, "empty folder", "empty folders")
        ),
    };
    let carried = match totals.carried {
        0 => String::new(),
        number => format!(
            ", {} beside kept files",
            counted(number, "sidecar file", "sidecar files")
        ),
    };
    format!("{act} {files}{how}{to}{carried}{folders}? [y/N]")
}
