//! Leftovers of runs that were cut short. Journals identify them, never the form of a name.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::new_folders;
use crate::action::journal::journal_error::JournalError;
use crate::action::journal::past::{Fate, Past, PastStep};
use crate::action::journal::record::RunHeader;
use crate::action::journal::undo_parent::Parents;
use crate::action::journal::{journal_folder, runs};
use crate::action::places::{Context, Manner, Scene};
use crate::action::reads::Reads;
use crate::action::ways::folder_entry::NameInFolder;
use crate::file::OwnFolder;
use crate::heartbeat::current;
use crate::sys::sync;

/// A run that was cut short, or whose undo was cut short, and that left unfinished files.
#[derive(Clone, Debug)]
pub struct CutShort {
    /// Its name.
    pub name: String,
    /// The header of the run.
    pub header: RunHeader,
    /// True if an undo of the run was cut short.
    pub in_undo: bool,
    /// The leftovers: files with a leftover beside them, or that exist only under a temporary name; folders.
    pub files: Vec<HalfDone>,
}

/// The kind of a leftover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftoverKind {
    /// A user's file whose step was unfinished.
    File,
    /// An empty folder that the run created.
    Folder,
}

/// A file whose step was unfinished when the run was cut short.
#[derive(Clone, Debug)]
pub struct HalfDone {
    /// The file's own path.
    pub path: PathBuf,
    /// The kind of the leftover.
    pub kind: LeftoverKind,
    /// The folders that contain a leftover of it.
    folders: Vec<PathBuf>,
}

/// All runs in this folder that were cut short and left unfinished files; the oldest first.
///
/// # Errors
/// If the folder cannot be listed. `undo` names the journals that cannot be read.
pub fn cut_short(folder: &Path) -> Result<Vec<CutShort>, JournalError> {
    let Some(own) = journal_folder::open(folder)? else {
        return Ok(Vec::new());
    };
    let names = runs::names(&own)?.into_iter();
    Ok(names.filter_map(|name| look(&own, name)).collect())
}

impl CutShort {
    /// This run with only the files in one of these trees; `None` if there are none.
    pub fn within(mut self, trees: &[PathBuf]) -> Option<Self> {
        let holds = |folder: &Path| trees.iter().any(|tree| folder.starts_with(tree));
        self.files
            .retain(|file| holds(&file.path) || file.folders.iter().any(|folder| holds(folder)));
        (!self.files.is_empty()).then_some(self)
    }

    /// The number of its leftovers of this kind.
    pub fn number_of(&self, kind: LeftoverKind) -> u64 {
        self.files.iter().filter(|file| file.kind == kind).count() as u64
    }
}

fn look(own: &OwnFolder, name: String) -> Option<CutShort> {
    current::ask_about(own.path().join(&name).as_os_str().as_bytes());
    let mut file = own.read(&name).ok()?;
    if runs::is_over(&mut file)? {
        return None;
    }
    file.seek(SeekFrom::Start(0)).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let past = Past::read_steps(&bytes).ok()?;
    if !past.cut_short || sync::is_locked(&file) {
        return None;
    }
    let in_undo = past.undo_cut_short;
    let torn = torn_groups(&past);
    let steps = past.steps.iter();
    let is_torn = |step: &PastStep| {
        step.intent
            .together
            .is_some_and(|group| torn.contains(&group))
    };
    let half_done = steps.filter_map(|step| half_done(step, is_torn(step), in_undo));
    let folders = new_folders::unfilled(&past);
    let folders = folders.filter(|(path, folder)| new_folders::is_left(path, folder));
    let folders = folders.filter_map(|(path, _)| new_folder(path));
    let files: Vec<HalfDone> = half_done.chain(folders).collect();
    (!files.is_empty()).then_some(CutShort {
        name,
        header: past.header,
        in_undo,
        files,
    })
}

/// A folder that the run created, at this absolute path.
fn new_folder(path: &[u8]) -> Option<HalfDone> {
    let path = Path::new(OsStr::from_bytes(path));
    Some(HalfDone {
        path: path.to_owned(),
        kind: LeftoverKind::Folder,
        folders: vec![path.parent()?.to_owned()],
    })
}

/// True if it is unknown whether a step has leftovers: the file's folder cannot be opened.
pub(in crate::action) fn is_out_of_reach(step: &PastStep) -> bool {
    step.fate == Fate::Unsaid && !step.undone && NameInFolder::of(&step.intent.victim.0).is_err()
}

/// The unfinished part of a step, if any, or its part in a torn group.
pub(in crate::action) fn half_done(
    step: &PastStep,
    torn_group: bool,
    in_undo: bool,
) -> Option<HalfDone> {
    let is_open = step.fate == Fate::Unsaid || in_undo || torn_group;
    if step.undone || !is_open {
        return None;
    }
    let place = NameInFolder::of(&step.intent.victim.0).ok()?;
    let (reads, parents) = (Reads::default(), Parents::default());
    let context = Context {
        torn_group,
        ..Context::new(Manner::Glance, &reads, &parents)
    };
    let scene = Scene::of_past(step, &place, None, context).ok()?;
    let folders = scene.leftovers().into_iter();
    let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
    let folders: Vec<PathBuf> = folders.map(path).collect();
    (!folders.is_empty()).then(|| HalfDone {
        path: path(&step.intent.victim.0),
        kind: LeftoverKind::File,
        folders,
    })
}

/// The numbers of the groups of files that belong together, of which a killed run acted on some
/// ([`Intent::together`](crate::action::journal::record::Intent)). Undo and a sweep move their files back; those that were removed are
/// named.
pub(in crate::action) fn torn_groups(past: &Past) -> HashSet<u64> {
    let (reads, parents) = (Reads::default(), Parents::default());
    let context = Context::new(Manner::Glance, &reads, &parents);
    let mut groups: HashMap<u64, Vec<&PastStep>> = HashMap::new();
    for step in &past.steps {
        if let Some(group) = step.intent.together {
            groups.entry(group).or_default().push(step);
        }
    }
    let is_ended = |step: &&PastStep| step.undone || step.fate != Fate::Unsaid;
    let is_torn = |steps: &Vec<&PastStep>| {
        !steps.iter().all(is_ended)
            && steps.iter().any(|step| is_taken(step, context))
            && !steps.iter().all(|step| is_taken(step, context))
    };
    let torn = groups.into_iter().filter(|(_, steps)| is_torn(steps));
    torn.map(|(group, _)| group).collect()
}

/// True if neither the file nor the leftover of a killed run is in its folder.
fn is_taken(step: &PastStep, context: Context<'_>) -> bool {
    let Ok(place) = NameInFolder::of(&step.intent.victim.0) else {
        return true;
    };
    !Scene::of_past(step, &place, None, context).is_ok_and(|scene| scene.is_in_folder())
}
