//! What may be typed after `seekless remove`, `hardlink`, `symlink`, `reflink` and `move`, raw. What it
//! means is decided in `resolve_act`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seekless::action::keep::RULES;

use super::search_args::{NamesArgs, PathArgs, PatienceArgs, ReadArgs, SearchArgs};
use super::talk_args::TalkArgs;

#[derive(Args, Clone, Debug)]
pub struct ActArgs {
    /// Act on a report of 'seekless find' (text, json or ndjson); - is standard input
    ///
    /// A report in text may be edited first: names whose lines were taken out are left alone, and * may
    /// be moved to the name to keep. Every file is looked at again before anything is done to it. With a PATH,
    /// only files below it take part. With --yes, a report that another user owns or may write to needs a PATH.
    #[arg(
        long,
        value_name = "REPORT",
        conflicts_with = "SearchArgs",
        help_heading = "Where to look"
    )]
    pub from: Option<PathBuf>,

    #[command(flatten)]
    pub paths: PathArgs,

    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub reads: ReadArgs,

    #[command(flatten, next_help_heading = "Where to look")]
    pub patience: PatienceArgs,

    /// As root, follow symbolic links on the way to the given paths, whoever owns them
    ///
    /// Without this option root refuses a path (also of --to, --reference, --only-under and --protect) if a link on the
    /// way to it belongs neither to root nor to the owner of what it leads to.
    #[arg(long, help_heading = "Where to look")]
    pub follow_roots: bool,

    #[command(flatten)]
    pub names: NamesArgs,

    #[command(flatten)]
    pub stay: StayArgs,

    #[command(flatten)]
    pub way: WayArgs,

    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Which files stay.
#[derive(Args, Clone, Debug)]
pub struct StayArgs {
    #[arg(
        short = 'k',
        long,
        value_name = "RULE",
        help = "Which file of a set stays: newest, shortest-path, 'under DIR', best-name, …",
        long_help = keep_help("Which file of a set stays"),
        help_heading = "Which files stay"
    )]
    pub keep: Vec<String>,

    /// At least N files of each set stay
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Which files stay")]
    pub keep_n: u64,

    /// Act only on copies of what is in DIR; the files in DIR stay
    ///
    /// DIR is searched as well. A set without a file in DIR is left alone, however many copies it has
    /// elsewhere. (To prefer DIR in all sets instead, use --keep 'under DIR' and give DIR as a PATH.) May be
    /// repeated: a file of the set in one of the folders is enough.
    #[arg(long, value_name = "DIR", help_heading = "Which files stay")]
    pub reference: Vec<OsString>,

    /// Never touch this folder or file, or what matches this pattern; it counts as kept
    ///
    /// A pattern that matches a folder protects everything in it. May be repeated.
    #[arg(long, value_name = "DIR|GLOB", help_heading = "Which files stay")]
    pub protect: Vec<OsString>,

    /// Touch nothing outside this folder; what lies outside counts as kept
    ///
    /// May be repeated.
    #[arg(long, value_name = "DIR", help_heading = "Which files stay")]
    pub only_under: Vec<OsString>,

    /// What becomes of files that belong together by their names: a photo and its .xmp, .aae, .thm,
    /// RAW and JPEG, a live photo and its .mov
    #[arg(long, value_enum, value_name = "HOW", default_value_t = SidecarChoice::Tell, help_heading = "Which files stay")]
    pub sidecars: SidecarChoice,
}

/// How it is done.
#[derive(Args, Clone, Debug)]
pub struct WayArgs {
    /// Print what would be done, and do nothing
    #[arg(
        short = 'n',
        long,
        conflicts_with = "script",
        help_heading = "How it is done"
    )]
    pub dry_run: bool,

    /// How the plan of --dry-run is written
    #[arg(
        short = 'f',
        long,
        value_enum,
        value_name = "FORMAT",
        default_value_t = PlanFormat::Text,
        help_heading = "How it is done"
    )]
    pub format: PlanFormat,

    /// Write a shell script that does it, and do nothing
    ///
    /// For sh and the usual tools. It compares each pair of files once more before it acts, and can be
    /// read and edited before it is run. The re-checks of seekless itself are stronger, and can be
    /// undone.
    #[arg(long, help_heading = "How it is done")]
    pub script: bool,

    /// Write the plan or the script into FILE, as a whole or not at all
    #[arg(
        short = 'o',
        long,
        value_name = "FILE",
        help_heading = "How it is done"
    )]
    pub output: Option<PathBuf>,

    /// Ask for each set which of its files stay
    ///
    /// Answers are remembered: a run that is broken off goes on where it was.
    #[arg(long, help_heading = "How it is done")]
    pub ask: bool,

    /// Do it without asking; needed where there is no terminal
    #[arg(short = 'y', long, help_heading = "How it is done")]
    pub yes: bool,

    /// Keep the journal, which undo needs, in this folder
    ///
    /// The folder must hold nothing but journals; it is made if it is missing. Give undo the same --journal DIR.
    /// [default: $XDG_STATE_HOME/seekless/journals, below ~/.local/state if that is not set]
    #[arg(long, value_name = "DIR", help_heading = "How it is done")]
    pub journal: Option<PathBuf>,

    /// Act even if nothing proves that files on two mounts are different files
    ///
    /// Some programs look names up in a cached listing (rclone; seekless assumes it of FUSE programs that it does not
    /// know). If such a mount shows the folder of the other file a second time, the kept file can be the file that is
    /// removed. Without this option, remove, hardlink and symlink leave such files alone.
    #[arg(long, help_heading = "How it is done")]
    pub trust_mounts: bool,

    /// Do not compare bytes right before acting; believe the digests
    ///
    /// Then files must not have changed in any way since they were found.
    #[arg(long, help_heading = "How it is done")]
    pub trust_hash: bool,
}

/// Options of single commands; each command shows its own.
#[derive(Args, Clone, Debug)]
pub struct RemoveArgs {
    #[command(flatten)]
    pub act: ActArgs,

    /// Put the files into the trash instead, from where they can be brought back
    #[arg(long, help_heading = "How it is done")]
    pub trash: bool,

    /// As root, also remove files whose kept file belongs to another owner
    ///
    /// Without this option root keeps one file of each owner in each set. For other users this option changes nothing.
    /// The plan says for how many files the kept file belongs to another owner.
    #[arg(long, help_heading = "How it is done")]
    pub across_owners: bool,
}

#[derive(Args, Clone, Debug)]
pub struct HardlinkArgs {
    #[command(flatten)]
    pub act: ActArgs,

    /// Link only files that have the same owner, mode, modification time and extended attributes
    ///
    /// A hard link has the metadata of the file that stays. Without this option the run says what differs.
    #[arg(long, help_heading = "How it is done")]
    pub same_metadata: bool,

    /// Link also files of different owners, or files that different people may read or write
    ///
    /// A hard link has the owner, the permissions and the ACL of the file that stays. Without this option files are
    /// linked only if their owner, their ACL, their security labels and what group and others may read and write
    /// are the same.
    #[arg(long, help_heading = "How it is done")]
    pub across_owners: bool,
}

#[derive(Args, Clone, Debug)]
pub struct SymlinkArgs {
    #[command(flatten)]
    pub act: ActArgs,

    /// Link only files that have the same owner, mode, modification time and extended attributes
    ///
    /// Whoever opens the link gets the file that stays, with its metadata.
    #[arg(long, help_heading = "How it is done")]
    pub same_metadata: bool,

    /// Link also files of different owners, or files that different people may read or write
    ///
    /// Whoever opens the link gets the file that stays. Without this option files are linked only if their owner,
    /// their ACL, their security labels and what group and others may read and write are the same.
    #[arg(long, help_heading = "How it is done")]
    pub across_owners: bool,

    /// Write absolute paths into the links, not paths relative to their folders
    #[arg(long, help_heading = "How it is done")]
    pub absolute: bool,
}

#[derive(Args, Clone, Debug)]
pub struct MoveArgs {
    #[command(flatten)]
    pub act: ActArgs,

    /// The folder to move to; below it each file keeps its whole path
    #[arg(
        long,
        value_name = "DIR",
        required = true,
        help_heading = "How it is done"
    )]
    pub to: PathBuf,
}

/// How a plan is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// For people
    Text,
    /// One document for programs; docs/reference/formats.md says what its keys promise
    Json,
}

/// What becomes of companions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SidecarChoice {
    /// Each goes or stays by itself; what would be torn apart is named
    Tell,
    /// They go together or stay together
    KeepTogether,
    /// They are not looked for
    Ignore,
}

/// The rules, behind a first line.
pub fn keep_help(first: &str) -> String {
    let mut help = format!(
        "{first}\n\n\
        Rules are asked in the order in which they are given (--keep newest --keep shortest-path, or \
        --keep newest,shortest-path); the next one decides between files that are equal for the one \
        before, and what is listed first stays if none can. Without any rule it is what is listed first.\n"
    );
    for rule in RULES {
        let argument = rule.argument.map(|a| format!(" {a}")).unwrap_or_default();
        help.push_str(&format!("\n- {}{argument}: {}", rule.name, rule.about));
    }
    help
}
