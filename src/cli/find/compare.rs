//! `seekless compare`: is what is on one side also on the others?

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use seekless::compare::{Comparison, ComparisonAnswer, Note, Obstacle, Question};
use seekless::engine::{self, Config, Root};
use seekless::report::comparison::{Format, Shown, write};
use seekless::report::escape::escape;
use seekless::tree::{Scope, Tree, Unseen};
use seekless::units::{count, counted, plural};

use super::watched;
use crate::cli::args::common::Talk;
use crate::cli::args::compare::CompareArgs;
use crate::cli::resolve::environment::{Environment, begin};
use crate::cli::resolve::filter::filter_spec;
use crate::cli::resolve::search::meant;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::output::OutputStream;
use crate::cli::terminal::watch;

/// All decisions of one `seekless compare`.
struct ComparisonRun {
    config: Config,
    question: Question,
    is_filtered: bool,
    /// Where relative paths start.
    folder: PathBuf,
    args: CompareArgs,
    talk: Talk,
}

/// Compares, reports and answers by the exit status.
pub fn compare(args: CompareArgs) -> Result<Exit, Stop> {
    watch::wait_for(args.patience.time());
    let run = begin(
        |around| resolve(args, around),
        |run: &ComparisonRun| run.talk,
    )?;
    let words = "interrupted: no answer (press Ctrl-C again to quit at once)";
    let nothing = Arc::<Mutex<Option<()>>>::default();
    let tree = watched(words, &nothing, |control, listener| {
        let seen = engine::classify(&run.config, Scope::AcrossRoots, listener, control);
        if control.is_cancelled() {
            return Err(Exit::Interrupted.into());
        }
        seen.or_else(refuse)
    })?;
    answer(&run, &tree)
}

fn answer(run: &ComparisonRun, tree: &Tree) -> Result<Exit, Stop> {
    let comparison = Comparison::new(tree, run.question);
    // The search has named each side that is not there.
    let is_new = |obstacle: &&Obstacle| match obstacle {
        Obstacle::Side(_, Unseen::NoRoot) => false,
        // A side that did not answer may have files; another line says that it did not answer.
        Obstacle::NoFiles(side) => ![Unseen::Unanswered, Unseen::OtherUnanswered]
            .iter()
            .any(|unseen| tree.root_gaps().contains(&(*side, *unseen))),
        _ => true,
    };
    for obstacle in comparison.obstacles.iter().filter(is_new) {
        console::complain(obstacle_words(tree, obstacle, run.is_filtered));
    }
    if !run.args.talk.quiet {
        for note in &comparison.notes {
            console::line(&format!("Note: {}.", note_words(tree, note)));
        }
        let shown = Shown {
            comparison: &comparison,
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
    Ok(match comparison.answer() {
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
    let filter = filter_spec(&args.filter, true, false, around)?;
    let is_filtered = filter.has_tests();
    Ok(ComparisonRun {
        config: Config {
            roots: args
                .sides
                .iter()
                .map(|side| Root::from(PathBuf::from(side)))
                .collect(),
            filter: filter.build()?,
            one_file_system: args.one_file_system,
            metadata: args.metadata,
            ..args.reads.config(args.patience)
        },
        question: Question {
            one_way: args.one_way,
            same_disk: args.same_disk,
        },
        is_filtered,
        folder: around.folder.clone(),
        talk: args.talk.on(around.stderr),
        args,
    })
}

fn obstacle_words(tree: &Tree, obstacle: &Obstacle, is_filtered: bool) -> String {
    let path = |side: &u32| escape(&tree.roots()[*side as usize].path);
    match obstacle {
        Obstacle::Side(side, unseen) => format!("{}: {}", path(side), unseen.words()),
        Obstacle::NoFiles(side) if tree.root_gaps().contains(&(*side, Unseen::ListedBefore)) => {
            let same = "the same folder as another side: compare needs different folders";
            format!("{}: {same}", path(side))
        }
        Obstacle::NoFiles(side) => {
            let filters = if is_filtered {
                "; the filters may exclude all files"
            } else {
                ""
            };
            let check = "no files to compare: check the path, and whether its disk is mounted";
            format!("{}: {check}{filters}", path(side))
        }
        Obstacle::Unanswered(side, entries) => {
            let entries = counted(*entries, "entry", "entries");
            format!(
                "{}: {entries} could not be compared (marked ! with the reason)",
                path(side)
            )
        }
        Obstacle::OneDisk(a, b, disks) => format!(
            "{} and {} are on one physical disk ({}): add --same-disk unless you want to wipe that disk",
            path(a),
            path(b),
            escape(disks.as_bytes())
        ),
        Obstacle::UnknownDisk(a, b) => format!(
            "cannot tell whether {} and {} are on one physical disk: add --same-disk unless you want to wipe a disk",
            path(a),
            path(b)
        ),
    }
}

fn note_words(tree: &Tree, note: &Note) -> String {
    let path = |side: &u32| escape(&tree.roots()[*side as usize].path);
    let unchanged = "this does not change the answer";
    match note {
        Note::OneCopy(side, files) => {
            let are = plural(*files, "is", "are");
            let (side, files) = (path(side), count(*files));
            let only = "as hard links to the same file: one physical copy";
            format!("{side}: {files} of its files {are} elsewhere only {only}")
        }
        Note::Metadata(files) => {
            let names = counted(*files, "name has", "names have");
            format!("{names} the same content but different metadata")
        }
        Note::OneDisk(a, b, disks) => {
            let (a, b) = (path(a), path(b));
            let disks = escape(disks.as_bytes());
            format!("{a} and {b} are on one physical disk ({disks})")
        }
        Note::Side(side, unseen) => format!("{}: {}; {unchanged}", path(side), unseen.words()),
        Note::Unanswered(side, entries) => {
            let (side, entries) = (path(side), counted(*entries, "entry", "entries"));
            format!("{side}: {entries} could not be compared; {unchanged}")
        }
    }
}
