//! What makes an action impossible for a file, as far as it can be found out before the user is asked. Each step finds
//! out for itself what else its file systems support.

use std::collections::HashMap;

use rustix::io::Errno;

use super::set::{Fate, LeftName, PlannedFile, SetPlan};
use super::settings::Settings;
use crate::action::ActionKind;
use crate::action::coherence::{FileSystems, Location};
use crate::action::reason::{Code, Reason};
use crate::action::step::{reflink, trash_folder};
use crate::action::ways::folder_entry::NameInFolder;
use crate::sys::{attributes, open};

/// Checks sets, one after the other.
#[derive(Debug, Default)]
pub(super) struct Checks {
    file_systems: FileSystems,
    /// Whether files can share blocks, by the file systems of victim and keeper.
    shared_blocks: HashMap<(u64, u64), bool>,
    /// Why no trash takes the files of a mount.
    trash: HashMap<Location, Option<Reason>>,
}

impl Checks {
    /// Leaves alone the files for which the action is impossible.
    pub fn set(&mut self, set: &mut SetPlan, settings: &Settings) {
        for index in 0..set.files.len() {
            let file = &set.files[index];
            let why = match file.fate {
                Fate::Act { keeper, .. } => self.why_not(file, &set.files[keeper], settings),
                Fate::Keep(_) if file.names.iter().any(|name| name.goes) => {
                    self.no_trash(file, settings)
                }
                _ => None,
            };
            let Some(why) = why else { continue };
            let file = &mut set.files[index];
            if matches!(file.fate, Fate::Act { .. }) {
                file.fate = Fate::Leave(why);
                continue;
            }
            let further = file.names.extract_if(.., |name| name.goes);
            set.left.extend(further.map(|name| LeftName {
                path: name.path,
                why: why.clone(),
            }));
        }
    }

    fn why_not(
        &mut self,
        victim: &PlannedFile,
        keeper: &PlannedFile,
        settings: &Settings,
    ) -> Option<Reason> {
        if settings.policy.action == ActionKind::Reflink {
            let share = self.shared_blocks.entry((victim.dev, keeper.dev));
            if !*share.or_insert_with(|| can_share_blocks(victim, keeper)) {
                return Some(Code::NoSharedBlocks.into());
            }
        }
        let has_branches = !settings.trust_mounts && self.file_systems.has_branches(victim.dev);
        if has_branches && victim.names.iter().any(|name| hides_files(&name.path)) {
            return Some(Code::HidesFiles.into());
        }
        self.no_trash(victim, settings)
    }

    fn no_trash(&mut self, file: &PlannedFile, settings: &Settings) -> Option<Reason> {
        if settings.policy.action != ActionKind::Trash {
            return None;
        }
        let why = self.trash.entry(file.volume).or_insert_with(|| {
            // If a folder cannot be examined, the step says so.
            let home = settings.home_trash.as_deref();
            let choice = trash_folder::choose(&file.names[0].path, file.volume, home).ok()?;
            let reasons = choice.refused.join("; ");
            choice.trash.is_none().then(|| Code::NoTrash.about(reasons))
        });
        why.clone()
    }
}

/// True if two files can share blocks. If one cannot be opened, the step reports it.
fn can_share_blocks(victim: &PlannedFile, keeper: &PlannedFile) -> bool {
    let both = keeper.open().zip(victim.open());
    both.is_none_or(|(keeper, victim)| reflink::is_supported(keeper, victim))
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
