//! What may be typed: the commands. What `find` takes is in `find_args`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};

use super::act_args::{ActArgs, HardlinkArgs, MoveArgs, RemoveArgs, SymlinkArgs};
use super::find_args::FindArgs;
use super::probe_args::ProbeArgs;
use super::search_args::PatienceArgs;

/// Finds files with the same content, reading only what can change the answer.
///
/// Give it folders or files, and it prints the sets of files with equal content. It changes
/// nothing. On a spinning disk it reads in the order in which the files lie there, on anything
/// else in parallel.
#[derive(Debug, Parser)]
#[command(
    name = "seekless",
    version,
    propagate_version = true,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    after_help = "Try 'seekless --help' for every option in full and examples.",
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
    /// Find duplicates: the default, so that 'seekless PATH' means 'seekless find PATH'.
    ///
    /// A folder that is named like a command is written with its place: 'seekless ./find'.
    #[command(
        after_help = "Try 'seekless find --help' for every option in full and examples.",
        after_long_help = EXAMPLES
    )]
    Find(Box<FindArgs>),

    /// Remove duplicates, or put them into the trash (--trash).
    ///
    /// One file of each set stays, at least. What is removed without --trash cannot be brought back.
    #[command(after_help = ACT_HINT, after_long_help = ACT_EXAMPLES)]
    Remove(Box<RemoveArgs>),

    /// Make duplicates further names (hard links) of the file that stays.
    ///
    /// All names then lead to one file: a change through one is seen through all. It works within a
    /// file system only, so one file stays on each.
    #[command(after_help = ACT_HINT, after_long_help = ACT_EXAMPLES)]
    Hardlink(Box<HardlinkArgs>),

    /// Put symbolic links to the file that stays in the place of duplicates.
    #[command(after_help = ACT_HINT, after_long_help = ACT_EXAMPLES)]
    Symlink(Box<SymlinkArgs>),

    /// Let duplicates share their blocks on disk; each remains a file of its own.
    ///
    /// The kernel compares the bytes itself. It needs a file system that can share blocks: btrfs, xfs,
    /// bcachefs and some others.
    #[command(after_help = ACT_HINT, after_long_help = ACT_EXAMPLES)]
    Reflink(Box<ActArgs>),

    /// Move duplicates to another folder, below which they keep their paths.
    #[command(after_help = ACT_HINT, after_long_help = ACT_EXAMPLES)]
    Move(Box<MoveArgs>),

    /// Take back what was done: the last run, or the one named.
    ///
    /// Moved files and those in the trash return to their places, links become files of their own again,
    /// with the owner, mode and times that they had. What changed since is named and left alone. After a
    /// crash undo also removes leftovers. It can be called again at any time. On a terminal undo says what it
    /// would do, and asks once.
    #[command(after_long_help = UNDO_EXAMPLES)]
    Undo(UndoArgs),

    /// Show the disks under each file system, how each would be read, and why.
    ///
    /// One row for each disk under each file system; then, for each file system, the layers on the
    /// way, the class and the rule that chose it, how seekless will read it, and warnings: flags
    /// that look wrong and settings that make it slower, each with the command that changes it
    /// (until the next start; try it, then measure). Nothing is read or changed, and only what
    /// you name is touched: no automount wakes, no dead server is waited for.
    #[command(after_long_help = DEVICES_EXAMPLES)]
    Devices(DevicesArgs),

    /// Measure how a disk likes to be read, and say what to set.
    ///
    /// It writes nothing of yours: it reads files below PATH, past the page cache, for half a minute,
    /// and says how many reads in flight and how many files at a time suit this disk. With
    /// --save, 'seekless find' does so from then on.
    #[command(after_long_help = PROBE_EXAMPLES)]
    Probe(ProbeArgs),

    /// Print a script that completes options in a shell.
    ///
    /// For bash: seekless completions bash > ~/.local/share/bash-completion/completions/seekless
    Completions(CompletionsArgs),

    /// Print the manual page, or write the pages of all commands into a folder.
    ///
    /// To read it at once: seekless man | man -l -
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The run, as its end and --list name it [default: the last one that did anything]
    #[arg(value_name = "RUN", conflicts_with = "list")]
    pub run: Option<String>,

    /// List the runs that have a journal
    #[arg(short, long)]
    pub list: bool,

    /// Only restore files that a run left unfinished when it was cut short: RUN, or all such runs
    ///
    /// Steps that the run finished stay done. An action on the same folders does this first, after a question
    /// or with --yes.
    #[arg(long, conflicts_with_all = ["list", "dry_run"])]
    pub sweep: bool,

    /// Print what undo would do to each file, and do nothing
    #[arg(short = 'n', long, conflicts_with = "list")]
    pub dry_run: bool,

    /// Do it without asking; without a terminal undo never asks
    #[arg(short = 'y', long, conflicts_with = "list")]
    pub yes: bool,

    /// The folder of the journals, if the run was given --journal
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,

    #[command(flatten)]
    pub patience: PatienceArgs,

    /// Print no summary; what is left alone is named all the same
    #[arg(short, long)]
    pub quiet: bool,

    /// Name every file that is as before again
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Folders, files or block devices [default: every file system on a disk or a network]
    ///
    /// A block device (/dev/sdb) stands for what is mounted from it, or for itself if nothing is.
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,

    /// Print one JSON document for programs; docs/explanation/devices.md says what its keys promise
    #[arg(long)]
    pub json: bool,

    /// Show also what is in memory, the kernel's own file systems and automount points
    #[arg(short, long, conflicts_with = "paths")]
    pub all: bool,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell that will read the script.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write one file for each command into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

const UNDO_EXAMPLES: &str = "\
Examples:
  seekless undo                                 the last run
  seekless undo --list                          what there is to undo
  seekless undo 20261121T045702Z                this run
  seekless undo --dry-run                       what undo would do to each file
  seekless undo --sweep                         only files that a killed run left unfinished

Exit status:
  0    done
  1    done, but something was left alone, or lacks its owner or rights; stderr names it
  2    wrong use, there is no such run, a run is still at work, or the last run is unknown
  130  interrupted; 'seekless undo' continues it";

const DEVICES_EXAMPLES: &str = "\
Examples:
  seekless devices                              every disk that is mounted
  seekless devices ~/Pictures /mnt/backup       what these two lie on
  seekless devices /dev/sdb                     what is mounted from this disk
  seekless devices --json | jq '.volumes[].warnings[]'
                                                only what could be improved

Exit status:
  0    done, warnings or not
  1    done, but one of the paths could not be looked at; stderr names it
  2    wrong use, or nothing could be looked at";

const ACT_HINT: &str = "Try --help in place of -h for every option in full and examples.";

const ACT_EXAMPLES: &str = "\
Examples:
  seekless remove --dry-run ~/Pictures          what would go, what stays and why
  seekless remove --trash --keep best-name,oldest ~/Pictures
                                                the copies into the trash
  seekless remove --reference ~/Pictures /mnt/phone
                                                from the phone, what is in Pictures already
  seekless remove -H --dry-run ~/src            further names (hard links) of files that stay
  seekless find -o found.txt ~/Pictures         first a report, to look at and to edit,
  seekless hardlink --from found.txt            then act on what is left of it
  seekless move --to ~/Duplicates --ask ~/Pictures
                                                one set after the other
  seekless symlink --script -o links.sh ~/src   a shell script to read and to run

Before anything is done both files are looked at again and compared byte by byte. What has
changed is left alone and named. Everything but a removal without --trash can be taken back:
seekless undo. (After reflink each file is still its own: there is nothing to take back.)

Exit status:
  0    done
  1    done, but something was left alone that should not have been; stderr names it
  2    wrong use, another run at work in the same folders, or nothing could be done
  130  interrupted; what was done by then stays done";

const EXAMPLES: &str = "\
Examples:
  seekless ~/Pictures                           duplicates below one folder
  seekless --type image --min-size 100k ~/Pictures /mnt/phone
                                                photos only, none of the thumbnails
  seekless --isolate ~/Documents /mnt/backup    only what is in both places
  seekless --unique --isolate ~/Documents /mnt/backup
                                                what is in one of the two places only
  seekless -E node_modules -E .git ~/src        leave out folders by name
  find . -name '*.iso' -print0 | seekless -0    let another program choose the files
  seekless -f json -o report.json ~/Pictures    all that is known, for a program
  seekless --keep best-name,oldest ~/Pictures   the files to keep first, marked *
  seekless --explain / /mnt/backup              how each place would be read, and why

Sizes are written 500, 10k, 4MiB or 1GB: k, M, G, T are powers of 1000, Ki, Mi, Gi, Ti of 1024.

Exit status:
  0    done
  1    done, but something could not be read or changed meanwhile; stderr names it
  2    wrong use, or nothing could be done
  130  interrupted; what was known by then has been reported";

const PROBE_EXAMPLES: &str = "\
Examples:
  seekless probe /mnt/backup                    half a minute, tables and advice
  seekless probe --save /mnt/backup             and use it from now on
  seekless probe --scratch 4G --time 2m /mnt/new
                                                a disk that holds little yet
  seekless probe --only random,order --svg disk.svg /mnt/backup
                                                two of the experiments, with a picture

Measure when nothing else uses the disk: whatever else it does is measured too.

Exit status:
  0    done; what could not be measured is said in the report
  2    wrong use, or the picture or the profile could not be written
  130  interrupted; what was measured by then has been reported";

/// The whole command line, for help, completions and manual pages.
pub fn command() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command_word;

    fn parse(line: &[&str]) -> Result<FindArgs, clap::Error> {
        let line = line.iter().map(Into::into).collect();
        let cli = Cli::try_parse_from(command_word::first(line, &command()))?;
        Ok(match cli.command {
            None => cli.find,
            Some(Command::Find(args)) => *args,
            Some(other) => panic!("{other:?} is not find"),
        })
    }

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

    #[test]
    fn find_is_the_default() {
        for line in [
            &["seekless", "-x", "a", "b"][..],
            &["seekless", "a", "-x", "b"],
            &["seekless", "find", "-x", "a", "b"],
            &["seekless", "-x", "find", "a", "b"],
            &["seekless", "--", "a", "b"],
        ] {
            let args = parse(line).expect("a good line");
            assert_eq!(args.paths.roots, ["a", "b"], "{line:?}");
        }
        assert!(
            parse(&["seekless"])
                .expect("a good line")
                .paths
                .roots
                .is_empty()
        );
    }

    #[test]
    fn folders_named_like_commands_can_be_reached() {
        for (line, root) in [
            (&["seekless", "./find"][..], "./find"),
            (&["seekless", "find", "find"], "find"),
            (&["seekless", "find", "man"], "man"),
            (&["seekless", "--", "man"], "man"),
            (&["seekless", "find", "help"], "help"),
            (&["seekless", "fin"], "fin"),
            (&["seekless", "find", "--", "-x"], "-x"),
        ] {
            let args = parse(line).expect("a good line");
            assert_eq!(args.paths.roots, [root], "{line:?}");
        }
    }

    #[test]
    fn values_are_checked_while_parsing() {
        for (line, part) in [
            (&["seekless", "--min-size", "10x"][..], "unknown size unit"),
            (&["seekless", "--type", "picture"], "image, video, audio"),
            (&["seekless", "-f", "xml"], "ndjson"),
            (&["seekless", "--threads", "floppy:1"], "floppy"),
            (&["seekless", "--max-depth", "-1"], "-1"),
            (&["seekless", "--nope"], "--nope"),
        ] {
            let error = parse(line).expect_err("a wrong line");
            assert!(error.to_string().contains(part), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
    }
}
