//! Arguments for paths, filters and the order of reads; `resolve/search.rs` interprets them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use seekless::device::Override;
use seekless::engine::LEAST_MEMORY;
#[cfg(any(feature = "mechanisms", debug_assertions))]
use seekless::engine::{MECHANISMS, Mechanism};
use seekless::units::{BadSize, Bytes};

use super::common::at_least_one;
#[cfg(any(feature = "mechanisms", debug_assertions))]
use super::common::named;
/// Where to look; no part of [`SearchArgs`], whose group excludes `--from`, which may be limited to paths.
#[derive(Args, Clone, Debug)]
pub struct PathArgs {
    /// Folders and files to search [default for find: the current folder; actions need a PATH or --from]
    ///
    /// A file that is reached twice counts once. With --from, only files below these paths are included.
    #[arg(value_name = "PATH", help_heading = "Where to search")]
    pub roots: Vec<OsString>,
}

/// How long a run waits.
#[derive(Args, Clone, Copy, Debug)]
pub struct PatienceArgs {
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

impl PatienceArgs {
    /// The time.
    pub fn time(self) -> Duration {
        Duration::from_secs(self.patience.into())
    }
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Where to search")]
pub struct SearchArgs {
    /// Also read paths from standard input, one path per line
    ///
    /// Actions do not take lines, because a name may contain line breaks: use -0.
    #[arg(long, hide_short_help = true)]
    pub stdin: bool,

    /// Read NUL-separated paths from standard input (implies --stdin)
    ///
    /// 'find -print0' and 'fd -0' print such paths. Use this option if file names may contain line breaks.
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
    /// An ignore file that is longer than 1 MiB, is not a regular file or cannot be read is named and not used, and so is a
    /// line that is not a pattern; actions then do nothing. Can be repeated; later names take precedence.
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
    /// --verify, and actions with --allow uncompared, read everything. seekless creates DIR if it does not exist, and skips
    /// its own files there. DIR must belong to the user, who must be able to write to it.
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

    /// Limit the memory for data in flight [default: 1/32 of the memory]
    ///
    /// With a low limit, seekless keeps fewer reads in flight. The list of files needs memory in addition: for each
    /// file, about 50 bytes and its name.
    #[arg(
        long,
        value_name = "SIZE", value_parser = memory,
        help_heading = "How to read disks",
        hide_short_help = true
    )]
    pub memory: Option<Bytes>,

    /// Leave a mechanism out, to measure what it contributes
    #[cfg(any(feature = "mechanisms", debug_assertions))]
    #[arg(long, value_delimiter = ',', value_parser = named(MECHANISMS.map(|(it, name)| (name, "", it))), hide = true, help_heading = "For measurements")]
    pub without: Vec<Mechanism>,
}

/// Options that apply to reports as well; so they are no part of [`SearchArgs`], whose group excludes `--from`.
#[derive(Args, Clone, Debug)]
pub struct NamesArgs {
    /// Treat hard links to the same file as duplicates
    ///
    /// By default they count as one file with several names, because removing one of them frees nothing. Actions treat
    /// all names of a file as one in any case.
    #[arg(short = 'H', long, help_heading = "What counts as a duplicate")]
    pub hard_links: bool,
}

/// Less memory than this is a slip.
fn memory(text: &str) -> Result<Bytes, String> {
    match text.parse().map_err(|error: BadSize| error.to_string())? {
        memory if memory < LEAST_MEMORY => Err(format!(
            "{memory} is too little: use {LEAST_MEMORY} or more"
        )),
        memory => Ok(memory),
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
