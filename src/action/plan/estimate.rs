//! Estimates how many bytes a plan frees.

use std::collections::{HashMap, HashSet};

use super::set::{Fate, PlannedFile, SetPlan, Shared};
use crate::action::ActionKind;
use crate::sys::extents::{self, Extent};

/// Estimates for the files of a set that are acted on.
///
/// Counts allocated blocks. A file of which a name remains frees nothing. An extent that a kept file refers to is not
/// freed. An extent that only several removed files of this set share counts once. A shared extent that only one of
/// them has is not freed, since something else refers to it. `destination` is the file system that files are moved to.
pub fn estimate(set: &mut SetPlan, action: ActionKind, destination: Option<u64>) {
    let shared = match set
        .files
        .iter()
        .any(|file| matches!(file.fate, Fate::Act { .. }))
    {
        true => set.files.iter().map(shared_extents).collect(),
        false => Vec::new(),
    };
    for (file, extents) in set.files.iter_mut().zip(&shared) {
        if extents.iter().any(|extent| extent.inline) {
            // Counted as a block, but there is none.
            file.allocated = 0;
        }
    }
    set.shared = Shared::default();
    let mut users: HashMap<u64, u32> = HashMap::new();
    let mut taken: HashSet<u64> = HashSet::new();
    for (file, extents) in set.files.iter().zip::<&Vec<Vec<Extent>>>(&shared) {
        for extent in extents {
            *users.entry(extent.physical).or_default() += 1;
            if !matches!(file.fate, Fate::Act { .. }) {
                taken.insert(extent.physical);
            }
        }
    }
    for (file, extents) in set.files.iter_mut().zip(&shared) {
        let elsewhere = file.names_elsewhere() > 0;
        let Fate::Act { frees, .. } = &mut file.fate else {
            continue;
        };
        let stays_there = match action {
            // Into the trash of the same file system.
            ActionKind::Trash => true,
            ActionKind::Move => destination == Some(file.volume.dev) || elsewhere,
            // The file itself gives its blocks back, whatever names it has.
            ActionKind::Reflink => false,
            ActionKind::Remove | ActionKind::Hardlink | ActionKind::Symlink => elsewhere,
        };
        if stays_there {
            continue;
        }
        let mut kept: u64 = 0;
        for extent in extents {
            let is_first = taken.insert(extent.physical);
            let is_only = users.get(&extent.physical) == Some(&1);
            if !is_first || is_only {
                kept = kept.saturating_add(extent.length);
            }
            let sum = match is_only {
                _ if extent.inline || !is_first => continue,
                true => &mut set.shared.held,
                false => &mut set.shared.unless_shared,
            };
            *sum = sum.saturating_add(extent.length);
        }
        *frees = file.allocated.saturating_sub(kept);
    }
}

/// The extents that the file shares with others, and the part of the file that is stored in the metadata, if the file
/// system reports them.
fn shared_extents(file: &PlannedFile) -> Vec<Extent> {
    // A program or a server would take its time for each file.
    if !file.shares_blocks {
        return Vec::new();
    }
    let extents = file.open().and_then(|file| extents::extents(&file));
    let mut extents = extents.unwrap_or_default();
    extents.retain(|extent| extent.shared || extent.inline);
    extents
}
