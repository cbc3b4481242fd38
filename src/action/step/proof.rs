//! Proves that keeper and victim are two files, while the victim is set aside.
//!
//! A mount may report from a cache that the keeper still exists. Entries of different folders are different entries.
//! The temporary name of the victim is random, so no cache can contain it. This name must not appear in the keeper's
//! folder, and the keeper must open and be readable once more.

use rustix::io::Errno;

use super::act::Act;
use super::check::{Opened, gone, unreadable};
use crate::action::reason::{Code, IDENTITY, Reason, SIZE};
use crate::action::ways::folder_entry;
use crate::device::VolumeId;
use crate::read::OpenFile;
use crate::sys::open;
use crate::sys::{page_cache, stat};

/// Bytes that are read at both ends of a file.
const BLOCK: u64 = 4096;

/// Checks for the keeper while the victim has its temporary name.
pub fn look_without_victim(act: &Act<'_>) -> Result<(), Reason> {
    act.pair.look_without_victim(act.intent.action)?;
    match &act.pair.keeper {
        Some(keeper) if act.to_prove => {
            name_is_elsewhere(act, keeper)?;
            keeper_reads(keeper)
        }
        _ => Ok(()),
    }
}

/// Checks that the victim's temporary name does not appear beside the keeper.
fn name_is_elsewhere(act: &Act<'_>, keeper: &Opened) -> Result<(), Reason> {
    let folder = folder_entry::parent;
    if folder(&act.intent.keeper.0) == folder(&act.intent.victim.0) {
        return Ok(());
    }
    match stat::fresh_entry(&keeper.place.folder, &act.temporary) {
        Err(Errno::NOENT) => Ok(()),
        Ok(_) => Err(Code::OneFolder.into()),
        Err(error) => Err(unreadable(error).of_keeper()),
    }
}

/// Opens the keeper by its name again, and reads its first and last bytes, not from the page cache.
fn keeper_reads(keeper: &Opened) -> Result<(), Reason> {
    read_anew(keeper).map_err(Reason::seems_one)
}

fn read_anew(keeper: &Opened) -> Result<(), Reason> {
    let opened = open::file(&keeper.place.folder, &keeper.place.name, false).map_err(gone)?;
    let now = stat::fresh_descriptor(&opened).map_err(unreadable)?;
    if !keeper.is(&now) {
        return Err(Reason::changed(IDENTITY));
    }
    let file = OpenFile::new(&opened, VolumeId(0), false);
    let last = keeper.stat.size.saturating_sub(1) / BLOCK * BLOCK;
    let mut bytes = [0; BLOCK as usize];
    for offset in [0, last] {
        page_cache::advise(&opened, offset, BLOCK, page_cache::Advice::DontNeed);
        let length = file.read(keeper.reads.rules(), 0, &mut bytes, BLOCK as usize, offset);
        if length.map_err(unreadable)? as u64 != (keeper.stat.size - offset).min(BLOCK) {
            return Err(Reason::changed(SIZE));
        }
    }
    Ok(())
}

/// True if the keeper lost its last name while the victim lost its own: the bytes exist as long as a descriptor is open.
pub fn is_last(act: &Act<'_>) -> bool {
    // Without a keeper, what lost its name here was copied before.
    let Some(keeper) = &act.pair.keeper else {
        return false;
    };
    let has_name = |file: &Opened| stat::fresh_descriptor(&file.file).is_ok_and(|s| s.links > 0);
    let survives = has_name(keeper) && keeper.unchanged().is_ok();
    if survives && (!act.to_prove || keeper_reads(keeper).is_ok()) {
        return false;
    }
    // A FUSE program may report any number of names.
    act.to_prove || !has_name(&act.pair.victim)
}
