//! Recognizes the trash folders that the walk meets.

use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;

use crate::file::{TrashPaths, is_trash, may_be_trash};
use crate::lock::locked;
use crate::sys::stat::{self, Stat};
use crate::tree::Unseen;

use super::walker::Walker;
use super::{Folder, Round, path_of};

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

    /// True if a folder is a trash under another name.
    pub(super) fn is_unnamed_trash(&self, here: &Stat) -> bool {
        locked(&self.walk.trash).is_one(here.dev, here.ino)
    }

    /// True if a symbolic link leads into a trash.
    pub(super) fn links_into_trash(&self, folder: &Folder, name: &CStr) -> bool {
        let path = path_of(&self.walk.dirs, folder.dir, Some(name));
        let Ok(real) = path.canonicalize() else {
            return false;
        };
        let path = [real.as_os_str().as_bytes(), b"/"].concat();
        locked(&self.walk.trash).holds(&path, 0) || TrashPaths::default().lead_into(&path, 0)
    }

    /// Records a trash folder that is not entered, unless it is a root.
    pub(super) fn skip_trash(&mut self, folder: &Folder, name: &CStr) {
        let now = self.with_folder(folder.dir, |above| stat::entry(above, name));
        let is_root = now.is_ok_and(|now| !self.walk.dirs.read().met(&now).is_empty());
        let unseen = match is_root {
            true => Unseen::ListedBefore,
            false => Unseen::Trash,
        };
        self.walked.left_out.trash += u64::from(!is_root && self.round == Round::First);
        self.unseen(folder.dir, Some(name), unseen);
    }
}
