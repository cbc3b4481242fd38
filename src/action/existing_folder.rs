//! Checks the existing folders on the path to the destination of a move: each of them must be fit to receive a file.
//!
//! A user who may rename folders there can choose the folder that has the name. No file must be moved into a folder of
//! that user, or into a folder that is more open than the original one. The check applies to root only: other users can
//! neither put files into folders of others nor read closed folders of others.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::io::{Errno, Result};

use super::folder_traits::{self, Original};
use super::reason::Code;
use super::step_error::{StepError, failed, failed_as};
use crate::device::Mounts;
use crate::file::trust;
use crate::sys::attributes::{self, Attributes};
use crate::sys::stat;
use crate::sys::statfs::{self, ServedBy};

/// The reason why a folder must not receive the file.
enum Unsuitable {
    /// It belongs to a user who does not own the original.
    Owner,
    /// Users have access to it who have no access to the original.
    Open,
    /// A program of another user serves it, and may report any owner and mode.
    Served,
}

/// Checks the existing folders below the destination folder that the user named, the outermost first.
pub struct ExistingFolders<'a> {
    base: Rc<OwnedFd>,
    /// The folder that contains the file.
    like: Option<&'a Original<'a>>,
    /// Other users could have put the folder that was checked last, or one above it, in its place.
    is_replaceable: bool,
}

impl<'a> ExistingFolders<'a> {
    /// Begins in the folder that the user named. Without an original, no folder is checked.
    pub fn below(base: &Rc<OwnedFd>, like: Option<&'a Original<'a>>) -> Self {
        Self {
            base: Rc::clone(base),
            like,
            is_replaceable: false,
        }
    }

    /// Checks the next folder, which lies in `above`. Its original lies `height` levels above the folder of the file.
    ///
    /// # Errors
    /// If the folder must not receive the file: names the folder, and the way out.
    pub fn check(
        &mut self,
        above: &OwnedFd,
        folder: &OwnedFd,
        height: usize,
        path: &[u8],
    ) -> std::result::Result<(), StepError> {
        let Some(like) = self.like.filter(|_| trust::is_root()) else {
            return Ok(());
        };
        let doing = || format!("move it into {}", String::from_utf8_lossy(path));
        let unsuitable = self.unsuitable(above, folder, like, height);
        let code = match unsuitable.map_err(failed("examine the destination folder"))? {
            None => return Ok(()),
            Some(Unsuitable::Owner) => Code::DestinationNotOwners,
            Some(Unsuitable::Open) => Code::DestinationOpen,
            Some(Unsuitable::Served) => Code::DestinationForeign,
        };
        Err(failed_as(code, &doing(), Errno::PERM))
    }

    fn unsuitable(
        &mut self,
        above: &OwnedFd,
        folder: &OwnedFd,
        like: &Original<'_>,
        height: usize,
    ) -> Result<Option<Unsuitable>> {
        if is_foreign_mount(folder, &self.base)? {
            return Ok(Some(Unsuitable::Served));
        }
        let now = attributes::get(folder)?;
        self.is_replaceable |= may_be_replaced(above, now.uid)?;
        let is_anybodys = is_open(folder, &now);
        let is_known_owner = folder_traits::is_ours_or_bases(&now, &self.base)?;
        let is_closed = now.mode & 0o077 == 0 || !self.is_replaceable && !is_anybodys;
        if is_known_owner && is_closed {
            return Ok(None);
        }
        let original = like.above(height)?;
        let was = attributes::get(&original)?;
        if !is_known_owner && now.uid != was.uid {
            return Ok(Some(Unsuitable::Owner));
        }
        let further = folder_traits::further_rights((folder, &now), (&original, &was));
        let unwanted = match self.is_replaceable {
            true => 0o077,
            // Only root or the owner can have opened it to readers.
            false => 0o022,
        };
        let is_more_open = !is_closed && further & unwanted != 0;
        // A user who may write to a mount without modes may write to every folder of it.
        let is_refused = is_more_open && attributes::modes_are_made_up(folder) != Ok(true);
        Ok(is_refused.then_some(Unsuitable::Open))
    }
}

/// True if a folder is on another mount than the one that the user named, and a program of another user serves it.
fn is_foreign_mount(folder: &OwnedFd, base: &OwnedFd) -> Result<bool> {
    let (dev, named) = (stat::descriptor(folder)?.dev, stat::descriptor(base)?.dev);
    let is_served = dev != named && statfs::served_by(folder) == ServedBy::Others;
    Ok(is_served && Mounts::read().foreign_server(dev).is_some())
}

/// True if other users may rename any entry of a folder.
fn is_open(folder: &OwnedFd, now: &Attributes) -> bool {
    trust::others_may_write(folder, now) && !trust::is_sticky(now)
}

/// True if a user other than root, this user and its owner could have given a folder its name in `above`.
fn may_be_replaced(above: &OwnedFd, owner: u32) -> Result<bool> {
    let now = attributes::get(above)?;
    let is_untrusted = !trust::is_ours_or_roots(now.uid) && now.uid != owner;
    Ok(is_untrusted || is_open(above, &now))
}
