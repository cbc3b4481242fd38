//! Why something could not be done at all.

use std::io;
use std::path::PathBuf;

use crate::acting::{BadBound, NoFolder, Stop, UntrustedLink};
use crate::action::bounds::BadPlace;
use crate::action::keep::BadRule;
use crate::action::{Code, Reason};
use crate::engine::{self, LEAST_RATE};
use crate::file::Untrusted;
use crate::report::read::{OpenError, ReadError};
use crate::scan::{BadPattern, NoFile};

/// Why nothing, or nothing more, was done. Problems with single files are
/// not errors: they are reported, and the work continues.
///
/// The message names the thing and a way out. [`kind`](Self::kind) is for programs that decide by the reason.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Cause);

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A pattern, a rule or another setting cannot be used.
    Setting,
    /// A path is not there, or is neither a folder nor a regular file.
    Path,
    /// The limits of this process (`ulimit`) leave too little to work with.
    Limits,
    /// Other users could have redirected this: a path through their link, a folder that they may write to.
    Untrusted,
    /// Another run acts on these files now.
    Busy,
    /// The report cannot be read.
    Report,
    /// There is no such run, or its journal cannot be used.
    Journal,
    /// The system refused something else.
    System,
}

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Cause::Pattern(_) | Cause::SlowRate => ErrorKind::Setting,
            Cause::FewSides | Cause::IgnoreFile(_) => ErrorKind::Setting,
            Cause::NoRoots | Cause::FewPaths | Cause::NoDepth => ErrorKind::Setting,
            Cause::NoFile(_) => ErrorKind::Setting,
            Cause::NoCopies | Cause::Overlap(_) => ErrorKind::Setting,
            Cause::Rule(_) | Cause::Place(BadPlace::Pattern(_) | BadPlace::NotText(_)) => {
                ErrorKind::Setting
            }
            Cause::NoPath(_) | Cause::Folder(_) => ErrorKind::Path,
            Cause::Engine(engine::Error::Catalog { .. }) => ErrorKind::Path,
            Cause::Place(BadPlace::Missing { .. }) => ErrorKind::Path,
            Cause::Link(_) | Cause::UntrustedReport(_) => ErrorKind::Untrusted,
            Cause::Open {
                error: OpenError::UntrustedPipe(_),
                ..
            } => ErrorKind::Untrusted,
            Cause::Open { .. } | Cause::Report { .. } => ErrorKind::Report,
            Cause::Refused(why) => match why.code {
                Code::JournalsUntrusted => ErrorKind::Untrusted,
                Code::Locked | Code::Active => ErrorKind::Busy,
                _ => ErrorKind::Journal,
            },
            Cause::Engine(engine::Error::Limits(_)) => ErrorKind::Limits,
            Cause::Engine(engine::Error::Nested(_)) => ErrorKind::Setting,
            Cause::Engine(engine::Error::Refused(_)) | Cause::Thread(_) => ErrorKind::System,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Cause {
    #[error(transparent)]
    Pattern(#[from] BadPattern),
    #[error("the limit of bytes per second must be {} or more", LEAST_RATE.0)]
    SlowRate,
    #[error("no path is given: name a folder or a file")]
    NoRoots,
    #[error(transparent)]
    NoFile(#[from] NoFile),
    #[error("0 levels hold no file: list 1 level or more")]
    NoDepth,
    #[error("isolated paths are compared with each other: give two different ones or more")]
    FewPaths,
    #[error("at least one copy of each set stays")]
    NoCopies,
    #[error("{0} is not a percentage: give 1 to 100")]
    Overlap(u8),
    #[error("a comparison needs two sides or more")]
    FewSides,
    #[error("{0:?} is not the name of a file: give the name without its folder")]
    IgnoreFile(String),
    #[error("{0}")]
    NoPath(String),
    #[error(transparent)]
    Engine(#[from] engine::Error),
    #[error(transparent)]
    Rule(#[from] BadRule),
    #[error(transparent)]
    Place(BadPlace),
    #[error(transparent)]
    Folder(#[from] NoFolder),
    #[error(transparent)]
    Link(#[from] UntrustedLink),
    #[error("{}: {error}", path.display())]
    Open { path: PathBuf, error: OpenError },
    #[error("{}: {error}", path.display())]
    Report { path: PathBuf, error: ReadError },
    #[error("{0}. Name the paths that may be changed")]
    UntrustedReport(Untrusted),
    #[error(transparent)]
    Refused(#[from] Reason),
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}

impl From<BadBound> for Cause {
    fn from(bad: BadBound) -> Self {
        Self::Place(bad.cause)
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        Self(stop.0.into())
    }
}
