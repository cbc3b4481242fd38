//! The journals of what was done, and undo.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use super::error::{Cause, Error};
use super::watch::Cancel;
use super::{Callback, time};
use crate::action::{self, Back, Reads, Reversion, UndoTally, UndoneFile};

/// A folder of journals: what each run did, so that it can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journals {
    folder: PathBuf,
}

/// A run that has a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// Its name, by the time when it began.
    pub name: String,
    /// When it began.
    pub started: SystemTime,
    /// The command line of the program that ran it.
    pub command: Vec<OsString>,
    /// The number of steps that the run recorded.
    pub steps: usize,
    /// True if all of it was undone.
    pub undone: bool,
    /// True if the run, or an undo of it, did not come to its end.
    pub cut_short: bool,
    /// True if another process is still executing the run, or an undo of it.
    pub busy: bool,
}

impl Journals {
    /// The journals in this folder. The folder is created with the first journal, and other users must not have
    /// access to it. The `seekless` program keeps its own in `~/.local/state/seekless/journals`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self {
            folder: std::path::absolute(&folder).unwrap_or(folder),
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All runs whose journals can be read, the oldest first.
    ///
    /// # Errors
    /// If the folder cannot be listed, or if other users could have written there.
    pub fn runs(&self) -> Result<Vec<Run>, Error> {
        let runs = action::runs(&self.folder).map_err(Cause::from)?;
        Ok(runs.into_iter().map(Run::from).collect())
    }

    /// Opens the journal of a run, to undo the run.
    ///
    /// # Errors
    /// If there is no such run, if it is still active, or if its journal cannot be read.
    pub fn undo(&self, run: &str) -> Result<Undo<'static>, Error> {
        let reversion = Reversion::open(&self.folder, Some(run)).map_err(Cause::from)?;
        Ok(Undo::new(reversion))
    }

    /// Opens the journal of the last run that changed anything.
    ///
    /// # Errors
    /// As [`undo`](Self::undo), and if it is not certain which run was the last.
    pub fn undo_last(&self) -> Result<Undo<'static>, Error> {
        let reversion = Reversion::open(&self.folder, None).map_err(Cause::from)?;
        Ok(Undo::new(reversion))
    }

    /// Restores the files that runs left unfinished when they were cut short: killed, or by a loss of power. Call it
    /// before a search whose duplicates are acted on: it does not find these files under their names.
    ///
    /// Finished steps stay done. A run whose undo was cut short is skipped; [`undo`](Self::undo) continues it.
    ///
    /// # Errors
    /// If the folder cannot be listed, other users could have written there, or another run is active.
    pub fn sweep(&self) -> Result<Vec<UndoneFile>, Error> {
        let unfinished = action::cut_short(&self.folder).map_err(Cause::from)?;
        let mut files = Vec::new();
        for run in unfinished.into_iter().filter(|run| !run.in_undo) {
            let reversion = Reversion::open(&self.folder, Some(&run.name)).map_err(Cause::from)?;
            let tell = &mut |step: &UndoneFile| files.push(step.clone());
            let _lock = reversion.lock().map_err(Cause::from)?;
            reversion.take_back(Back::Sweep, &AtomicBool::new(false), tell);
        }
        Ok(files)
    }
}

impl From<action::Run> for Run {
    fn from(run: action::Run) -> Self {
        let words = run.header.command.into_iter();
        Self {
            name: run.name,
            started: time(run.header.started_ns),
            command: words.map(|word| OsString::from_vec(word.0)).collect(),
            steps: run.steps,
            undone: run.undone,
            cut_short: run.cut_short,
            busy: run.busy,
        }
    }
}

/// A run that is about to be undone. No other process can undo it while this lives.
#[must_use = "nothing is undone before `run`"]
pub struct Undo<'a> {
    reversion: Reversion,
    cancel: Cancel,
    on_file: Option<Callback<'a, UndoneFile>>,
}

impl fmt::Debug for Undo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Undo")
            .field("run", &self.run_name())
            .finish_non_exhaustive()
    }
}

impl<'a> Undo<'a> {
    fn new(reversion: Reversion) -> Self {
        Self {
            reversion,
            cancel: Cancel::default(),
            on_file: None,
        }
    }

    /// The run's name.
    pub fn run_name(&self) -> &str {
        self.reversion.run_name()
    }

    /// Only reads while no other program uses the disk. It sets the I/O priority of the calling thread until the undo
    /// has ended.
    pub fn io_idle(mut self, idle: bool) -> Self {
        self.reversion = self.reversion.reading(&Reads::default(), idle);
        self
    }

    /// Ends early when this is cancelled, between two steps.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Calls this for each file, the last step first.
    pub fn on_file(mut self, tell: impl FnMut(&UndoneFile) + Send + 'a) -> Self {
        self.on_file = Some(Box::new(tell));
        self
    }

    /// Returns what undo would do to each file, the last step first, and the totals. It changes nothing.
    pub fn preview(&self) -> (Vec<UndoneFile>, UndoTally) {
        let mut files = Vec::new();
        let tally = self.reversion.preview(&mut |step| files.push(step.clone()));
        (files, tally)
    }

    /// Undoes the run. It leaves files alone that have changed since, each with its reason.
    ///
    /// # Errors
    /// If another run that writes to these journals is active. Nothing was done then.
    pub fn run(self) -> Result<UndoTally, Error> {
        let mut on_file = self.on_file;
        let tell = &mut |step: &UndoneFile| {
            if let Some(tell) = &mut on_file {
                tell(step);
            }
        };
        let _lock = self.reversion.lock().map_err(Cause::from)?;
        Ok(self
            .reversion
            .take_back(Back::Undo, self.cancel.flag(), tell))
    }
}
