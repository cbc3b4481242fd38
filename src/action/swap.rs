//! Takes a name from a file, or gives it to another file. A crash at any point leaves the old or the new state. What was
//! done when a call or a check fails is taken back by the caller.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::act::{Act, Trail};
use super::action_kind::ActionKind;
use super::check::Opened;
use super::proof;
use super::step::{Change, Skip, Unfit};
use super::step_error::{StepError, failed, failure_with};
use super::{copy, metadata};
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::statfs::{self, ServedBy};
use crate::sys::{attributes, names, stat, sync, write};

const REPLACED: Skip = Skip::Victim(Unfit::Changed(Change::Identity));

/// Removes the victim's name.
pub fn remove(act: &Act<'_>) -> Result<(), StepError> {
    let is_aside = begin_removal(act)?;
    end_removal(act, is_aside)
}

/// Sets the victim's name aside before it is removed. `false`: the disk is full, and the name is removed in its place.
pub fn begin_removal(act: &Act<'_>) -> Result<bool, StepError> {
    match set_aside(act) {
        Err(error) if error.is_full_disk() && may_go_in_place(act) => {
            // The reply may be wrong.
            let victim = &act.pair.victim;
            Ok(victim.is_at(&victim.place.folder, act.temporary))
        }
        aside => aside.map(|()| true),
    }
}

/// True if a victim may be removed without being set aside: it is certain that it is not the keeper, and no other user
/// can give its name to another file.
fn may_go_in_place(act: &Act<'_>) -> bool {
    let folder = &act.pair.victim.place.folder;
    act.intent.action == ActionKind::Remove
        && !act.to_prove
        && !act.pair.is_one_file()
        && attributes::get(folder).is_ok_and(|now| trust::only_we_write(folder, &now))
}

/// Moves the victim's name aside: only then is it certain to which file it led. The temporary name remains if the
/// process dies here, and `undo` moves it back.
pub fn set_aside(act: &Act<'_>) -> Result<(), StepError> {
    current::ask_about(&act.intent.victim.0);
    let victim = &act.pair.victim;
    let (folder, name, aside) = (&victim.place.folder, &victim.place.name, act.temporary);
    names::rename_no_replace(folder, name, folder, aside).map_err(failed("remove its name"))?;
    if !victim.is_at(folder, aside) {
        act.trail.taken.set(Trail::seen(folder, aside));
        return Err(REPLACED.into());
    }
    if act.to_prove {
        still_equal(act)?;
    }
    Ok(())
}

/// Checks that the bytes are still equal. Some FUSE file systems set the modification time when they rename (fusefat),
/// or truncate it to seconds (encfs). There, the time does not show whether another process wrote to the file, so the
/// bytes are compared.
fn still_equal(act: &Act<'_>) -> Result<(), Skip> {
    let victim = &act.pair.victim;
    match victim.unchanged() {
        Err(Unfit::Changed(Change::ModificationTime)) => {
            victim.was_renamed().map_err(Skip::Victim)?;
            act.pair.compare(false).map(drop)
        }
        // The next check reports any other change.
        _ => Ok(()),
    }
}

/// Puts a name back that was set aside.
pub fn back(act: &Act<'_>) -> Result<(), StepError> {
    current::ask_about(&act.intent.victim.0);
    let (folder, name) = (&act.pair.victim.place.folder, &act.pair.victim.place.name);
    let renamed = names::rename_no_replace(folder, act.temporary, folder, name);
    renamed.map_err(failed("put it back"))?;
    times_of_unchanged(act);
    Ok(())
}

/// Restores the times of the victim if renames have changed them, and nobody wrote to it: a new time would be right.
pub fn times_of_unchanged(act: &Act<'_>) {
    if is_retimed(act) && still_equal(act).is_ok() && act.pair.victim.unchanged().is_ok() {
        times_again(act);
    }
}

fn is_retimed(act: &Act<'_>) -> bool {
    let victim = &act.pair.victim;
    let now = || stat::fresh_descriptor(&victim.file);
    act.to_prove && now().is_ok_and(|now| now.mtime_ns != victim.stat.mtime_ns)
}

/// Restores the times of the victim, if the rename has changed them.
pub fn times_again(act: &Act<'_>) {
    if is_retimed(act) {
        let victim = &act.pair.victim;
        let given = metadata::give_times(&victim.file, &act.intent.metadata);
        // The file system may hold less of a time than it was given (encfs: microseconds).
        let taken = victim.was_renamed();
        tracing::debug!("the times after a rename are set again: {given:?}, {taken:?}");
    }
}

/// Removes the name, which may have been set aside.
pub fn end_removal(act: &Act<'_>, is_aside: bool) -> Result<(), StepError> {
    current::ask_about(&act.intent.victim.0);
    last_look(act, is_aside)?;
    let place = &act.pair.victim.place;
    act.trail.dropped.set(true);
    let name = if is_aside { act.temporary } else { &place.name };
    names::remove(&place.folder, name).map_err(failed("remove it"))?;
    rescue(act, false)
}

/// The last checks before the name is removed.
pub fn last_look(act: &Act<'_>, is_aside: bool) -> Result<(), Skip> {
    let victim = &act.pair.victim;
    if !is_aside && !victim.is_at(&victim.place.folder, &victim.place.name) {
        return Err(REPLACED);
    }
    proof::look_without_victim(act)
}

/// Removes the file that was set aside: a link has its name.
fn drop_aside(act: &Act<'_>) -> Result<(), StepError> {
    act.trail.dropped.set(true);
    names::remove(&act.pair.victim.place.folder, act.temporary)
        .map_err(failed("remove the replaced file"))
}

/// Reports if a file that lost one of its names does not have one name fewer: another process added or removed a name
/// at the same time, or the file system does not count names.
pub fn odd_number_of_names(act: &Act<'_>) -> Option<String> {
    let before = act.pair.victim.stat.links;
    let keeper = act.pair.keeper.as_ref()?;
    let now = stat::fresh_descriptor(&keeper.file).ok()?.links;
    (act.pair.is_one_file() && u64::from(now) + 1 != u64::from(before)).then(|| {
        format!("had {before} names and now has {now}: check which other program changed it")
    })
}

/// A link that replaces a victim.
pub struct NewLink<'a> {
    /// Creates it under this name in the victim's folder.
    pub make: &'a dyn Fn(&CStr) -> Result<(), StepError>,
    /// True if this name belongs to the created link.
    pub is_it: &'a dyn Fn(&CStr) -> bool,
    /// True if it leads to the keeper.
    pub leads_to_keeper: &'a dyn Fn(&CStr) -> bool,
}

impl NewLink<'_> {
    fn is_right(&self, name: &CStr) -> bool {
        (self.is_it)(name) && (self.leads_to_keeper)(name)
    }
}

/// Replaces the victim with a link, which is created beside it.
pub fn replace(act: &Act<'_>, link: &NewLink<'_>) -> Result<(), StepError> {
    if act.to_prove {
        return replace_in_steps(act, link);
    }
    let victim = &act.pair.victim;
    let (folder, name, aside) = (&victim.place.folder, &victim.place.name, act.temporary);
    make(act, link, aside)?;
    match names::exchange(folder, aside, name) {
        Ok(Some(())) => {}
        Ok(None) => {
            names::remove(folder, aside).map_err(failed("remove the link"))?;
            return replace_in_steps(act, link);
        }
        Err(Errno::NOENT) => return Err(Skip::Victim(Unfit::Gone).into()),
        Err(error) => return Err(failed("replace it with the link")(error)),
    }
    if !victim.is_at(folder, aside) {
        act.trail.taken.set(Trail::seen(folder, aside));
        return Err(REPLACED.into());
    }
    proof::look_without_victim(act)?;
    drop_aside(act)
}

/// Makes the link under this name in the victim's folder, and checks it.
fn make(act: &Act<'_>, link: &NewLink<'_>, name: &CStr) -> Result<(), StepError> {
    (link.make)(name)?;
    let folder = &act.pair.victim.place.folder;
    act.trail.linked.set(Trail::seen(folder, name));
    if !link.is_right(name) {
        return Err(wrong_link(act, name));
    }
    Ok(())
}

/// The reason why a link that was just created does not lead to the keeper.
fn wrong_link(act: &Act<'_>, name: &CStr) -> StepError {
    let folder = &act.pair.victim.place.folder;
    if act.intent.link_text.is_some() && link_text(folder, name).is_none() {
        return failure_with(
            "create a symbolic link",
            Errno::PERM,
            "this mount does not show the target of the link: use remove or move",
        );
    }
    // The kernel knows some lower layers of an overlay (squashfs) by no identifier, and some servers (sshfs) number names.
    if act.intent.link_text.is_none() && statfs::served_by(folder) != ServedBy::Kernel {
        return failure_with(
            "link it to the kept file",
            Errno::OPNOTSUPP,
            "this mount shows hard links as separate files: use remove or move",
        );
    }
    // Another process replaced the keeper's name a moment ago.
    Skip::Keeper(Unfit::Changed(Change::Identity)).into()
}

/// Sets the victim aside, then creates the link in its place: for folders in which names cannot be exchanged, and for
/// FUSE and network mounts. If another process creates a file under that name in between, that file stays.
fn replace_in_steps(act: &Act<'_>, link: &NewLink<'_>) -> Result<(), StepError> {
    set_aside(act)?;
    proof::look_without_victim(act)?;
    make(act, link, &act.pair.victim.place.name)?;
    drop_aside(act)
}

/// Restores the victim if the keeper lost its last name while the victim lost its own: the bytes exist as long as a
/// descriptor is open.
///
/// `over` says that another file has the name and must be replaced.
pub fn rescue(act: &Act<'_>, over: bool) -> Result<(), StepError> {
    // Without a keeper, what lost its name here was copied before.
    let Some(keeper) = &act.pair.keeper else {
        return Ok(());
    };
    let victim = &act.pair.victim;
    let has_name = |file: &Opened| stat::fresh_descriptor(&file.file).is_ok_and(|s| s.links > 0);
    let survives = has_name(keeper) && keeper.unchanged().is_ok();
    if survives && (!act.to_prove || proof::keeper_reads(keeper).is_ok()) {
        return Ok(());
    }
    // A FUSE program may report any number of names.
    if !act.to_prove && has_name(victim) {
        return Ok(());
    }
    let (folder, name) = (&victim.place.folder, &victim.place.name);
    let copy = &sibling(act.temporary, "undo");
    restore(act, victim, copy).map_err(failed("restore it"))?;
    act.trail.rescued.set(Trail::seen(folder, copy));
    let named = if over {
        names::rename(folder, copy, name)
    } else {
        names::rename_no_replace(folder, copy, folder, name)
    };
    named.map_err(failed("restore it"))?;
    Err(Skip::SeemOne(Unfit::Gone).into())
}

fn restore(act: &Act<'_>, victim: &Opened, copy: &CStr) -> rustix::io::Result<()> {
    let file = write::create(&victim.place.folder, copy)?;
    copy::contents(victim, &file)?;
    // Whoever wrote it meanwhile gets nobody's rights.
    let was = &act.intent.metadata;
    match victim.unchanged() {
        Ok(()) => metadata::give(&file, was)?,
        Err(_) => {
            let now = attributes::get(&victim.file)?;
            metadata::give(&file, &metadata::unproven(was, &now))?
        }
    };
    sync::file(&file)
}

/// The text of a symbolic link at a name, if it is one.
pub fn link_text(folder: &OwnedFd, name: &CStr) -> Option<Vec<u8>> {
    names::read_link(folder, name).ok()
}

/// True if a name is one that [`temporary`] generates: a file with such a name may be removed at any time.
pub fn is_temporary(name: &[u8]) -> bool {
    let ends = [&b".tmp"[..], b".part", b".undo"];
    name.starts_with(b".seekless-") && ends.iter().any(|end| name.ends_with(end))
}

/// A name for a temporary file that also identifies its run: `mark` belongs to one run only, also if several machines
/// work on one file system.
pub fn temporary(mark: &str, step: u64) -> CString {
    CString::new(format!(".seekless-{mark}-{step}.tmp")).unwrap_or_default()
}

/// A name for another temporary file of the same step.
pub fn sibling(temporary: &CStr, suffix: &str) -> CString {
    let name = temporary.to_bytes();
    let stem = name.strip_suffix(b".tmp").unwrap_or(name);
    CString::new([stem, b".", suffix.as_bytes()].concat()).unwrap_or_default()
}
