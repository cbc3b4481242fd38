//! Leftovers of runs that were cut short. Journals identify them, never the form of a name.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::action::journal::past::{Fate, Past, PastStep};
use crate::action::journal::record::{Raw, RunHeader};
use crate::action::journal::runs;
use crate::action::places::{Context, Manner, Scene};
use crate::action::reads::Reads;
use crate::action::reason::Reason;
use crate::action::ways::folder_entry::NameInFolder;
use crate::action::ways::folder_identity::Parents;
use crate::file::{OwnFolder, as_path};
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
    /// The files whose steps were unfinished.
    pub files: Vec<PathBuf>,
}

/// All runs in this folder that were cut short and left unfinished files; the oldest first.
///
/// # Errors
/// If the folder cannot be listed. `undo` names the journals that cannot be read.
pub fn cut_short(folder: &Path) -> Result<Vec<CutShort>, Reason> {
    let Some(own) = runs::open(folder)? else {
        return Ok(Vec::new());
    };
    let names = runs::names(&own)?.into_iter();
    Ok(names.filter_map(|name| look(&own, name)).collect())
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
    let past = Past::read_steps(&name, &bytes).ok()?;
    if !past.cut_short || sync::is_locked(&file) {
        return None;
    }
    let in_undo = past.undo_cut_short;
    let torn = torn_groups(&past);
    let steps = past.steps.iter();
    let is_torn = |step: &PastStep| {
        step.intent
            .together
            .is_some_and(|group| torn.contains_key(&group))
    };
    let half_done = steps.filter(|step| is_half_done(step, is_torn(step), in_undo));
    let path = |step: &PastStep| as_path(&step.intent.victim.0).to_owned();
    let files: Vec<_> = half_done.map(path).collect();
    (!files.is_empty()).then_some(CutShort {
        name,
        header: past.header,
        in_undo,
        files,
    })
}

/// True if it is unknown whether a step has leftovers: the file's folder cannot be opened.
pub(in crate::action) fn is_out_of_reach(step: &PastStep) -> bool {
    step.fate == Fate::Unsaid && !step.undone && NameInFolder::of(&step.intent.victim.0).is_err()
}

/// True if a step is unfinished, or has a part in a torn group.
pub(in crate::action) fn is_half_done(step: &PastStep, torn_group: bool, in_undo: bool) -> bool {
    let is_open = step.fate == Fate::Unsaid || in_undo || torn_group;
    if step.undone || !is_open {
        return false;
    }
    let Ok(place) = NameInFolder::of(&step.intent.victim.0) else {
        return false;
    };
    let (reads, parents) = (Reads::default(), Parents::default());
    let context = Context {
        torn_group,
        ..Context::new(Manner::Glance, &reads, &parents)
    };
    Scene::of_past(step, &place, None, context).is_ok_and(|scene| scene.is_unfinished())
}

/// The numbers of the groups of files that belong together, of which a killed run acted on some
/// ([`Intent::together`](crate::action::journal::record::Intent)), each with a file of it that is still there. Undo and a
/// sweep move their files back; those that were removed are named.
pub(in crate::action) fn torn_groups(past: &Past) -> HashMap<u64, &Raw> {
    let (reads, parents) = (Reads::default(), Parents::default());
    let context = Context::new(Manner::Glance, &reads, &parents);
    let mut groups: HashMap<u64, Vec<&PastStep>> = HashMap::new();
    for step in &past.steps {
        if let Some(group) = step.intent.together {
            groups.entry(group).or_default().push(step);
        }
    }
    let is_ended = |step: &&PastStep| step.undone || step.fate != Fate::Unsaid;
    let torn = groups.into_iter().filter_map(|(group, mut steps)| {
        if steps.iter().all(is_ended) {
            return None;
        }
        let number = steps.len();
        steps.retain(|step| !is_taken(step, context));
        let left = steps.first().filter(|_| steps.len() < number)?;
        Some((group, &left.intent.victim))
    });
    torn.collect()
}

/// True if neither the file nor the leftover of a killed run is in its folder.
fn is_taken(step: &PastStep, context: Context<'_>) -> bool {
    let Ok(place) = NameInFolder::of(&step.intent.victim.0) else {
        return true;
    };
    !Scene::of_past(step, &place, None, context).is_ok_and(|scene| scene.is_in_folder())
}
