//! Waiting until what counts would survive a loss of power.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use super::check::Opened;
use super::folder_entry::Identity;
use super::step::Outcome;
use super::trouble::{Trouble, failed, failure};
use crate::sys::sync;

/// For each file system, since when everything on it is known to be on the disk.
#[derive(Debug, Default)]
pub struct Settled(HashMap<u64, i64>);

impl Settled {
    /// Waits until the keeper's bytes would survive a loss of power: its copy is about to go.
    ///
    /// The first keeper on a file system waits for everything on it. Those that were not modified since
    /// have nothing left to wait for.
    pub fn keeper(&mut self, keeper: &Opened) -> Result<(), Trouble> {
        let doing = "make sure that the kept file is on the disk";
        let now = jiff::Timestamp::now().as_nanosecond();
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let dev = keeper.stat.dev;
        if !self.0.contains_key(&dev) && sync::whole(&keeper.file).is_ok() {
            // Clocks of file systems tick as slowly as every 10 ms, of some every two seconds.
            self.0.insert(dev, now.saturating_sub(2_000_000_000));
        }
        match self.0.get(&dev) {
            Some(&since) if keeper.stat.mtime_ns < since => Ok(()),
            _ => sync::file(&keeper.file).map_err(failed(doing)),
        }
    }
}

/// Waits for each folder in which something was done.
pub fn folders(
    outcomes: Vec<(Outcome, Option<Identity>)>,
    folders: &HashMap<Identity, OwnedFd>,
) -> Vec<Outcome> {
    let failed: HashMap<Identity, rustix::io::Errno> = folders
        .iter()
        .filter_map(|(&identity, folder)| Some((identity, sync::folder(folder).err()?)))
        .collect();
    let settled = |(outcome, folder): (Outcome, Option<Identity>)| match folder
        .and_then(|folder| failed.get(&folder))
    {
        Some(&error) => Outcome::Failed(failure(
            "make sure that what was done would survive a loss of power".to_owned(),
            error,
        )),
        None => outcome,
    };
    outcomes.into_iter().map(settled).collect()
}
