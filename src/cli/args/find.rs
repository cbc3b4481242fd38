//! Arguments of `seekless find`; `find/resolve.rs` interprets them.

use std::path::PathBuf;

use clap::Args;
use seekless::engine::{Copies, SetOrder};
use seekless::report::{FORMATS, Format};

use super::act::keep_help;
use super::common::{ConfigArgs, TalkArgs, at_least_one, named};
use super::search::{FilterArgs, PathArgs, ReadArgs, SearchArgs};

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct FindArgs {
    #[command(flatten)]
    pub paths: PathArgs,

    #[command(flatten)]
    pub filter: FilterArgs,

    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub reads: ReadArgs,

    /// Treat hard links to the same file as duplicates
    ///
    /// By default they count as one file with several names, because removing one of them frees nothing. Actions treat
    /// all names of a file as one in any case.
    #[arg(short = 'H', long, help_heading = "What counts as a duplicate")]
    pub hard_links: bool,

    /// Also report pictures, films and sound that differ in their tags only: date, place, rating, keywords, …
    ///
    /// They are sets of their own in text, json, ndjson and csv. seekless looks at the headers of one file of each
    /// content, and reads pictures that may be the same. docs/reference/media.md lists the formats (JPEG, PNG, HEIC,
    /// MP4, MP3 and more) and what counts as a tag.
    #[arg(
        long,
        conflicts_with_all = ["copies", "unique", "newer", "omit_first"],
        help_heading = "What counts as a duplicate"
    )]
    pub ignore_tags: bool,

    /// Only report contents that N to M files have: 3.. (3 or more), ..2 (2 or fewer), 2..5, or 3 [default: 2..]
    ///
    /// Both ends are included. Hard links to one file count once, unless --hard-links is given. With --isolate, all
    /// files under one of the given paths count once.
    #[arg(
        long,
        value_name = "N..M",
        conflicts_with = "unique",
        help_heading = "What counts as a duplicate",
        hide_short_help = true
    )]
    pub copies: Option<Copies>,

    /// Only report files without a copy, like --copies 1
    #[arg(long, help_heading = "What counts as a duplicate")]
    pub unique: bool,

    #[arg(
        short = 'k',
        long,
        value_name = "RULE",
        help = "List first the file that RULE prefers: newest, shortest-path, 'under DIR', best-name, …",
        long_help = keep_help("List first the file that RULE prefers, marked with * in text; an action with the same rules keeps it, unless more sidecar files belong to another"),
    )]
    pub keep: Vec<String>,

    /// Set the report format
    #[arg(
        short = 'f',
        long,
        value_name = "FORMAT",
        value_parser = named(FORMATS.iter().map(|it| (it.name, it.about, it))),
        default_value = FORMATS[0].name,
    )]
    pub format: &'static Format,

    /// When to compute digests
    ///
    /// The default is 'always' for json, ndjson and csv, and 'when-needed' for the other formats. Without digests,
    /// seekless compares large cached files instead of hashing them, which is faster.
    #[arg(
        long,
        value_name = "WHEN",
        value_parser = named([
            ("always", "For each member of a set", true),
            ("when-needed", "Only where they tell files apart; the report has none", false),
        ]),
        hide_short_help = true
    )]
    pub digest: Option<bool>,

    /// Write the report to FILE; FILE is replaced when the search ends; an interrupted one says so in its last line
    ///
    /// seekless refuses to replace a file that is neither empty nor an earlier result of seekless.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Write a list of the files that a catalog does not know well enough to LIST
    ///
    /// When their disk is plugged in again, 'seekless catalog update --wanted LIST' reads just these.
    #[arg(long, value_name = "LIST", hide_short_help = true)]
    pub wanted: Option<PathBuf>,

    /// Report only the first N sets in the order of --sort-by
    ///
    /// With this option, all formats write their sets at the end of the run. The summary still counts all sets.
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>)]
    pub top: Option<u64>,

    /// Set the order of the sets [default: reclaimable; for ndjson, fdupes and nul: as found]
    #[arg(long, value_name = "WHAT", value_parser = named(ORDERS))]
    pub sort_by: Option<SetOrder>,

    /// List only redundant files: without the first file of each set, and without ends of sets
    ///
    /// Only with the formats nul and fdupes. The first file is the one that an action keeps, unless more sidecar files
    /// belong to another. With -H, its first name is left out. 'seekless -f nul --omit-first DIR | xargs -0r COMMAND'
    /// passes only file names to COMMAND. --newer would keep older files, which this list has.
    #[arg(
        long,
        conflicts_with_all = ["newer", "unique"],
        hide_short_help = true
    )]
    pub omit_first: bool,

    /// Exit with 0 if nothing was found, 1 if something was, 2 if files could not be read
    ///
    /// The exit status is also 2 if the list of -0 is empty, because then nothing was searched.
    #[arg(long)]
    pub exit_code: bool,

    #[command(flatten)]
    pub talk: TalkArgs,

    #[command(flatten)]
    pub config: ConfigArgs,
}

/// The orders of the sets.
const ORDERS: [(&str, &str, SetOrder); 4] = [
    (
        "reclaimable",
        "Most reclaimable disk space first",
        SetOrder::Reclaimable,
    ),
    ("size", "Largest files first", SetOrder::Size),
    ("count", "Most files first", SetOrder::Count),
    ("path", "By the path of the first file", SetOrder::Path),
];
