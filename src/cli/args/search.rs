//! Arguments for paths and filters, and for how files are read, by a search, an action and an undo alike;
//! `resolve/search.rs` interprets them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};
use seekless::action::Reads;
use seekless::device::Override;
use seekless::engine::{Config, LEAST_RATE, PageUse};
#[cfg(any(feature = "mechanisms", debug_assertions))]
use seekless::engine::{MECHANISMS, Mechanism};
use seekless::scan::Kind;
use seekless::units::{BadSize, Bytes};

use super::common::{at_least_one, named};

/// Where to look; no part of [`SearchArgs`], whose group excludes `--from`, which may be limited to paths.
#[derive(Args, Clone, Debug)]
pub struct PathArgs {
    /// Folders and files to search [default for find: the current folder; actions need a PATH or --from]
    ///
    /// A file that is reached twice counts once. With --from, only files below these paths are included.
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Where to search")]
    pub roots: Vec<OsString>,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Where to search")]
pub struct SearchArgs {
    /// Also read paths from standard input, each ended by NUL, as 'find -print0' and 'fd -0' print them
    #[arg(short = '0', long)]
    pub null: bool,

    /// Descend at most N folders
    ///
    /// 1 searches the given folders without their subfolders.
    #[arg(short = 'd', long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub max_depth: Option<u32>,

    /// Do not cross into other file systems
    ///
    /// btrfs subvolumes and snapshots below a given path count as the same file system (unlike in du and rsync), unless
    /// they are mounted separately. Use --exclude to skip snapshots.
    #[arg(short = 'x', long)]
    pub one_file_system: bool,

    /// Follow symbolic links
    ///
    /// A file counts once, however many links lead to it. seekless detects loops. Without this option it neither
    /// follows nor compares links.
    #[arg(short = 'L', long)]
    pub follow_links: bool,

    /// Skip files that are listed in files of this name, in the syntax of .gitignore
    ///
    /// seekless does not read ignore files unless they are named here, so that a stray .gitignore does not hide files.
    /// An ignore file that is longer than 1 MiB, is not a regular file or cannot be read is named and not used, and so
    /// is a line that is not a pattern; actions then do nothing. Can be repeated; later names take precedence.
    #[arg(long, value_name = "NAME", value_parser = ignore_file, hide_short_help = true)]
    pub ignore_file: Vec<String>,

    /// Include empty files
    #[arg(long, help_heading = "Which files to search", hide_short_help = true)]
    pub empty: bool,

    /// Only count files as duplicates that have a copy below another of the given paths
    ///
    /// All copies below one of the given paths count as one.
    #[arg(short = 'I', long, help_heading = "What counts as a duplicate")]
    pub isolate: bool,

    /// Compare the members of each set byte by byte at the end
    ///
    /// This reads each duplicate once more. BLAKE3 digests of 256 bits make it unnecessary in practice.
    #[arg(
        long,
        help_heading = "What counts as a duplicate",
        hide_short_help = true
    )]
    pub verify: bool,

    /// Set the number of threads for all devices, a class or a device: 8, ssd:64,4, dev:/dev/sdb:1,1
    ///
    /// The first number is for scattered reads (metadata and the start of files), the second for whole files. Can be
    /// repeated. The classes are ssd, hdd, memory, network, fuse and unknown; 'seekless devices' shows the class of
    /// each device. A device takes precedence over a class, and a class over the default. If the kernel reports the
    /// wrong class, set it with 'hdd' or 'ssd' in place of the numbers: dev:/dev/sdc:hdd.
    #[arg(
        long,
        value_name = "[DEVICE:]N[,N]|hdd|ssd",
        help_heading = "How to read disks"
    )]
    pub threads: Vec<Override>,

    /// Keep N scattered reads in flight per thread
    ///
    /// Scattered reads are short reads all over the disk. A read is in flight from its request to its answer.
    /// Solid-state disks answer many reads at the same time. 'seekless probe' measures which number suits a disk.
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>, help_heading = "How to read disks", hide_short_help = true)]
    pub depth_random: Option<usize>,

    /// Keep the cache in DIR, use none (off), or ignore times of change (mtime) [default: $XDG_CACHE_HOME/seekless or
    /// ~/.cache/seekless]
    ///
    /// A search saves the digests of the files that it reads, and does not read unchanged files again. A file on ext4,
    /// XFS, f2fs or btrfs counts as unchanged if its size and times are the same. A file that was modified less than a
    /// minute before it was read is read again, and so are files on other file systems. Actions still compare bytes.
    /// --verify reads everything. seekless creates DIR if it does not exist, and skips its own files there. DIR must
    /// belong to the user, who must be able to write to it.
    ///
    /// With 'mtime', a file is not read again if only its time of change (ctime) differs. chmod, chown and new hard
    /// links set that time. A program can change a file and then restore its modification time ('touch -r', 'rsync
    /// -t'): the search then reports the old content. 'mtime' also caches files on FAT, exFAT, NTFS, FUSE and network
    /// file systems, by path, size and modification time: the first two runs read them, and later runs do not. For both
    /// a folder and 'mtime', give the option twice. For a folder with such a name, write ./off or ./mtime.
    #[arg(
        long,
        value_name = "DIR|off|mtime",
        help_heading = "How to read disks",
        hide_short_help = true
    )]
    pub cache: Vec<PathBuf>,

    /// Leave a mechanism out, to measure what it contributes
    #[cfg(any(feature = "mechanisms", debug_assertions))]
    #[arg(long, value_delimiter = ',', value_parser = named(MECHANISMS.map(|(it, name)| (name, "", it))), hide = true, help_heading = "For measurements")]
    pub without: Vec<Mechanism>,
}

/// A size that is not less than another one.
pub fn at_least(least: Bytes, text: &str) -> Result<Bytes, String> {
    match text.parse().map_err(|error: BadSize| error.to_string())? {
        given if given < least => Err(format!("{given} is too little: use {least} or more")),
        given => Ok(given),
    }
}

/// True for a value of `--cache` that is no folder.
pub fn is_cache_word(value: &Path) -> bool {
    ["off", "mtime"].iter().any(|word| value == Path::new(word))
}

/// The name of a file in any folder.
fn ignore_file(name: &str) -> Result<String, &'static str> {
    if name.is_empty() || name.contains('/') {
        return Err("write the name of a file without its folder, such as .gitignore");
    }
    if name.contains(['*', '?', '[', '{']) {
        return Err(
            "a name is not a pattern: write --ignore-file .gitignore, or skip files with --exclude GLOB",
        );
    }
    Ok(name.to_owned())
}

/// Which files to search; no part of another group, since clap leaves the outer group of two empty.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Which files to search")]
pub struct FilterArgs {
    /// Skip files smaller than SIZE
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub min_size: Option<Bytes>,

    /// Skip files larger than SIZE
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub max_size: Option<Bytes>,

    /// Only include files whose name matches: '*.jpg', 'IMG_????.*', '*.{png,gif}'
    ///
    /// If given several times, a file must match one of the patterns. It must also match one value of each other kind
    /// that is given (--name, --path, --regex, --type, --ext). '?' and '[ab]' match one byte; in UTF-8, 'é' has two.
    #[arg(long, value_name = "GLOB")]
    pub name: Vec<String>,

    /// Only include files whose path matches: '2024/**', '/srv/*/in/*'
    ///
    /// '*' does not match a slash, '**' does. A pattern that starts with '/', './' or '../' matches from there. Other
    /// patterns can match from any folder of the path.
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    pub path: Vec<String>,

    /// Skip files and folders that match: '*.tmp', node_modules, 'cache/', 'build/out'
    ///
    /// A pattern without a slash matches names. A pattern with a slash matches paths, like --path. A trailing slash
    /// matches folders only.
    #[arg(short = 'E', long, value_name = "GLOB")]
    pub exclude: Vec<String>,

    /// Only include files whose path matches this regular expression
    ///
    /// The expression may match anywhere in the path as it is printed; use ^ and $ to anchor it.
    #[arg(long, value_name = "REGEX", value_parser = NonEmptyStringValueParser::new(), hide_short_help = true)]
    pub regex: Vec<String>,

    /// Match all patterns case-insensitively
    #[arg(short = 'i', long, hide_short_help = true)]
    pub ignore_case: bool,

    /// Only include files of this type, by file extension
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = named(Kind::ALL.map(|kind| (kind.name(), "", kind))))]
    pub kinds: Vec<Kind>,

    /// Only include files with one of these extensions: jpg,png or tar.gz
    ///
    /// Extensions match case-insensitively.
    #[arg(long = "ext", value_name = "LIST", value_delimiter = ',', value_parser = extension)]
    pub extensions: Vec<String>,

    /// Only report sets with a file modified after WHEN: 3d, '2 weeks', today, 2024-05-01
    ///
    /// The older copies of that file are in the set. An action only changes newer files; older ones are kept. In
    /// 'seekless compare', only files modified after WHEN take part.
    ///
    /// A time span counts back from now. A date means midnight in the local time zone. A full timestamp
    /// (2024-05-01T12:00:00Z) is exact.
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub newer: Option<OsString>,

    /// Only include files modified before WHEN, in the same forms as --newer
    #[arg(
        long,
        value_name = "WHEN",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub older: Option<OsString>,

    /// Skip files and folders whose name starts with a dot
    ///
    /// They are included by default, because many duplicates in backups are in such folders. A folder that is given as
    /// a PATH is always searched.
    #[arg(long, overrides_with = "hidden")]
    pub no_hidden: bool,

    /// Include hidden files (the default; overrides --no-hidden)
    #[arg(long, overrides_with = "no_hidden", hide_short_help = true)]
    pub hidden: bool,
}

fn extension(text: &str) -> Result<String, &'static str> {
    let bare = text.trim_start_matches('.');
    let is_part = |c: char| !c.is_whitespace() && !"/*?;|:".contains(c);
    if bare.is_empty() || !bare.chars().all(is_part) {
        return Err("write extensions as jpg,png; for patterns use --name GLOB");
    }
    Ok(bare.to_owned())
}

/// Nobody wants a few bytes a second.
pub fn rate(text: &str) -> Result<Bytes, String> {
    at_least(LEAST_RATE, text)
}

/// How a search, an action and an undo read files. An action on a report reads them, too, so it is no part of
/// [`SearchArgs`], whose group excludes `--from`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How to read disks")]
pub struct ReadArgs {
    /// Only read while no other program uses the disk
    ///
    /// This option sets the idle I/O class. The schedulers bfq and mq-deadline obey it; none and kyber ignore it.
    #[arg(long, hide_short_help = true)]
    pub io_idle: bool,

    /// Limit the read rate per device, in bytes per second: 50M
    ///
    /// The limit does not apply to cached data or to listing folders.
    #[arg(long, value_name = "RATE", value_parser = rate, hide_short_help = true)]
    bwlimit: Option<Bytes>,

    /// Set how to treat pages in the page cache after reading: auto, keep or drop
    ///
    /// 'auto' keeps pages while memory is free and drops them when it is not, so that a search does not evict the data
    /// of other programs. On solid-state disks, 'auto' bypasses the page cache for parts of long files, and for whole
    /// files of 64 MiB and more unless the same run compares them (--verify, an action or undo). 'keep' never drops
    /// pages. 'drop' drops pages right after they are read. Pages that were cached before the run stay.
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        default_value_t = PageCache::Auto,
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub page_cache: PageCache,

    /// Give up on a disk, server or daemon that does not answer for SECONDS
    ///
    /// After 10 s (or SECONDS, if that is less), a message names it, and the search continues elsewhere. If nothing
    /// else makes progress for another SECONDS, a search skips what it could not read. An action or undo stops, and
    /// prints the command that continues it or restores the files. The exit status is then 1, or 2 if nothing was done;
    /// for compare it is always 2. Files on tape or in a cloud may need more time.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = at_least_one::<u32>,
        hide_short_help = true
    )]
    patience: u32,
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
    /// How long to wait for a file system that does not answer.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.patience.into())
    }

    /// A configuration with these rules.
    pub fn config(&self) -> Config {
        Config {
            io_idle: self.io_idle,
            bytes_per_second: self.bwlimit,
            page_use: self.page_use(false),
            patience: Some(self.patience()),
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
        let rate = self.bwlimit.map(|rate| rate.0);
        Reads::new(rate, self.page_use(true))
    }
}
