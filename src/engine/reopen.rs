//! Opens files once more after all reads, to query further properties.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::io::{Errno, Result};

use crate::file::{DirId, FileIndex, Fingerprint};
use crate::heartbeat::current;
use crate::sys::attributes::{self, Attributes};
use crate::sys::open;

use super::answers::to_path;
use super::session::Session;

impl Session<'_> {
    /// Opens a file by its first name, if the name still leads to the file that was found.
    pub fn reopened(&mut self, file: FileIndex) -> Result<(OwnedFd, Attributes)> {
        let path = self.path_of_first_name(file);
        let _call = current::call(&path);
        let file_table = self.machine.file_table();
        let dir = file_table.dir(file);
        let name = CString::new(file_table.first_name(file)).map_err(|_| Errno::INVAL)?;
        let manner = open::Manner {
            keep_access_time: true,
            follow: false,
        };
        let folder = self.handles.get_alone(dir, &self.dirs)?;
        let opened = open::file(folder, &name, manner)?;
        let (stat, attributes) = attributes::both(&opened)?;
        match self.is_state_of(file, &Fingerprint::from(&stat)) {
            true => Ok((opened, attributes)),
            false => Err(Errno::STALE),
        }
    }

    /// The path of the first name of a file.
    pub fn path_of_first_name(&self, file: FileIndex) -> PathBuf {
        let file_table = self.machine.file_table();
        self.path_of(file_table.dir(file), file_table.first_name(file))
    }

    /// The path of an entry of a folder.
    pub fn path_of(&self, dir: DirId, name: &[u8]) -> PathBuf {
        let mut path = Vec::new();
        self.dirs.read().path_of(dir, name, &mut path);
        to_path(path)
    }
}
