//! Where the journals are, and how a run in them is named in a command.

use std::path::{Path, PathBuf};

use seekless::action::{Code, Reason, Run};
use seekless::report::escape::escape;
use seekless::report::printable::is_printable;

use crate::cli::front::config_folder;
use crate::cli::terminal::shell_word;

/// The folder that journals are in.
#[derive(Clone, Debug)]
pub struct JournalPlace {
    /// The folder.
    pub folder: PathBuf,
    /// As the user named it; `None` if it is the usual one.
    given: Option<PathBuf>,
}

impl JournalPlace {
    /// The folder that was named, else the usual one.
    pub fn of(given: Option<&Path>) -> Result<Self, &'static str> {
        let folder = match given {
            Some(given) => std::path::absolute(given).ok(),
            None => config_folder::journals(),
        };
        let folder = folder.ok_or(
            "no folder for journals: set HOME or XDG_STATE_HOME to an absolute path, or use --journal DIR",
        )?;
        Ok(Self {
            given: given.map(|_| folder.clone()),
            folder,
        })
    }

    /// The command that undoes this run.
    pub fn undo(&self, run: &str) -> String {
        format!("seekless undo{} {run}", self.option())
    }

    /// The message of an undo that ended early, with the command that continues it.
    pub fn not_all_undone(&self, run: &str) -> String {
        format!("not everything was undone; to continue: {}", self.undo(run))
    }

    /// The command that only clears up after it.
    pub fn sweep(&self, run: &str) -> String {
        format!("seekless undo{} --sweep {run}", self.option())
    }

    /// The command that lists the runs.
    pub fn list(&self) -> String {
        format!("seekless undo{} --list", self.option())
    }

    fn option(&self) -> String {
        use std::os::unix::ffi::OsStrExt;
        self.given
            .as_ref()
            .map(|folder| {
                let quoted = shell_word::quoted(folder.as_os_str().as_bytes());
                format!(" --journal {}", String::from_utf8_lossy(&quoted))
            })
            .unwrap_or_default()
    }

    /// The reason, with advice.
    pub fn with_way_out(&self, why: &Reason) -> String {
        let facts = why.facts();
        match (why.code, &facts.what) {
            (Code::NoSuchRun, _) => format!("{why}; '{}' lists all runs", self.list()),
            (Code::JournalsUntrusted, _) => {
                format!("{why}, or use another folder with --journal DIR")
            }
            (Code::Journals, _) => format!("{why}; use another folder with --journal DIR"),
            (Code::Journal, _) if facts.errno.is_some() => {
                format!("{why}; use another folder with --journal DIR")
            }
            (Code::LastJournal, Some(name)) => format!(
                "{why} ('{}'), or, if that run needs no undo, move {} out of the folder",
                self.list(),
                self.folder.join(name).display()
            ),
            _ => why.to_string(),
        }
    }
}

/// A run's command line.
pub fn words(run: &Run) -> String {
    command(&run.header)
}

/// The same of what a journal's first line says: as a shell takes it, if it is printable.
pub fn command(header: &seekless::action::RunHeader) -> String {
    let words = header
        .command
        .iter()
        .map(|word| match str::from_utf8(&word.0) {
            Ok(text) if is_printable(text) => shell_word::word(&word.0),
            _ => shell_word::word(escape(&word.0).as_bytes()),
        });
    words.collect::<Vec<_>>().join(" ")
}
