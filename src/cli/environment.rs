//! The environment of the program at its start.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use seekless::device::Profiles;
use seekless::engine::Config;
use seekless::report::{Header, Options};

use super::color::Terminal;
use super::config_folder;

/// The environment of the program; a parameter, so that decisions can be tested.
pub struct Environment<'a> {
    /// Where a list of paths would come from.
    pub stdin: &'a mut dyn Read,
    /// The command line, with the program's name.
    pub command: Vec<OsString>,
    /// The current folder.
    pub folder: PathBuf,
    /// The saved profiles of the user's disks.
    pub profiles: Option<Profiles>,
    /// The present.
    pub now: Timestamp,
    /// Finds the user's time zone: only if it is needed, since all zones of the system are listed for it.
    pub zone: fn() -> TimeZone,
    /// Stdin and stderr lead to a terminal, on which questions can be asked.
    pub can_ask: bool,
    /// Standard output.
    pub stdout: Terminal,
    /// Standard error.
    pub stderr: Terminal,
}

impl<'a> Environment<'a> {
    /// Looks around.
    pub fn look(stdin: &'a mut dyn Read) -> Self {
        Self {
            stdin,
            command: env::args_os().collect(),
            // Without a current folder (it was removed) relative paths lead nowhere, and say so.
            folder: env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            profiles: config_folder::profiles(),
            now: Timestamp::now(),
            zone: TimeZone::system,
            can_ask: io::stdin().is_terminal() && io::stderr().is_terminal(),
            stdout: Terminal::of(&io::stdout()),
            stderr: Terminal::of(&io::stderr()),
        }
    }

    /// Where a result goes; a file is no terminal: what is coloured or shortened there is for nobody.
    pub fn sink(&self, output: Option<&Path>) -> Terminal {
        Terminal {
            is_terminal: self.stdout.is_terminal && output.is_none(),
            ..self.stdout
        }
    }

    /// The present, nanoseconds since 1970.
    pub fn started_ns(&self) -> i64 {
        i64::try_from(self.now.as_nanosecond()).unwrap_or(i64::MAX)
    }

    /// The present, in the user's time zone.
    pub fn local_time(&self) -> Zoned {
        self.now.to_zoned((self.zone)())
    }

    /// States what the report will say about the run.
    pub fn header(&self, config: &Config) -> Header {
        let bytes = |text: &OsString| text.clone().into_vec();
        Header {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.command.iter().map(bytes).collect(),
            folder: self.folder.as_os_str().as_bytes().to_vec(),
            roots: config
                .roots
                .iter()
                .map(|root| root.path.as_os_str().as_bytes().to_vec())
                .collect(),
            started_ns: self.started_ns(),
            options: Options {
                hard_links: config.hard_links,
                isolate: config.isolate,
                follow_links: config.follow_links,
                verify: config.verify,
                copies: config.copies,
                newer_ns: config.newer_ns,
            },
        }
    }
}
