//! Arguments of `seekless cache`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Subcommand};

use super::common::DocumentArgs;
use super::search::is_cache_word;

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
    /// Show what the cache has for each file system (the default)
    ///
    /// The table has one row for each file system: the last use, the number of cached files, the size of the cache, and
    /// one of the searched folders.
    Info(ShowArgs),

    /// Remove the caches of file systems that were not searched for a long time
    ///
    /// Each search of a file system counts as a use of its cache. prune keeps a cache that a search is using.
    Prune(PruneArgs),

    /// Remove the whole cache
    ///
    /// On a terminal, clear shows the cache and asks once. Without a terminal it needs --yes. It keeps other files in
    /// the folder, and a cache that a search is using.
    Clear(ClearArgs),
}

#[derive(Args, Debug)]
pub struct PlaceArgs {
    /// Use the cache in DIR, as in 'find --cache DIR' [default: $XDG_CACHE_HOME/seekless or ~/.cache/seekless]
    #[arg(long, value_name = "DIR", value_parser = folder())]
    pub cache: Option<PathBuf>,
}

fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|folder| {
        if is_cache_word(&folder) {
            Err("a search uses no folder then: for a folder of this name, write ./ before it")
        } else {
            Ok(folder)
        }
    })
}

#[derive(Args, Debug)]
pub struct ShowArgs {
    #[command(flatten)]
    pub place: PlaceArgs,

    #[command(flatten)]
    pub document: DocumentArgs,
}

#[derive(Args, Debug)]
pub struct PruneArgs {
    #[command(flatten)]
    pub place: PlaceArgs,

    /// Remove caches of file systems not searched for TIME or since a date: 90d, 1y, 2026-01-31
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
  seekless cache                                show the cache of each file system
  seekless cache info --cache /mnt/backup/.seekless
                                                show the cache in another folder
  seekless cache prune --older-than 90d         remove what is damaged, or was not used for 90 days
  seekless cache clear --yes                    remove the whole cache

Exit status:
  0    done
  1    done, but something could not be read or removed; stderr names it
  2    usage error, or the folder cannot be used, or nothing could be done
  130  interrupted (Ctrl-C, SIGTERM or SIGHUP)";
