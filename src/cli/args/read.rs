//! Arguments for how files are read, by a search, an action and an undo alike.

use clap::{Args, ValueEnum};
use seekless::action::Reads;
use seekless::engine::{Config, LEAST_RATE, PageUse};
use seekless::units::{BadSize, Bytes, plural};

use super::search::PatienceArgs;

/// How much may be read in a second.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "How to read disks")]
pub struct LimitArgs {
    /// Limit the read rate per device, in bytes per second: 50M
    ///
    /// The limit does not apply to cached data or to listing folders.
    #[arg(
        long,
        value_name = "RATE",
        value_parser = rate,
        hide_short_help = true
    )]
    pub bwlimit: Option<Bytes>,
}

/// A rate that is meant: nobody wants a few bytes a second.
fn rate(text: &str) -> Result<Bytes, String> {
    match text.parse().map_err(|error: BadSize| error.to_string())? {
        Bytes(0) => Err("allows no reads: use 1M or more".to_owned()),
        Bytes(bytes) if bytes < LEAST_RATE.0 => Err(format!(
            "allows {bytes} {} per second: for {bytes} MB per second use {bytes}M",
            plural(bytes, "byte", "bytes")
        )),
        rate => Ok(rate),
    }
}

/// How a search, an action and an undo read files. An action on a report reads them, too, so it is no part of
/// [`SearchArgs`](super::search::SearchArgs), whose group excludes `--from`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How to read disks")]
pub struct ReadArgs {
    /// Only read while no other program uses the disk
    ///
    /// This option sets the idle I/O class. The schedulers bfq and mq-deadline obey it; none and kyber ignore it.
    #[arg(long, hide_short_help = true)]
    pub io_idle: bool,

    #[command(flatten)]
    limit: LimitArgs,

    /// Set how to treat pages in the page cache after reading: auto, keep or drop
    ///
    /// 'auto' keeps pages while memory is free and drops them when it is not, so that a search does not evict the data
    /// of other programs. On solid-state disks, 'auto' bypasses the page cache for parts of long files, and for whole
    /// files of 64 MiB and more unless the same run compares them (--verify, an action or undo). 'keep' never drops pages.
    /// 'drop' drops pages right after they are read. Pages that were cached before the run stay.
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        default_value_t = PageCache::Auto,
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub page_cache: PageCache,
}

/// How to treat pages after reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PageCache {
    /// Keep them while memory is free
    Auto,
    /// Never drop them
    Keep,
    /// Drop them right after reading
    Drop,
}

impl ReadArgs {
    /// A configuration with these rules.
    pub fn config(&self, patience: PatienceArgs) -> Config {
        Config {
            io_idle: self.io_idle,
            bytes_per_second: self.limit.bwlimit,
            page_use: self.page_use(false),
            patience: patience.time(),
            ..Config::default()
        }
    }

    /// How to treat pages after reading; `again` says that they are read again right away.
    pub fn page_use(&self, again: bool) -> PageUse {
        match self.page_cache {
            PageCache::Keep => PageUse::Keep,
            PageCache::Drop => PageUse::Drop,
            PageCache::Auto if again => PageUse::KeepWhileFree,
            PageCache::Auto => PageUse::KeepShort,
        }
    }

    /// The rules for a run that compares files and changes them.
    pub fn of_a_change(&self) -> Reads {
        let rate = self.limit.bwlimit.map(|rate| rate.0);
        Reads::new(rate, self.page_use(true))
    }
}
