//! `seekless folders`: a run from its arguments to its exit status.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use seekless::acting::outermost;
use seekless::engine::{self, Config, Control, Root};
use seekless::folders::{FoldersAnswer, NOISE, Percent, Seen, UNCOUNTED, UNIDENTIFIED, Wanted};
use seekless::heartbeat::current;
use seekless::lock::locked;
use seekless::report::Style;
use seekless::report::folders::FolderReport;
use seekless::scan::{FilterSpec, Globs};
use seekless::tree::{Scope, Unseen};
use seekless::units::{Bytes, count, counted, files};

use super::watched;
use crate::cli::act::gather;
use crate::cli::args::compare::FoldersArgs;
use crate::cli::front::problems::Listener;
use crate::cli::resolve::catalog_roots;
use crate::cli::resolve::environment::{Environment, begin};
use crate::cli::resolve::meant_as_file;
use crate::cli::resolve::search::meant;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::output::OutputStream;

/// All decisions of one `seekless folders`.
struct FoldersRun {
    args: FoldersArgs,
    config: Config,
    is_noise: Option<Globs>,
    style: Style,
    /// Where relative paths start.
    folder: PathBuf,
}

/// Looks at folders and says what they have in common.
pub fn folders(args: FoldersArgs) -> Result<Exit, Stop> {
    let run = begin(args.talk, args.reads.patience(), |around| {
        resolve(args, around)
    })?;
    if !run.args.talk.quiet {
        catalog_roots::tell(&run.config);
    }
    // Before any work is done.
    let place = OutputStream::open(run.args.output.as_deref());
    let place = place.or_else(refuse)?;
    let place = Arc::new(Mutex::new(Some(place)));
    let words = "interrupted: folders that were not read completely get no verdict";
    let (lines, exit) = watched(words, &place, |control, listener| {
        drive(&run, &place, control, listener)
    })?;
    console::lines(lines);
    Ok(exit)
}

fn resolve(mut args: FoldersArgs, around: &mut Environment<'_>) -> Result<FoldersRun, Stop> {
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
            ..args.reads.config()
        },
        is_noise: Globs::of_names(&args.noise)?,
        style: sink.style(args.talk.color),
        folder: around.folder.clone(),
        args,
    })
}

/// The given folders, but for those that lie below others: they are seen there.
fn roots(given: &[OsString]) -> Result<Vec<Root>, Stop> {
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
    let roots = outermost(paths).into_iter().map(catalog_roots::root);
    let roots: Vec<Root> = roots.collect::<Result<_, _>>()?;
    let others = roots.iter().filter(|root| root.catalog.is_none());
    match others.map(|root| &root.path).find(is_file) {
        None => Ok(roots),
        Some(file) => refuse(format!(
            "{} is a file: give its folder; 'seekless find' is about files",
            console::path(file)
        )),
    }
}

/// Looks, answers, and writes the answer; the lines that follow it, and the exit status.
fn drive(
    run: &FoldersRun,
    place: &Mutex<Option<OutputStream>>,
    control: &Control,
    listener: &Listener,
) -> Result<(Vec<String>, Exit), Stop> {
    let tree = engine::classify(&run.config, Scope::AllFiles, listener, control);
    let tree = tree.or_else(refuse)?;
    // An empty report would say that there is nothing, and replace one that knows more.
    let roots = &run.config.roots;
    if control.is_cancelled() {
        return Err(Exit::Interrupted.into());
    }
    // A given folder is in the tree before it is listed.
    let below_roots = u64::from(tree.folder_count()).saturating_sub(roots.len() as u64);
    let mut exit = listener.exit(roots.len(), below_roots + u64::from(tree.file_count()));
    if exit == Exit::Nothing {
        return Err(exit.into());
    }
    let is_noise = |name: &[u8]| {
        run.is_noise
            .as_ref()
            .is_some_and(|noise| noise.matches(name))
    };
    let seen = Seen::new(&tree, is_noise);
    let wanted = Wanted {
        min_bytes: run.args.min_size.map_or(0, |Bytes(size)| size),
        min_overlap: Percent(run.args.min_overlap),
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
    let place = locked(place).take();
    let mut place = place.ok_or(Exit::Nothing)?;
    let written = place.write(|out| (run.args.format.write)(out, &report));
    let written = written.and_then(|()| place.finish());
    written.map_err(|error| error.ends(Some(exit)))?;
    let mut lines = Vec::new();
    for (reasons, one, more, what) in [
        (
            &[UNIDENTIFIED][..],
            "file may",
            "files may",
            "be the same as others, seen through two mounts",
        ),
        (
            &[UNCOUNTED],
            "file is",
            "files are",
            "left out, since the sizes of all have no sum below 2^64",
        ),
        (
            &[Unseen::OnlySize.words(), Unseen::Probable.words()],
            "file of a catalog is",
            "files of catalogs are",
            "known too little ('seekless catalog update --full' reads them)",
        ),
    ] {
        let gaps: u64 = reasons.iter().map(|why| seen.gaps_because(why)).sum();
        if gaps > 0 {
            let gaps = counted(gaps, one, more);
            lines.push(format!(
                "INCOMPLETE: {gaps} {what}, so their folders were not fully seen."
            ));
            exit = exit.worse(Exit::SomeLeft);
        }
    }
    // The listener knows what this run could not read. A catalog says what could not be read when it was made.
    let unread = [
        Unseen::NoRoot,
        Unseen::Unreadable,
        Unseen::Changed,
        Unseen::Vanished,
    ];
    if unread.iter().any(|why| seen.gaps_because(why.words()) > 0) {
        exit = exit.worse(Exit::SomeLeft);
    }
    if !run.args.talk.quiet {
        let reported = answer.entries.iter().map(|entry| entry.folders.len());
        lines.push(format!(
            "Reported {} of {}, compared {}.",
            count(reported.sum::<usize>() as u64),
            counted(answer.folders as u64, "folder", "folders"),
            files(answer.files as u64)
        ));
        lines.extend(gather::skipped_trash(tree.skipped_trash()));
    }
    Ok((lines, exit))
}
