//! Opens a folder, and creates the missing folders on the path: for `move` and the trash.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::made::Made;
use crate::action::failure::{failed, failure_with};
use crate::action::reason::{Code, Facts, Reason};
use crate::action::ways::Ways;
use crate::action::ways::folder_entry::{join, nearest};
use crate::action::ways::folder_traits::{self, FolderTraits, Original};
use crate::heartbeat::current;
use crate::sys::{attributes, parent, sync};

/// How missing folders are created.
pub struct Making<'a> {
    /// The permission bits of folders that are like no other.
    pub mode: u32,
    /// The folders that a file came from, which those behind the first so many bytes of the path are like. They get
    /// their traits once they are filled.
    pub like: Option<(Original<'a>, usize)>,
}

/// Opens the folder with this absolute path, and creates missing folders on the path; follows no link.
///
/// A folder in which names cannot be changed again is refused before anything is created in it.
pub fn open_or_make(path: &[u8], making: &Making<'_>, made: &Made) -> Result<OwnedFd, Reason> {
    const CREATE: &str = "create the destination folder";
    let guarded = making.like.as_ref().and_then(|(like, _)| like.guarded);
    let mut ways = Ways::default();
    let mut closed = |path: &[u8]| match guarded {
        Some(owner) if !ways.is_closed(path, owner) => {
            let doing = format!("move it into {}", String::from_utf8_lossy(path));
            Err(Code::SharedDestination.with(Facts::refused(&doing, &Errno::PERM.into())))
        }
        _ => Ok(()),
    };
    current::ask_about(path);
    let (mut at, there) = nearest(path).map_err(failed("open the destination folder"))?;
    closed(there)?;
    changeable(&at)?;
    let mut here = there.to_vec();
    let missing = path[there.len()..].split(|&byte| byte == b'/');
    let missing: Vec<_> = missing.filter(|part| !part.is_empty()).collect();
    for (place, part) in missing.iter().enumerate() {
        here = join(&here, part);
        current::ask_about(&here);
        let name = CString::new(*part).map_err(|_| failed(CREATE)(Errno::INVAL))?;
        let like = making.like.as_ref().filter(|(_, base)| here.len() > *base);
        let height = missing.len() - 1 - place;
        let traits = like.map(|(like, _)| FolderTraits::above(like, height));
        let traits = traits.transpose().map_err(failed(CREATE))?;
        let mode = if traits.is_some() { 0o700 } else { making.mode };
        let is_new = parent::make_folder(&at, &name, mode).map_err(failed(CREATE))?;
        let is_like_none = traits.is_none();
        let next = if is_new && !is_like_none {
            folder_traits::open_made(&at, &name)
        } else {
            parent::step(&at, &name)
        };
        let next = next.map_err(failed("open the folder"))?;
        if is_new {
            let noted = made.note(&at, &name, here.clone(), &next, traits);
            noted.map_err(failed("open the folder"))?;
        }
        if !is_new || is_like_none {
            closed(&here)?;
        }
        sync::folder(&at).map_err(failed(CREATE))?;
        at = next;
    }
    Ok(at)
}

fn changeable(folder: &OwnedFd) -> Result<(), Reason> {
    const DOING: &str = "move it into the destination folder";
    let refused = |hint| Err(failure_with(DOING, Errno::PERM, hint));
    let now = attributes::get(folder).map_err(failed(DOING))?;
    match (now.immutable, now.append_only) {
        (true, _) => refused("the destination folder is immutable: run chattr -i on it"),
        (_, true) => refused("the destination folder is append-only: run chattr -a on it"),
        _ => Ok(()),
    }
}
