//! `seekless folders`: a run from its arguments to its exit status.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use seekless::acting::outermost;
use seekless::engine::{self, Config, Control, Root};
use seekless::folders::{FoldersAnswer, NOISE, Percent, Seen, Wanted};
use seekless::heartbeat::current;
use seekless::report::Style;
use seekless::report::fit::fitting;
use seekless::report::folders::FolderReport;
use seekless::scan::{FilterSpec, Globs};
use seekless::tree::{EntryKind, RootPlace, Scope, Tree, Unseen};
use seekless::units::{Bytes, count, counted};

use crate::cli::act::gather;
use crate::cli::args::common::Talk;
use crate::cli::args::folders::FoldersArgs;
use crate::cli::front::in_force::InForce;
use crate::cli::front::problems::Listener;
use crate::cli::resolve::environment::{Environment, begin};
use crate::cli::resolve::search::meant;
use crate::cli::resolve::wrong_use::{WrongUse, contradiction, meant_as_file};
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::output::{Ended, OutputStream, dropping};
use crate::cli::terminal::{sanitize, watch};

/// All decisions of one `seekless folders`.
struct FoldersRun {
    args: FoldersArgs,
    config: Config,
    /// Folders with such names get a line; all, if nothing is said.
    names: Option<Globs>,
    is_noise: Option<Globs>,
    style: Style,
    /// Where relative paths start.
    folder: PathBuf,
    talk: Talk,
}

/// Looks at folders and says what they have in common.
pub fn folders(args: FoldersArgs, in_force: &InForce) -> Result<Exit, Exit> {
    watch::wait_for(args.patience.time());
    let (run, console) = begin(|around| resolve(args, around), |run: &FoldersRun| run.talk)?;
    // Before any work is done.
    let place = OutputStream::open(run.args.output.as_deref(), &console);
    let place = place.or_else(|error| console.refuse(error))?;
    let place = Arc::new(Mutex::new(Some(place)));
    let control = Arc::<Control>::default();
    let listener = Listener::new(&console);
    let words = "interrupted: folders that were not read completely get no verdict";
    let told = watch::search(&control, words, dropping(&place), || {
        drive(&run, &place, &control, &listener)
    });
    watch::over();
    listener.sum_up();
    if control.is_cancelled() && told.is_err() {
        return Err(Exit::Interrupted);
    }
    let told = told.map_err(|ended| ended.exit(&console))?;
    if run.talk.summary {
        let width = run.talk.columns.unwrap_or(usize::MAX);
        console.lines(fitting(told.lines(), width));
        console.sentences(in_force.line());
    } else if let Some(line) = told.incomplete() {
        // The reason for the exit status is not left out.
        console.complain(&line);
    }
    let exit = listener.exit(run.config.roots.len(), 1);
    Ok(match told.unidentified {
        0 => exit,
        _ => exit.worse(Exit::SomeLeft),
    })
}

fn resolve(mut args: FoldersArgs, around: &mut Environment<'_>) -> Result<FoldersRun, WrongUse> {
    meant_as_file(args.output.as_deref())?;
    if args.noise.is_empty() {
        args.noise = NOISE.map(str::to_owned).to_vec();
    }
    // Empty files take part: they are noise, and are counted as such.
    let every_file = FilterSpec {
        keep_empty: true,
        working_folder: around.folder.clone(),
        ..FilterSpec::default()
    };
    let sink = around.sink(args.output.as_deref());
    Ok(FoldersRun {
        config: Config {
            roots: roots(&args.roots)?,
            filter: every_file.build()?,
            one_file_system: args.one_file_system,
            ..args.reads.config(args.patience)
        },
        names: Globs::new(&args.name, false)?,
        is_noise: Globs::new(&args.noise, false)?,
        style: sink.style(args.talk.color),
        folder: around.folder.clone(),
        talk: args.talk.on(around.stderr),
        args,
    })
}

/// The given folders, but for those that lie below others: they are seen there.
fn roots(given: &[OsString]) -> Result<Vec<Root>, WrongUse> {
    meant(given)?;
    if given.is_empty() {
        return Ok(vec![Root::from(PathBuf::from("."))]);
    }
    let paths: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
    // These are the first calls on the given paths.
    let is_file = |path: &&PathBuf| {
        current::ask_about(path.as_os_str().as_bytes());
        fs::metadata(path).is_ok_and(|is| is.is_file())
    };
    match paths.iter().find(is_file) {
        None => Ok(outermost(paths).into_iter().map(Root::from).collect()),
        Some(file) => contradiction(format!(
            "{} is a file: give its folder; 'seekless find' is about files",
            sanitize::path(file)
        )),
    }
}

/// The numbers of an answer.
struct Told {
    reported: usize,
    folders: usize,
    files: usize,
    skipped_trash: u64,
    unidentified: u64,
}

/// Looks, answers, and writes the answer.
fn drive(
    run: &FoldersRun,
    place: &Mutex<Option<OutputStream>>,
    control: &Control,
    listener: &Listener<'_>,
) -> Result<Told, Ended> {
    let nothing = || Ended::Silently(Exit::Nothing);
    let tree = engine::classify(&run.config, Scope::AllFiles, listener, control)
        .map_err(|error| Ended::Saying(error.to_string()))?;
    // An empty report would say that there is nothing, and replace one that knows more.
    let roots = &run.config.roots;
    if control.is_cancelled() || listener.exit(roots.len(), seen_by(&tree)) == Exit::Nothing {
        return Err(nothing());
    }
    let is_noise = |name: &[u8]| {
        run.is_noise
            .as_ref()
            .is_some_and(|noise| noise.matches(name))
    };
    let seen = Seen::new(&tree, is_noise);
    let is_wanted = |name: &[u8]| run.names.as_ref().is_none_or(|names| names.matches(name));
    let wanted = Wanted {
        min_bytes: run.args.min_size.map_or(0, |Bytes(size)| size),
        min_overlap: Percent(run.args.min_overlap),
        is_wanted: &is_wanted,
    };
    let answer = FoldersAnswer::of(&seen, &wanted);
    let roots = roots
        .iter()
        .map(|root| root.path.as_os_str().as_bytes().to_vec());
    let roots: Vec<Vec<u8>> = roots.collect();
    let report = FolderReport {
        answer: &answer,
        noise: &run.args.noise,
        folder: run.folder.as_os_str().as_bytes(),
        roots: &roots,
        min_overlap: run.args.min_overlap,
        style: run.style,
    };
    let place = place.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut place = place.ok_or_else(nothing)?;
    let written = place.write(|out| (run.args.format.write)(out, &report));
    let written = written.and_then(|()| place.finish());
    let closed = Some(listener.exit(roots.len(), 1));
    written.map_err(|error| Ended::unwritten(&error, closed))?;
    Ok(Told {
        reported: answer.entries.iter().map(|entry| entry.folders.len()).sum(),
        folders: answer.folders,
        files: answer.files,
        skipped_trash: tree.skipped_trash(),
        unidentified: seen.unidentified(),
    })
}

/// Folders and files that were seen. A given folder is in the tree before it is listed.
fn seen_by(tree: &Tree) -> u64 {
    let hides = |unseen| {
        use Unseen::{OtherUnanswered, Unanswered, Unreadable};
        matches!(unseen, Unreadable | Unanswered | OtherUnanswered)
    };
    let is_listed = |folder| {
        let mut others = tree.others_in(folder);
        !others.any(|other| {
            other.name.is_empty()
                && matches!(other.kind, EntryKind::Unseen(unseen) if hides(*unseen))
        })
    };
    let roots = tree.roots().iter();
    let unlisted =
        roots.filter(|root| matches!(root.place, RootPlace::Folder(folder) if !is_listed(folder)));
    u64::from(tree.folder_count()) - unlisted.count() as u64 + u64::from(tree.file_count())
}

impl Told {
    fn incomplete(&self) -> Option<String> {
        (self.unidentified > 0).then(|| {
            format!(
                "INCOMPLETE: {} be the same as others, seen through two mounts, so their folders were not fully seen.",
                counted(self.unidentified, "file may", "files may"),
            )
        })
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "Reported {} of {}, compared {}.",
            count(self.reported as u64),
            counted(self.folders as u64, "folder", "folders"),
            counted(self.files as u64, "file", "files")
        )];
        lines.extend(self.incomplete());
        lines.extend(gather::skipped_trash(self.skipped_trash));
        lines
    }
}
