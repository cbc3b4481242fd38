//! `seekless folders`: a run from its arguments to its exit status.

use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, PoisonError};

use seekless::engine::{self, Control};
use seekless::folders::{FoldersAnswer, Percent, Seen, Wanted};
use seekless::report::fit::fitting;
use seekless::report::folders::FolderReport;
use seekless::tree::{EntryKind, RootPlace, Scope, Tree, Unseen};
use seekless::units::{count, counted};

use super::begin::begin;
use super::exit::Exit;
use super::folders_args::FoldersArgs;
use super::gather;
use super::in_force::InForce;
use super::listener::Listener;
use super::output::{NotWritten, OutputStream, dropping};
use super::resolve_folders::{FoldersRun, resolve};
use super::watch;

/// Looks at folders and says what they have in common.
pub fn folders(args: FoldersArgs, in_force: &InForce) -> Result<Exit, Exit> {
    watch::wait_for(args.patience.time());
    let (run, console) = begin(|around| resolve(args, around), |run: &FoldersRun| run.talk)?;
    // Before any work is done.
    let place = OutputStream::open(run.output.as_deref(), &console);
    let place = place.or_else(|error| console.refuse(error))?;
    let place = Arc::new(Mutex::new(Some(place)));
    let control = Arc::<Control>::default();
    let listener = Listener::new(&console);
    let words = "interrupted: folders that were not read completely get no verdict";
    let outcome = watch::search(&control, words, dropping(&place), || {
        drive(&run, &place, &control, &listener)
    });
    watch::over();
    listener.sum_up();
    if control.is_cancelled() && !matches!(outcome, FoldersOutcome::Told(_)) {
        return Err(Exit::Interrupted);
    }
    Ok(match outcome {
        FoldersOutcome::Failed(why) => return console.refuse(why),
        FoldersOutcome::NothingSeen => Exit::Nothing,
        FoldersOutcome::Closed => listener.exit(run.config.roots.len(), 1),
        FoldersOutcome::Told(said) => {
            if run.talk.summary {
                let width = run.talk.columns.unwrap_or(usize::MAX);
                let lines = fitting(said.lines(), width);
                lines.iter().for_each(|line| console.line(line));
                in_force
                    .line()
                    .iter()
                    .for_each(|line| console.sentence(line));
            } else if let Some(line) = said.incomplete() {
                // The reason for the exit status is not left out.
                console.complain(&line);
            }
            let exit = listener.exit(run.config.roots.len(), 1);
            match said.unidentified {
                0 => exit,
                _ => exit.worse(Exit::SomeLeft),
            }
        }
    })
}

/// How the part of a run that looks and writes ended.
enum FoldersOutcome {
    Told(Told),
    /// No given folder could be listed, or the run was interrupted.
    NothingSeen,
    /// The reader has seen enough.
    Closed,
    Failed(String),
}

/// The numbers of an answer.
struct Told {
    reported: usize,
    folders: usize,
    files: usize,
    skipped_trash: u64,
    unidentified: u64,
}

/// Looks, answers, and writes the answer; the only part that is on another thread.
fn drive(
    run: &FoldersRun,
    place: &Mutex<Option<OutputStream>>,
    control: &Control,
    listener: &Listener<'_>,
) -> FoldersOutcome {
    let seen = match engine::classify(&run.config, Scope::AllFiles, listener, control) {
        Ok(seen) => seen,
        Err(error) => return FoldersOutcome::Failed(error.to_string()),
    };
    // An empty report would say that there is nothing, and replace one that knows more.
    let roots = run.config.roots.len();
    if control.is_cancelled() || listener.exit(roots, seen_by(&seen)) == Exit::Nothing {
        return FoldersOutcome::NothingSeen;
    }
    let skipped_trash = seen.skipped_trash();
    let is_noise = |name: &[u8]| {
        run.is_noise
            .as_ref()
            .is_some_and(|noise| noise.matches(name))
    };
    let seen = Seen::new(&seen, is_noise);
    let is_wanted = |name: &[u8]| run.names.as_ref().is_none_or(|names| names.matches(name));
    let wanted = Wanted {
        min_bytes: run.min_size.0,
        min_overlap: Percent(run.min_overlap),
        is_wanted: &is_wanted,
    };
    let answer = FoldersAnswer::of(&seen, &wanted);
    let roots = run.config.roots.iter();
    let roots = roots.map(|root| root.path.as_os_str().as_bytes().to_vec());
    let roots: Vec<Vec<u8>> = roots.collect();
    let report = FolderReport {
        answer: &answer,
        noise: &run.noise,
        folder: run.folder.as_os_str().as_bytes(),
        roots: &roots,
        min_overlap: run.min_overlap,
        style: run.style,
    };
    let Some(mut place) = place.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return FoldersOutcome::NothingSeen;
    };
    let written = place.write(|out| (run.format.write)(out, &report));
    match written.and_then(|()| place.finish()) {
        Ok(()) => {}
        Err(NotWritten::Closed) => return FoldersOutcome::Closed,
        Err(error) => return FoldersOutcome::Failed(error.to_string()),
    }
    FoldersOutcome::Told(Told {
        reported: answer.entries.iter().map(|entry| entry.folders.len()).sum(),
        folders: answer.folders,
        files: answer.files,
        skipped_trash,
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
