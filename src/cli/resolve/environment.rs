//! The environment of the program at its start, and how every run begins: what was typed becomes a decision.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use seekless::engine::{Config, IgnoreTags};
use seekless::report::{CatalogHeader, Header, Options, Raw};
use tracing::level_filters::LevelFilter;

use crate::cli::args::common::TalkArgs;
use crate::cli::terminal::console;
use crate::cli::terminal::console::Terminal;
use crate::cli::terminal::exit::Stop;
use crate::cli::terminal::watch;

/// The environment of the program; a parameter, so that decisions can be tested.
pub struct Environment<'a> {
    /// Where a list of paths would come from.
    pub stdin: &'a mut dyn Read,
    /// The command line, with the program's name.
    pub command: Vec<OsString>,
    /// The current folder.
    pub folder: PathBuf,
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
        let raw = |text: &OsStr| Raw(text.as_bytes().to_vec());
        let roots = config.roots.iter();
        Header {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.command.iter().map(|word| raw(word)).collect(),
            folder: raw(self.folder.as_os_str()),
            roots: roots.map(|root| raw(root.path.as_os_str())).collect(),
            catalogs: catalogs(config),
            started_ns: self.started_ns(),
            options: Options {
                hard_links: config.hard_links,
                isolate: config.isolate,
                follow_links: config.follow_links,
                ignore_tags: config.ignore_tags != IgnoreTags::No,
                verify: config.verify,
                copies: config.copies,
                newer_ns: config.newer_ns,
            },
        }
    }
}

/// What the header says of the catalogs among the roots.
fn catalogs(config: &Config) -> Vec<CatalogHeader> {
    let catalogs = (0..).zip(&config.roots).filter_map(|(number, root)| {
        let catalog = root.catalog.as_ref()?;
        Some(CatalogHeader {
            root: number,
            host: catalog.host.clone(),
            scan: catalog.scan.clone(),
            form: catalog.form.word().to_owned(),
        })
    });
    catalogs.collect()
}

/// Decides, and begins to tell.
pub fn begin<T>(
    talk: TalkArgs,
    patience: Duration,
    resolve: impl FnOnce(&mut Environment<'_>) -> Result<T, Stop>,
) -> Result<T, Stop> {
    watch::wait_for(patience);
    let mut stdin = io::stdin().lock();
    let mut around = Environment::look(&mut stdin);
    let run = resolve(&mut around)?;
    console::begin(talk.progress_on(around.stderr));
    start_log(talk.verbose);
    Ok(run)
}

/// Lets traces of the chosen level through: `-v` decisions, in plain words; `-vv` steps; `-vvv` everything.
fn start_log(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let log = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_level(false)
        .with_target(false)
        .with_writer(|| console::Log)
        .without_time();
    // Only a second start_log could fail, and then there is a log already.
    let _ = log.try_init();
}
