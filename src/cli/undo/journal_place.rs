//! Where the journals are, and how a run in them is named in a command.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use seekless::action::{Code, Reason, Reversion, RunHeader};
use seekless::report::escape::escape;
use seekless::report::printable::is_printable;

use crate::cli::front::config;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Stop, refuse};

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
    pub fn of(given: Option<&Path>) -> Result<Self, Stop> {
        let folder = match given {
            Some(given) => std::path::absolute(given).ok(),
            None => config::journals(),
        };
        let Some(folder) = folder else {
            return refuse(
                "no folder for journals: set HOME or XDG_STATE_HOME to an absolute path, or use --journal DIR",
            );
        };
        Ok(Self {
            given: given.map(|_| folder.clone()),
            folder,
        })
    }

    /// Opens the journal of a run, or of the last one that changed something.
    pub fn open(&self, run: Option<&str>) -> Result<Reversion, Stop> {
        self.said(Reversion::open(&self.folder, run))
    }

    /// What is known of journals, or a refusal with advice.
    pub fn said<T>(&self, known: Result<T, Reason>) -> Result<T, Stop> {
        known.or_else(|why| refuse(self.with_way_out(&why)))
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
        let given = self.given.as_ref();
        let quoted = given.map(|folder| console::quoted(folder.as_os_str().as_bytes()));
        quoted.map_or(String::new(), |folder| format!(" --journal {folder}"))
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

/// A run's command line, as a shell takes it; escaped if it is not printable.
pub fn command_line(header: &RunHeader) -> String {
    let words = header
        .command
        .iter()
        .map(|word| match str::from_utf8(&word.0) {
            Ok(text) if is_printable(text) => console::shell_word(&word.0),
            _ => console::shell_word(escape(&word.0).as_bytes()),
        });
    words.collect::<Vec<_>>().join(" ")
}
