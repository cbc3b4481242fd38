//! The input of an action.

use std::ffi::CStr;

use super::check::{Opened, Pair};
use super::made::Made;
use super::record::Intent;
use super::step::{Done, Settings, Step};
use super::step_error::StepError;

/// One step, with everything checked, about to be done.
pub struct Act<'a> {
    /// Keeper and victim, opened and checked.
    pub pair: &'a Pair,
    /// The journal record of the step.
    pub intent: &'a Intent,
    /// A name in the victim's folder that nobody else uses.
    pub temporary: &'a CStr,
    /// The settings of the run.
    pub settings: &'a Settings,
    /// Told now and then how many bytes of the file are done.
    pub progress: &'a dyn Fn(u64),
    /// Takes note of folders that are made.
    pub made: &'a Made,
    /// The two may be one file that a mount shows twice. The step has to prove that they are not.
    pub to_prove: bool,
}

/// The decisions of an action before the journal record.
#[derive(Debug, Default)]
pub struct Preparation {
    /// Where the file will be.
    pub destination: Option<Vec<u8>>,
    /// Folders that are missing on the way there, the outermost first: absolute paths.
    pub new_folders: Vec<Vec<u8>>,
    /// The file that will say where it came from.
    pub trash_info: Option<Vec<u8>>,
    /// The target text of the symbolic link.
    pub link_text: Option<Vec<u8>>,
}

/// A step that is looked at before it is written down.
pub struct Sketch<'a> {
    /// The step to take.
    pub step: &'a Step,
    /// The file that stays.
    pub keeper: &'a Opened,
    /// The keeper's path: the step's own or an alternate's.
    pub keeper_path: &'a [u8],
    /// The file to act on.
    pub victim: &'a Opened,
    /// The settings of the run.
    pub settings: &'a Settings,
    /// Tells this step from every other, of other runs as well.
    pub unique: &'a str,
}

/// Decides what an action needs to decide beforehand.
pub type Prepare = fn(&Sketch<'_>) -> Result<Preparation, StepError>;

/// Does it.
pub type Perform = fn(&Act<'_>) -> Result<Done, StepError>;

/// For actions with nothing to decide.
pub fn nothing(_: &Sketch<'_>) -> Result<Preparation, StepError> {
    Ok(Preparation::default())
}

/// Bytes that are freed when the victim's inode goes: nothing while it has other names, and not what
/// others share.
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
