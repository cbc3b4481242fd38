//! The real paths of names that were listed in any way.

use std::collections::HashMap;
use std::io;
use std::os::unix::ffi::OsStringExt;

use rustix::io::Errno;

use crate::action::reason::{Code, Reason};
use crate::action::ways::folder_entry::join;
use crate::file::{Spellings, as_path};

/// Maximum number of folders whose real paths are cached; a guess, since sets jump between folders.
const FOLDERS: usize = 1 << 16;

/// Resolves paths.
#[derive(Debug, Default)]
pub struct RealPaths {
    /// The real paths of folders, by the folder of a name as listed.
    folders: HashMap<Vec<u8>, Result<Vec<u8>, Reason>>,
    /// The spellings of names in folders, if a report or a link spells them differently.
    spellings: Spellings,
}

impl RealPaths {
    /// Resolves the folder of a path: no link and no `..` remains in it. The last component is not resolved. All
    /// components are spelled as their folders list them, so that one file has one path.
    pub fn of(&mut self, path: &[u8]) -> Result<Vec<u8>, Reason> {
        if path.first() != Some(&b'/') {
            return Err(Code::NoFolder.into());
        }
        let slash = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
        let (folder, name) = (&path[..=slash], &path[slash + 1..]);
        if matches!(name, b"" | b"." | b"..") {
            return Err(Code::NotRegular.into());
        }
        if let Some(known) = self.folders.get(folder) {
            let real = known.as_ref().map_err(Reason::clone)?;
            return Ok(self.spellings.path(&join(real, name)));
        }
        let real = match as_path(folder).canonicalize() {
            Ok(real) => Ok(real.into_os_string().into_vec()),
            Err(error) => Err(refused(&error)),
        };
        if self.folders.len() >= FOLDERS {
            self.folders.clear();
        }
        let whole = real.as_ref().map(|real| join(real, name));
        let whole = whole.map_err(Reason::clone);
        self.folders.insert(folder.to_vec(), real);
        Ok(self.spellings.path(&whole?))
    }
}

/// Why a file cannot be looked at.
pub fn refused(error: &io::Error) -> Reason {
    match Errno::from_io_error(error) {
        Some(Errno::NOENT | Errno::NOTDIR) => Code::Gone.into(),
        _ => Reason::unreadable(error),
    }
}
