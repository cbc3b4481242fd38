//! Which of several folders that hold the same stays, where a report of folders leaves it open.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use seekless::action::bounds::Below;
use seekless::action::keep::{Named, Traits};
use seekless::action::plan::Settings;

/// A folder, and the one because of which it can go.
type Pair = (PathBuf, PathBuf);

/// Chooses the folder that stays, and lets the others go because of it; the folders if nobody said which one stays.
pub fn directed(group: Vec<Pair>, settings: &Settings) -> Result<Vec<Pair>, Vec<PathBuf>> {
    let bounds = &settings.bounds;
    let is_near = |folder: &Path, place: &Below| {
        let place = Path::new(std::ffi::OsStr::from_bytes(place.path()));
        folder.starts_with(place) || place.starts_with(folder)
    };
    let is_kept = |(folder, _): &&Pair| {
        let is_near = |place| is_near(folder, place);
        let is_out = !bounds.only_under.is_empty() && !bounds.only_under.iter().any(is_near);
        is_out || bounds.reference.iter().any(is_near)
    };
    if ends_outside(&group) {
        // Somebody took the one that stays out of the report.
        return Ok(group);
    }
    let rules = &settings.policy.rules;
    let chosen = match group.iter().find(is_kept) {
        Some((folder, _)) => Some(folder.clone()),
        None if rules.is_empty() => None,
        None => {
            let traits: Vec<Traits<'_>> = group.iter().map(|(folder, _)| traits(folder)).collect();
            let chosen = rules.choose(&traits, 1);
            chosen.first().map(|chosen| group[chosen.index].0.clone())
        }
    };
    let folders = group.into_iter().map(|(folder, _)| folder);
    match chosen {
        Some(stays) => Ok(folders
            .filter(|folder| *folder != stays)
            .map(|folder| (folder, stays.clone()))
            .collect()),
        None => Err(folders.collect()),
    }
}

/// True if from each folder the way from one to the next ends in one that is not in the group.
fn ends_outside(group: &[Pair]) -> bool {
    group.iter().all(|(_, other)| {
        let next = |at: &&Path| group.iter().find(|(folder, _)| at.starts_with(folder));
        let way = std::iter::successors(Some(other.as_path()), |at| {
            next(at).map(|(_, other)| other.as_path())
        });
        way.take(group.len() + 1).count() <= group.len()
    })
}

/// What rules compare of a folder: its own path and times.
fn traits(folder: &Path) -> Traits<'_> {
    let path = folder.as_os_str().as_bytes();
    let now = fs::metadata(folder).ok();
    let time = |time: fn(&fs::Metadata) -> (i64, i64)| {
        let (seconds, nanoseconds) = now.as_ref().map_or((0, 0), time);
        seconds
            .saturating_mul(1_000_000_000)
            .saturating_add(nanoseconds)
    };
    Traits {
        mtime_ns: time(|now| (now.mtime(), now.mtime_nsec())),
        atime_ns: time(|now| (now.atime(), now.atime_nsec())),
        names: vec![Named {
            path,
            listed: path,
            ..Named::default()
        }],
        ..Traits::default()
    }
}
