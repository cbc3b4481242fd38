//! The input of an action.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use super::check::Opened;
use super::pair::Pair;
use super::{Settings, Step};
use crate::action::journal::record::Intent;
use crate::action::step::new_folders::Made;
use crate::action::ways::folder_entry::Identity;
use crate::sys::stat;

/// One step, fully checked, about to be carried out.
pub struct Act<'a> {
    /// Keeper and victim, opened and checked.
    pub pair: &'a Pair,
    /// The journal record of the step.
    pub intent: &'a Intent,
    /// A name in the victim's folder that no other process uses.
    pub temporary: CString,
    /// The settings of the run.
    pub settings: &'a Settings,
    /// Records created folders.
    pub made: &'a Made,
    /// The two may be one file that a mount shows twice. The step has to prove that they are two.
    pub to_prove: bool,
    /// What a recovery cannot see.
    pub trail: Trail,
}

/// What the step did so far, as far as the places of its files do not show it.
#[derive(Debug, Default)]
pub struct Trail {
    /// The system was asked to take the victim's last name away.
    pub dropped: Cell<bool>,
    /// Another file that had the victim's name, and was moved.
    pub taken: Cell<Option<Identity>>,
    /// The new link.
    pub linked: Cell<Option<Identity>>,
    /// The new copy on another file system.
    pub copied: Cell<Option<Identity>>,
    /// The note in the trash, which is not on the disk yet.
    pub note: RefCell<Option<OwnedFd>>,
}

impl Trail {
    /// The file that has this name now.
    pub fn seen(folder: &OwnedFd, name: &CStr) -> Option<Identity> {
        let seen = stat::fresh_entry(folder, name).ok()?;
        Some((seen.dev, seen.ino))
    }
}

/// A step that is examined before it is recorded.
pub struct Sketch<'a> {
    /// The step to take.
    pub step: &'a Step,
    /// The file that stays.
    pub keeper: &'a Opened,
    /// The file to act on.
    pub victim: &'a Opened,
    /// The settings of the run.
    pub settings: &'a Settings,
    /// A text that distinguishes this step from every other, also of other runs.
    pub unique: &'a str,
}

/// Bytes that are freed when the victim's inode is removed: none while it has other names, and no bytes that other
/// files share.
pub fn freed(victim: &Opened) -> u64 {
    if victim.stat.links > 1 {
        return 0;
    }
    let allocated = victim.stat.blocks.saturating_mul(512);
    if !crate::sys::statfs::shares_extents(&victim.file) {
        return allocated;
    }
    let extents = crate::sys::extents::extents(&victim.file).unwrap_or_default();
    if extents.iter().any(|extent| extent.inline) {
        return 0;
    }
    let shared = extents.iter().filter(|extent| extent.shared);
    allocated.saturating_sub(shared.map(|extent| extent.length).sum())
}
