//! Why a report or a manual page could not be put into its file, and what may help.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::escape::escape;
use super::place::Refusal;

/// Says why the report could not be put into its file, and what may help.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {} to {}: {cause}{}", .document.words(), shown(.path), way_out(.path, *.document, .cause))]
pub struct OutputError {
    /// The file as the user named it.
    pub path: PathBuf,
    /// What is written to it.
    pub document: Document,
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
    /// A FIFO that nobody reads.
    #[error("it is a FIFO, and no program reads from it")]
    NoReader,
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

impl From<Refusal> for Cause {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Link(path) => Self::Link(path),
            Refusal::System(error) => error.into(),
        }
    }
}

/// What is written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// A report or a plan. A new one that root makes is for root only: it names files of users who need not
    /// know of each other.
    Report,
    /// A manual page. It names no files of users, so the umask alone decides who may read it.
    ManualPage,
}

impl Document {
    fn words(self) -> &'static str {
        match self {
            Self::Report => "the report",
            Self::ManualPage => "the manual page",
        }
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

fn way_out(path: &Path, document: Document, cause: &Cause) -> String {
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
        Cause::NoReader => return "; start the program that reads the report first".to_owned(),
        Cause::Changed(written) => {
            return format!("; {} is in {}", document.words(), shown(written));
        }
        Cause::NotOurs => {
            return match document {
                Document::Report => "; choose another name, or write to standard output",
                Document::ManualPage => "; move it away, or choose another folder",
            }
            .to_owned();
        }
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
