//! Finds out before the user is asked whether files can share blocks, and whether it can be proven that two names lead to
//! two files.
//!
//! Only FUSE and network mounts and overlays need the second check. Each step finds out for itself what else its mount
//! supports.

use std::collections::HashMap;

use rustix::io::Errno;

use super::set::{Fate, PlannedFile, SetPlan};
use crate::action::ActionKind;
use crate::action::coherence::{Distinct, FileSystems, Location, relies_on_keeper};
use crate::action::reason::{Code, Reason};
use crate::action::step::reflink;
use crate::action::ways::folder_entry::NameInFolder;
use crate::sys::open;
use crate::sys::{attributes, stat};

/// Checks sets, one after the other.
#[derive(Debug, Default)]
pub(super) struct MountCheck {
    file_systems: FileSystems,
    /// The results for shared blocks, by the file systems of victim and keeper.
    shared_blocks: HashMap<(u64, u64), Option<Reason>>,
}

impl MountCheck {
    /// Leaves alone the files for which the action is impossible, or would need a proof that is impossible. With
    /// `trust_mounts`, no proof is necessary.
    pub fn set(&mut self, set: &mut SetPlan, action: ActionKind, trust_mounts: bool) {
        for index in 0..set.files.len() {
            let file = &set.files[index];
            let Fate::Act { keeper, .. } = file.fate else {
                continue;
            };
            let why = set
                .files
                .get(keeper)
                .and_then(|kept| self.why_not(file, kept, action, trust_mounts));
            if let Some(why) = why {
                set.files[index].fate = Fate::Leave(why);
            }
        }
    }

    fn why_not(
        &mut self,
        victim: &PlannedFile,
        keeper: &PlannedFile,
        action: ActionKind,
        trust_mounts: bool,
    ) -> Option<Reason> {
        let devices = (victim.dev, keeper.dev);
        if action == ActionKind::Reflink {
            let why = self.shared_blocks.entry(devices);
            let why = why.or_insert_with(|| no_shared_blocks(victim, keeper));
            if why.is_some() {
                return why.clone();
            }
        }
        if self.file_systems.are_in_kernel(devices.0, devices.1) {
            return None;
        }
        let (path, kept) = (&victim.names.first()?.path, &keeper.names.first()?.path);
        // If one cannot be opened, the step says so.
        let places = (NameInFolder::of(path).ok()?, NameInFolder::of(kept).ok()?);
        let locations = [(victim.dev, &places.0), (keeper.dev, &places.1)].map(|(dev, place)| {
            self.file_systems.of(dev, &place.folder);
            let mount = stat::descriptor(&place.folder).map_or(0, |folder| folder.mount);
            Location { dev, mount }
        });
        let distinct = self.file_systems.between(locations[0], locations[1]);
        if distinct == Distinct::Certain || trust_mounts {
            return None;
        }
        if self.file_systems.has_branches(victim.dev)
            && victim.names.iter().any(|name| hides_files(&name.path))
        {
            return Some(Code::HidesFiles.into());
        }
        match distinct {
            Distinct::Unprovable(kind) if relies_on_keeper(action) => {
                Some(Code::Unprovable.about(kind))
            }
            _ => None,
        }
    }
}

/// The reason why two files cannot share blocks; `None` if they can. If one cannot be opened, the step reports it.
fn no_shared_blocks(victim: &PlannedFile, keeper: &PlannedFile) -> Option<Reason> {
    let is_supported = reflink::is_supported(keeper.open()?, victim.open()?);
    (!is_supported).then_some(Code::NoSharedBlocks.into())
}

/// True if a name on mergerfs has a file on more than one branch.
pub(super) fn hides_files(path: &[u8]) -> bool {
    let branches = NameInFolder::of(path)
        .map_err(|_| Errno::NOENT)
        .and_then(|place| open::any_handle(&place.folder, &place.name, false))
        .and_then(|file| attributes::extended_of_handle(&file, c"user.mergerfs.allpaths"));
    // A file for each of these paths. A mount that does not tell (`xattr=nosys`) is acted on as its programs do.
    branches.is_ok_and(|paths| paths.is_some_and(|paths| paths.contains(&0)))
}
