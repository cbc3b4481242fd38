//! Taking a name from a file, or giving it to another one, so that a crash at any point leaves
//! the old or the new state, and so that a file that came in between is noticed and put back.

use std::ffi::{CStr, CString};

use rustix::io::Errno;

use super::act::Act;
use super::check::{Opened, Pair};
use super::folder_entry::leads_to;
use super::step::{Change, Failure, Skip, Unfit};
use super::trouble::{Trouble, failed, failure};
use super::{copy, metadata};
use crate::sys::{attributes, link, rename, stat, sync, unlink, write};

const REPLACED: Skip = Skip::Victim(Unfit::Changed(Change::Identity));

/// Takes the victim's name away.
pub fn remove(act: &Act<'_>) -> Result<(), Trouble> {
    set_aside(act)?;
    remove_aside(act)
}

/// Moves the victim's name aside: only then is it certain which file it led to. What it is moved to
/// remains if the process dies here, and `undo` moves it back.
pub fn set_aside(act: &Act<'_>) -> Result<(), Trouble> {
    let victim = &act.pair.victim;
    let (folder, name, aside) = (&victim.place.folder, &victim.place.name, act.temporary);
    rename::no_replace(folder, name, folder, aside).map_err(failed("take its name away"))?;
    match leads_to(folder, aside, victim.identity()) {
        true => Ok(()),
        false => Err(put_back(act, REPLACED.into())),
    }
}

/// Gives a name that was set aside back. Hands on why, or why that is not possible.
pub fn put_back(act: &Act<'_>, why: Trouble) -> Trouble {
    let place = &act.pair.victim.place;
    match rename::no_replace(&place.folder, act.temporary, &place.folder, &place.name) {
        Ok(()) => why,
        Err(error) => stuck(act, error),
    }
}

/// Removes what was set aside, or puts it back.
pub fn remove_aside(act: &Act<'_>) -> Result<(), Trouble> {
    let folder = &act.pair.victim.place.folder;
    act.pair
        .look_without_victim(act.intent.action)
        .map_err(|skip| put_back(act, skip.into()))?;
    unlink::file(folder, act.temporary)
        .map_err(|error| put_back(act, failed("remove it")(error)))?;
    rescue(act, false)
}

/// Says so if a file that lost one of its names has not one fewer: somebody else gave it one or took one at
/// the same time, or its file system does not count them.
pub fn odd_number_of_names(act: &Act<'_>) -> Option<String> {
    let before = act.pair.victim.stat.links;
    let now = stat::fresh_descriptor(&act.pair.keeper.file).ok()?.links;
    (act.pair.is_one_file() && u64::from(now) + 1 != u64::from(before))
        .then(|| format!("had {before} names before and has {now} now: check what else changed it"))
}

/// Writes a victim that was removed again, from what is still open. Hands on why, or why that is not possible.
pub fn write_again(act: &Act<'_>, why: Trouble) -> Trouble {
    let victim = &act.pair.victim;
    let (folder, name) = (&victim.place.folder, &victim.place.name);
    let restored =
        restore(act, victim).and_then(|()| rename::no_replace(folder, act.temporary, folder, name));
    match restored {
        Ok(()) => why,
        Err(error) => stuck(act, error),
    }
}

/// Puts a new name, which is made by `make` beside it, in the place of the victim's.
///
/// `is_new` says whether what has a name is what was made.
pub fn replace(
    act: &Act<'_>,
    make: impl FnOnce(&CStr) -> Result<(), Trouble>,
    is_new: impl Fn(&CStr) -> bool,
) -> Result<(), Trouble> {
    let victim = &act.pair.victim;
    let (folder, name, aside) = (&victim.place.folder, &victim.place.name, act.temporary);
    make(aside)?;
    let clean = |trouble| match is_new(aside) {
        true => match unlink::file(folder, aside) {
            Ok(()) => trouble,
            Err(error) => stuck(act, error),
        },
        false => stuck(act, Errno::STALE),
    };
    if !is_new(aside) {
        // Somebody put something else where the keeper's name was, a moment ago. What has our name now
        // may have no other.
        let has_others = stat::fresh_entry(folder, aside).is_ok_and(|s| s.links > 1);
        let changed = Skip::Keeper(Unfit::Changed(Change::Identity)).into();
        return Err(match has_others || link_text(folder, aside).is_some() {
            true => match unlink::file(folder, aside) {
                Ok(()) => changed,
                Err(error) => stuck(act, error),
            },
            false => stuck(act, Errno::STALE),
        });
    }
    match rename::exchange(folder, aside, name) {
        Ok(Some(())) => {}
        Ok(None) => return replace_at_once(act.pair, aside).map_err(clean),
        Err(Errno::NOENT) => return Err(clean(Skip::Victim(Unfit::Gone).into())),
        Err(error) => return Err(clean(failed("exchange it for the link")(error))),
    }
    let back = |trouble| match rename::exchange(folder, aside, name) {
        Ok(_) => clean(trouble),
        Err(error) => stuck(act, error),
    };
    if !leads_to(folder, aside, victim.identity()) {
        return Err(back(REPLACED.into()));
    }
    act.pair
        .look_without_victim(act.intent.action)
        .map_err(|skip| back(skip.into()))?;
    unlink::file(folder, aside).map_err(|error| back(failed("remove what was replaced")(error)))
}

/// Where names cannot be exchanged: the rename itself replaces. A file that takes the name between
/// the last look and the rename would be lost; nothing shorter is to be had there.
fn replace_at_once(pair: &Pair, new: &CStr) -> Result<(), Trouble> {
    let victim = &pair.victim;
    pair.last_look()?;
    if !victim.place.leads_to(victim.identity()) {
        return Err(REPLACED.into());
    }
    let (folder, name) = (&victim.place.folder, &victim.place.name);
    rename::replace(folder, new, name).map_err(failed("replace it by the link"))
}

/// Brings the victim back if the keeper lost its last name while the victim lost its own: the bytes are
/// still there as long as they are held open.
///
/// `over` says that something new has the name and is to be replaced.
pub fn rescue(act: &Act<'_>, over: bool) -> Result<(), Trouble> {
    let keeper = stat::fresh_descriptor(&act.pair.keeper.file);
    let survives = |keeper: &stat::Stat| keeper.links > 0 && act.pair.keeper.unchanged().is_ok();
    if keeper.is_ok_and(|keeper| survives(&keeper)) {
        return Ok(());
    }
    let victim = &act.pair.victim;
    if stat::fresh_descriptor(&victim.file).is_ok_and(|victim| victim.links > 0) {
        return Ok(());
    }
    let (folder, name, aside) = (&victim.place.folder, &victim.place.name, act.temporary);
    let restored = restore(act, victim).and_then(|()| match over {
        true => rename::replace(folder, aside, name),
        false => rename::no_replace(folder, aside, folder, name),
    });
    match restored {
        Ok(()) => Err(Skip::SeemOne(Unfit::Gone).into()),
        Err(error) => Err(stuck(act, error)),
    }
}

fn restore(act: &Act<'_>, victim: &Opened) -> rustix::io::Result<()> {
    let file = write::create(&victim.place.folder, act.temporary)?;
    copy::contents(&victim.file, &victim.stat, &file)?;
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

/// The file could not be put back.
fn stuck(act: &Act<'_>, error: Errno) -> Trouble {
    let beside = act.temporary.to_string_lossy();
    let mut failure: Failure = failure(format!("put it back from {beside} beside it"), error);
    failure.hint = Some("'seekless undo' does that as soon as it can be done");
    Trouble::Stuck(failure)
}

/// The text of a symbolic link at a name, if it is one.
pub fn link_text(folder: &std::os::fd::OwnedFd, name: &CStr) -> Option<Vec<u8>> {
    link::read(folder, name).ok()
}

/// True if a name is one that [`temporary`] gives: what has it may be cleared up at any time.
pub fn is_temporary(name: &[u8]) -> bool {
    let ends = [&b".tmp"[..], b".part", b".undo"];
    name.starts_with(b".seekless-") && ends.iter().any(|end| name.ends_with(end))
}

/// A name for something that does not remain, which tells whose it is: `mark` is a run's own, also where
/// several machines work on one file system.
pub fn temporary(mark: &str, step: u64) -> CString {
    CString::new(format!(".seekless-{mark}-{step}.tmp")).unwrap_or_default()
}

/// The same step's name for something else.
pub fn sibling(temporary: &CStr, suffix: &str) -> CString {
    let name = temporary.to_bytes();
    let stem = name.strip_suffix(b".tmp").unwrap_or(name);
    CString::new([stem, b".", suffix.as_bytes()].concat()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::action::check::tests::{folder, pair, rewrite};

    #[test]
    fn where_names_cannot_be_exchanged_only_the_file_that_was_meant_is_replaced() {
        let (_folder, at) = folder(&["keeper", "victim", "new", "other"]);
        let [keeper, victim, new] = ["keeper", "victim", "new"].map(|name| at.join(name));
        let inode = |name| fs::metadata(at.join(name)).unwrap().ino();
        let refused = |pair: &Pair| {
            let before = (inode("victim"), inode("new"));
            let refused = replace_at_once(pair, c"new").unwrap_err();
            assert_eq!((inode("victim"), inode("new")), before);
            refused
        };
        let (replaced, gone) = (pair(&keeper, &victim), pair(&at.join("other"), &victim));
        fs::remove_file(at.join("other")).unwrap();
        let why = refused(&gone);
        let expected = matches!(why, Trouble::Skip(Skip::Keeper(Unfit::Gone)));
        assert!(expected, "{why:?}");
        // Another file came to have the victim's name; the victim lives on elsewhere.
        fs::rename(&victim, at.join("moved")).unwrap();
        fs::write(&victim, "new!!").unwrap();
        let why = refused(&replaced);
        let expected = matches!(
            why,
            Trouble::Skip(Skip::Victim(Unfit::Changed(Change::Identity)))
        );
        assert!(expected, "{why:?}");
        let changed = pair(&keeper, &victim);
        rewrite(&victim);
        let why = refused(&changed);
        let expected = matches!(why, Trouble::Skip(Skip::Victim(_)));
        assert!(expected, "{why:?}");
        let made = inode("new");
        replace_at_once(&pair(&keeper, &victim), c"new").unwrap();
        assert_eq!(inode("victim"), made);
        assert!(!new.exists());
    }
}
