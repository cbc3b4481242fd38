//! Names problems on stderr as they come, and remembers what they mean for the exit status.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use seekless::decide::Summary;
use seekless::event::{Notice, Observer, Problem, ProblemKind};

use super::console::Console;
use super::exit::Exit;
use super::problem_limit::ProblemLimit;
use super::{option_words, sanitize};

/// Listens to the engine, on whatever thread it speaks.
pub struct Listener<'a> {
    console: &'a Console,
    tally: Tally,
    problem_limit: ProblemLimit,
    links: Mutex<Vec<PathBuf>>,
}

impl<'a> Listener<'a> {
    /// Prints to this console. Where decisions are told (`-v`), every problem is named.
    pub fn new(console: &'a Console) -> Self {
        Self {
            console,
            tally: Tally::default(),
            problem_limit: ProblemLimit::new(tracing::enabled!(tracing::Level::INFO)),
            links: Mutex::default(),
        }
    }

    /// The symbolic links that were found, if the search tells of them.
    pub fn into_links(self) -> Vec<PathBuf> {
        self.links.into_inner().unwrap_or_default()
    }

    /// Says how many problems were not named. Call it when the run is over.
    pub fn sum_up(&self) {
        for line in self.problem_limit.rest() {
            self.console.complain(&line);
        }
    }

    /// True if an ignore file, or a line of one, could not be used: files that it lists may have been found.
    pub fn missed_ignore_file(&self) -> bool {
        self.tally.missed_ignore_file.load(Ordering::Relaxed)
    }

    /// The exit status of a finished run over `roots` paths, from the problems so far. `seen` folders and files were
    /// found.
    pub fn exit(&self, roots: usize, seen: u64) -> Exit {
        self.tally.exit(roots, seen)
    }
}

/// The number of folders and files that a search found.
pub fn seen(summary: &Summary) -> u64 {
    summary.folders + summary.files
}

impl Observer for Listener<'_> {
    fn problem(&self, problem: Problem) {
        self.tally.note(problem.kind);
        let words = option_words::problem(&problem);
        if self.problem_limit.meets(&words) {
            let path = sanitize::path(&problem.path);
            self.console.complain_about(&path, &words);
        }
    }

    fn notice(&self, notice: Notice) {
        tracing::info!("{}", sanitize::message(&notice.0));
    }

    fn link(&self, path: PathBuf) {
        if let Ok(mut links) = self.links.lock() {
            links.push(path);
        }
    }
}

/// Counts of problems by kind.
#[derive(Debug, Default)]
struct Tally {
    bad_roots: AtomicUsize,
    something_left: AtomicBool,
    /// The run no longer waited for some file system.
    gave_up: AtomicBool,
    missed_ignore_file: AtomicBool,
}

impl Tally {
    fn note(&self, kind: ProblemKind) {
        if kind.misses_nothing() {
            return;
        }
        if kind == ProblemKind::Unanswered {
            self.gave_up.store(true, Ordering::Relaxed);
        }
        // A line that is no pattern may list files, too.
        if matches!(
            kind,
            ProblemKind::UnusableIgnoreFile | ProblemKind::BadIgnoreFile
        ) {
            self.missed_ignore_file.store(true, Ordering::Relaxed);
        }
        if kind.is_of_root() {
            self.bad_roots.fetch_add(1, Ordering::Relaxed);
        }
        self.something_left.store(true, Ordering::Relaxed);
    }

    fn exit(&self, roots: usize, seen: u64) -> Exit {
        let no_root = roots > 0 && self.bad_roots.load(Ordering::Relaxed) >= roots;
        // A path that did not answer is not counted by itself: its file system is named, once for all paths on it.
        if no_root || seen == 0 && self.gave_up.load(Ordering::Relaxed) {
            return Exit::Nothing;
        }
        match self.something_left.load(Ordering::Relaxed) {
            true => Exit::SomeLeft,
            false => Exit::Done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(problems: &[ProblemKind], roots: usize) -> Exit {
        let tally = Tally::default();
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
        assert_eq!(after(&[LinkLoop, BrokenLink, BadProfile], 1), Exit::Done);
        assert_eq!(after(&[NotAnswering, Unanswered], 1), Exit::SomeLeft);
    }

    #[test]
    fn nothing_is_done_if_nothing_was_seen_and_a_file_system_did_not_answer() {
        let tally = Tally::default();
        assert_eq!(tally.exit(1, 0), Exit::Done);
        tally.note(ProblemKind::NotAnswering);
        assert_eq!(tally.exit(1, 0), Exit::Done);
        tally.note(ProblemKind::Unanswered);
        assert_eq!(tally.exit(2, 0), Exit::Nothing);
        assert_eq!(tally.exit(2, 1), Exit::SomeLeft);
    }
}
