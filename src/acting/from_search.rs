//! A plan of what a search finds.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::action::plan::{Claim, Origin, Planner};
use crate::decide::Summary;
use crate::engine::{self, Config, Control, Delivery, Error};
use crate::event::Observer;
use crate::heartbeat::current;

/// The origin of all sets of a search. Relative paths start in `folder`, and the files are looked at from `started_ns`
/// (nanoseconds since 1970) on.
pub fn search_origin(config: &Config, folder: &Path, started_ns: i64) -> Origin {
    let origin = Origin {
        folder: Some(folder.to_owned()),
        not_after_ns: Some(started_ns),
        isolate: config.isolate,
        hard_links: config.hard_links,
        follow_links: config.follow_links,
        newer_ns: config.newer_ns,
        ..Origin::default()
    };
    origin.with_roots(config.roots.iter().map(|root| root.path.as_path()))
}

/// Searches, and plans for each set. Skips trash folders below the roots: a copy there is no reason to remove another
/// one.
///
/// # Errors
/// As [`engine::find`].
pub fn plan_search(
    config: &Config,
    planner: &mut Planner,
    observer: &dyn Observer,
    control: &Control,
) -> Result<Summary, Error> {
    let config = Config {
        skip_trash: true,
        tell_links: planner.takes_names(),
        ..config.clone()
    };
    let plan = &mut |set: &_| {
        planner.add(Claim::from(set));
        Ok(())
    };
    engine::find(&config, Delivery::default(), observer, control, plan)
}

/// The real paths of what is searched. What is not there has nothing to be acted on.
pub fn searched_trees(config: &Config) -> Vec<PathBuf> {
    let real = |path: &Path| {
        current::ask_about(path.as_os_str().as_bytes());
        path.canonicalize().ok()
    };
    let roots = config.roots.iter();
    roots.filter_map(|root| real(&root.path)).collect()
}
