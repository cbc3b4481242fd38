//! What may be typed after `compare` and `folders`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use seekless::report::comparison::{Format, Only};
use seekless::report::folders::{FOLDER_FORMATS, FolderFormat};
use seekless::units::Bytes;

use super::common::{ConfigArgs, TalkArgs, named};
use super::search::{FilterArgs, ReadArgs};

#[derive(Args, Clone, Debug)]
pub struct CompareArgs {
    /// Folders or files to compare
    #[arg(value_name = "SIDE", value_hint = ValueHint::AnyPath, required = true, num_args = 2..)]
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
    /// another side has other content at the same path. Between two sides, here and there do not include changed files;
    /// with more sides, here does.
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

    /// Write a list of the files that a catalog does not know well enough to LIST
    ///
    /// When their disk is plugged in again, 'seekless catalog update --wanted LIST' reads just these.
    #[arg(long, value_name = "LIST", help_heading = "Output")]
    pub wanted: Option<PathBuf>,

    #[command(flatten)]
    pub reads: ReadArgs,

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

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Which folders to report")]
pub struct FoldersArgs {
    /// Folders to compare with each other and within each other [default: the current folder]
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Where to search")]
    pub roots: Vec<OsString>,

    /// Do not cross into other file systems
    ///
    /// A folder that contains a mount point then counts as not fully seen.
    #[arg(short = 'x', long, help_heading = "Where to search")]
    pub one_file_system: bool,

    #[command(flatten)]
    pub reads: ReadArgs,

    /// Only report folders of at least this size
    ///
    /// The size of a folder is that of all files below it.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub min_size: Option<Bytes>,

    /// Report a folder if at least N percent of its bytes are also in another folder
    ///
    /// With 100, seekless only reports folders whose whole content is elsewhere.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 80,
        value_parser = percent,
    )]
    pub min_overlap: u8,

    /// Ignore files with these names in the verdict on a folder
    ///
    /// The default is .DS_Store, Thumbs.db, desktop.ini and .nomedia; this option replaces it and can be repeated.
    /// Empty files are always ignored. The report says how many ignored files a folder has.
    #[arg(long, value_name = "GLOB")]
    pub noise: Vec<String>,

    /// Set the report format
    #[arg(
        short = 'f',
        long,
        value_name = "FORMAT",
        value_parser = named(FOLDER_FORMATS.iter().map(|it| (it.name, it.about, it))),
        default_value = FOLDER_FORMATS[0].name,
        help_heading = "Output"
    )]
    pub format: &'static FolderFormat,

    /// Write the report to FILE; FILE is replaced when the comparison ends; an interrupted one says so in its last line
    ///
    /// seekless refuses to replace a file that is neither empty nor an earlier result of seekless.
    #[arg(short = 'o', long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub talk: TalkArgs,

    #[command(flatten)]
    pub config: ConfigArgs,
}

fn percent(text: &str) -> Result<u8, &'static str> {
    let percent = text
        .parse()
        .ok()
        .filter(|percent| (1..=100).contains(percent));
    percent.ok_or("write a whole number from 1 to 100")
}

pub const FOLDERS_EXAMPLES: &str = "\
Examples:
  seekless folders ~/Pictures /mnt/backup       which folders also exist elsewhere?
  seekless folders --min-overlap 100 ~/Pictures /mnt/phone
                                                only folders that are completely elsewhere
  seekless folders --min-size 100M /mnt/backup  only larger folders
  seekless folders --noise '*.tmp' ~/src        treat only *.tmp files as noise
  seekless folders -f ndjson -o folders.ndjson /mnt/backup
                                                write a report, which you can edit and act on

All folders that can go may go at once: a copy of each of their files stays. To remove from a
folder X what another folder Y has: seekless remove --reference Y X";
