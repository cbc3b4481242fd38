//! The caller's side of a run: what ends it, and who hears of it.

use std::fmt;

use super::Callback;
use super::cancel::Cancel;
use crate::engine::ProgressLine as Progress;
use crate::event::Problem;

/// The caller's side of a run: what ends it, and who hears of it.
#[derive(Default)]
pub(super) struct Watch<'a> {
    pub cancel: Cancel,
    pub on_progress: Option<Callback<'a, [Progress]>>,
    pub on_problem: Option<Callback<'a, Problem>>,
    /// The problems, unless the caller hears of each.
    pub problems: Vec<Problem>,
    /// The given paths that cannot be searched, with the reason.
    pub bad_roots: Vec<String>,
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("cancel", &self.cancel)
            .finish_non_exhaustive()
    }
}

impl Watch<'_> {
    pub fn hear(&mut self, problem: Problem) {
        if problem.kind.is_of_root() {
            let path = problem.path.display();
            self.bad_roots.push(format!("{path}: {problem}"));
        }
        match &mut self.on_problem {
            Some(tell) => tell(&problem),
            None => self.problems.push(problem),
        }
    }
}
