//! Arguments of `seekless cache`.

use std::path::PathBuf;

use clap::Args;

use super::common::DocumentArgs;

#[derive(Args, Debug)]
pub struct CacheArgs {
    /// Use the cache in DIR, as in 'find --cache DIR' [default: $XDG_CACHE_HOME/seekless or ~/.cache/seekless]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,

    /// Remove the whole cache
    ///
    /// Other files in the folder stay, and so does a cache that a search is using. To remove the cache of one file
    /// system, remove its file.
    #[arg(long, conflicts_with = "format")]
    pub clear: bool,

    #[command(flatten)]
    pub document: DocumentArgs,
}

pub const CACHE_EXAMPLES: &str = "\
Examples:
  seekless cache                                show the cache of each file system
  seekless cache --cache /mnt/backup/.seekless  show the cache in another folder
  seekless cache --clear                        remove the whole cache

Exit status:
  0    done
  1    done, but something could not be read or removed; stderr names it
  2    usage error, or the folder cannot be used, or nothing could be done
  130  interrupted (Ctrl-C, SIGTERM or SIGHUP)";
