//! One run that acts: lock, sweep, gather, choose, check, show, apply. A caller says what it wants and hears of each
//! stage.

use std::path::Path;
use std::sync::Arc;

use crate::action::plan::Plan;
use crate::action::{self, ApplyControl, ApplyTally, Reason, RunHeader, Tell};

/// A run that acts, or shows what it would do.
pub struct Session<'a> {
    /// The folder of journals; without one nothing is changed.
    pub journals: Option<&'a Path>,
    /// The first line of its journal.
    pub header: RunHeader,
}

/// Why nothing more was done: there can be no journal, or another run is active.
#[derive(Debug)]
pub struct Stop(pub Reason);

/// Carries a plan out.
pub type Work<'a> =
    Box<dyn FnOnce(&Arc<ApplyControl>, Tell<'_>) -> Result<ApplyTally, Reason> + Send + 'a>;

/// The caller of a run.
pub trait Host {
    /// Why the run ended early.
    type End: From<Stop>;

    /// No other run is active: what killed runs left can be cleared up.
    fn sweep(&mut self) {}

    /// Replaces the decisions about sets.
    fn choose(&mut self, _plan: &mut Plan) -> Result<(), Self::End> {
        Ok(())
    }

    /// Looks for effects of the plan beside its files.
    fn look_around(&mut self, plan: &mut Plan) {
        plan.look_for_empty_folders();
    }

    /// Shows the plan; true if it may be carried out.
    fn show(&mut self, _plan: &Plan) -> Result<bool, Self::End> {
        Ok(true)
    }

    /// Has the plan carried out and hears of its steps.
    fn apply(&mut self, plan: &Plan, work: Work<'_>) -> Result<ApplyTally, Reason>;
}

impl Session<'_> {
    /// Does everything. What another run changes in the meantime would make the plan a wrong one, so it begins with the
    /// lock.
    ///
    /// # Errors
    /// If nothing was done, or the host ends the run. `None` if there is nothing to do, or the host does not agree.
    pub fn run<H: Host>(
        self,
        gather: impl FnOnce(&mut H) -> Result<Plan, H::End>,
        host: &mut H,
    ) -> Result<Option<(Plan, ApplyTally)>, H::End> {
        let lock = self.journals.map(action::check_journals).transpose();
        let _lock = lock.map_err(Stop)?;
        host.sweep();
        let mut plan = gather(host)?;
        host.choose(&mut plan)?;
        host.look_around(&mut plan);
        let is_agreed = host.show(&plan)?;
        let Some(journals) = self
            .journals
            .filter(|_| is_agreed && plan.totals().steps > 0)
        else {
            return Ok(None);
        };
        let (header, planned) = (self.header, &plan);
        let work = move |control: &Arc<ApplyControl>, tell: Tell<'_>| {
            action::apply(planned, journals, header, control, tell)
        };
        let tally = host.apply(&plan, Box::new(work)).map_err(Stop)?;
        Ok(Some((plan, tally)))
    }
}
