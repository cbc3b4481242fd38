//! Arguments of `seekless probe` and `cache`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use seekless::probe::{self, EXPERIMENTS, Experiment};
use seekless::units::Bytes;

use super::common::{DocumentArgs, named};
use super::search::{at_least, rate};

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What to measure")]
pub struct ProbeArgs {
    /// A folder on the disk to measure; probe reads files below it
    #[arg(value_name = "PATH")]
    pub path: PathBuf,

    /// Limit the run time: 30s, 2m
    ///
    /// The time includes listing files, but not writing a scratch file. With more time, results are steadier, and probe
    /// reaches deeper queues on slow disks.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        value_parser = seconds,
    )]
    pub time: Duration,

    /// Read a scratch file of this size in PATH instead of existing files
    ///
    /// The scratch file has no name, so it disappears however the program ends. Choose several times the size of the
    /// drive's cache, and a few percent of the disk: 4G.
    #[arg(long, value_name = "SIZE", value_parser = scratch)]
    pub scratch: Option<Bytes>,

    /// Run only these experiments
    #[arg(
        long,
        value_name = "EXPERIMENT",
        value_delimiter = ',',
        value_parser = named(EXPERIMENTS.iter().map(|it| (it.name, it.title, it))),
    )]
    pub only: Vec<&'static Experiment>,

    /// Limit the read rate, in bytes per second: 50M
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub bwlimit: Option<Bytes>,

    #[command(flatten)]
    pub document: DocumentArgs,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let example = "write 30s or 2m";
    let parsed = match text.parse::<f64>() {
        Ok(number) => Duration::try_from_secs_f64(number).ok(),
        Err(_) => text
            .parse::<jiff::SignedDuration>()
            .ok()
            .and_then(|time| Duration::try_from(time).ok()),
    };
    match parsed {
        Some(time) if time > probe::LONGEST => Err("use one day or less".to_owned()),
        Some(time) if time >= probe::SHORTEST => Ok(time),
        Some(_) => Err(format!("use {:?} or more", probe::SHORTEST)),
        None => Err(format!("not a span of time: {example}")),
    }
}

fn scratch(text: &str) -> Result<Bytes, String> {
    at_least(Bytes(1_000_000), text)
}

#[derive(Args, Debug)]
pub struct CacheArgs {
    /// Use the cache in DIR, as in 'find --cache DIR' [default: $XDG_CACHE_HOME/seekless or ~/.cache/seekless]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,

    /// Remove the whole cache
    ///
    /// Other files in the folder stay, and so does a cache that a search is using. To remove the cache of one file
    /// system, remove its file.
    #[arg(long)]
    pub clear: bool,
}

pub const CACHE_EXAMPLES: &str = "\
Examples:
  seekless cache                                show the cache of each file system
  seekless cache --cache /mnt/backup/.seekless  show the cache in another folder
  seekless cache --clear                        remove the whole cache";
