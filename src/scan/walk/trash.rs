//! Recognizes the trash folders that the walk meets.

use std::ffi::CStr;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::FileType;
use rustix::io::Result;

use crate::file::{is_trash, may_be_trash};
use crate::sys::dirent::{self, Entries};
use crate::sys::open;
use crate::sys::stat;
use crate::tree::Unseen;

use super::walker::Walker;
use super::{Folder, path_of};

/// Levels of folders in an empty trash: the folders of users, and `files` and `info` in each.
const LEVELS: u32 = 2;

impl Walker {
    /// True if a folder is a trash, by its name.
    pub(super) fn is_trash(&mut self, folder: &Folder, name: &CStr) -> bool {
        let name = name.to_bytes();
        if !may_be_trash(name) {
            return false;
        }
        let path = path_of(&self.walk.dirs, folder.dir, None);
        let path = path.as_os_str().as_bytes();
        let is_trash = self.with_folder(folder.dir, |above| Ok(is_trash(above, path, name)));
        is_trash.unwrap_or(false)
    }

    /// Records a trash folder that is not entered, unless it is a root. Nothing is missed in one without files.
    pub(super) fn skip_trash(&mut self, folder: &Folder, name: &CStr) {
        let holds_nothing = self.with_folder(folder.dir, |above| {
            holds_nothing(open::folder(above, name)?, LEVELS)
        });
        if holds_nothing == Ok(true) {
            return;
        }
        let now = self.with_folder(folder.dir, |above| stat::entry(above, name));
        let is_root = now.is_ok_and(|now| !self.walk.dirs.read().met(&now).is_empty());
        let unseen = if is_root {
            Unseen::ListedBefore
        } else {
            Unseen::Trash
        };
        self.walked.left_out.trash += u64::from(!is_root);
        self.unseen(folder.dir, Some(name), unseen);
    }
}

/// True if a folder has no entries, or only such folders.
fn holds_nothing(folder: impl AsFd, levels: u32) -> Result<bool> {
    if levels == 0 {
        return dirent::is_empty(folder);
    }
    let mut buffer = dirent::Buffer::default();
    Entries::of(&folder, &mut buffer).each(|name, _, kind| {
        let may_be_folder = matches!(kind, FileType::Directory | FileType::Unknown);
        let below =
            || open::folder(&folder, name).and_then(|below| holds_nothing(below, levels - 1));
        may_be_folder && below() == Ok(true)
    })
}
