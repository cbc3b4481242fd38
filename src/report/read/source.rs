//! Opens a report, and looks whether somebody else could have written it.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::FileType;

use crate::file::trust;
use crate::file::{RouteError, Untrusted, way_to_file};
use crate::heartbeat::current;
use crate::sys::open::{self, CWD};
use crate::sys::{attributes, stat, statfs};

/// A report that can be read.
pub struct Source {
    /// Its bytes.
    pub input: Box<dyn Read + Send>,
    /// The other user who could have written it; `None` if only this user or root could, or if it was handed to this
    /// process: what a pipe brings is the affair of whoever set the pipe up.
    pub untrusted: Option<Untrusted>,
}

/// Why a report cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The process at the other end can block this one.
    #[error(
        "it is a FIFO that others could write to ({0}): give the report as a file, or on standard input"
    )]
    UntrustedPipe(Untrusted),
}

impl Source {
    /// Opens a report in a file; a pipe is one as well (`<(command)`).
    ///
    /// # Errors
    /// If it cannot be opened, or if it is another user's FIFO.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        if is_inherited(path) {
            return Self::handed_over(File::open(path)?, path);
        }
        current::ask_about(path.as_os_str().as_bytes());
        let name = CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from)?;
        let file = open::file(CWD, &name, true).map_err(io::Error::from)?;
        let untrusted = match untrusted_writer(&file, path)? {
            None => match way_to_file(path) {
                Ok(()) => None,
                Err(RouteError::Untrusted(untrusted)) => Some(untrusted),
                Err(RouteError::Io(error)) => return Err(error.into()),
            },
            untrusted => untrusted,
        };
        let mut file = File::from(file);
        let kind = kind(&file)?;
        if kind == FileType::Directory {
            return Err(OpenError::Io(ErrorKind::IsADirectory.into()));
        }
        if kind == FileType::Fifo {
            if let Some(untrusted) = untrusted {
                return Err(OpenError::UntrustedPipe(untrusted));
            }
            // Waits for a program that writes to it.
            file = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        }
        current::rest();
        open::let_block(&file).map_err(io::Error::from)?;
        Ok(Self {
            input: match kind {
                FileType::Fifo => Box::new(file),
                _ => Box::new(OnDisk(file)),
            },
            untrusted,
        })
    }

    /// The report on standard input.
    ///
    /// # Errors
    /// If there is no standard input.
    pub fn stdin() -> Result<Self, OpenError> {
        Self::handed_over(io::stdin(), Path::new("standard input"))
    }

    /// Whether the process was started with it. A file with a name shows its owner, a pipe of the shell does not.
    fn handed_over(
        input: impl Read + AsFd + Send + 'static,
        path: &Path,
    ) -> Result<Self, OpenError> {
        let has_name = match kind(&input)? {
            FileType::RegularFile => true,
            FileType::Fifo => !statfs::is_unnamed_pipe(&input),
            _ => false,
        };
        let untrusted = if has_name {
            untrusted_writer(&input, path)?
        } else {
            None
        };
        Ok(Self {
            input: Box::new(input),
            untrusted,
        })
    }
}

/// A file on a disk, which is waited for; whoever writes to a pipe may take any time.
struct OnDisk(File);

impl Read for OnDisk {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        open::ask_about(&self.0);
        let read = self.0.read(buffer);
        current::rest();
        read
    }
}

/// A descriptor of this process, by name.
fn is_inherited(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    let number = [&b"/dev/fd/"[..], b"/proc/self/fd/"]
        .iter()
        .find_map(|folder| bytes.strip_prefix(*folder));
    bytes == b"/dev/stdin"
        || number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

fn kind(file: impl AsFd) -> io::Result<FileType> {
    Ok(stat::descriptor(file)?.kind)
}

/// The user who could have written a file, besides this user and root.
fn untrusted_writer(file: impl AsFd, path: &Path) -> io::Result<Option<Untrusted>> {
    let now = attributes::get(&file)?;
    let path = path.to_owned();
    let trusted = trust::nobody_else_writes(file, &now);
    Ok(trusted.err().map(|why| Untrusted { path, why }))
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn descriptors_of_this_process_are_known_by_their_names() {
        for (path, is_one) in [
            ("/dev/stdin", true),
            ("/dev/fd/63", true),
            ("/proc/self/fd/0", true),
            ("/proc/self/fd/", false),
            ("/dev/fd/../sda", false),
            ("/proc/1/fd/0", false),
        ] {
            assert_eq!(is_inherited(Path::new(path)), is_one, "{path}");
        }
    }
}
