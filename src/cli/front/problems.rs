//! Problems of a run: named on stderr as they come, a limited number of each kind, and remembered for the exit status.
//!
//! A search of `/sys` meets 14,000 files that cannot be read. Named one by one, they would hide every other message.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use seekless::action::{Code, Reason};
use seekless::catalog::wanted::{Entry, Want};
use seekless::catalog::{Kind, Row};
use seekless::decide::Summary;
use seekless::event::{Amount, Notice, Observer, Problem, ProblemKind, WantedFile};
use seekless::lock::locked;
use seekless::units::{Bytes, count, counted};

use crate::cli::terminal::console;
use crate::cli::terminal::exit::Exit;

/// Listens to the engine, on whatever thread it speaks.
#[derive(Debug)]
pub struct Listener {
    bad_roots: AtomicUsize,
    something_left: AtomicBool,
    /// The run no longer waited for some file system.
    gave_up: AtomicBool,
    missed_ignore_file: AtomicBool,
    problem_limit: ProblemLimit,
    /// Only problems are of interest.
    is_quiet: AtomicBool,
    links: Mutex<Vec<PathBuf>>,
    /// `None` as long as nobody asks.
    wanted: Mutex<Option<Vec<Entry>>>,
}

impl Listener {
    /// Where decisions are told (`-v`), every problem is named.
    pub fn new() -> Self {
        Self {
            bad_roots: AtomicUsize::default(),
            something_left: AtomicBool::default(),
            gave_up: AtomicBool::default(),
            missed_ignore_file: AtomicBool::default(),
            problem_limit: ProblemLimit::new(tracing::enabled!(tracing::Level::INFO)),
            is_quiet: AtomicBool::default(),
            links: Mutex::default(),
            wanted: Mutex::default(),
        }
    }

    /// Says nothing but problems.
    pub fn be_quiet(&self) {
        self.is_quiet.store(true, Ordering::Relaxed);
    }

    /// The symbolic links that were found, if the search tells of them.
    pub fn into_links(self) -> Vec<PathBuf> {
        self.links.into_inner().unwrap_or_default()
    }

    /// Keeps from now on what has to be read of disks that are not plugged in.
    pub fn keep_wanted(&self) {
        *locked(&self.wanted) = Some(Vec::new());
    }

    /// What was kept of it, as far as a list can name it.
    pub fn wanted(&self) -> Vec<Entry> {
        locked(&self.wanted).take().unwrap_or_default()
    }

    /// Says how many problems were not named. Call it when the run is over.
    pub fn sum_up(&self) {
        self.problem_limit.rest().iter().for_each(console::complain);
    }

    /// True if an ignore file, or a line of one, could not be used: files that it lists may have been found.
    pub fn missed_ignore_file(&self) -> bool {
        self.missed_ignore_file.load(Ordering::Relaxed)
    }

    fn note(&self, kind: ProblemKind) {
        if kind.misses_nothing() {
            return;
        }
        if kind == ProblemKind::Unanswered {
            self.gave_up.store(true, Ordering::Relaxed);
        }
        // A line that is no pattern may list files, too.
        if kind == ProblemKind::UnusableIgnoreFile {
            self.missed_ignore_file.store(true, Ordering::Relaxed);
        }
        if kind.is_of_root() {
            self.bad_roots.fetch_add(1, Ordering::Relaxed);
        }
        self.something_left.store(true, Ordering::Relaxed);
    }

    /// The exit status of a finished run over `roots` paths, from the problems so far. `seen` folders and files were
    /// found.
    pub fn exit(&self, roots: usize, seen: u64) -> Exit {
        let no_root = roots > 0 && self.bad_roots.load(Ordering::Relaxed) >= roots;
        // A path that did not answer is not counted by itself: its file system is named, once for all paths on it.
        if no_root || seen == 0 && self.gave_up.load(Ordering::Relaxed) {
            return Exit::Nothing;
        }
        if self.something_left.load(Ordering::Relaxed) {
            Exit::SomeLeft
        } else {
            Exit::Done
        }
    }
}

/// The number of folders and files that a search found.
pub fn seen(summary: &Summary) -> u64 {
    summary.folders + summary.files
}

impl Observer for Listener {
    fn problem(&self, problem: Problem) {
        self.note(problem.kind);
        let words = problem_words(&problem);
        if self.problem_limit.meets(&words) {
            let path = console::path(&problem.path);
            console::complain_about(&path, &words);
        }
    }

    fn notice(&self, notice: Notice) {
        tracing::info!("{}", console::message(&notice.0));
    }

    fn link(&self, path: PathBuf) {
        locked(&self.links).push(path);
    }

    fn to_read(&self, wanted: Amount, others: Amount) {
        if !self.is_quiet.load(Ordering::Relaxed) {
            console::line(&format!(
                "To read: {} ({}), then {} ({}).",
                counted(wanted.files, "wanted file", "wanted files"),
                Bytes(wanted.bytes),
                counted(others.files, "new or changed file", "new or changed files"),
                Bytes(others.bytes)
            ));
        }
    }

    fn wanted(&self, file: &WantedFile<'_>) {
        let want = if file.is_whole {
            Want::Digest
        } else {
            Want::Samples
        };
        let row = Row {
            kind: Kind::File,
            // A disk without a name cannot be recognized.
            volume: Some(file.volume).filter(|volume| !volume.is_empty()),
            dir: file.dir,
            name: file.name,
            size: i64::try_from(file.size).ok(),
            ..Row::default()
        };
        if let Some(wanted) = &mut *locked(&self.wanted) {
            wanted.extend(Entry::of(want, &row));
        }
    }
}

/// The number of problems of a kind that are named: with a summary they fit on a screen.
const NAMED: u64 = 20;

/// Stands for the path of a file, or its name with the slash before it.
const ELSEWHERE: &str = "/…";

/// How often each was met: by what would be said behind its path, so that another cause is another kind.
#[derive(Debug, Default)]
pub struct ProblemLimit {
    met: Mutex<BTreeMap<String, u64>>,
    names_all: bool,
}

impl ProblemLimit {
    /// Nothing was met yet. With `names_all` none is left out.
    pub fn new(names_all: bool) -> Self {
        Self {
            met: Mutex::default(),
            names_all,
        }
    }

    /// Takes note of a problem that is told in these words; true if its path is to be named.
    pub fn meets(&self, words: &str) -> bool {
        if self.names_all {
            return true;
        }
        let mut met = locked(&self.met);
        let so_far = match met.get_mut(words) {
            Some(so_far) => so_far,
            None => met.entry(words.to_owned()).or_default(),
        };
        *so_far += 1;
        *so_far <= NAMED
    }

    /// As [`meets`](Self::meets), of words that may also say where the file of this path is now: wherever it is, the
    /// reason is the same.
    pub fn meets_at(&self, path: &str, words: &str) -> bool {
        let words = words.replace(path, ELSEWHERE);
        let name = path.rfind('/').map_or("", |slash| &path[slash..]);
        if name.len() > 1 {
            self.meets(&words.replace(name, ELSEWHERE))
        } else {
            self.meets(&words)
        }
    }

    /// Says how many of each kind were not named, and forgets them.
    pub fn rest(&self) -> Vec<String> {
        let met = std::mem::take(&mut *locked(&self.met));
        let more = met.into_iter().filter(|&(_, times)| times > NAMED);
        more.map(|(words, times)| {
            let unnamed = count(times - NAMED);
            format!("{unnamed} more: {words} (-v names all)")
        })
        .collect()
    }
}

/// A path that takes no further part.
fn problem_words(problem: &Problem) -> String {
    let words = problem.to_string();
    match problem.kind {
        ProblemKind::LinkRoot => format!("{words} (use --follow-links, or give its target)"),
        ProblemKind::MemoryShort => words.replacen("folder out)", "folder out with --exclude)", 1),
        _ => words,
    }
}

/// A reason, with the options of this program. What it says more or otherwise than the library is here.
pub fn typed(reason: &Reason) -> String {
    const OWNERS: &str = " (--allow other-owners includes it)";
    const METADATA: &str = " (--same-metadata excludes it)";
    const FAILED: &str = "cannot {what}: {cause}; ";
    let same = reason.code.row().words;
    let (words, more) = match reason.code {
        Code::Outside => ("not in an --only-under folder", ""),
        Code::Older => ("older than --newer", ""),
        Code::OnlyInCatalog => (
            same,
            " (a search with --allow catalog lets it count, --from does not)",
        ),
        Code::SamePath => (same, " (--isolate)"),
        Code::Managed => (same, " (--allow managed includes it)"),
        Code::NoReference => ("has no copy in a --reference folder", ""),
        Code::ReferenceElsewhere => (
            "has its copy in a --reference folder on another file system or mount, and hard links cannot cross them",
            "",
        ),
        Code::Apart => (same, OWNERS),
        Code::Metadata => (same, METADATA),
        Code::Unprovable => (
            same,
            " (--trash and move can be undone; --allow unproven-mounts acts anyway)",
        ),
        Code::HidesFiles => (same, " (--allow unproven-mounts acts anyway)"),
        Code::NoTrash => (same, "; use move, or remove without --trash"),
        Code::JournalFull => (
            FAILED,
            "free some space for the journal, or use --journal DIR on another disk",
        ),
        Code::TrashFailed => (FAILED, "use move, or remove without --trash"),
        Code::NoDestination => (FAILED, "name the destination with --to DIR"),
        Code::SharedFolder => (same, " (--allow shared includes it)"),
        Code::SharedDestination => (same, " with --to, or add --allow shared"),
        Code::Stuck => (FAILED, "run 'seekless undo' once the cause is gone"),
        _ => (same, ""),
    };
    reason.filled(words, typed) + more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(problems: &[ProblemKind], roots: usize) -> Exit {
        let tally = Listener::new();
        problems.iter().for_each(|&kind| tally.note(kind));
        tally.exit(roots, 1)
    }

    #[test]
    fn problems_decide_the_exit_status() {
        use ProblemKind::*;
        assert_eq!(after(&[], 1), Exit::Done);
        assert_eq!(after(&[], 0), Exit::Done);
        assert_eq!(after(&[Changed], 1), Exit::SomeLeft);
        assert_eq!(after(&[UnreadableFolder], 1), Exit::SomeLeft);
        assert_eq!(after(&[MissingRoot], 2), Exit::SomeLeft);
        assert_eq!(
            after(&[MissingRoot, UnsuitableRoot, LinkRoot, UnreadableRoot], 4),
            Exit::Nothing
        );
        assert_eq!(after(&[UnreadableRoot], 2), Exit::SomeLeft);
        assert_eq!(after(&[LinkRoot], 2), Exit::SomeLeft);
        assert_eq!(after(&[LinkLoop, BrokenLink], 1), Exit::Done);
        assert_eq!(after(&[NotAnswering, Unanswered], 1), Exit::SomeLeft);
    }

    #[test]
    fn nothing_is_done_if_nothing_was_seen_and_a_file_system_did_not_answer() {
        let tally = Listener::new();
        assert_eq!(tally.exit(1, 0), Exit::Done);
        tally.note(ProblemKind::NotAnswering);
        assert_eq!(tally.exit(1, 0), Exit::Done);
        tally.note(ProblemKind::Unanswered);
        assert_eq!(tally.exit(2, 0), Exit::Nothing);
        assert_eq!(tally.exit(2, 1), Exit::SomeLeft);
    }

    #[test]
    fn the_place_of_a_file_is_no_reason_of_its_own() {
        let problem_limit = ProblemLimit::new(false);
        for number in 0..=NAMED {
            let path = format!("/a/f{number}");
            problem_limit.meets_at(&path, &format!("taken; it stays at /to{path}"));
            problem_limit.meets_at(&path, &format!("moved to /trash/f{number}"));
        }
        let rest = [
            "1 more: moved to /trash/… (-v names all)",
            "1 more: taken; it stays at /to/… (-v names all)",
        ];
        assert_eq!(problem_limit.rest(), rest);
    }

    use seekless::action::reason::Facts;

    #[test]
    fn each_fact_of_a_reason_is_filled_in() {
        for row in seekless::action::reason::TABLE {
            let words = typed(&row.code.into());
            assert!(!words.contains(['{', '}']), "{words}");
        }
        let owner = Code::Apart.with(Facts {
            what: Some("has another owner than".to_owned()),
            whom: Some("its copies".to_owned()),
            ..Facts::default()
        });
        let together = Code::Together.with(Facts {
            other: Some(seekless::action::Raw(b"/a".to_vec())),
            because: Some(Box::new(owner)),
            ..Facts::default()
        });
        assert_eq!(
            typed(&together),
            "belongs together with /a, which stays (has another owner than its copies (--allow other-owners includes it))"
        );
    }
}
