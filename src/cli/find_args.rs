//! What may be typed after `seekless find`, raw. What it means is decided in `resolve`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use seekless::engine::SetOrder;
use seekless::report::{self, FORMATS, Format};

use super::act_args::keep_help;
use super::search_args::{NamesArgs, PathArgs, PatienceArgs, ReadArgs, SearchArgs};
use super::talk_args::TalkArgs;

#[derive(Args, Clone, Debug)]
pub struct FindArgs {
    #[command(flatten)]
    pub paths: PathArgs,

    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub reads: ReadArgs,

    #[command(flatten, next_help_heading = "Where to look")]
    pub patience: PatienceArgs,

    #[command(flatten)]
    pub names: NamesArgs,

    /// Report content of which there are more than N copies [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "What counts as a duplicate")]
    pub rf_over: Option<u64>,

    /// Report content of which there are fewer than N copies
    #[arg(long, value_name = "N", help_heading = "What counts as a duplicate")]
    pub rf_under: Option<u64>,

    /// Report what there is only once: the same as --rf-under 2
    #[arg(long, help_heading = "What counts as a duplicate")]
    pub unique: bool,

    #[arg(
        short = 'k',
        long,
        value_name = "RULE",
        help = "Which file of a set comes first and is marked *: newest, 'under DIR', best-name, …",
        long_help = keep_help("Which file of a set comes first, and is marked with * in text: the one that 'remove' and the others keep"),
        help_heading = "Output"
    )]
    pub keep: Vec<String>,

    /// How the result is written
    #[arg(
        short = 'f',
        long,
        value_name = "FORMAT",
        value_parser = formats(),
        default_value = FORMATS[0].name,
        help_heading = "Output"
    )]
    pub format: &'static Format,

    /// When to compute the digest of each set
    ///
    /// By default always for json, ndjson and csv, and when-needed for the others. Without digests, large files that
    /// are in memory already are compared with each other instead of hashed, which is faster.
    #[arg(long, value_name = "WHEN", help_heading = "Output")]
    pub digest: Option<DigestWhen>,

    /// Write the result into FILE, as a whole or not at all
    #[arg(short = 'o', long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Report only the N sets that come first in the order of --sort-by
    ///
    /// All formats then report sets at the end of the run. The summary counts all sets that were found.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Output")]
    pub top: Option<u64>,

    /// The order of the sets [default: reclaimable; as found with ndjson, fdupes and nul]
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    pub sort_by: Option<SortBy>,

    /// Print the summary only, on standard output
    ///
    /// With json and ndjson, the report has its header and its summary, and no sets.
    #[arg(long, conflicts_with_all = ["quiet", "top", "sort_by", "explain"], help_heading = "Output")]
    pub summary_only: bool,

    /// Leave out the first file of each set: the one to keep
    ///
    /// For the formats nul and fdupes. The remaining files are what 'fdupes --omitfirst' lists. With -H, the remaining
    /// names.
    #[arg(long, help_heading = "Output")]
    pub omit_first: bool,

    /// Mark no end of a set (formats fdupes and nul)
    ///
    /// 'seekless -f nul --flat --omit-first DIR | xargs -0' passes on file names and nothing else.
    #[arg(long, help_heading = "Output")]
    pub flat: bool,

    /// Exit with 0 if nothing was found, 1 if something was, 2 if not everything could be read
    #[arg(long, conflicts_with = "explain", help_heading = "Output")]
    pub exit_code: bool,

    #[command(flatten)]
    pub talk: TalkArgs,

    /// Print how each path would be read, on which device and why, and read nothing
    #[arg(long, conflicts_with = "output", help_heading = "How disks are read")]
    pub explain: bool,
}

/// What puts sets in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SortBy {
    /// Those that free most disk space first
    Reclaimable,
    /// Those of the longest files first
    Size,
    /// Those of the most files first
    Count,
    /// By the path of the first file
    Path,
}

impl SortBy {
    /// The order of the engine.
    pub fn order(self) -> SetOrder {
        match self {
            Self::Reclaimable => SetOrder::Reclaimable,
            Self::Size => SetOrder::Size,
            Self::Count => SetOrder::Count,
            Self::Path => SetOrder::Path,
        }
    }
}

/// When digests are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DigestWhen {
    /// For every member of a set
    Always,
    /// Only where it tells files apart; the report shows none
    WhenNeeded,
}

fn formats() -> impl TypedValueParser<Value = &'static Format> {
    let names = FORMATS
        .iter()
        .map(|format| PossibleValue::new(format.name).help(format.about));
    PossibleValuesParser::new(names).try_map(|name| report::format(&name).ok_or("no such format"))
}
