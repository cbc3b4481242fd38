//! The settings that searches and comparisons share: which files take part, how they are read, and who hears of it.

use std::env;
use std::time::SystemTime;

use super::error::{Cause, Error};
use super::nanoseconds;
use super::watch::Watch;
use crate::action::Reads;
use crate::engine::{self, Config, LEAST_MEMORY, LEAST_RATE};
use crate::event::Problem;
use crate::read::PageUse;
use crate::scan::FilterSpec;
use crate::scan::filter::Filter;
use crate::tree::{Scope, Tree};

/// The filter, unless no file can pass it. Relative patterns start in the current folder.
pub(super) fn built(spec: &FilterSpec, wants_empty: bool) -> Result<Filter, Error> {
    let mut spec = spec.clone();
    if spec.working_folder.as_os_str().is_empty() {
        spec.working_folder = env::current_dir().unwrap_or_default();
    }
    let checked = spec.check(nanoseconds(SystemTime::now()), wants_empty);
    checked.map_err(Cause::from)?;
    Ok(spec.build().map_err(Cause::from)?)
}

/// Classifies the files of a comparison, beside the calling thread. The problems that the caller does not hear of are
/// returned.
pub(super) fn classified(
    config: &Config,
    scope: Scope,
    mut watch: Watch<'_>,
) -> Result<(Tree, Vec<Problem>), Error> {
    let tree = watch.during::<(), _>(
        |()| (),
        |listener, control| engine::classify(config, scope, listener, control),
    )?;
    Ok((tree.map_err(Cause::from)?, watch.problems))
}

/// Checks the settings that all runs share.
pub(super) fn check(config: &Config) -> Result<(), Error> {
    if config.roots.is_empty() {
        return Err(Cause::NoRoots.into());
    }
    if config.memory.is_some_and(|memory| memory < LEAST_MEMORY) {
        return Err(Cause::LittleMemory.into());
    }
    check_rate(config.bytes_per_second.map(|rate| rate.0))
}

/// Checks a limit of bytes per second.
pub(super) fn check_rate(bytes_per_second: Option<u64>) -> Result<(), Error> {
    match bytes_per_second {
        Some(rate) if rate < LEAST_RATE.0 => Err(Cause::SlowRate.into()),
        _ => Ok(()),
    }
}

/// The methods of a builder with the fields `config` and `watch`.
macro_rules! reading_settings {
    () => {
        /// Ends early when this is cancelled. The result is then incomplete.
        pub fn cancel(mut self, cancel: &crate::library::Cancel) -> Self {
            self.watch.cancel = cancel.clone();
            self
        }

        /// Limits reading to this many bytes per second and device: at least 1 kB (1,000 bytes). The limit does not
        /// apply to cached data or to listing folders. By default, nothing is limited.
        pub fn bytes_per_second(mut self, bytes: u64) -> Self {
            self.config.bytes_per_second = Some(crate::units::Bytes(bytes));
            self
        }

        /// Limits the memory for data in flight, in bytes: at least 8 MB (8,000,000 bytes). The default is a share of
        /// the memory of the machine.
        pub fn memory(mut self, bytes: u64) -> Self {
            self.config.memory = Some(crate::units::Bytes(bytes));
            self
        }

        /// Only reads while no other program uses the disk. It sets the I/O priority of the threads that the run
        /// starts.
        pub fn io_idle(mut self, idle: bool) -> Self {
            self.config.io_idle = idle;
            self
        }

        /// The time to wait for a file system that does not answer, once there is nothing else to do. The default is
        /// one minute.
        pub fn patience(mut self, patience: std::time::Duration) -> Self {
            self.config.patience = patience;
            self
        }

        /// Calls this about ten times a second, on the calling thread, with the progress of each stage on each device.
        pub fn on_progress(
            mut self,
            tell: impl FnMut(&[crate::library::Progress]) + Send + 'a,
        ) -> Self {
            self.watch.on_progress = Some(Box::new(tell));
            self
        }

        /// Calls this on the calling thread for each path that could not be read or is skipped, with the reason.
        /// Without it, the result of `run` contains them.
        pub fn on_problem(mut self, tell: impl FnMut(&crate::event::Problem) + Send + 'a) -> Self {
            self.watch.on_problem = Some(Box::new(tell));
            self
        }
    };
}

pub(super) use reading_settings;

/// Reads that keep to a limit, if there is one.
pub(super) fn reads(bytes_per_second: Option<u64>) -> Result<Reads, Error> {
    check_rate(bytes_per_second)?;
    Ok(match bytes_per_second {
        // What is compared before an action is read again when it is copied.
        Some(_) => Reads::new(bytes_per_second, PageUse::KeepWhileFree),
        None => Reads::default(),
    })
}
