//! The destination of `move`: a folder below which the victim keeps its path.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::io::Errno;

use super::act::{Act, Preparation, Sketch};
use super::failure::{failed, failure_with};
use super::folder_entry::{self, parent as folder_of};
use super::folder_traits::Original;
use super::made::Made;
use super::reason::{Code, Facts, Reason};
use super::relocate::{self, Base};
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::parent;

/// Decides where the file goes.
pub fn prepare(sketch: &Sketch<'_>) -> Result<Preparation, Reason> {
    let Some(folder) = &sketch.settings.destination else {
        return Err(Code::NoDestination.with(Facts::refused("move it", &Errno::INVAL.into())));
    };
    let victim = &sketch.step.victim.path;
    let below = sketch.step.below.as_ref().unwrap_or(victim);
    let slashes = below.iter().take_while(|&&b| b == b'/').count();
    let destination = folder_entry::join(folder, &below[slashes..]);
    if folder_entry::split(&destination).is_none() {
        let hint = "its path contains ..: create the report again";
        return Err(failure_with("move it", Errno::INVAL, hint));
    }
    // Undo takes what a killed step left there for its own: it must not be there before.
    let new_folders = match folder_entry::NameInFolder::of(&destination) {
        Ok(there) if there.stat().is_ok() => return Err(failed("move it")(Errno::EXIST)),
        Err(why) if why.code == Code::Gone => missing_above(&destination),
        _ => Vec::new(),
    };
    Ok(Preparation {
        destination: Some(destination),
        new_folders,
        ..Preparation::default()
    })
}

/// The folders above this absolute path that are missing, the outermost first.
fn missing_above(path: &[u8]) -> Vec<Vec<u8>> {
    let mut missing = Vec::new();
    let mut folder = folder_of(path);
    while !folder.is_empty() && matches!(parent::open(folder), Err(Errno::NOENT)) {
        missing.push(folder.to_vec());
        folder = folder_of(folder);
    }
    missing.reverse();
    missing
}

/// Opens the folder of the file's destination, and creates it if it is missing. Also returns the file's name there.
pub fn open(act: &Act<'_>) -> Result<(Rc<OwnedFd>, CString), Reason> {
    let destination = act.intent.destination.as_ref();
    let (Some(destination), Some(base)) = (destination, &act.settings.destination) else {
        return Err(failed("move it")(Errno::INVAL));
    };
    let Some((folder, name)) = folder_entry::split(&destination.0) else {
        return Err(failed("move it")(Errno::INVAL));
    };
    let below = folder.strip_prefix(base.as_slice()).unwrap_or_default();
    current::ask_about(&destination.0);
    let like = &Original {
        folder: &act.pair.victim.place.folder,
        path: folder_of(&act.intent.victim.0),
        guarded: (trust::is_root() && !act.settings.shared).then_some(act.intent.metadata.uid),
    };
    let base = Base {
        folder: base_folder(base, act.made)?,
        path: base,
    };
    Ok((relocate::make_way_like(base, below, like, act.made)?, name))
}

/// The destination folder of the files. Its path is real: a link on it appeared later.
fn base_folder(path: &[u8], made: &Made) -> Result<OwnedFd, Reason> {
    match parent::open(path) {
        Err(Errno::NOENT) => {
            // The part above is there, or is made first.
            let end = path
                .iter()
                .rposition(|&b| b != b'/')
                .map_or(0, |last| last + 1);
            let slash = path[..end].iter().rposition(|&b| b == b'/');
            let slash =
                slash.ok_or_else(|| failed("create the destination folder")(Errno::NOENT))?;
            let above = Base {
                folder: base_folder(&path[..slash.max(1)], made)?,
                path: &path[..slash.max(1)],
            };
            relocate::make_way(above, &path[slash + 1..end], 0o777, made)
        }
        opened => opened.map_err(failed("open the destination folder")),
    }
}
