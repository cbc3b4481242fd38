//! Why a result could not be put into its file, and what may help.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::report::escape::escape;

/// Says why a result could not be put into its file, and what may help.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {cause}{}", shown(.path), way_out(.path, .cause))]
pub struct OutputError {
    /// The file as the user named it.
    pub path: PathBuf,
    /// The cause.
    pub cause: Cause,
}

/// Causes that prevent a report from being written.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// A symbolic link that another user may have made.
    #[error("{} is a symbolic link in a folder that others can write to", shown(.0))]
    Link(PathBuf),
    /// A FIFO or a socket of another user.
    #[error("it is a FIFO of another user in a folder that others can write to")]
    Fifo,
    /// Other names of the file may be anywhere.
    #[error("it has several names (hard links), and others can write to its folder")]
    SeveralNames,
    /// The file is no earlier result.
    #[error("it exists, and seekless does not recognize it as an earlier result")]
    NotOurs,
    /// The name leads to something else than a moment ago.
    #[error("another process replaced it at the same time")]
    Replaced,
    /// The file changed, or appeared, while the report was written. The report lies here.
    #[error("another process created or changed it during the run")]
    Changed(PathBuf),
    /// The error of the system.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<Errno> for Cause {
    fn from(error: Errno) -> Self {
        Self::System(error.into())
    }
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn shown(path: &Path) -> String {
    escape(path.as_os_str().as_encoded_bytes()).into_owned()
}

fn way_out(path: &Path, cause: &Cause) -> String {
    use io::ErrorKind::{
        IsADirectory, NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    let error = match cause {
        Cause::Link(_) => {
            return "; give the path of the link's target, or a file in a folder of your own"
                .to_owned();
        }
        Cause::Fifo | Cause::SeveralNames | Cause::Replaced => {
            return "; choose a file in a folder that only you can write to".to_owned();
        }
        Cause::Changed(written) => return format!("; the result is in {}", shown(written)),
        Cause::NotOurs => return "; choose another name".to_owned(),
        Cause::System(error) => error,
    };
    match error.kind() {
        StorageFull | QuotaExceeded => "; free some space or choose another disk".to_owned(),
        // No file can be created in /proc.
        NotFound if folder_of(path).is_dir() => "; name a file in another folder".to_owned(),
        NotFound => format!("; create the folder {} first", shown(folder_of(path))),
        IsADirectory => {
            format!(
                "; name a file in it, as in {}",
                shown(&path.join("duplicates.txt"))
            )
        }
        PermissionDenied | ReadOnlyFilesystem => {
            "; choose a file and folder that you may write to".to_owned()
        }
        _ => String::new(),
    }
}
