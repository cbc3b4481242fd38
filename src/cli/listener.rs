//! Names problems on stderr as they come, and remembers what they mean for the exit status.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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
}

impl<'a> Listener<'a> {
    /// Prints to this console. Where decisions are told (`-v`), every problem is named.
    pub fn new(console: &'a Console) -> Self {
        Self {
            console,
            tally: Tally::default(),
            problem_limit: ProblemLimit::new(tracing::enabled!(tracing::Level::INFO)),
        }
    }

    /// Says how many problems were not named. Call it when the run is over.
    pub fn sum_up(&self) {
        for line in self.problem_limit.rest() {
            self.console.complain(&line);
        }
    }

    /// The exit status of a finished run over `roots` paths, from the problems so far.
    pub fn exit(&self, roots: usize) -> Exit {
        self.tally.exit(roots)
    }
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
}

/// Counts of problems by kind.
#[derive(Debug, Default)]
struct Tally {
    bad_roots: AtomicUsize,
    something_left: AtomicBool,
}

impl Tally {
    fn note(&self, kind: ProblemKind) {
        if kind.misses_nothing() {
            return;
        }
        if kind.is_of_root() {
            self.bad_roots.fetch_add(1, Ordering::Relaxed);
        }
        self.something_left.store(true, Ordering::Relaxed);
    }

    fn exit(&self, roots: usize) -> Exit {
        if roots > 0 && self.bad_roots.load(Ordering::Relaxed) >= roots {
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
        tally.exit(roots)
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
    }
}
