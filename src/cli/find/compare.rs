//! `seekless compare`: is what is on one side also on the others?

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use seekless::compare::{Comparison, ComparisonAnswer, Note, Obstacle, Question};
use seekless::engine::{self, Config, Control, Root};
use seekless::report::comparison::{Format, Shown, write};
use seekless::report::escape::escape;
use seekless::tree::{Scope, Tree, Unseen};
use seekless::units::{count, counted, plural};

use crate::cli::args::common::Talk;
use crate::cli::args::compare::CompareArgs;
use crate::cli::front::in_force::InForce;
use crate::cli::front::problems::Listener;
use crate::cli::resolve::environment::{Environment, begin};
use crate::cli::resolve::filter::{filter_spec, typed};
use crate::cli::resolve::search::meant;
use crate::cli::resolve::wrong_use::{WrongUse, contradiction};
use crate::cli::terminal::console::Console;
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::{sanitize, watch};

/// All decisions of one `seekless compare`.
struct ComparisonRun {
    config: Config,
    question: Question,
    filters: Vec<String>,
    /// Where relative paths start.
    folder: PathBuf,
    /// Characters in a line of standard output, if that is a terminal.
    columns: Option<usize>,
    args: CompareArgs,
    talk: Talk,
}

/// Compares, reports and answers by the exit status.
pub fn compare(args: CompareArgs, in_force: &InForce) -> Result<Exit, Exit> {
    watch::wait_for(args.patience.time());
    let (run, console) = begin(
        |around| resolve(args, around),
        |run: &ComparisonRun| run.talk,
    )?;
    if run.talk.summary {
        console.sentences(in_force.line());
    }
    let control = Arc::<Control>::default();
    let listener = Listener::new(&console);
    let words = "interrupted: no answer (press Ctrl-C again to quit at once)";
    let seen = watch::search(
        &control,
        words,
        || (),
        || engine::classify(&run.config, Scope::AcrossRoots, &listener, &control),
    );
    watch::over();
    listener.sum_up();
    let tree = seen.or_else(|error| console.refuse(error))?;
    if control.is_cancelled() {
        return Err(Exit::Interrupted);
    }
    answer(&run, &tree, &console)
}

fn answer(run: &ComparisonRun, tree: &Tree, console: &Console) -> Result<Exit, Exit> {
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
        console.complain(&obstacle_words(tree, obstacle, !run.filters.is_empty()));
    }
    if !run.args.talk.quiet {
        for note in &comparison.notes {
            console.sentence(&format!("Note: {}.", note_words(tree, note)));
        }
        let shown = Shown {
            comparison: &comparison,
            only: run.args.only,
            folder: run.folder.as_os_str().as_bytes(),
            filters: &run.filters,
            relative: run.args.relative,
            columns: run.columns,
        };
        let mut out = BufWriter::new(io::stdout().lock());
        let written = write(run.args.format, &shown, &mut out).and_then(|()| out.flush());
        match written {
            Ok(()) => {}
            // Whoever closed the pipe did not hear all of the answer.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(Exit::Nothing),
            Err(error) => {
                return console.refuse(format!("cannot write to standard output: {error}"));
            }
        }
    }
    Ok(match comparison.answer() {
        ComparisonAnswer::Yes => Exit::Done,
        ComparisonAnswer::No => Exit::SomeLeft,
        ComparisonAnswer::Unknown => Exit::Nothing,
    })
}

/// The parts of a path, without those that lead nowhere else.
fn parts(side: &OsString) -> Vec<Component<'_>> {
    let parts = Path::new(side).components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

fn resolve(args: CompareArgs, around: &mut Environment<'_>) -> Result<ComparisonRun, WrongUse> {
    meant(&args.sides)?;
    let is_same = |side: &OsString| {
        let others = args.sides.iter();
        others.filter(|other| parts(other) == parts(side)).count() > 1
    };
    if let Some(twice) = args.sides.iter().find(|side| is_same(side)) {
        return contradiction(format!(
            "{} was given twice: compare needs different sides; 'seekless PATH' finds duplicates in one folder",
            sanitize::path(Path::new(twice))
        ));
    }
    if args.relative && args.format != Format::Nul {
        return contradiction("--relative is for bare names: use it with -f nul");
    }
    if args.format == Format::Nul && args.only.is_none() {
        return contradiction(
            "-f nul lists names without their signs: add --only here, there, moved or changed",
        );
    }
    let filter = filter_spec(&args.filter, true, false, around)?;
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
        filters: typed(&args.filter),
        folder: around.folder.clone(),
        columns: around.stdout.is_terminal.then_some(around.stdout.columns),
        talk: args.talk.on(around.stderr),
        args,
    })
}

fn obstacle_words(tree: &Tree, obstacle: &Obstacle, is_filtered: bool) -> String {
    let path = |side: &u32| escape(&tree.roots()[*side as usize].path);
    match obstacle {
        Obstacle::Side(side, unseen) => format!("{}: {}", path(side), unseen.words()),
        Obstacle::NoFiles(side) if tree.root_gaps().contains(&(*side, Unseen::ListedBefore)) => {
            format!(
                "{}: the same folder as another side: compare needs different folders",
                path(side)
            )
        }
        Obstacle::NoFiles(side) => format!(
            "{}: no files to compare: check the path, and whether its disk is mounted{}",
            path(side),
            if is_filtered {
                "; the filters may exclude all files"
            } else {
                ""
            }
        ),
        Obstacle::Unanswered(side, entries) => format!(
            "{}: {} could not be compared; {} marked ! with the reason",
            path(side),
            counted(*entries, "entry", "entries"),
            plural(*entries, "it is", "they are")
        ),
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
    match note {
        Note::OneCopy(side, files) => format!(
            "{}: {} of its files {} elsewhere only as hard links to the same file: one physical copy",
            path(side),
            count(*files),
            plural(*files, "is", "are")
        ),
        Note::Metadata(files) => format!(
            "{} the same content but different metadata",
            counted(*files, "name has", "names have")
        ),
        Note::OneDisk(a, b, disks) => format!(
            "{} and {} are on one physical disk ({})",
            path(a),
            path(b),
            escape(disks.as_bytes())
        ),
        Note::Side(side, unseen) => format!(
            "{}: {}; this does not change the answer",
            path(side),
            unseen.words()
        ),
        Note::Unanswered(side, entries) => format!(
            "{}: {} could not be compared; this does not change the answer",
            path(side),
            counted(*entries, "entry", "entries")
        ),
    }
}
