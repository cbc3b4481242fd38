//! The reasons why a folder or a file of the cache is not used, for a line that names its path.

use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{self, Path};

use super::error::CacheError;
use super::volume::BESIDE;
use crate::file::trust::Distrust;
use crate::file::{RouteError, Untrusted};

/// What a user can do about the folder of another user.
const OWN: &str = "each user needs a folder of their own";

/// What a user can do about a file of their own.
const REMOVE: &str = "remove it with rm, and the next run makes a new one";

/// The reason why the folder at this path is not used.
pub fn folder(path: &Path, error: RouteError) -> io::Error {
    let untrusted = match error {
        RouteError::Io(error) => return error,
        RouteError::Untrusted(untrusted) => untrusted,
    };
    let is_it = path::absolute(path).is_ok_and(|path| path == untrusted.path);
    let why = &untrusted.why;
    io::Error::other(match why {
        _ if !is_it => untrusted.to_string(),
        Distrust::Owner { .. } | Distrust::Writable(_) => format!("it {why}; {OWN}"),
        _ => format!("it {why}"),
    })
}

/// The reason why a file of rows is not used: this file, or one that SQLite keeps beside it.
pub fn file(error: RouteError) -> CacheError {
    let Untrusted { path, why } = match error {
        RouteError::Io(error) => return error.into(),
        RouteError::Untrusted(untrusted) => untrusted,
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let it = if BESIDE.iter().any(|end| name.ends_with(end)) {
        format!("{name} beside it")
    } else {
        "it".to_owned()
    };
    match why {
        Distrust::Link | Distrust::NotRegular => CacheError::Occupied {
            it,
            kind: kind_at(&path),
        },
        // What is read from it may be another user's, and a write would change what its other names show.
        Distrust::Writable(_) | Distrust::FurtherNames => {
            io::Error::other(format!("{it} {why}; {REMOVE}")).into()
        }
        why => io::Error::other(format!("{it} {why}")).into(),
    }
}

/// What is at this path.
fn kind_at(path: &Path) -> &'static str {
    let is = fs::symlink_metadata(path).map(|is| is.file_type());
    let is_a = |kind: fn(&FileType) -> bool| is.as_ref().is_ok_and(kind);
    match () {
        () if is_a(FileType::is_symlink) => "a symbolic link",
        () if is_a(FileType::is_dir) => "a folder",
        () if is_a(FileType::is_fifo) => "a FIFO",
        () if is_a(FileType::is_socket) => "a socket",
        () if is_a(FileType::is_block_device) || is_a(FileType::is_char_device) => "a device",
        () => "not a regular file",
    }
}
