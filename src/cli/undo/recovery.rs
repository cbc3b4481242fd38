//! Takes a run back, or clears up after it, and says what went wrong.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use seekless::action::{Reads, Reversion, TreeLock, UndoTally, UndoneFile};

use super::journal_place::JournalPlace;
use super::text;
use crate::cli::front::problems::ProblemLimit;
use crate::cli::terminal::console::Console;
use crate::cli::terminal::watch::{self, End};

/// How runs are taken back, and where that is told.
pub struct Recovery<'a> {
    /// Where their journals are.
    pub place: &'a JournalPlace,
    /// The rules for reads.
    pub reads: &'a Reads,
    /// Read only while no other program uses the disk.
    pub io_idle: bool,
    /// Name each file.
    pub names_all: bool,
    /// Where it is told.
    pub console: &'a Console,
}

impl Recovery<'_> {
    /// Locks the folders of a run; if another run acts there, says so.
    pub fn lock(&self, reversion: &Reversion) -> Option<TreeLock> {
        let lock = TreeLock::take(&reversion.places());
        lock.map_err(|occupied| self.console.complain(&occupied.to_string()))
            .ok()
    }

    /// Undoes a run, or only clears up after it, and says what went wrong.
    pub fn carry_out(&self, reversion: Reversion, sweeps: bool) -> UndoTally {
        let (place, console) = (self.place, self.console);
        let reversion = reversion.reading(self.reads, self.io_idle);
        let way_out = if sweeps {
            let sweep = place.sweep(reversion.run_name());
            format!("not everything was cleaned up; to continue: {sweep}")
        } else {
            place.not_all_undone(reversion.run_name())
        };
        let stop = Arc::<AtomicBool>::default();
        let limit = ProblemLimit::new(self.names_all);
        let tell = &mut |step: &UndoneFile| {
            if let Some(problem) = text::problem(step, &limit) {
                console.complain(&problem);
            }
            if self.names_all
                && let Some(success) = text::success(step)
            {
                console.line(&success);
            }
        };
        let tally = watch::ending(End::step(&stop, way_out), || {
            if sweeps {
                reversion.sweep(&stop, tell)
            } else {
                reversion.carry_out(&stop, tell)
            }
        });
        let of_journal = text::of_the_journal(&tally, place);
        let rest = limit.rest().into_iter().chain(of_journal);
        rest.for_each(|line| console.complain(&line));
        tally
    }
}
