//! What may be typed to say where to look, which files take part and how disks are read. What it means is
//! decided in `resolve`.

use std::ffi::OsString;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use seekless::device::Override;
#[cfg(any(feature = "mechanisms", debug_assertions))]
use seekless::engine::Mechanism;
use seekless::engine::{PageUse, SweepOrder};
use seekless::scan::Kind;
use seekless::units::Bytes;

use super::wrong_use::{WrongUse, contradiction};

/// Where to look; no part of [`SearchArgs`], whose group excludes `--from`, which may be limited to paths.
#[derive(Args, Clone, Debug)]
pub struct PathArgs {
    /// Folders and files to look at; find without any looks at the current folder
    ///
    /// A file that can be reached through several of them, or that is named twice, counts once. An action with --from
    /// acts only on files below them.
    #[arg(value_name = "PATH", help_heading = "Where to look")]
    pub roots: Vec<OsString>,
}

/// How long a run waits.
#[derive(Args, Clone, Copy, Debug)]
pub struct PatienceArgs {
    /// Give up on a disk, server or daemon that does not answer, if nothing else makes progress for so long
    ///
    /// A message names it after 10 s (or after SECONDS, if that is less), and the search goes on elsewhere. If nothing
    /// else makes progress for another SECONDS, a search leaves out what it could not read there. An action, an undo
    /// or a sweep ends as if it had been killed, and names the command that continues it or restores the files. The
    /// exit status is 1, or 2 if nothing was done. Files on tape or in a cloud may need more time.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    patience: u32,
}

impl PatienceArgs {
    /// What was given.
    pub fn time(self) -> Duration {
        Duration::from_secs(self.patience.into())
    }
}

#[derive(Args, Clone, Debug)]
pub struct SearchArgs {
    /// Read further paths from standard input, one a line
    #[arg(long, help_heading = "Where to look")]
    pub stdin: bool,

    /// The paths on standard input end in NUL (implies --stdin)
    ///
    /// As 'find -print0' and 'fd -0' print them: the only way in for names with line breaks.
    #[arg(short = '0', long, help_heading = "Where to look")]
    pub null: bool,

    /// Go at most N folders deep
    ///
    /// 1 looks at what lies directly in the given folders, 0 only at files given by name.
    #[arg(short = 'd', long, value_name = "N", help_heading = "Where to look")]
    pub max_depth: Option<u32>,

    /// Stay on the file systems that the given paths are on
    ///
    /// Subvolumes and snapshots of btrfs below the paths count as the same file system (unlike with du and rsync),
    /// unless they are mounted separately. Use --exclude to leave snapshots out.
    #[arg(short = 'x', long, help_heading = "Where to look")]
    pub one_file_system: bool,

    /// Follow symbolic links
    ///
    /// Each file counts once, however many links lead to it; links in a circle are noticed.
    /// Without this option links are neither followed nor compared.
    #[arg(short = 'L', long, help_heading = "Where to look")]
    pub follow_links: bool,

    /// Leave out what files of this name list, in the syntax of .gitignore
    ///
    /// No such file is obeyed unless it is named here: a stray .gitignore in a backup would hide
    /// files in silence. May be repeated; later names win.
    #[arg(long, value_name = "NAME", help_heading = "Where to look")]
    pub ignore_file: Vec<String>,

    /// Leave out files smaller than this
    #[arg(
        long,
        value_name = "SIZE",
        allow_negative_numbers = true,
        help_heading = "Which files take part"
    )]
    pub min_size: Option<Bytes>,

    /// Leave out files larger than this
    #[arg(
        long,
        value_name = "SIZE",
        allow_negative_numbers = true,
        help_heading = "Which files take part"
    )]
    pub max_size: Option<Bytes>,

    /// Only files whose name matches: '*.jpg', 'IMG_????.*', '*.{png,gif}'
    ///
    /// With several, one must match. Options of different kinds (--name, --path, --regex, --type)
    /// must all agree.
    #[arg(long, value_name = "GLOB", help_heading = "Which files take part")]
    pub name: Vec<String>,

    /// Only files whose whole path matches: '2024/**', '/srv/*/in/*'
    ///
    /// '*' stays within one folder's name, '**' does not. A pattern that starts with '/', './' or
    /// '../' is meant from there; any other may start at any folder of the path.
    #[arg(long, value_name = "GLOB", help_heading = "Which files take part")]
    pub path: Vec<String>,

    /// Leave out files and whole folders that match: '*.tmp', node_modules, 'cache/', 'build/out'
    ///
    /// Without a slash inside, the bare name is compared; with one, the path as for --path. A slash
    /// at the end means folders only.
    #[arg(
        short = 'E',
        long,
        value_name = "GLOB",
        help_heading = "Which files take part"
    )]
    pub exclude: Vec<String>,

    /// Only files in whose path this regular expression is found
    ///
    /// Anywhere in the path, as it is printed; use ^ and $ to tie it to its ends.
    #[arg(long, value_name = "REGEX", help_heading = "Which files take part")]
    pub regex: Vec<String>,

    /// All these patterns ignore the case of letters
    #[arg(short = 'i', long, help_heading = "Which files take part")]
    pub ignore_case: bool,

    /// Only files of this type, told by their extension
    #[arg(
        long = "type",
        value_name = "TYPE",
        value_delimiter = ',',
        value_parser = kinds(),
        help_heading = "Which files take part"
    )]
    pub kinds: Vec<Kind>,

    /// Only files with one of these extensions: jpg,png or tar.gz
    ///
    /// The case of letters does not matter.
    #[arg(
        long = "ext",
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = extension,
        help_heading = "Which files take part"
    )]
    pub extensions: Vec<String>,

    /// Only files modified since then: 3d, '2 weeks', today, 2024-05-01, or a file's time
    ///
    /// A span of time counts back from now. A date means its midnight here, a year or a month (2024-05) that of its
    /// first day; a full timestamp
    /// (2024-05-01T12:00:00Z) is exact. Anything else names a file (./2024): newer than that one.
    #[arg(
        long,
        value_name = "WHEN",
        allow_hyphen_values = true,
        help_heading = "Which files take part"
    )]
    pub newer: Option<OsString>,

    /// Only files modified before then, written as for --newer
    #[arg(
        long,
        value_name = "WHEN",
        allow_hyphen_values = true,
        help_heading = "Which files take part"
    )]
    pub older: Option<OsString>,

    /// Leave out files and folders whose name starts with a dot
    ///
    /// They take part by default: the duplicates in a backup are as often as not in such folders.
    /// A folder that is given by name is always looked at.
    #[arg(
        long,
        overrides_with = "hidden",
        help_heading = "Which files take part"
    )]
    pub no_hidden: bool,

    /// Let hidden files take part after all (the default; undoes --no-hidden)
    #[arg(
        long,
        overrides_with = "no_hidden",
        help_heading = "Which files take part"
    )]
    pub hidden: bool,

    /// Let empty files take part
    #[arg(long, help_heading = "Which files take part")]
    pub empty: bool,

    /// Count all copies below one given path as one: only what is in two of them is a duplicate
    #[arg(short = 'I', long, help_heading = "What counts as a duplicate")]
    pub isolate: bool,

    /// Compare the members of each set byte by byte in the end
    ///
    /// 256 bits of BLAKE3 do not collide by accident or on purpose; this is for those who want to
    /// see it, and reads every duplicate once more.
    #[arg(long, help_heading = "What counts as a duplicate")]
    pub verify: bool,

    /// Threads for a kind of device or for one: 8, ssd:64,4, hdd:1,1, dev:/dev/sdb:1,1
    ///
    /// The first number is for scattered reads (metadata, the heads of files), the second for
    /// whole files. May be repeated; one device counts more than a kind, a kind more than default.
    /// 'hdd' or 'ssd' in place of the numbers says what a disk is, where its flag is wrong:
    /// dev:/dev/sdc:hdd.
    #[arg(
        long,
        value_name = "[DEVICE:]N[,N]|hdd|ssd",
        help_heading = "How disks are read"
    )]
    pub threads: Vec<Override>,

    /// Scattered reads that each thread keeps in flight
    #[arg(long, value_name = "N", help_heading = "How disks are read")]
    pub depth_random: Option<usize>,

    /// Read files even where the file system says that they lie in the same blocks
    ///
    /// On btrfs and xfs, copies made by reflink or snapshot are known to be equal without reading them as long as
    /// nothing has been written to them.
    #[arg(long, help_heading = "How disks are read")]
    pub no_shared_blocks: bool,

    /// In which order the files on a spinning disk are read
    ///
    /// For measuring what the order is worth: 'directory' is how most programs go about it,
    /// 'inode' needs nothing but metadata. --verify and the comparison before an action do not obey it.
    #[arg(
        long,
        value_name = "ORDER",
        default_value = SweepOrder::Physical.word(),
        hide_default_value = true,
        value_parser = orders(),
        help_heading = "How disks are read"
    )]
    pub order: SweepOrder,

    /// On spinning disks, never read a file whole before its head was compared
    ///
    /// By default a file that is probably needed whole is read whole on the first visit, which spares a
    /// seek. For measuring what that is worth.
    #[arg(long, help_heading = "How disks are read")]
    pub sample_first: bool,

    /// Have no more than this in flight: found or read and not yet dealt with [default: 1/32 of the memory]
    ///
    /// Where it is less than a disk would like, fewer reads are under way at a time. What is known of
    /// the files comes on top: about 50 bytes and the name of each.
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

/// How a search, and an action, read files. An action on a report reads them, too, so it is no part of [`SearchArgs`],
/// whose group excludes `--from`.
#[derive(Args, Clone, Debug)]
pub struct ReadArgs {
    /// Read only while no other program reads from the disk
    ///
    /// Uses the idle class of the kernel's I/O schedulers. bfq and mq-deadline obey it, none and
    /// kyber do not.
    #[arg(long, help_heading = "How disks are read")]
    pub io_idle: bool,

    /// Read at most so much from each device in a second: 50M
    ///
    /// What is in the page cache and the listing of folders do not count.
    #[arg(long, value_name = "RATE", help_heading = "How disks are read")]
    pub bwlimit: Option<Bytes>,

    /// Whether pages that were read stay in the page cache: auto, keep or drop
    ///
    /// 'auto' keeps pages while memory is free, and drops them when it is not, so that a scan of a whole disk does not
    /// push out the data of other programs. On disks without a head, 'auto' bypasses the page cache for parts of long
    /// files, and for whole files of 64 MiB and more unless the same run compares them (--verify, an action).
    /// 'keep' never drops a page. 'drop' drops each page at once. Pages that were cached before the run stay.
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        default_value_t = PageCache::Auto,
        hide_possible_values = true,
        help_heading = "How disks are read"
    )]
    pub page_cache: PageCache,
}

/// What becomes of pages that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PageCache {
    /// Kept while memory is free
    Auto,
    /// Kept
    Keep,
    /// Dropped at once
    Drop,
}

impl ReadArgs {
    /// What becomes of pages; `again` says that they are read again right away.
    pub fn page_use(&self, again: bool) -> PageUse {
        match self.page_cache {
            PageCache::Keep => PageUse::Keep,
            PageCache::Drop => PageUse::Drop,
            PageCache::Auto if again => PageUse::KeepWhileFree,
            PageCache::Auto => PageUse::KeepShort,
        }
    }

    /// The most that may be read of each device in a second.
    pub fn rate(&self) -> Result<Option<Bytes>, WrongUse> {
        match self.bwlimit {
            Some(Bytes(0)) => contradiction("--bwlimit 0 would never read: use 1M or more"),
            rate => Ok(rate),
        }
    }
}

/// What can be said about a report, too; so it is no part of [`SearchArgs`], whose group excludes `--from`.
#[derive(Args, Clone, Debug)]
pub struct NamesArgs {
    /// Count the names of one file (hard links) as duplicates of each other
    ///
    /// By default they are one file with several names, and are shown as such: removing one of
    /// them frees nothing. With this option, actions keep one name of each set (--keep-n N: N names) and act on
    /// the others, including further names of files that stay.
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
        return Err("write extensions as jpg,png; for patterns there is --name '*.jp*'".to_owned());
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
