//! Folders that a step creates on the path to its destination, and those of a trash. They are for their owner only:
//! what is put there is never more open than it was.
//!
//! The record of the step has the number of folders that were missing above its destination. Whoever takes the step
//! back removes so many, if they are empty.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::Settings;
use super::check::Opened;
use super::pair::Act;
use crate::action::coherence::Location;
use crate::action::failure::{failed, failure_with};
use crate::action::reason::{Code, Facts, Reason};
use crate::action::ways::folder_entry::{NameInFolder, join, nearest, parent as above};
use crate::action::ways::folder_identity::Parents;
use crate::file::trust::{self, Distrust};
use crate::file::{Untrusted, as_path};
use crate::heartbeat::current;
use crate::sys::attributes::{self, Attributes};
use crate::sys::{names, open, stat, sync, way};

/// Opens the folder with this absolute path, and creates missing folders on the path; follows no link. If root guards a
/// file of the `guarded` owner, nobody else may change the folders that are there.
pub fn open_or_make(path: &[u8], guarded: Option<(u32, &Parents)>) -> Result<OwnedFd, Reason> {
    const CREATE: &str = "create the destination folder";
    let closed = |path: &[u8]| match guarded {
        Some((owner, ways)) if !ways.are_closed(path, owner) => {
            let doing = format!("move it into {}", String::from_utf8_lossy(path));
            Err(Code::SharedDestination.with(Facts::refused(&doing, &Errno::PERM.into())))
        }
        _ => Ok(()),
    };
    let (mut at, there) = reach(path)?;
    closed(there)?;
    let mut here = there.to_vec();
    let missing = path[there.len()..].split(|&byte| byte == b'/');
    for part in missing.filter(|part| !part.is_empty()) {
        here = join(&here, part);
        current::ask_about(&here);
        let name = CString::new(part).map_err(|_| failed(CREATE)(Errno::INVAL))?;
        let is_new = way::make_folder(&at, &name, 0o700).map_err(failed(CREATE))?;
        let next = way::step(&at, &name).map_err(failed("open the folder"))?;
        if !is_new {
            closed(&here)?;
        }
        sync::folder(&at).map_err(failed(CREATE))?;
        at = next;
    }
    Ok(at)
}

/// Opens the nearest folder on the way to this one that is there; returns its path as well.
pub fn reach(path: &[u8]) -> Result<(OwnedFd, &[u8]), Reason> {
    const OPEN: &str = "open the destination folder";
    current::ask_about(path);
    let (at, there) = nearest(path).map_err(failed(OPEN))?;
    let now = attributes::get(&at).map_err(failed(OPEN))?;
    not_fixed(&now).map(|()| (at, there))
}

/// Checks that what is put into a folder is free to be taken back.
fn not_fixed(now: &Attributes) -> Result<(), Reason> {
    if now.immutable || now.append_only {
        let hint = "the destination folder is immutable or append-only: run chattr -ia on it";
        return Err(failure_with("move it there", Errno::PERM, hint));
    }
    Ok(())
}

/// The number of missing folders above this absolute path.
pub fn missing_above(path: &[u8]) -> usize {
    let there = nearest(above(path)).map_or(path.len(), |(_, there)| there.len());
    let ends = path.iter().skip(there + 1);
    ends.filter(|&&byte| byte == b'/').count()
}

/// Removes these folders, each before the one above it, up to one that is not empty.
///
/// # Errors
/// The folder that the system does not remove, and why.
pub fn remove<'a>(
    folders: impl Iterator<Item = &'a [u8]>,
) -> std::result::Result<(), (&'a [u8], Errno)> {
    for path in folders {
        current::ask_about(path);
        let Ok(NameInFolder { folder, name }) = NameInFolder::of(path) else {
            continue;
        };
        match names::remove_folder(&folder, &name) {
            Ok(()) => {}
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => break,
            // What is read-only refuses to remove also what is not there.
            Err(error) if stat::entry(&folder, &name).is_ok() => return Err((path, error)),
            Err(_) => {}
        }
    }
    Ok(())
}

/// True if one of these folders is there, and empty.
pub fn are_left<'a>(mut folders: impl Iterator<Item = &'a [u8]>) -> bool {
    folders.any(|path| {
        let folder = way::open(path).and_then(|folder| open::folder(&folder, c"."));
        folder.is_ok_and(|folder| names::is_empty_folder(&folder) == Ok(true))
    })
}

/// The advice if there is no trash.
pub const NO_TRASH: &str = "its file system has no trash that you can use: use move or remove";

/// The variable that names the folder of the user's own trash.
const DATA_HOME: &str = "XDG_DATA_HOME";

/// The trash for the files at one location.
#[derive(Debug)]
pub struct TrashChoice {
    /// The trash; `None` if there is none that can be used.
    pub trash: Option<Vec<u8>>,
    /// Trash folders that come before it and cannot be used, each with the reason and a way out.
    pub refused: Vec<String>,
}

/// The reason why a trash cannot be used, and the change that would allow its use.
fn in_words(untrusted: &Untrusted) -> String {
    let way_out = match untrusted.why {
        Distrust::Writable(_) => untrusted.way_out(DATA_HOME),
        _ => "move it away".to_owned(),
    };
    format!("{untrusted} ({way_out})")
}

/// Chooses the trash for a file at this location: the user's own trash if it is on the same file system and mount, else
/// one at the top of the mount. Between two mounts of one file system, no file can be renamed. It is the first one that
/// this user can write to, and that no other user created or could change.
///
/// # Errors
/// If a folder above the file cannot be examined.
pub fn choose(path: &[u8], volume: Location, home: Option<&[u8]>) -> Result<TrashChoice, Reason> {
    let mut refused = Vec::new();
    let mut may_be_used = |trash: &[u8]| match look(trash, volume) {
        Ok(()) | Err(Refused::System(_)) => true,
        Err(Refused::Because(why)) => {
            refused.push(why);
            false
        }
    };
    if let Some(home) = home
        && nearest_location(home)? == Some(volume)
        && may_be_used(home)
    {
        return Ok(TrashChoice {
            trash: Some(home.to_vec()),
            refused,
        });
    }
    let uid = rustix::process::geteuid().as_raw();
    let top = top_folder(path, volume)?;
    if top == path {
        // The file is a mount point itself, and no folder of its mount can hold it.
        return Ok(TrashChoice {
            trash: None,
            refused,
        });
    }
    let own = join(&top, format!(".Trash-{uid}").as_bytes());
    let trash = may_be_used(&own).then_some(own);
    Ok(TrashChoice { trash, refused })
}

/// The trash for a file with this path.
pub fn folder_for(path: &[u8], victim: &Opened, settings: &Settings) -> Result<Vec<u8>, Reason> {
    let choice = choose(path, victim.volume(), settings.home_trash.as_deref())?;
    let why = choice.refused.join("; ");
    let failed = || Code::TrashFailed.with(Facts::caused("use the trash", why));
    choice.trash.ok_or_else(failed)
}

/// The reason why a trash cannot be used.
enum Refused {
    /// Another user created it, or could change it, or this user cannot create files in it.
    Because(String),
    /// The system refused.
    System(Errno),
}

/// Checks a trash for files at this location, and the two folders in it. Missing folders will be created.
fn look(trash: &[u8], volume: Location) -> Result<(), Refused> {
    let at = match way::open(trash) {
        Err(Errno::NOENT) => return can_be_made(trash),
        Err(Errno::LOOP) => return Err(untrusted(trash, Distrust::Link)),
        Err(Errno::NOTDIR) => return Err(untrusted(trash, Distrust::NotFolder)),
        opened => opened.map_err(Refused::System)?,
    };
    own(&at, trash, volume)?;
    for name in [c"files", c"info"] {
        let path = join(trash, name.to_bytes());
        match way::step(&at, name) {
            Err(Errno::NOENT) => writable(&at, trash)?,
            // A link, as well.
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return Err(untrusted(&path, Distrust::NotFolder));
            }
            folder => {
                let folder = folder.map_err(Refused::System)?;
                own(&folder, &path, volume)?;
                writable(&folder, &path)?;
            }
        }
    }
    Ok(())
}

/// Checks that a missing trash can be created in the nearest folder above it.
fn can_be_made(trash: &[u8]) -> Result<(), Refused> {
    let (above, path) = nearest(trash).map_err(Refused::System)?;
    writable(&above, path)
}

fn writable(folder: &OwnedFd, path: &[u8]) -> Result<(), Refused> {
    match stat::can_create_in(folder) {
        Err(error @ (Errno::ACCESS | Errno::PERM)) => {
            let path = if path.is_empty() { b"/" } else { path };
            let path = String::from_utf8_lossy(path);
            Err(Refused::Because(format!(
                "{path} is not writable: {error} (change its permissions)"
            )))
        }
        // Where the file system is read-only, no other action would help. The step says so, as for all other errors.
        _ => Ok(()),
    }
}

/// Checks the rules for every folder of the trash: it is at the location of the files, it belongs to this user, and no
/// other user may write to it. A program that another user mounted there could report any owner and mode.
///
/// If the mount does not store owners and modes, they prove nothing about a folder: a user who may change the trash may
/// change every file on the mount.
fn own(folder: &OwnedFd, path: &[u8], volume: Location) -> Result<Attributes, Refused> {
    let (stat, now) = attributes::both(folder).map_err(Refused::System)?;
    let here = Location::of(&stat);
    if here != volume {
        let why = if here.dev == volume.dev {
            Distrust::OtherMount
        } else {
            Distrust::OtherFileSystem
        };
        return Err(untrusted(path, why));
    }
    match trust::ours_alone(&now) {
        Err(why) if attributes::modes_are_made_up(folder) != Ok(true) => Err(untrusted(path, why)),
        _ => Ok(now),
    }
}

fn untrusted(path: &[u8], why: Distrust) -> Refused {
    let path = as_path(path).to_owned();
    Refused::Because(in_words(&Untrusted { path, why }))
}

/// Checks the trash of a moved file of this device once more, before undo takes the file from there. Undo copies the
/// file if it cannot rename it, so the mount does not matter.
pub fn still_own(folder: &OwnedFd, path: &[u8], dev: u64) -> Result<(), Reason> {
    let here = Location::of_folder(folder).map_err(Refused::System);
    let checked = here.and_then(|here| own(folder, path, Location { dev, ..here }));
    checked.map(drop).map_err(|refused| match refused {
        Refused::Because(why) => Code::Distrusted.about(why),
        Refused::System(error) => failed("examine the trash")(error),
    })
}

/// The location of a folder, or of the folder in which it would be created; `None` if it is reached through a link.
fn nearest_location(path: &[u8]) -> Result<Option<Location>, Reason> {
    let location = match nearest(path) {
        Err(Errno::LOOP) => return Ok(None),
        found => found.and_then(|(folder, _)| Location::of_folder(folder)),
    };
    location.map(Some).map_err(failed("look for the trash"))
}

/// The highest folder above a file that is at its location.
fn top_folder(path: &[u8], volume: Location) -> Result<Vec<u8>, Reason> {
    let mut top = path;
    let mut here = path;
    while let Some(slash) = here.iter().rposition(|&b| b == b'/') {
        here = &here[..slash];
        let location = way::open(here).and_then(Location::of_folder);
        if location.map_err(failed("look for the trash"))? != volume {
            break;
        }
        top = here;
    }
    Ok(top.to_vec())
}

/// Opens a trash or a folder of one, and creates missing folders. `there` is the folder if it is there.
pub fn open(there: rustix::io::Result<OwnedFd>, path: &[u8], act: &Act) -> Result<OwnedFd, Reason> {
    let folder = there.or_else(|_| open_or_make(path, None))?;
    match own(&folder, path, act.pair.victim.volume()) {
        Ok(now) => not_fixed(&now).map(|()| folder),
        Err(Refused::Because(why)) => {
            Err(Code::TrashFailed.with(Facts::caused("use the trash", why)))
        }
        Err(Refused::System(error)) => Err(failure_with("open the trash", error, NO_TRASH)),
    }
}
