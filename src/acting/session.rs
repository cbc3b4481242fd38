//! One run that acts: lock, sweep, gather, choose, check, show, apply. A caller says what it wants and hears of each
//! stage.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::action::plan::Plan;
use crate::action::{
    self, ApplyControl, ApplyTally, JournalError, Occupied, RunHeader, Settings, TellStep, TreeLock,
};

/// A run that acts, or shows what it would do.
pub struct Session<'a> {
    /// How steps are carried out.
    pub acting: &'a Settings,
    /// The folder of journals; without one nothing is changed.
    pub journals: Option<&'a Path>,
    /// The first line of its journal.
    pub header: RunHeader,
}

/// Why nothing more was done.
#[derive(Debug)]
pub enum Stop {
    /// There can be no journal.
    Journal(JournalError),
    /// Another run acts in the same folders.
    Occupied(Occupied),
    /// The plan cannot be kept.
    NotKept(io::Error),
}

/// The caller of a run that carries a plan out.
pub trait Host {
    /// Why the run ended early.
    type End: From<Stop>;

    /// The trees are locked, or would be: runs that were cut short there can be cleared up.
    fn sweep(&mut self, _trees: &[PathBuf]) {}

    /// Looks for effects of the plan beside its files.
    fn look_around(&mut self, plan: &mut Plan) -> io::Result<()> {
        plan.look_for_empty_folders()
    }

    /// Carries the plan out and hears of its steps.
    fn apply<T: Send>(&mut self, plan: &mut Plan, work: impl Carry<T>) -> T;
}

/// The caller of a run that makes its plan while it holds the lock.
pub trait PlanHost: Host {
    /// Makes the plan.
    fn gather(&mut self) -> Result<Plan, Self::End>;

    /// Replaces the decisions about sets.
    fn choose(&mut self, plan: Plan) -> Result<Plan, Self::End>;

    /// Shows the plan; true if it may be carried out.
    fn show(&mut self, plan: &mut Plan) -> Result<bool, Self::End>;
}

/// Work that carries a plan out.
pub trait Carry<T>: FnOnce(&mut Plan, &Arc<ApplyControl>, TellStep<'_>) -> T + Send {}

impl<T, F: FnOnce(&mut Plan, &Arc<ApplyControl>, TellStep<'_>) -> T + Send> Carry<T> for F {}

impl Session<'_> {
    /// Does everything. `trees` are the real paths that are searched; a report names its own, which are known when it is
    /// read. What another run changes in the meantime would make the plan a wrong one, so the trees are locked first.
    ///
    /// # Errors
    /// If nothing was done, or the host ends the run. `None` if the host does not agree.
    pub fn run<H: PlanHost>(
        self,
        trees: Option<&[PathBuf]>,
        host: &mut H,
    ) -> Result<Option<(Plan, ApplyTally)>, H::End> {
        self.check_journals()?;
        let mut lock = trees.map(|trees| self.begin(trees, host)).transpose()?;
        let mut plan = host.gather()?;
        if lock.is_none() && plan.totals().steps > 0 {
            let trees = plan.folders().map_err(Stop::NotKept)?;
            lock = Some(self.begin(&trees, host)?);
        }
        plan = host.choose(plan)?;
        host.look_around(&mut plan).map_err(Stop::NotKept)?;
        if !host.show(&mut plan)? || plan.totals().steps == 0 {
            return Ok(None);
        }
        let tally = self.carry_out(&mut plan, host)?;
        drop(lock);
        Ok(Some((plan, tally)))
    }

    /// Carries out a plan that was made and checked before, without a lock.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn apply<H: Host>(
        self,
        mut plan: Plan,
        host: &mut H,
    ) -> Result<(Plan, ApplyTally), H::End> {
        self.check_journals()?;
        let trees = plan.folders().map_err(Stop::NotKept)?;
        let _lock = self.begin(&trees, host)?;
        host.look_around(&mut plan).map_err(Stop::NotKept)?;
        let tally = self.carry_out(&mut plan, host)?;
        Ok((plan, tally))
    }

    fn check_journals(&self) -> Result<(), Stop> {
        let checked = self.journals.map_or(Ok(()), action::check_journals);
        checked.map_err(Stop::Journal)
    }

    /// Locks the trees, if they are to be changed, and clears up there.
    fn begin<H: Host>(&self, trees: &[PathBuf], host: &mut H) -> Result<Option<TreeLock>, Stop> {
        let acts = self.journals.is_some();
        let lock = acts.then(|| TreeLock::for_acting(self.acting, trees));
        let lock = lock.transpose().map_err(Stop::Occupied)?;
        host.sweep(trees);
        Ok(lock)
    }

    fn carry_out<H: Host>(self, plan: &mut Plan, host: &mut H) -> Result<ApplyTally, Stop> {
        let Some(journals) = self.journals else {
            return Ok(ApplyTally::default());
        };
        let (acting, header) = (self.acting, self.header);
        let work = move |plan: &mut Plan, control: &Arc<ApplyControl>, tell: TellStep<'_>| {
            action::apply(plan, acting, journals, header, control, tell)
        };
        host.apply(plan, work).map_err(Stop::Journal)
    }
}
