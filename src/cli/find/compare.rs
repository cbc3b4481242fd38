//! `seekless compare`: is what is on one side also on the others?

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use seekless::catalog::wanted::Entry;
use seekless::compare::{Comparison, ComparisonAnswer, Question, Remark};
use seekless::engine::{self, Config};
use seekless::report::comparison::{Format, Shown, write};
use seekless::report::escape::escape;
use seekless::tree::{Class, Scope, Tree, Unseen};
use seekless::units::{count, counted, plural};

use super::watched;
use crate::cli::args::compare::CompareArgs;
use crate::cli::resolve::catalog_roots;
use crate::cli::resolve::environment::{Environment, begin};
use crate::cli::resolve::filter::filter_spec;
use crate::cli::resolve::search::meant;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::output::OutputStream;

/// All decisions of one `seekless compare`.
struct ComparisonRun {
    config: Config,
    question: Question,
    is_filtered: bool,
    /// Where relative paths start.
    folder: PathBuf,
    args: CompareArgs,
}

/// Compares, reports and answers by the exit status.
pub fn compare(args: CompareArgs) -> Result<Exit, Stop> {
    let run = begin(args.talk, args.reads.patience(), |around| {
        resolve(args, around)
    })?;
    if !run.args.talk.quiet {
        catalog_roots::tell(&run.config);
    }
    let words = "interrupted: no answer (press Ctrl-C again to quit at once)";
    let wanted = catalog_roots::wanted_place(run.args.wanted.as_deref(), &run.config)?;
    let nothing = Arc::<Mutex<Option<()>>>::default();
    let (tree, files) = watched(words, &nothing, |control, listener| {
        if wanted.is_some() {
            listener.keep_wanted();
        }
        let seen = engine::classify(&run.config, Scope::AcrossRoots, listener, control);
        if control.is_cancelled() {
            return Err(Exit::Interrupted.into());
        }
        Ok((seen.or_else(refuse)?, listener.wanted()))
    })?;
    let comparison = Comparison::new(&tree, run.question);
    catalog_roots::write_wanted(wanted, needed(&comparison, files))?;
    answer(&run, &comparison)
}

/// The files of catalogs of which the answer needs more. Where only the first side is asked about and nothing of it is
/// open, but the answer is, all may matter.
fn needed(comparison: &Comparison<'_>, mut files: Vec<Entry>) -> Vec<Entry> {
    let is_open = comparison.answer() == ComparisonAnswer::Unknown;
    if comparison.question().one_way && (comparison.sides[0].unanswered > 0 || !is_open) {
        let open = open_sizes(comparison.tree());
        files.retain(|file| open.contains(&file.size));
    }
    files
}

/// The sizes of the files of the first side whose content was not found on another one, outside of its trash.
fn open_sizes(tree: &Tree) -> BTreeSet<u64> {
    let is_of_first = |&name: &u32| tree.root_of(tree.folder_of(name)) == 0;
    let set = |name| match tree.class(tree.file_of(name)) {
        Class::Set(set) => Some(set),
        _ => None,
    };
    let kept = (0..tree.name_count()).filter(|&name| !tree.is_in_trash(tree.folder_of(name)));
    let others = kept.filter(|name| !is_of_first(name));
    let found: BTreeSet<u32> = others.filter_map(set).collect();
    let is_open = |&name: &u32| !set(name).is_some_and(|set| found.contains(&set));
    let open = (0..tree.name_count()).filter(is_of_first).filter(is_open);
    open.map(|name| tree.size(tree.file_of(name))).collect()
}

fn answer(run: &ComparisonRun, comparison: &Comparison<'_>) -> Result<Exit, Stop> {
    let tree = comparison.tree();
    // The search has named each side that is not there.
    let is_new = |obstacle: &&Remark| match obstacle {
        Remark::Side(_, Unseen::NoRoot) => false,
        // A side that did not answer may have files; another line says that it did not answer.
        Remark::NoFiles(side) => ![Unseen::Unanswered, Unseen::OtherUnanswered]
            .iter()
            .any(|unseen| tree.root_gaps().contains(&(*side, *unseen))),
        _ => true,
    };
    for obstacle in comparison.obstacles.iter().filter(is_new) {
        let (words, more, _) = words(tree, obstacle, run.is_filtered);
        console::complain(format_args!("{words}{more}"));
    }
    if !run.args.talk.quiet {
        for note in &comparison.notes {
            let (words, _, more) = words(tree, note, run.is_filtered);
            console::line(&format!("Note: {words}{more}."));
        }
        let shown = Shown {
            comparison,
            only: run.args.only,
            folder: run.folder.as_os_str().as_bytes(),
            is_filtered: run.is_filtered,
            relative: run.args.relative,
        };
        let place = OutputStream::open(None);
        let mut place = place.or_else(refuse)?;
        let written = place.write(|out| write(run.args.format, &shown, out));
        let written = written.and_then(|()| place.finish());
        // Whoever closed the pipe did not hear all of the answer.
        written.map_err(|error| error.ends(Some(Exit::Nothing)))?;
    }
    let answer = comparison.answer();
    let is_of_catalogs = comparison.sides.iter().any(|side| side.of_catalogs > 0);
    if answer == ComparisonAnswer::Unknown && is_of_catalogs && !run.args.talk.quiet {
        console::line(&catalog_roots::next_command(run.args.wanted.as_deref()));
    }
    Ok(match answer {
        ComparisonAnswer::Yes => Exit::Done,
        ComparisonAnswer::No => Exit::SomeLeft,
        ComparisonAnswer::Unknown => Exit::Nothing,
    })
}

fn resolve(args: CompareArgs, around: &mut Environment<'_>) -> Result<ComparisonRun, Stop> {
    meant(&args.sides)?;
    if args.relative && args.format != Format::Nul {
        return refuse("--relative is for bare names: use it with -f nul");
    }
    if args.format == Format::Nul && args.only.is_none() {
        return refuse(
            "-f nul lists names without their signs: add --only here, there, moved or changed",
        );
    }
    let filter = filter_spec(&args.filter, true, around)?;
    let is_filtered = filter.has_tests();
    let sides = args.sides.iter();
    let roots = sides.map(|side| catalog_roots::root(PathBuf::from(side)));
    let config = Config {
        roots: roots.collect::<Result<_, _>>()?,
        filter: filter.build()?,
        one_file_system: args.one_file_system,
        metadata: args.metadata,
        ..args.reads.config()
    };
    if args.metadata {
        catalog_roots::refuse_catalogs(&config, "it has no extended attributes: omit --metadata")?;
    }
    Ok(ComparisonRun {
        config,
        question: Question {
            one_way: args.one_way,
            same_disk: args.same_disk,
        },
        is_filtered,
        folder: around.folder.clone(),
        args,
    })
}

/// The words of a remark, and what follows them if it is an obstacle, or a note.
fn words(tree: &Tree, remark: &Remark, is_filtered: bool) -> (String, &'static str, &'static str) {
    const UNCHANGED: &str = "; this does not change the answer";
    let path = |side: &u32| escape(&tree.roots()[*side as usize].path);
    match remark {
        Remark::Side(side, unseen) => {
            let words = format!("{}: {}", path(side), unseen.words());
            (words, "", UNCHANGED)
        }
        Remark::NoFiles(side) => {
            let check = "no files to compare: check the path, and whether its disk is mounted";
            let filters = "; the filters may exclude all files";
            let more = if is_filtered { filters } else { "" };
            (format!("{}: {check}", path(side)), more, "")
        }
        Remark::Unanswered(side, entries) => {
            let (side, entries) = (path(side), counted(*entries, "entry", "entries"));
            let words = format!("{side}: {entries} could not be compared");
            (words, " (marked ! with the reason)", UNCHANGED)
        }
        Remark::OneDisk(a, b, disks) => {
            let (a, b, disks) = (path(a), path(b), escape(disks.as_bytes()));
            let words = format!("{a} and {b} are on one physical disk ({disks})");
            (
                words,
                ": add --same-disk unless you want to wipe that disk",
                "",
            )
        }
        Remark::UnknownDisk(a, b) => {
            let (a, b) = (path(a), path(b));
            let words = format!("cannot tell whether {a} and {b} are on one physical disk");
            (
                words,
                ": add --same-disk unless you want to wipe a disk",
                "",
            )
        }
        Remark::OneCopy(side, files) => {
            let are = plural(*files, "is", "are");
            let (side, files) = (path(side), count(*files));
            let only = "as hard links to the same file: one physical copy";
            (
                format!("{side}: {files} of its files {are} elsewhere only {only}"),
                "",
                "",
            )
        }
        Remark::Metadata(files) => {
            let names = counted(*files, "name has", "names have");
            (
                format!("{names} the same content but different metadata"),
                "",
                "",
            )
        }
    }
}
