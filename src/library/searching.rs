//! A search that is under way.

use std::fmt;
use std::io;

use super::beside::Beside;
use super::error::{Cause, Error};
use super::set::{Set, Summary};
use super::watch::Watch;
use crate::decide;
use crate::engine::{self, Config, Delivery};
use crate::event::Problem;

/// A search that is under way: an iterator over its sets.
///
/// Callbacks are called, and a [`Cancel`](super::Cancel) is noticed, while it waits for the next set. An error is the
/// last item. The search ends early when this is dropped.
#[must_use = "it ends when it is dropped"]
pub struct Searching<'a> {
    /// `None` once it has ended.
    work: Option<Beside<Set, Result<decide::Summary, engine::Error>>>,
    watch: Watch<'a>,
    roots: usize,
    summary: Summary,
}

impl fmt::Debug for Searching<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searching")
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}

impl<'a> Searching<'a> {
    pub(super) fn start(
        config: Config,
        delivery: Delivery,
        watch: Watch<'a>,
    ) -> Result<Self, Error> {
        let roots = config.roots.len();
        let work = Beside::start(&watch.cancel, move |to_sets, listener, control| {
            engine::find(&config, delivery, listener, control, &mut |set| {
                let sent = to_sets.send(Set::from(set));
                sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
            })
        })?;
        Ok(Self {
            work: Some(work),
            watch,
            roots,
            summary: Summary::default(),
        })
    }

    /// The counts. If sets are left, the search ends here, and its counts are incomplete.
    pub fn summary(mut self) -> Summary {
        match self.work.take().map(Beside::end) {
            Some(ended) => Summary {
                incomplete: true,
                ..ended.map(Summary::from).unwrap_or_default()
            },
            None => self.summary,
        }
    }

    /// The files and folders so far that could not be read; empty if
    /// [`Search::on_problem`](super::Search::on_problem) takes them.
    pub fn problems(&self) -> &[Problem] {
        &self.watch.problems
    }

    pub(super) fn take_problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.watch.problems)
    }

    fn ended(&mut self, found: Result<decide::Summary, engine::Error>) -> Result<(), Error> {
        let summary = found.map_err(Cause::from)?;
        let bad_roots = &mut self.watch.bad_roots;
        if !bad_roots.is_empty() && bad_roots.len() >= self.roots {
            return Err(Cause::NoPath(bad_roots.swap_remove(0)).into());
        }
        self.summary = summary.into();
        Ok(())
    }
}

impl Iterator for Searching<'_> {
    type Item = Result<Set, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(set) = self.work.as_mut()?.next(&mut self.watch) {
            return Some(Ok(set));
        }
        let found = self.work.take()?.end();
        self.ended(found).err().map(Err)
    }
}
