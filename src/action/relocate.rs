//! Moves a file to a folder that is kept open: the common part of `move` and `trash`.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::io::Errno;

use super::act::{Act, Trail, freed};
use super::check::Opened;
use super::existing_folder::ExistingFolders;
use super::folder_entry::join;
use super::folder_traits::{self, FolderTraits, Original};
use super::made::Made;
use super::metadata::SET_ID;
use super::reason::Code;
use super::step::{Change, Done, Skip, Unfit};
use super::step_error::{StepError, failed, failure_with};
use super::{copy, metadata, proof, swap};
use crate::heartbeat::current;
use crate::read::{Unequal, Which, equal};
use crate::sys::{attributes, names, open, page_cache, parent, stat, statfs, sync, write};

/// Renames the victim into another folder of its file system.
///
/// `EXDEV` is returned as `None`: the caller decides whether a copy is acceptable.
pub fn within(act: &Act<'_>, folder: &OwnedFd, name: &CStr) -> Result<Option<()>, StepError> {
    let victim = &act.pair.victim;
    let from = &victim.place;
    current::ask_about(&act.intent.victim.0);
    if act.to_prove {
        // No rename leaves its file system: the name stays until there is a copy. (The files of an overlay may have
        // other device numbers than its folders.)
        let is_elsewhere = stat::descriptor(folder).is_ok_and(|now| now.dev != victim.stat.dev);
        if is_elsewhere && statfs::may_renumber(&victim.file) {
            return Ok(None);
        }
        // Only a name in the same folder can be looked for beside the keeper.
        swap::set_aside(act)?;
        proof::look_without_victim(act)?;
        match names::rename_no_replace(&from.folder, act.temporary, folder, name) {
            Err(Errno::XDEV) => return swap::back(act).map(|()| None),
            done => done.map_err(failed("move it"))?,
        }
    } else {
        match names::rename_no_replace(&from.folder, &from.name, folder, name) {
            Err(Errno::XDEV) => return Ok(None),
            done => done.map_err(failed("move it"))?,
        }
    }
    if !victim.is_at(folder, name) {
        act.trail.taken.set(Trail::seen(folder, name));
        return Err(Skip::Victim(Unfit::Changed(Change::Identity)).into());
    }
    if !act.to_prove {
        proof::look_without_victim(act)?;
    }
    swap::times_again(act);
    sync::folder(folder).map_err(failed("move it safely"))?;
    Ok(Some(()))
}

/// Copies the victim to another file system, and removes its name when the copy is safe.
pub fn across(act: &Act<'_>, folder: &OwnedFd, name: &CStr) -> Result<Done, StepError> {
    let victim = &act.pair.victim;
    let freed = freed(victim);
    let missing = copy_to(victim, act, folder, name)?;
    swap::remove(act)?;
    let mut notes = vec!["copied to another file system".to_owned()];
    let (set_id, missing): (Vec<&str>, Vec<&str>) =
        missing.into_iter().partition(|what| *what == SET_ID);
    if !set_id.is_empty() {
        notes.push(format!(
            "the copy has no {SET_ID}: the mount ignored these (nosuid)"
        ));
    }
    if !missing.is_empty() {
        notes.push(format!("the copy has another {}", missing.join(", ")));
    }
    Ok(Done {
        freed,
        destination: None,
        notes,
    })
}

fn copy_to(
    victim: &Opened,
    act: &Act<'_>,
    folder: &OwnedFd,
    name: &CStr,
) -> Result<Vec<&'static str>, StepError> {
    let part = part(act.temporary);
    open::ask_about(folder);
    let file = write::create(folder, &part).map_err(failed("create the copy"))?;
    let filled = fill(victim, act, &file);
    // Some daemons (rclone) write a file back when it is closed, also after it was removed.
    drop(file);
    let missing = filled?;
    act.trail.copied.set(Trail::seen(folder, &part));
    let named = names::rename_no_replace(folder, &part, folder, name);
    named.map_err(failed("give the copy its name"))?;
    sync::folder(folder).map_err(failed("write the copy to the disk"))?;
    Ok(missing)
}

fn fill(victim: &Opened, act: &Act<'_>, file: &OwnedFd) -> Result<Vec<&'static str>, StepError> {
    copy::contents(victim, file).map_err(failed("copy it"))?;
    // What somebody wrote meanwhile must not get the rights of what was compared.
    victim.unchanged().map_err(Skip::Victim)?;
    let doing = "give the copy its owner, mode, times and attributes";
    let missing = metadata::give(file, &act.intent.metadata).map_err(failed(doing))?;
    sync::file(file).map_err(failed("write the copy to the disk"))?;
    same(victim, file)?;
    Ok(missing)
}

/// The temporary name of a copy until it is complete. No other step has this name, in this run or in another.
pub fn part(temporary: &CStr) -> CString {
    swap::sibling(temporary, "part")
}

/// Reads the copy back, from the disk if its pages can be dropped from the page cache, and compares it.
fn same(victim: &Opened, copy: &OwnedFd) -> Result<(), StepError> {
    page_cache::advise(copy, 0, 0, page_cache::Advice::DontNeed);
    let there = stat::descriptor(copy).map_err(failed("read the copy back"))?;
    let differs = || failed("use the copy: it differs from the file")(Errno::IO);
    if there.size != victim.stat.size {
        return Err(differs());
    }
    let (one, other) = (
        victim.whole(),
        victim.reads.whole(copy, there.dev, there.size),
    );
    let compared = equal([&one, &other], victim.reads.rules(), there.size, |_, _| {
        Ok::<_, StepError>(())
    });
    one.leave(there.size);
    other.leave(there.size);
    compared.map_err(|unequal| match unequal {
        Unequal::Unreadable(Which::First, error) => failed("read it again")(error),
        Unequal::Unreadable(Which::Second, error) => failed("read the copy back")(error),
        Unequal::Stopped(error) => error,
        Unequal::Differ(_) | Unequal::Short(_) => differs(),
    })
}

/// An existing folder, below which folders are created.
pub struct Base<'a> {
    /// The folder, as a starting point for calls.
    pub folder: OwnedFd,
    /// Its absolute path.
    pub path: &'a [u8],
}

/// Opens a folder below another, and creates missing folders on the path; follows no link.
///
/// A folder in which names cannot be changed again is refused before anything is created in it.
pub fn make_way(
    base: Base<'_>,
    below: &[u8],
    mode: u32,
    made: &Made,
) -> Result<OwnedFd, StepError> {
    let folder = make(base, below, mode, None, made)?;
    folder.try_clone().map_err(|error| {
        let error = Errno::from_io_error(&error).unwrap_or(Errno::IO);
        failed("open the folder")(error)
    })
}

/// As [`make_way`]. Created folders get the traits of the folder `like` and of the folders above it, once they are
/// filled.
pub fn make_way_like(
    base: Base<'_>,
    below: &[u8],
    like: &Original<'_>,
    made: &Made,
) -> Result<Rc<OwnedFd>, StepError> {
    make(base, below, 0o700, Some(like), made)
}

const DOING: &str = "move it into the destination folder";

fn make(
    base: Base<'_>,
    below: &[u8],
    mode: u32,
    like: Option<&Original<'_>>,
    made: &Made,
) -> Result<Rc<OwnedFd>, StepError> {
    const MAKING: &str = "create the destination folder";
    let parts = below.split(|&b| b == b'/').filter(|part| !part.is_empty());
    let parts: Vec<_> = parts.collect();
    let base_folder = Rc::new(base.folder);
    if let Some(like) = like {
        let is_fit = folder_traits::base_may_have(&base_folder, like);
        if !is_fit.map_err(failed("examine the destination folder"))? {
            let doing = format!("move it into {}", String::from_utf8_lossy(base.path));
            return Err(failure_with(&doing, Errno::PERM, Code::DestinationBase));
        }
    }
    let mut at = Rc::clone(&base_folder);
    let mut path = base.path.to_vec();
    let mut is_new = false;
    let mut existing = ExistingFolders::below(&base_folder, like);
    for (place, part) in parts.iter().enumerate() {
        let height = parts.len() - 1 - place;
        path = join(&path, part);
        current::ask_about(&path);
        let name = CString::new(*part).map_err(|_| failed("make a folder")(Errno::INVAL))?;
        let next = match parent::step(&at, &name) {
            Err(Errno::NOENT) => {
                if !is_new {
                    changeable(&at)?;
                }
                let traits = like.map(|like| FolderTraits::above(like, height));
                let traits = traits.transpose().map_err(failed(MAKING))?;
                is_new = parent::make_folder(&at, &name, mode).map_err(failed(MAKING))?;
                let next = match is_new && traits.is_some() {
                    true => folder_traits::open_made(&at, &name, &base_folder),
                    false => parent::step(&at, &name),
                };
                let next = Rc::new(next.map_err(failed("open the folder"))?);
                match is_new {
                    true => made.note(&at, &name, path.clone(), &next, traits),
                    false => existing.check(&at, &next, height, &path)?,
                }
                sync::folder(&at).map_err(failed(MAKING))?;
                next
            }
            // O_PATH does not follow: a link to a folder is "not a directory".
            opened => {
                let opened = opened.map_err(failed("open the destination folder"))?;
                existing.check(&at, &opened, height, &path)?;
                Rc::new(opened)
            }
        };
        at = next;
    }
    if !is_new {
        changeable(&at)?;
    }
    Ok(at)
}

fn changeable(folder: &OwnedFd) -> Result<(), StepError> {
    let refused = |hint| Err(failure_with(DOING, Errno::PERM, hint));
    let now = attributes::get(folder).map_err(failed(DOING))?;
    match (now.immutable, now.append_only) {
        (true, _) => refused("the destination folder is immutable: run chattr -i on it"),
        (_, true) => refused("the destination folder is append-only: run chattr -a on it"),
        _ => Ok(()),
    }
}
