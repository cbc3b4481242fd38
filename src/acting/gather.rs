//! A plan of what a report says, or of what a search finds.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::action::plan::{Listed, Origin, Planner};
use crate::decide::{DuplicateSet, Summary};
use crate::engine::{self, Config, Control, Delivery, Error};
use crate::event::Observer;
use crate::file::{Untrusted, as_path};
use crate::heartbeat::current;
use crate::report::Header;
use crate::report::read::{self, Frame, ReadError};

/// The origin of a report, and the actions that it permits.
#[derive(Debug, Default)]
pub struct ReportAbout {
    /// The other user who could have written it, if any.
    pub untrusted: Option<Untrusted>,
    /// The real paths that were searched, as far as they are there; `None` if the report does not say.
    pub roots: Option<Vec<PathBuf>>,
    /// The real paths that it is limited to.
    pub limits: Vec<PathBuf>,
}

impl ReportAbout {
    /// Takes over what the report says of itself, and what the user says of it.
    pub fn note(&mut self, header: Option<&Header>, limits: &[PathBuf]) {
        // A header without paths permits nothing and forbids nothing.
        let header = header.filter(|header| !header.roots.is_empty());
        self.roots = header.map(|header| {
            let folder = as_path(&header.folder).to_owned();
            let roots = header.roots.iter().map(|root| folder.join(as_path(root)));
            // A link would hide what is meant.
            let real = |root: PathBuf| {
                current::ask_about(root.as_os_str().as_bytes());
                root.canonicalize().unwrap_or(root)
            };
            roots.map(real).collect()
        });
        self.limits = limits.to_vec();
    }

    /// The user who could redirect an action: a report of another user needs a yes, or paths that it is limited to. The
    /// paths in the report permit nothing.
    pub fn may_mislead(&self) -> Option<&Untrusted> {
        self.untrusted.as_ref().filter(|_| self.limits.is_empty())
    }
}

/// Reads a report and plans for each of its sets. Returns its header and ending. Only what lies below the real paths in
/// `limits` takes part; with none, all of it does. `files` counts on the way.
///
/// # Errors
/// If it is no report, or not a whole one: then the plan is to be dropped.
pub fn plan_report(
    input: impl Read,
    planner: &mut Planner,
    limits: &[PathBuf],
    files: &AtomicU64,
) -> Result<Frame, ReadError> {
    let mut origin_known = false;
    read::read_each(input, &mut |header, set| {
        if !origin_known {
            origin_known = true;
            planner.set_origin(origin(header).within(limits));
        }
        files.fetch_add(set.set.members.len() as u64, Ordering::Relaxed);
        let (has_facts, marked) = (set.has_facts, &set.marked[..]);
        planner.add(&set.set, Listed { has_facts, marked });
    })
}

fn origin(header: Option<&Header>) -> Origin {
    let unknown = Origin {
        is_ordered: true,
        ..Origin::default()
    };
    let Some(header) = header else {
        return unknown;
    };
    let folder = as_path(&header.folder).to_owned();
    let catalogs = header.catalogs.iter();
    let catalogs = catalogs.filter_map(|it| header.roots.get(it.root as usize));
    let origin = Origin {
        reported_catalogs: catalogs.map(|root| folder.join(as_path(root))).collect(),
        folder: folder.is_absolute().then_some(folder),
        not_after_ns: Some(header.started_ns),
        isolate: header.options.isolate,
        hard_links: header.options.hard_links,
        follow_links: header.options.follow_links,
        newer_ns: header.options.newer_ns,
        ..unknown
    };
    if header.roots.is_empty() {
        origin
    } else {
        origin.with_roots(header.roots.iter().map(|root| as_path(root)))
    }
}

/// The origin of all sets of a search. Relative paths start in `folder`, and the files are looked at from `started_ns`
/// (nanoseconds since 1970) on.
pub fn search_origin(config: &Config, folder: &Path, started_ns: i64) -> Origin {
    let catalogs = (0..).zip(&config.roots).filter_map(|(number, root)| {
        let catalog = root.catalog.as_ref()?;
        // What has moved since holds nothing.
        let path = folder.join(&root.path).canonicalize().ok()?;
        Some((number, (path, catalog.scan.clone())))
    });
    let origin = Origin {
        catalogs: catalogs.collect(),
        folder: Some(folder.to_owned()),
        not_after_ns: Some(started_ns),
        isolate: config.isolate,
        hard_links: config.hard_links,
        follow_links: config.follow_links,
        newer_ns: config.newer_ns,
        filter: config.filter.clone(),
        obeys_ignore_files: !config.ignore_files.is_empty(),
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
        identifiers: Some(planner.identifiers().clone()),
        ..config.clone()
    };
    let plan = &mut |set: &DuplicateSet| {
        // Probably equal is not enough to act.
        if !set.probable {
            planner.add(set, Listed::FOUND);
        }
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
