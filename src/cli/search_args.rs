//! Arguments for paths, filters and the order of reads; `resolve` interprets them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use seekless::device::Override;
#[cfg(any(feature = "mechanisms", debug_assertions))]
use seekless::engine::Mechanism;
use seekless::engine::SweepOrder;
use seekless::scan::Kind;
use seekless::units::Bytes;

/// Where to look; no part of [`SearchArgs`], whose group excludes `--from`, which may be limited to paths.
#[derive(Args, Clone, Debug)]
pub struct PathArgs {
    /// Folders and files to search; find without PATH searches the current folder
    ///
    /// A file that is reached twice counts once. With --from, only files below these paths take part.
    #[arg(value_name = "PATH", help_heading = "Where to look")]
    pub roots: Vec<OsString>,
}

/// How long a run waits.
#[derive(Args, Clone, Copy, Debug)]
pub struct PatienceArgs {
    /// Give up on a disk, server or daemon that does not answer for SECONDS
    ///
    /// After 10 s (or SECONDS, if that is less), a message names it, and the search continues elsewhere. When nothing
    /// else has made progress for another SECONDS, a search omits what it could not read. An action, an undo or a sweep
    /// stops, and prints the command that continues it or restores the files. The exit status is then 1, or 2 if
    /// nothing was done. Files on tape or in a cloud may need more time.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u32).range(1..)
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
pub struct SearchArgs {
    /// Also read paths from standard input, one path per line
    #[arg(long, help_heading = "Where to look")]
    pub stdin: bool,

    /// Read NUL-separated paths from standard input (implies --stdin)
    ///
    /// 'find -print0' and 'fd -0' print such paths. Use this option if file names may contain line breaks.
    #[arg(short = '0', long, help_heading = "Where to look")]
    pub null: bool,

    /// Descend at most N folders
    ///
    /// 1 searches the given folders without their subfolders. 0 only includes files that are given as a PATH.
    #[arg(short = 'd', long, value_name = "N", help_heading = "Where to look")]
    pub max_depth: Option<u32>,

    /// Do not cross into other file systems
    ///
    /// btrfs subvolumes and snapshots below a given path count as the same file system (unlike in du and rsync), unless
    /// they are mounted separately. Use --exclude to skip snapshots.
    #[arg(short = 'x', long, help_heading = "Where to look")]
    pub one_file_system: bool,

    /// Follow symbolic links
    ///
    /// A file counts once, however many links lead to it. seekless detects loops. Without this option it neither
    /// follows nor compares links.
    #[arg(short = 'L', long, help_heading = "Where to look")]
    pub follow_links: bool,

    /// Skip files that are listed in files of this name, in the syntax of .gitignore
    ///
    /// seekless does not read ignore files unless they are named here, so that a stray .gitignore does not hide files.
    /// Can be repeated; later names take precedence.
    #[arg(long, value_name = "NAME", help_heading = "Where to look")]
    pub ignore_file: Vec<String>,

    /// Skip files smaller than SIZE
    #[arg(
        long,
        value_name = "SIZE",
        allow_negative_numbers = true,
        help_heading = "Which files take part"
    )]
    pub min_size: Option<Bytes>,

    /// Skip files larger than SIZE
    #[arg(
        long,
        value_name = "SIZE",
        allow_negative_numbers = true,
        help_heading = "Which files take part"
    )]
    pub max_size: Option<Bytes>,

    /// Only include files whose name matches: '*.jpg', 'IMG_????.*', '*.{png,gif}'
    ///
    /// If given several times, one pattern must match. A file must match one pattern of each kind (--name, --path,
    /// --regex, --type).
    #[arg(long, value_name = "GLOB", help_heading = "Which files take part")]
    pub name: Vec<String>,

    /// Only include files whose path matches: '2024/**', '/srv/*/in/*'
    ///
    /// '*' does not match a slash, '**' does. A pattern that starts with '/', './' or '../' matches from there. Other
    /// patterns can match from any folder of the path.
    #[arg(long, value_name = "GLOB", help_heading = "Which files take part")]
    pub path: Vec<String>,

    /// Skip files and folders that match: '*.tmp', node_modules, 'cache/', 'build/out'
    ///
    /// A pattern without a slash matches names. A pattern with a slash matches paths, like --path. A trailing slash
    /// matches folders only.
    #[arg(
        short = 'E',
        long,
        value_name = "GLOB",
        help_heading = "Which files take part"
    )]
    pub exclude: Vec<String>,

    /// Only include files whose path matches this regular expression
    ///
    /// The expression may match anywhere in the path as it is printed; use ^ and $ to anchor it.
    #[arg(long, value_name = "REGEX", help_heading = "Which files take part")]
    pub regex: Vec<String>,

    /// Match all patterns case-insensitively
    #[arg(short = 'i', long, help_heading = "Which files take part")]
    pub ignore_case: bool,

    /// Only include files of this type, by file extension
    #[arg(
        long = "type",
        value_name = "TYPE",
        value_delimiter = ',',
        value_parser = kinds(),
        help_heading = "Which files take part"
    )]
    pub kinds: Vec<Kind>,

    /// Only include files with one of these extensions: jpg,png or tar.gz
    ///
    /// Extensions match case-insensitively.
    #[arg(
        long = "ext",
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = extension,
        help_heading = "Which files take part"
    )]
    pub extensions: Vec<String>,

    /// Only include files modified after WHEN: 3d, '2 weeks', today, 2024-05-01, or a file
    ///
    /// A time span counts back from now. A date means midnight in the local time zone; a year or a month (2024-05)
    /// means its first day. A full timestamp (2024-05-01T12:00:00Z) is exact. Anything else is the path of a file, and
    /// means its modification time; write ./2024 for a file with such a name.
    #[arg(
        long,
        value_name = "WHEN",
        allow_hyphen_values = true,
        help_heading = "Which files take part"
    )]
    pub newer: Option<OsString>,

    /// Only include files modified before WHEN, in the same forms as --newer
    #[arg(
        long,
        value_name = "WHEN",
        allow_hyphen_values = true,
        help_heading = "Which files take part"
    )]
    pub older: Option<OsString>,

    /// Skip files and folders whose name starts with a dot
    ///
    /// They are included by default, because many duplicates in backups are in such folders. A folder that is given as
    /// a PATH is always searched.
    #[arg(
        long,
        overrides_with = "hidden",
        help_heading = "Which files take part"
    )]
    pub no_hidden: bool,

    /// Include hidden files (the default; overrides --no-hidden)
    #[arg(
        long,
        overrides_with = "no_hidden",
        help_heading = "Which files take part"
    )]
    pub hidden: bool,

    /// Include empty files
    #[arg(long, help_heading = "Which files take part")]
    pub empty: bool,

    /// Only report files that are below at least two of the given paths
    ///
    /// Copies below one path count as one.
    #[arg(short = 'I', long, help_heading = "What counts as a duplicate")]
    pub isolate: bool,

    /// Compare the members of each set byte by byte at the end
    ///
    /// This reads each duplicate once more. BLAKE3 digests of 256 bits make it unnecessary in practice.
    #[arg(long, help_heading = "What counts as a duplicate")]
    pub verify: bool,

    /// Set the number of threads for all devices, a class or a device: 8, ssd:64,4, dev:/dev/sdb:1,1
    ///
    /// The first number is for scattered reads (metadata and the start of files), the second for whole files. Can be
    /// repeated. A device takes precedence over a class, and a class over the default. If the kernel reports the wrong
    /// class, set it with 'hdd' or 'ssd' in place of the numbers: dev:/dev/sdc:hdd.
    #[arg(
        long,
        value_name = "[DEVICE:]N[,N]|hdd|ssd",
        help_heading = "How disks are read"
    )]
    pub threads: Vec<Override>,

    /// Keep N scattered reads in flight per thread
    #[arg(long, value_name = "N", help_heading = "How disks are read")]
    pub depth_random: Option<usize>,

    /// Also read files that the file system reports to share their blocks
    ///
    /// On btrfs and xfs, seekless knows without reading that unchanged reflinks and snapshots are equal.
    #[arg(long, help_heading = "How disks are read")]
    pub no_shared_blocks: bool,

    /// Keep what is read in this folder, and do not read it again while files are unchanged
    ///
    /// Unchanged means: same size and times on ext4, XFS, f2fs or btrfs, and no change in the minute before the file was
    /// read. Files on other file systems are read each time. Actions compare bytes as always. --verify, and actions with
    /// --trust-hash, read everything. The folder is created if it is missing; files in it take no part in the search.
    #[arg(long, value_name = "DIR", help_heading = "How disks are read")]
    pub cache: Option<PathBuf>,

    /// With --cache, do not read a file again if only its time of change (ctime) differs
    ///
    /// chmod, chown and new hard links set that time. Programs can restore the time of modification after they changed a
    /// file ('touch -r', 'rsync -t'): the search then reports the content of before. With this option files on FAT, exFAT,
    /// NTFS, FUSE and network file systems are kept as well, by path, size and time of modification: two runs read them,
    /// and later ones do not. Actions compare bytes as always.
    #[arg(long, help_heading = "How disks are read")]
    pub trust_mtime: bool,

    /// Set the order in which files on a spinning disk are read [default: physical]
    ///
    /// This option is for measurements. --verify and the comparison before an action ignore it.
    #[arg(
        long,
        value_name = "ORDER",
        default_value = SweepOrder::Physical.word(),
        hide_default_value = true,
        value_parser = orders(),
        help_heading = "How disks are read"
    )]
    pub order: SweepOrder,

    /// On spinning disks, compare the start of each file before reading it whole
    ///
    /// This option is for measurements. By default, seekless reads a file whole at once if it will probably need all of
    /// it, which saves a seek.
    #[arg(long, help_heading = "How disks are read")]
    pub sample_first: bool,

    /// Limit the memory for data in flight [default: 1/32 of the memory]
    ///
    /// With a low limit, seekless keeps fewer reads in flight. The list of files needs more memory: about 50 bytes and
    /// the name of each file.
    #[arg(long, value_name = "SIZE", help_heading = "How disks are read")]
    pub memory: Option<Bytes>,

    /// Leave a mechanism out, to measure what it contributes (see docs/measurements/benchmarks.md)
    #[cfg(any(feature = "mechanisms", debug_assertions))]
    #[arg(
        long,
        value_name = "MECHANISM",
        value_delimiter = ',',
        value_parser = mechanisms(),
        hide = true,
        help_heading = "How disks are read"
    )]
    pub without: Vec<Mechanism>,
}

/// Options that apply to reports as well; so they are no part of [`SearchArgs`], whose group excludes `--from`.
#[derive(Args, Clone, Debug)]
pub struct NamesArgs {
    /// Treat hard links to the same file as duplicates
    ///
    /// By default they count as one file with several names, because removing one of them frees nothing. With this
    /// option, remove, symlink and move keep one name of each set (--keep-n N: N names) and act on the others, including
    /// hard links to the kept file. hardlink and reflink refuse this option: names of one file already share its blocks.
    #[arg(short = 'H', long, help_heading = "What counts as a duplicate")]
    pub hard_links: bool,
}

#[cfg(any(feature = "mechanisms", debug_assertions))]
fn mechanisms() -> impl TypedValueParser<Value = Mechanism> {
    let names = PossibleValuesParser::new(Mechanism::ALL.map(Mechanism::name));
    names.try_map(|name| {
        let mut all = Mechanism::ALL.into_iter();
        all.find(|mechanism| mechanism.name() == name)
            .ok_or("no such mechanism")
    })
}

fn extension(text: &str) -> Result<String, String> {
    let bare = text.trim_start_matches('.');
    if bare.is_empty() || bare.contains(['/', '*', '?']) {
        return Err("write extensions as jpg,png; for patterns use --name '*.jp*'".to_owned());
    }
    Ok(bare.to_owned())
}

fn kinds() -> impl TypedValueParser<Value = Kind> {
    let names = Kind::ALL.map(Kind::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Kind>())
}

fn orders() -> impl TypedValueParser<Value = SweepOrder> {
    let words = SweepOrder::ALL.map(SweepOrder::word);
    PossibleValuesParser::new(words).map(|word| {
        let named = SweepOrder::ALL.into_iter().find(|o| o.word() == word);
        named.unwrap_or_default()
    })
}
