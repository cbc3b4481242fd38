//! What may be typed after `compare`.

use std::ffi::OsString;

use clap::Args;
use seekless::report::comparison::{Format, Only};

use super::common::{ConfigArgs, TalkArgs, named};
use super::filter::FilterArgs;
use super::read::ReadArgs;
use super::search::PatienceArgs;

#[derive(Args, Clone, Debug)]
pub struct CompareArgs {
    /// Folders or files to compare
    #[arg(value_name = "SIDE", required = true, num_args = 2..)]
    pub sides: Vec<OsString>,

    /// Only check whether everything on the first side is also on the others
    #[arg(long, help_heading = "What to compare")]
    pub one_way: bool,

    /// Accept sides on one physical disk when a side is a whole file system
    ///
    /// If a side is a whole file system, seekless assumes that its disk may be wiped. Sides on the same disk then do
    /// not count as copies, and the exit status is 2. For other folders, seekless only prints a note.
    #[arg(long, help_heading = "What to compare")]
    pub same_disk: bool,

    /// Do not cross into other file systems; if one is skipped, the exit status is 2
    #[arg(short = 'x', long, help_heading = "What to compare")]
    pub one_file_system: bool,

    /// Also show files with the same content but a different mode, owner, modification time or extended attributes
    ///
    /// Such differences do not change the exit status.
    #[arg(long, help_heading = "What to compare")]
    pub metadata: bool,

    #[command(flatten)]
    pub filter: FilterArgs,

    /// Show only these entries
    ///
    /// here: only on the first side. there: not on the first side. moved: the same content is at another path. changed:
    /// another side has other content at the same path. Between two sides, here and there do not include changed files.
    #[arg(long, value_name = "WHICH", value_parser = named(ONLY), help_heading = "Output")]
    pub only: Option<Only>,

    /// Set the format of the result
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "text",
        value_parser = named(FORMATS),
        help_heading = "Output"
    )]
    pub format: Format,

    /// With -f nul, print names relative to their side, for rsync --from0 --files-from=-
    #[arg(long, help_heading = "Output")]
    pub relative: bool,

    #[command(flatten, next_help_heading = "How to read disks")]
    pub reads: ReadArgs,

    #[command(flatten, next_help_heading = "How to read disks")]
    pub patience: PatienceArgs,

    #[command(flatten)]
    pub talk: TalkArgs,

    #[command(flatten)]
    pub config: ConfigArgs,
}

const ONLY: [(&str, &str, Only); 4] = [
    ("here", "", Only::Here),
    ("there", "", Only::There),
    ("moved", "", Only::Moved),
    ("changed", "", Only::Changed),
];

const FORMATS: [(&str, &str, Format); 4] = [
    ("text", "", Format::Text),
    ("json", "", Format::Json),
    ("ndjson", "", Format::NdJson),
    ("nul", "", Format::Nul),
];
