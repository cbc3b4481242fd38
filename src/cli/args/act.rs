//! Arguments of `seekless remove`, `hardlink`, `symlink`, `reflink` and `move`; `resolve/act.rs` interprets them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seekless::action::keep::RULES;
use seekless::action::plan::Sidecars;

use super::common::{ConfigArgs, DocumentFormat, TalkArgs, at_least_one, ids};
use super::search::{FilterArgs, PathArgs, ReadArgs, SearchArgs};

#[derive(Args, Clone, Debug)]
pub struct ActArgs {
    /// Act on a report of 'seekless find' (text, json or ndjson), or, for remove and move, 'seekless folders' (json or
    /// ndjson); - means standard input
    ///
    /// You may edit a text report first: delete the lines of names to leave alone, or move * to the name to keep.
    /// seekless checks each file again before it acts. With PATH, it acts only on files below PATH. With --yes, a
    /// report that another user owns or can write to requires a PATH. In a report of folders, which only 'remove' and
    /// 'move' read, delete the entries of the folders to keep.
    #[arg(
        long,
        value_name = "REPORT",
        conflicts_with_all = ids::<SearchArgs>().into_iter().chain(ids::<FilterArgs>()),
        help_heading = "Where to search"
    )]
    pub from: Option<PathBuf>,

    #[command(flatten)]
    pub paths: PathArgs,

    #[command(flatten)]
    pub filter: FilterArgs,

    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub reads: ReadArgs,

    /// Also act on pictures, films and sound that differ in their tags only; needs remove --trash or move
    ///
    /// seekless keeps the file with the most tags, or the one that --keep prefers. A file that has another orientation,
    /// other colours, maker notes or parts beside the picture, such as a film, is another picture here. Before a file goes, seekless
    /// reads and compares again what both files show. The photo and the film of a Live Photo are known by the identifier
    /// in both, whatever their names are.
    #[arg(long, conflicts_with_all = ["from", "newer"], help_heading = "What counts as a duplicate")]
    pub ignore_tags: bool,

    #[command(flatten)]
    pub stay: StayArgs,

    #[command(flatten)]
    pub way: WayArgs,

    #[command(flatten)]
    pub talk: TalkArgs,

    #[command(flatten)]
    pub config: ConfigArgs,
}

/// Which files to keep.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Which files to keep")]
pub struct StayArgs {
    #[arg(
        short = 'k',
        long,
        value_name = "RULE",
        help = "Keep the file that RULE prefers: newest, shortest-path, 'under DIR', best-name, …",
        long_help = keep_help("Keep the file of each set that RULE prefers")
    )]
    pub keep: Vec<String>,

    /// Keep at least N files of each set
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one::<u64>)]
    pub keep_n: u64,

    /// Only act on copies of files in DIR, and keep the files in DIR
    ///
    /// seekless searches DIR as well. It leaves a set alone if none of its files is in DIR. Can be repeated: a file in
    /// one of the folders is enough. To prefer DIR without this restriction, use --keep 'under DIR' and give DIR as a
    /// PATH.
    #[arg(long, value_name = "DIR")]
    pub reference: Vec<OsString>,

    /// Never change this folder or file, or files that match this pattern
    ///
    /// A pattern that matches a folder protects everything in it. A text with *, ?, [ or { that is also the path of a
    /// file protects that file and what the pattern matches. Protected files stay, and their copies elsewhere can be
    /// removed. Can be repeated.
    #[arg(long, value_name = "DIR|GLOB")]
    pub protect: Vec<OsString>,

    /// Change nothing outside DIR
    ///
    /// Files outside DIR stay, and their copies in DIR can be removed. Can be repeated. Nothing outside the given PATHs
    /// is changed in any case.
    #[arg(long, value_name = "DIR")]
    pub only_under: Vec<OsString>,

    /// How remove and move treat files that belong together by name: a photo or film and its sidecar files (.xmp, .aae,
    /// ...), RAW and JPEG files, or a live photo and its .mov file
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Sidecars::KeepTogether)]
    pub sidecars: Sidecars,
}

/// How to act.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How to act")]
pub struct WayArgs {
    /// Print the plan and change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Set the format of the plan that --dry-run prints
    #[arg(
        short = 'f',
        long,
        value_enum,
        value_name = "FORMAT",
        default_value_t = DocumentFormat::Text
    )]
    pub format: DocumentFormat,

    /// Write the plan to FILE; FILE is replaced only when it is complete
    ///
    /// seekless refuses to replace a file that is neither empty nor an earlier result of seekless.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Ask for each set which files to keep
    ///
    /// If you stop, the remaining sets are left alone.
    #[arg(long)]
    pub ask: bool,

    /// Do not ask; required without a terminal
    #[arg(short = 'y', long)]
    pub yes: bool,

    /// Keep the journal, which undo needs, in DIR
    ///
    /// seekless creates DIR if it does not exist. No other user may be able to write there. Give undo the same
    /// --journal DIR. [default: $XDG_STATE_HOME/seekless/journals, or ~/.local/state/seekless/journals]
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,

    /// Allow what seekless otherwise does not do
    ///
    /// Can be repeated. Write several values with commas: --allow managed,shared
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub allow: Vec<Allowed>,
}

/// Options of single commands; each command shows its own.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How to act")]
pub struct RemoveArgs {
    #[command(flatten)]
    pub act: ActArgs,

    /// Move the files to the trash, so that they can be restored
    ///
    /// A file for which no trash can be used stays, and the plan says why.
    #[arg(long, conflicts_with = "no_trash")]
    pub trash: bool,

    /// Remove the files permanently, although a configuration file sets --trash
    #[arg(long)]
    pub no_trash: bool,

    #[command(flatten)]
    pub taking: TakingArgs,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How to act")]
pub struct HardlinkArgs {
    #[command(flatten)]
    pub act: ActArgs,

    /// Only link files that have the same owner, mode, modification time and extended attributes
    ///
    /// A hard link has the metadata of the kept file. Without this option, seekless says what differs.
    #[arg(long)]
    pub same_metadata: bool,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How to act")]
pub struct SymlinkArgs {
    #[command(flatten)]
    pub act: ActArgs,

    /// Only link files that have the same owner, mode, modification time and extended attributes
    ///
    /// A program that opens the link gets the kept file, with its metadata.
    #[arg(long)]
    pub same_metadata: bool,

    /// Create links with absolute paths instead of relative ones
    #[arg(long)]
    pub absolute: bool,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How to act")]
pub struct MoveArgs {
    #[command(flatten)]
    pub act: ActArgs,

    /// Move the files into DIR, and keep their full paths below DIR
    #[arg(long, value_name = "DIR", required = true)]
    pub to: PathBuf,

    #[command(flatten)]
    pub taking: TakingArgs,
}

/// Options of the commands that take files out of their folders.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How to act")]
pub struct TakingArgs {
    /// Move sidecar files that have no copy beside the photo or film that stays, so that the duplicate can go; needs
    /// remove --trash or move
    ///
    /// Without this option a photo stays if it has a sidecar file (.xmp, .aae, ...) that the kept copy does not have.
    /// With it, a.xmp of a.jpg becomes b.xmp beside b.jpg, and a.jpg goes. Nothing is replaced: if b.jpg has a b.xmp that
    /// differs, a.jpg and a.xmp stay, and the plan says so. Undo brings the sidecar file back.
    #[arg(
        long,
        conflicts_with = "sidecars",
        help_heading = "Which files to keep"
    )]
    pub carry_sidecars: bool,

    /// Also remove the folders that are empty afterwards
    ///
    /// seekless removes a folder, and then the folders above it, only if this run emptied it and it lies below a given
    /// PATH. It never removes a PATH itself, a folder given with another option, or a mount point. A folder that holds
    /// anything else, even a hidden file, stays. Undo restores the folders after 'move' and 'remove --trash'. With
    /// --from a report of files, give a PATH.
    #[arg(long)]
    pub remove_empty_folders: bool,
}

/// What an action may do only if it is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Allowed {
    /// Change what lies in hidden folders, and in folders that a program manages (a Git work tree, a mail folder)
    Managed,
    /// As root, remove files whose kept copy belongs to another owner. hardlink and symlink: link files whose owner,
    /// ACL, security labels or permissions for group and others differ from those of the kept file
    OtherOwners,
    /// As root, act also in folders that users other than root and the owner of the file may change, on the way to a
    /// file, to its kept copy or to its destination
    Shared,
    /// As root, follow symbolic links in the given paths that belong neither to root nor to the owner of their target
    LinksOfOthers,
    /// remove, move: let a copy count that only a catalog knows. Its disk is not plugged in, so that no bytes can be
    /// compared with it: the digest of the file that goes is compared with the catalog's
    Catalog,
    /// Act on files that may be one file, seen twice: mounts that answer from a cached listing (rclone, unknown FUSE
    /// programs) can show the same folder, so that the only copy would be removed. Also act on a file that hides other
    /// files on the branches of a mergerfs mount
    UnprovenMounts,
}

/// The rules, behind a first line.
pub fn keep_help(first: &str) -> String {
    let mut help = format!(
        "{first}\n\n\
        Rules apply in the given order: --keep newest,shortest-path, or --keep newest --keep shortest-path. \
        Each rule decides among the files that the rules before it leave tied. If no rule decides, or none \
        is given, the default order does: the folder that was given first, best-name, oldest, the path.\n"
    );
    for rule in RULES {
        let argument = rule.argument.map(|a| format!(" {a}")).unwrap_or_default();
        help.push_str(&format!("\n- {}{argument}: {}", rule.name, rule.about));
    }
    help
}
