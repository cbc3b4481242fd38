//! One run that acts: lock, sweep, gather, choose, check, show, apply. A caller says what it wants and hears of each
//! stage.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::action::plan::Plan;
use crate::action::{
    self, ApplyControl, ApplyTally, CutShort, Reason, Reversion, RunHeader, Settings, TellStep,
    TreeLock,
};
use crate::heartbeat::current;

/// A run that acts, or shows what it would do.
pub struct Session<'a> {
    /// How steps are carried out.
    pub acting: &'a Settings,
    /// The folder of journals; without one nothing is changed.
    pub journals: Option<&'a Path>,
    /// The first line of its journal.
    pub header: RunHeader,
}

/// Why nothing more was done: there can be no journal, or another run acts in the same folders.
#[derive(Debug)]
pub struct Stop(pub Reason);

/// Carries a plan out.
pub type Work<'a> =
    Box<dyn FnOnce(&Arc<ApplyControl>, TellStep<'_>) -> Result<ApplyTally, Reason> + Send + 'a>;

/// The caller of a run.
pub trait Host {
    /// Why the run ended early.
    type End: From<Stop>;

    /// The trees are locked, or would be: runs that were cut short there can be cleared up.
    fn sweep(&mut self, _trees: &[PathBuf]) {}

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
    /// Does everything. `trees` are the real paths that are searched; a report names its own, which are known when it is
    /// read. What another run changes in the meantime would make the plan a wrong one, so the trees are locked first.
    ///
    /// # Errors
    /// If nothing was done, or the host ends the run. `None` if there is nothing to do, or the host does not agree.
    pub fn run<H: Host>(
        self,
        trees: Option<&[PathBuf]>,
        gather: impl FnOnce(&mut H) -> Result<Plan, H::End>,
        host: &mut H,
    ) -> Result<Option<(Plan, ApplyTally)>, H::End> {
        let checked = self.journals.map_or(Ok(()), action::check_journals);
        checked.map_err(Stop)?;
        let mut lock = trees.map(|trees| self.begin(trees, host)).transpose()?;
        let mut plan = gather(host)?;
        self.lock_folders(&mut lock, &plan, host)?;
        host.choose(&mut plan)?;
        // Another choice can let go what groups held.
        self.lock_folders(&mut lock, &plan, host)?;
        host.look_around(&mut plan);
        let is_agreed = host.show(&plan)?;
        let Some(journals) = self
            .journals
            .filter(|_| is_agreed && plan.totals().steps > 0)
        else {
            return Ok(None);
        };
        let (acting, header, planned) = (self.acting, self.header, &plan);
        let work = move |control: &Arc<ApplyControl>, tell: TellStep<'_>| {
            action::apply(planned, acting, journals, header, control, tell)
        };
        let tally = host.apply(&plan, Box::new(work)).map_err(Stop)?;
        drop(lock);
        Ok(Some((plan, tally)))
    }

    /// Locks the folders of a plan that does something, unless trees are locked.
    fn lock_folders<H: Host>(
        &self,
        lock: &mut Option<Option<TreeLock>>,
        plan: &Plan,
        host: &mut H,
    ) -> Result<(), Stop> {
        if lock.is_none() && plan.totals().steps > 0 {
            *lock = Some(self.begin(&plan.folders(), host)?);
        }
        Ok(())
    }

    /// Locks the trees, if they are to be changed, and clears up there.
    fn begin<H: Host>(&self, trees: &[PathBuf], host: &mut H) -> Result<Option<TreeLock>, Stop> {
        let acts = self.journals.is_some();
        let lock = acts.then(|| TreeLock::for_acting(self.acting, trees));
        let lock = lock.transpose().map_err(Stop)?;
        host.sweep(trees);
        Ok(lock)
    }
}

/// Works on a past run while no other run changes files in its folders.
///
/// # Errors
/// If another run does.
pub fn locked<T>(run: Reversion, work: impl FnOnce(Reversion) -> T) -> Result<T, Reason> {
    let _lock = TreeLock::take(&run.places())?;
    Ok(work(run))
}

/// Runs that were cut short and left unfinished files in these trees.
///
/// # Errors
/// If the journals cannot be used.
pub fn unfinished(
    journals: &Path,
    trees: impl FnOnce() -> Vec<PathBuf>,
) -> Result<Vec<CutShort>, Reason> {
    let runs = action::cut_short(journals)?;
    if runs.is_empty() {
        return Ok(runs);
    }
    let folder = |tree: PathBuf| {
        current::ask_about(tree.as_os_str().as_bytes());
        if tree.is_dir() {
            Some(tree)
        } else {
            tree.parent().map(Path::to_owned)
        }
    };
    let trees: Vec<PathBuf> = trees().into_iter().filter_map(folder).collect();
    let runs = runs.into_iter();
    Ok(runs.filter_map(|run| run.within(&trees)).collect())
}
