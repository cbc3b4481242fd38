//! Files that are opened once more after everything was read, to ask what else is known of them.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::io::{Errno, Result};

use crate::file::{FileIndex, Fingerprint};
use crate::sys::attributes::{self, Attributes};
use crate::sys::open;

use super::answers::to_path;
use super::session::Session;

impl Session<'_> {
    /// Opens a file by its first name, if that still leads to the file that was found.
    pub fn reopened(&mut self, file: FileIndex) -> Result<(OwnedFd, Attributes)> {
        let path = to_path(self.path_of_first_name(file));
        let control = self.control;
        let _asking = control.asking(&path);
        let file_table = self.machine.file_table();
        let dir = file_table.dir(file);
        let name = CString::new(file_table.first_name(file)).map_err(|_| Errno::INVAL)?;
        let manner = open::Manner {
            keep_access_time: true,
            follow: false,
        };
        let folder = match self.handles.get(dir, &self.dirs) {
            Err(Errno::MFILE | Errno::NFILE) => {
                self.handles.close_all();
                self.handles.get(dir, &self.dirs)?
            }
            opened => opened?,
        };
        let opened = open::file(folder, &name, manner)?;
        let (stat, attributes) = attributes::both(&opened)?;
        match self.is_state_of(file, &Fingerprint::from(&stat)) {
            true => Ok((opened, attributes)),
            false => Err(Errno::STALE),
        }
    }

    /// The path of the first name of a file.
    pub fn path_of_first_name(&self, file: FileIndex) -> Vec<u8> {
        let file_table = self.machine.file_table();
        let mut path = Vec::new();
        let (dir, name) = (file_table.dir(file), file_table.first_name(file));
        self.dirs.read().path_of(dir, name, &mut path);
        path
    }
}
