//! What may be typed after `seekless find`, raw. What it means is decided in `resolve`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
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
    /// By default always for the formats that show it. Where nobody asks for it, large files that
    /// are in memory already are compared with each other instead, which is faster.
    #[arg(long, value_name = "WHEN", help_heading = "Output")]
    pub digest: Option<DigestWhen>,

    /// Write the result into FILE, as a whole or not at all
    #[arg(short = 'o', long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub talk: TalkArgs,

    /// Print how each path would be read, on which device and why, and read nothing
    #[arg(long, help_heading = "How disks are read")]
    pub explain: bool,
}

/// When digests are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DigestWhen {
    /// For every member of a set
    Always,
    /// Where it tells files apart
    WhenNeeded,
}

fn formats() -> impl TypedValueParser<Value = &'static Format> {
    let names = FORMATS
        .iter()
        .map(|format| PossibleValue::new(format.name).help(format.about));
    PossibleValuesParser::new(names).try_map(|name| report::format(&name).ok_or("no such format"))
}
