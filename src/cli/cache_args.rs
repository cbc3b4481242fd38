//! Arguments of `seekless cache`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct CacheArgs {
    #[command(subcommand)]
    pub task: Option<CacheTask>,

    #[command(flatten)]
    pub shown: ShowArgs,
}

#[derive(Debug, Subcommand)]
pub enum CacheTask {
    /// Show what is kept of which file system (the default)
    ///
    /// The table has one row for each file system: when a search used it last, of how many files something is kept, how
    /// many bytes that takes, and a folder that was searched there.
    Info(ShowArgs),

    /// Remove what is kept of file systems that no search used for a long time
    ///
    /// A search uses what is kept of each file system that it looks at, also if it finds everything unchanged. What a
    /// search is using right now stays.
    Prune(PruneArgs),

    /// Remove everything that is kept
    ///
    /// On a terminal, clear shows what is kept and asks once. Without a terminal it needs --yes. Other files in the
    /// folder stay, and so does what a search is using right now.
    Clear(ClearArgs),
}

#[derive(Args, Debug)]
pub struct PlaceArgs {
    /// Look in DIR, the folder of 'find --cache DIR' [default: $XDG_CACHE_HOME/seekless or ~/.cache/seekless]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct ShowArgs {
    #[command(flatten)]
    pub place: PlaceArgs,

    /// Print one JSON document for scripts
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct PruneArgs {
    #[command(flatten)]
    pub place: PlaceArgs,

    /// Remove what no search used since then: 90d, 1y, 2026-01-31
    #[arg(long, value_name = "TIME", default_value = "180d")]
    pub older_than: OsString,
}

#[derive(Args, Debug)]
pub struct ClearArgs {
    #[command(flatten)]
    pub place: PlaceArgs,

    /// Do not ask; without a terminal clear needs this
    #[arg(short = 'y', long)]
    pub yes: bool,
}

pub const CACHE_EXAMPLES: &str = "\
Examples:
  seekless cache                                show what is kept of which file system
  seekless cache info --cache /mnt/backup/.seekless
                                                the same of a cache in another folder
  seekless cache prune --older-than 90d         remove what no search used for 90 days
  seekless cache clear --yes                    remove everything that is kept

Exit status:
  0    done
  1    done, but something could not be read or removed; stderr names it
  2    usage error, or the folder cannot be used, or nothing could be done
  130  interrupted";
