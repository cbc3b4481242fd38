//! What may be typed after `catalog`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use seekless::catalog::Form;
use seekless::catalog::list::ListFormat;
use seekless::device::Override;

use super::common::{ConfigArgs, DocumentArgs, TalkArgs, at_least_one, named};
use super::search::{FilterArgs, ReadArgs};

#[derive(Debug, Args)]
pub struct CatalogArgs {
    #[command(subcommand)]
    pub command: CatalogCommand,
}

#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    /// Write a catalog of a disk or folder
    ///
    /// A catalog has a row for each file, link and special file, and for each entry that could not be read. It is a
    /// Parquet file, which DuckDB, pyarrow and Spark open as well. What the cache knows is not read again. If the run
    /// is interrupted, repeat it: it goes on from the cache.
    Create(Box<CreateArgs>),

    /// Look at the disk of a catalog again
    ///
    /// seekless recognises the disk by the UUID of its file system, wherever it is mounted. It reads the files that
    /// --wanted names, then those that are new or changed. Rows of unchanged files keep their digests. If the run is
    /// interrupted, the catalog stays as it was; the next run goes on from the cache.
    Update(Box<UpdateArgs>),

    /// Show what a catalog is of
    Show(ShowArgs),

    /// List folders and files of a catalog
    Tree(TreeArgs),

    /// Make a catalog from a list of b3sum or sha256sum
    Import(ImportArgs),

    /// Print a catalog as a list for b3sum --check or sha256sum --check
    ///
    /// The paths in the list are relative to the top of the file system.
    Export(ExportArgs),
}

#[derive(Args, Clone, Debug)]
pub struct CreateArgs {
    /// Disks, folders and files to list; - may stand for standard output
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath, required = true)]
    pub roots: Vec<OsString>,

    /// Write the catalog to FILE [default: standard output]
    ///
    /// seekless refuses to replace a file that is neither empty nor a catalog.
    #[arg(short = 'o', long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub depth: DepthArgs,

    /// Do not cross into other file systems
    #[arg(short = 'x', long, help_heading = "What to list")]
    pub one_file_system: bool,

    #[command(flatten)]
    pub filter: FilterArgs,

    #[command(flatten)]
    pub disks: DiskArgs,
}

#[derive(Args, Clone, Debug)]
pub struct UpdateArgs {
    /// The catalog
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub catalog: PathBuf,

    /// Read the files of this wanted list first, as far as it says
    ///
    /// A wanted list names files of which a question needs more than a catalog says. Can be repeated.
    #[arg(long, value_name = "LIST", value_hint = ValueHint::FilePath, help_heading = "How much to read")]
    pub wanted: Vec<PathBuf>,

    #[command(flatten)]
    pub depth: DepthArgs,

    /// Write the catalog to OUT instead of FILE
    #[arg(short = 'o', long, value_name = "OUT", help_heading = "Output")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub disks: DiskArgs,
}

/// How disks are read for a catalog, and what is said meanwhile.
#[derive(Args, Clone, Debug)]
pub struct DiskArgs {
    /// Set the number of threads, as in 'find --threads'
    #[arg(
        long,
        value_name = "[DEVICE:]N[,N]|hdd|ssd",
        help_heading = "How to read disks"
    )]
    pub threads: Vec<Override>,

    /// Keep the cache in DIR, use none (off), or ignore times of change (mtime), as in 'find --cache'
    #[arg(long, value_name = "DIR|off|mtime", help_heading = "How to read disks")]
    pub cache: Vec<PathBuf>,

    #[command(flatten)]
    pub reads: ReadArgs,

    #[command(flatten)]
    pub talk: TalkArgs,

    #[command(flatten)]
    pub config: ConfigArgs,
}

/// How much of each file is read; for a catalog that is made, --quick is the default, and for one that is updated, its
/// own form.
#[derive(Args, Clone, Copy, Debug)]
pub struct DepthArgs {
    /// Read no file: only list names, sizes and times
    #[arg(long, group = "depth", help_heading = "How much to read")]
    metadata: bool,

    /// Read the first and last 4 KiB of each file, and files up to 32 KiB whole
    ///
    /// This is the default of 'catalog create'. 'catalog update' reads as much as the catalog says.
    #[arg(long, group = "depth", help_heading = "How much to read")]
    quick: bool,

    /// Read every file whole
    #[arg(long, group = "depth", help_heading = "How much to read")]
    full: bool,
}

impl DepthArgs {
    /// The form that was typed.
    pub fn form(self) -> Option<Form> {
        let forms = [
            (self.metadata, Form::Metadata),
            (self.quick, Form::Quick),
            (self.full, Form::Full),
        ];
        let typed = forms.iter().find(|(is_typed, _)| *is_typed);
        typed.map(|(_, form)| *form)
    }
}

#[derive(Args, Clone, Debug)]
pub struct ShowArgs {
    /// The catalog
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub catalog: PathBuf,

    #[command(flatten)]
    pub document: DocumentArgs,
}

#[derive(Args, Clone, Debug)]
pub struct TreeArgs {
    /// The catalog
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub catalog: PathBuf,

    /// A folder in it [default: what the catalog is of]
    #[arg(value_name = "PATH")]
    pub path: Option<OsString>,

    /// Descend N folders
    #[arg(short = 'd', long, value_name = "N", default_value = "1", value_parser = at_least_one::<u32>)]
    pub depth: u32,
}

#[derive(Args, Clone, Debug)]
pub struct ImportArgs {
    /// The list
    #[arg(value_name = "LIST", value_hint = ValueHint::FilePath)]
    pub list: PathBuf,

    /// The program that printed the list
    #[arg(short, long, value_name = "PROGRAM", value_parser = named(LISTS))]
    pub format: ListFormat,

    /// Write the catalog to FILE [default: standard output]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub struct ExportArgs {
    /// The catalog
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub catalog: PathBuf,

    /// The program that reads the list
    #[arg(short, long, value_name = "PROGRAM", default_value = "b3sum", value_parser = named(LISTS))]
    pub format: ListFormat,
}

const LISTS: [(&str, &str, ListFormat); 2] = [
    ("b3sum", "", ListFormat::B3sum),
    ("sha256sum", "", ListFormat::Sha256sum),
];

pub const CATALOG_EXAMPLES: &str = "\
Examples:
  seekless catalog create /mnt/old -o old.parquet
                                                before the disk goes into a drawer
  seekless catalog create --full /mnt/old -o old.parquet
                                                hash every file
  ssh nas seekless catalog create - /srv/photos > nas.parquet
                                                on another machine
  seekless catalog update old.parquet           when the disk is plugged in again
  seekless catalog show old.parquet             when it was made, and of what
  seekless catalog tree -d 2 old.parquet        which folders and files were there
  seekless catalog import -f b3sum old.b3 -o list.parquet
                                                from a list of digests";
