//! Opens a folder below another one, and creates the missing folders on the path: for `move` and the trash.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::io::Errno;

use super::failure::{failed, failure_with};
use super::folder_entry::join;
use super::folder_traits::{self, FolderTraits, Original};
use super::made::Made;
use super::reason::{Code, Facts, Reason};
use super::ways::Ways;
use crate::heartbeat::current;
use crate::sys::{attributes, parent, sync};

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
pub fn make_way(base: Base<'_>, below: &[u8], mode: u32, made: &Made) -> Result<OwnedFd, Reason> {
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
) -> Result<Rc<OwnedFd>, Reason> {
    make(base, below, 0o700, Some(like), made)
}

const DOING: &str = "move it into the destination folder";

fn make(
    base: Base<'_>,
    below: &[u8],
    mode: u32,
    like: Option<&Original<'_>>,
    made: &Made,
) -> Result<Rc<OwnedFd>, Reason> {
    const MAKING: &str = "create the destination folder";
    let parts = below.split(|&b| b == b'/').filter(|part| !part.is_empty());
    let parts: Vec<_> = parts.collect();
    let base_folder = Rc::new(base.folder);
    let mut at = Rc::clone(&base_folder);
    let mut path = base.path.to_vec();
    let mut is_new = false;
    let guarded = like.and_then(|like| like.guarded);
    let mut ways = Ways::default();
    let mut closed = |path: &[u8]| match guarded {
        Some(owner) if !ways.is_closed(path, owner) => {
            let doing = format!("move it into {}", String::from_utf8_lossy(path));
            Err(Code::SharedDestination.with(Facts::refused(&doing, &Errno::PERM.into())))
        }
        _ => Ok(()),
    };
    closed(&path)?;
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
                    true => folder_traits::open_made(&at, &name),
                    false => parent::step(&at, &name),
                };
                let next = Rc::new(next.map_err(failed("open the folder"))?);
                match is_new {
                    true => made.note(&at, &name, path.clone(), &next, traits),
                    false => closed(&path)?,
                }
                sync::folder(&at).map_err(failed(MAKING))?;
                next
            }
            // O_PATH does not follow: a link to a folder is "not a directory".
            opened => {
                let opened = opened.map_err(failed("open the destination folder"))?;
                closed(&path)?;
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

fn changeable(folder: &OwnedFd) -> Result<(), Reason> {
    let refused = |hint| Err(failure_with(DOING, Errno::PERM, hint));
    let now = attributes::get(folder).map_err(failed(DOING))?;
    match (now.immutable, now.append_only) {
        (true, _) => refused("the destination folder is immutable: run chattr -i on it"),
        (_, true) => refused("the destination folder is append-only: run chattr -a on it"),
        _ => Ok(()),
    }
}
