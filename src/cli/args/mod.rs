//! The commands; the arguments of most are in files beside this one.

pub mod act;
#[cfg(feature = "catalog")]
pub mod catalog;
pub mod common;
pub mod compare;
pub mod find;
pub mod fleet;
pub mod search;
pub mod tools;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};

use self::act::{ActArgs, HardlinkArgs, MoveArgs, RemoveArgs, SymlinkArgs};
#[cfg(feature = "catalog")]
use self::catalog::{CATALOG_EXAMPLES, CatalogArgs};
use self::common::DocumentArgs;
use self::compare::{CompareArgs, FOLDERS_EXAMPLES, FoldersArgs};
use self::find::FindArgs;
use self::fleet::{FLEET_EXAMPLES, FleetArgs};
use self::search::ReadArgs;
use self::tools::{CACHE_EXAMPLES, CacheArgs, ProbeArgs};

/// Find duplicate files
///
/// seekless compares the files below the given paths and prints the sets of files with the same content. It changes
/// none of these files. It reads a spinning disk in the order in which the files lie on it, and all other devices with
/// many reads in parallel.
#[derive(Debug, Parser)]
#[command(
    name = "seekless",
    version,
    propagate_version = true,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    after_long_help = EXAMPLES
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten)]
    pub find: FindArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find duplicates (the default command)
    ///
    /// 'seekless PATH' means 'seekless find PATH'. If a folder is named like a command, write its path: 'seekless
    /// ./find'.
    #[command(after_long_help = EXAMPLES)]
    Find(Box<FindArgs>),

    /// Find folders whose content is also in another folder
    ///
    /// seekless compares the contents of all files below the given folders, regardless of path and name. It reports the
    /// topmost folders that have a verdict, largest reclaimable space first: identical, contained in another folder,
    /// elsewhere in several folders, or overlapping. Many copies of one tree are one entry. Hidden files
    /// are included. A folder that seekless could not read completely gets no verdict. seekless changes nothing.
    #[command(after_long_help = FOLDERS_EXAMPLES)]
    Folders(Box<FoldersArgs>),

    /// Check whether everything in a folder also exists elsewhere
    ///
    /// seekless compares files by content, regardless of path and name. It compares empty files, empty folders,
    /// symbolic links and special files by relative path. It changes nothing. Exit status 0 means that every file has a
    /// match on another side, and that the match was read and would remain if this side were deleted.
    #[command(after_long_help = COMPARE_EXAMPLES)]
    Compare(Box<CompareArgs>),

    /// Remove duplicates, or move them to the trash (--trash)
    ///
    /// At least one file of each set stays. 'seekless undo' restores files from the trash. It cannot restore files that
    /// were removed without --trash.
    #[command(after_long_help = ACT_EXAMPLES)]
    Remove(Box<RemoveArgs>),

    /// Replace duplicates with hard links to the kept file
    ///
    /// All names then lead to one file: a change through one name is visible through all of them. A hard link
    /// cannot cross file systems, so one file stays on each file system.
    #[command(after_long_help = ACT_EXAMPLES)]
    Hardlink(Box<HardlinkArgs>),

    /// Replace duplicates with symbolic links to the kept file
    #[command(after_long_help = ACT_EXAMPLES)]
    Symlink(Box<SymlinkArgs>),

    /// Let duplicates share disk blocks; each stays a separate file
    ///
    /// The kernel compares the bytes before it shares the blocks. The file system must support this: btrfs, XFS,
    /// bcachefs and a few others do.
    #[command(after_long_help = ACT_EXAMPLES)]
    Reflink(Box<ActArgs>),

    /// Move duplicates into another folder and keep their paths below it
    #[command(after_long_help = ACT_EXAMPLES)]
    Move(Box<MoveArgs>),

    /// Undo the last run, or the given run
    ///
    /// Undo moves files back, restores them from the trash, and turns links into separate files again, with their
    /// former owner, mode and times. It names files that have changed since, and leaves them alone. After a crash it
    /// also removes leftover temporary files. You can run it again at any time. On a terminal, undo shows what it would
    /// do and asks once.
    #[command(after_long_help = UNDO_EXAMPLES)]
    Undo(UndoArgs),

    /// Show disks and file systems, and how seekless reads them
    ///
    /// The table has one row for each disk under each file system. Below it, seekless shows for each file system the
    /// layers down to the disk, the device class and the rule that chose it, and how files are read. seekless reads no
    /// file and changes nothing. It touches only the paths that you name, so it does not trigger automounts or wait for
    /// dead servers.
    #[command(after_long_help = DEVICES_EXAMPLES)]
    Devices(DevicesArgs),

    /// Measure a disk and recommend settings
    ///
    /// For half a minute, probe reads files below PATH, bypassing the page cache. It does not change your files. It
    /// then prints how many scattered reads and how many files at a time suit this disk, as options of 'seekless find'.
    #[command(after_long_help = PROBE_EXAMPLES)]
    Probe(ProbeArgs),

    /// Show the cache of searches, or remove it
    ///
    /// A search saves the digests of the files that it reads. The cache is a folder with one file for each file
    /// system. You can remove the cache at any time: the next search then reads the files again.
    #[command(after_long_help = CACHE_EXAMPLES)]
    Cache(CacheArgs),

    /// Record what is on a disk, for when it is not plugged in
    ///
    /// A catalog is a Parquet file with the names, sizes, times and digests of the files on a disk. Other programs can
    /// read it, too.
    #[cfg(feature = "catalog")]
    #[command(after_long_help = CATALOG_EXAMPLES)]
    Catalog(CatalogArgs),

    /// Print queries that join the catalogs of many hosts, for DuckDB and Spark
    ///
    /// Each host writes catalogs. A query says which files a host should read, so that in the end only files are read
    /// that may have a copy elsewhere. Other queries then report duplicates, what of a disk is elsewhere, and what has
    /// too few copies. seekless runs no query, and acts on no other host.
    #[command(after_long_help = FLEET_EXAMPLES)]
    Fleet(FleetArgs),

    /// Print a completion script for a shell
    ///
    /// For bash: seekless completions bash > ~/.local/share/bash-completion/completions/seekless
    Completions(CompletionsArgs),

    /// Print the manual page of seekless or of a command
    ///
    /// To read the page: seekless man | man -l -
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// Name of the run to undo, from its summary or --list [default: the last run that changed something]
    ///
    /// Without RUN, undo never goes further back. If the last run is already undone, or if nothing of it can be undone,
    /// undo says how to choose an earlier one.
    #[arg(value_name = "RUN", conflicts_with = "list")]
    pub run: Option<String>,

    /// List the runs that have a journal
    #[arg(short, long)]
    pub list: bool,

    /// Only restore files that a killed run left unfinished, from RUN or from all such runs
    ///
    /// Steps that the run finished stay done. An action in the same folders does this first; it asks unless --yes is
    /// given.
    #[arg(long, conflicts_with_all = ["list", "dry_run"])]
    pub sweep: bool,

    /// Print what undo would do to each file, and change nothing
    #[arg(short = 'n', long, conflicts_with = "list")]
    pub dry_run: bool,

    /// Do not ask; without a terminal undo never asks
    #[arg(short = 'y', long, conflicts_with = "list")]
    pub yes: bool,

    /// Read the journals from DIR; use it if the run was given --journal DIR
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,

    #[command(flatten)]
    pub reads: ReadArgs,

    /// Do not print the summary; still name each file that is left alone
    #[arg(short, long)]
    pub quiet: bool,

    /// Name each restored file, and all files that were left alone
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Folders, files or block devices [default: all file systems on disks and networks]
    ///
    /// A block device (/dev/sdb) stands for the file systems that are mounted from it. If there are none, it stands for
    /// itself.
    #[arg(value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    pub paths: Vec<OsString>,

    #[command(flatten)]
    pub document: DocumentArgs,

    /// Also show file systems in memory, pseudo file systems and automount points
    #[arg(short, long, conflicts_with = "paths")]
    pub all: bool,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell that will load the script
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// The command to explain, as in 'find' or 'cache' [default: the program]
    #[arg(value_name = "PAGE")]
    pub page: Option<String>,
}

const UNDO_EXAMPLES: &str = "\
Examples:
  seekless undo                                 undo the last run
  seekless undo --list                          list all runs
  seekless undo 20261121T045702Z                undo this run
  seekless undo --dry-run                       show what undo would do to each file
  seekless undo --sweep                         only restore files that a killed run left unfinished";

const DEVICES_EXAMPLES: &str = "\
Examples:
  seekless devices                              show all mounted disks
  seekless devices ~/Pictures /mnt/backup       show the disks under these two folders
  seekless devices /dev/sdb                     show the file systems on this disk
  seekless devices -f json | jq '.volumes[].class'
                                                print the classes only";

const ACT_EXAMPLES: &str = "\
Examples:
  seekless remove --dry-run ~/Pictures          show what would be removed, what stays, and why
  seekless remove --trash ~/Pictures            move the copies to the trash
  seekless remove --reference ~/Pictures /mnt/phone
                                                remove from the phone what Pictures already has
  seekless find -o found.txt ~/Pictures         write a report, which you can edit,
  seekless hardlink --from found.txt            then act on the report
  seekless move --to ~/Duplicates --ask ~/Pictures
                                                ask for each set

Before each step, seekless checks both files again and compares them byte by byte. It names
files that have changed, and leaves them alone. 'seekless undo' undoes a run, except a removal
without --trash. Reflinked files stay separate, so there is nothing to undo.";

const EXAMPLES: &str = "\
Examples:
  seekless ~/Pictures                           find duplicates below one folder
  seekless --type image --min-size 100k ~/Pictures /mnt/phone
                                                only photos, without thumbnails
  seekless --isolate ~/Documents /mnt/backup    find files that are in both places
  seekless --unique --isolate ~/Documents /mnt/backup
                                                find files that are in one of them only
  seekless -E node_modules -E .git ~/src        skip folders by name
  find . -name '*.iso' -print0 | seekless -0    read the list of files from another program
  seekless -f json -o report.json ~/Pictures    write a report for scripts
  seekless --keep newest ~/Pictures             list first the file to keep

Write sizes as 500, 10k, 4MiB or 1GB: k, M, G, T are powers of 1000; Ki, Mi, Gi, Ti of 1024.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  seekless compare --one-way /mnt/old /mnt/backup
                                                may the old disk be wiped?
  seekless compare ~/Pictures /mnt/backup       what differs, in both directions
  seekless compare --only here ~/Pictures /mnt/phone /mnt/backup
                                                what is on the first side and on no other
  seekless compare --only here -f nul --relative ~/Pictures /mnt/backup
                                                names for rsync --from0 --files-from=-

Signs between two sides:
  =  same content at the same path (in text only if --metadata finds a difference)
  >  same content at another path
  *  different content at the same path, and this content is nowhere on the other side
  -  only on the first side
  +  only on the second side
  !  could not be compared

Exit status:
  0    yes: everything is also on another side
  1    no: something is on one side only
  2    usage error, or the question could not be answered in full; stderr says why
  130  interrupted (Ctrl-C, SIGTERM or SIGHUP)";

const PROBE_EXAMPLES: &str = "\
Examples:
  seekless probe /mnt/backup                    measure for half a minute
  seekless probe --scratch 4G --time 2m /mnt/new
                                                measure a disk that is almost empty
  seekless probe --only random,order /mnt/backup
                                                run two experiments

Measure while nothing else uses the disk: other load changes the result.";

/// Follows the examples of each command that has no answer to give.
const EXIT_STATUS: &str = "

Exit status:
  0    done
  1    done, but something could not be read or done; stderr names it
  2    usage error, or nothing could be done
  130  interrupted (Ctrl-C, SIGTERM or SIGHUP)";

/// The whole command line, for help, completions and manual pages.
pub fn command() -> clap::Command {
    with_end(Cli::command()).mut_subcommands(with_end)
}

/// Adds what stands at the end of the help of every command that has examples.
fn with_end(command: clap::Command) -> clap::Command {
    let Some(examples) = command.get_after_long_help().map(ToString::to_string) else {
        return command;
    };
    let command = command.after_help("--help shows all options, details and examples.");
    if examples.contains("Exit status:") {
        command
    } else {
        command.after_long_help(examples + EXIT_STATUS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_option_of_find_is_explained_and_grouped() {
        for arg in command().get_arguments() {
            assert!(arg.get_help().is_some(), "{}", arg.get_id());
            assert!(arg.get_help_heading().is_some(), "{}", arg.get_id());
        }
    }
}
