//! Whose report a plan is made of, what it is about, and what that permits.

use std::io::{self, ErrorKind, IsTerminal, Read};
use std::path::PathBuf;

use seekless::acting::ReportAbout;
use seekless::report::read::ReadError;
use seekless::report::read::{self, OpenError};
use seekless::units::count;

use crate::cli::resolve::act::{ActRun, Use};
use crate::cli::resolve::search::Source;
use crate::cli::terminal::console;

/// Paths that are named; a report may list any number.
const NAMED: usize = 5;

/// A report and its origin.
pub struct FromReport {
    /// Its name in messages.
    pub name: String,
    /// What is not read of it yet.
    pub input: Box<dyn Read + Send>,
    /// What it is about.
    pub about: ReportAbout,
}

/// Says what is read if a person would have to type it.
pub fn tell_what_is_typed(source: &Source) {
    if matches!(source, Source::Stdin) && io::stdin().is_terminal() {
        console::complain(
            "--from - reads a report from standard input, which is this terminal; Ctrl-C ends seekless, --from FILE \
             reads a file",
        );
    }
}

impl FromReport {
    /// Opens a report.
    pub fn open(source: &Source) -> Result<Self, String> {
        let (opened, name) = match source {
            Source::Report(path) => (read::Source::open(path), console::path(path).into_owned()),
            _ => (read::Source::stdin(), "standard input".to_owned()),
        };
        let opened = opened.map_err(|error| match error {
            OpenError::Io(error) if error.kind() == ErrorKind::NotFound => format!(
                "cannot read the report {name}: {error}; to write a report: seekless -o FILE PATH"
            ),
            OpenError::Io(error) if error.kind() == ErrorKind::IsADirectory => {
                format!("cannot read the report {name}: it is a folder; name a file in it")
            }
            error => format!("cannot read the report {name}: {error}"),
        })?;
        Ok(Self {
            name,
            input: opened.input,
            about: ReportAbout {
                untrusted: opened.untrusted,
                ..ReportAbout::default()
            },
        })
    }

    /// Says that none of its `what` are among the paths that it is limited to.
    pub fn has_none_below(&self, what: &str, limits: &[PathBuf]) -> String {
        let which = match limits {
            [_] => "",
            _ => "any of ",
        };
        format!(
            "no {what} of the report ({}) is below {which}{}",
            self.name,
            named(limits)
        )
    }

    /// A report of another user needs a yes, or paths on the command line. The paths in the report permit nothing.
    pub fn may_be_acted_on(&self, run: &ActRun) -> Result<(), String> {
        let Some(untrusted) = self
            .about
            .may_mislead()
            .filter(|_| run.use_of_plan == Use::Act)
        else {
            return Ok(());
        };
        let words = run.header.command.iter().skip(1);
        let words = words.map(|word| console::shell_word(word));
        let words: Vec<_> = std::iter::once("seekless".to_owned())
            .chain(words)
            .collect();
        Err(format!(
            "{untrusted}. This report {}. To act on it with --yes, add the paths that it may act on: {} PATH...",
            self.about_paths(),
            words.join(" "),
        ))
    }

    /// Says whose it is and what it is about.
    pub fn sentence(&self) -> String {
        let limits = match self.about.limits.as_slice() {
            [] => String::new(),
            limits => format!("; seekless only acts on files in {}", named(limits)),
        };
        let about = self.about_paths();
        match &self.about.untrusted {
            Some(untrusted) => format!("{untrusted}. This report {about}{limits}."),
            None => format!("This report {about}{limits}."),
        }
    }

    fn about_paths(&self) -> String {
        match &self.about.roots {
            Some(roots) => format!("is about {}", named(roots)),
            None => "does not name its paths".to_owned(),
        }
    }
}

fn named(paths: &[PathBuf]) -> String {
    let shown = paths.iter().take(NAMED).map(|path| console::path(path));
    let mut shown = shown.collect::<Vec<_>>().join(", ");
    if let more @ 1.. = paths.len().saturating_sub(NAMED) {
        shown.push_str(&format!(" and {} more", count(more as u64)));
    }
    shown
}

/// The error, and the command that avoids it.
pub fn with_command(error: &ReadError) -> String {
    let command = match error {
        ReadError::OtherFormat => ": create one with -f text, -f json or -f ndjson",
        ReadError::FoldersNotJson => ": create it again with -f ndjson",
        ReadError::OfFolders => {
            return "this is a report of folders, and only remove and move can use it: \
                create a report of files with 'seekless find'"
                .to_owned();
        }
        _ => "",
    };
    format!("{error}{command}")
}
