//! Decides when a victim may be another name of its keeper (`--hard-links`): two entries of folders, and one inode that
//! has at least two names.

use super::action_kind::ActionKind;
use super::check::Opened;
use super::step::Skip;
use crate::sys::stat;

/// True if an action may remove a further name of the kept file.
pub fn may_go(action: ActionKind) -> bool {
    match action {
        ActionKind::Remove | ActionKind::Trash | ActionKind::Symlink | ActionKind::Move => true,
        ActionKind::Hardlink | ActionKind::Reflink => false,
    }
}

/// Checks that two names of one file are two. (A later check, for all files, makes sure that the kept name is still
/// there once the other was set aside.)
pub fn is_another(keeper: &Opened, victim: &Opened) -> Result<(), Skip> {
    let folder = |file: &Opened| {
        let folder = stat::descriptor(&file.place.folder);
        folder.map(|folder| (folder.dev, folder.ino))
    };
    let is_same_entry = match (folder(keeper), folder(victim)) {
        (Ok(one), Ok(other)) => one == other && keeper.place.name == victim.place.name,
        // Who cannot tell leaves it alone.
        _ => true,
    };
    match is_same_entry || victim.stat.links < 2 {
        true => Err(Skip::SameFile),
        false => Ok(()),
    }
}
