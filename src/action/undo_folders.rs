//! Creates removed folders again, the outermost first, before their files come back.
//!
//! Each folder is in the journal before it gets its name. Several folders are recorded together, because each sync of
//! the journal takes long.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use super::folder_entry::parent;
use super::journal::Journal;
use super::past::{Past, PastFolder};
use super::undo_folder::{self, Back, ClosedFolders, MadeAgain, Unnamed};
use super::undo_parent::Parents;
use super::undone::{Undo, UndoTally, Undone};
use crate::sys::process;

/// Maximum number of folders that are recorded together: two descriptors stay open for each until then.
const MOST: usize = 256;

/// Removed folders that were not restored; a folder comes before those in it.
fn removed(past: &Past) -> impl Iterator<Item = &PastFolder> {
    let folders = past.folders.values().rev();
    folders.filter(|folder| !folder.undone && !folder.stayed)
}

/// Reports which removed folders would be created again, and returns their paths.
pub(super) fn foretell<'a>(
    past: &'a Past,
    parents: &Parents,
    tally: &mut UndoTally,
    tell: &mut dyn FnMut(&Undo),
) -> HashSet<&'a [u8]> {
    let mut back = HashSet::new();
    for folder in removed(past) {
        let undone = match back.contains(parent(&folder.intent.folder.0)) {
            true => Undone::Restored,
            false => undo_folder::foretell(folder, parents),
        };
        if undone == Undone::Restored {
            back.insert(&folder.intent.folder.0[..]);
        }
        tally.count_folder(&folder.intent, undone, tell);
    }
    back
}

/// Creates the removed folders of a run, and reports those that need nothing more.
pub(super) fn make<'a>(
    past: &'a Past,
    parents: &Parents,
    journal: &mut Journal,
    tally: &mut UndoTally,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&Undo),
) -> Vec<MadeAgain<'a>> {
    let mut folders: Vec<_> = removed(past).collect();
    // No folder contains another one of the same depth.
    folders.sort_by_key(|folder| depth(&folder.intent.folder.0));
    let most = (process::unused_descriptors().saturating_sub(12) / 4).clamp(1, MOST);
    let mut made = Vec::new();
    let mut unnamed: Vec<Unnamed<'a>> = Vec::new();
    let mut closed = ClosedFolders::new();
    for folder in folders {
        if stop.load(Ordering::Relaxed) {
            tally.interrupted = true;
            break;
        }
        let above = parent(&folder.intent.folder.0);
        let is_in_one = |other: &Unnamed<'_>| other.intent().folder.0 == above;
        if unnamed.len() == most || unnamed.iter().any(is_in_one) {
            name(&mut unnamed, (parents, journal, tally), &mut made, tell);
        }
        match undo_folder::make(folder, parents, &mut closed, journal.run_name()) {
            Back::Ended(undone) => tally.count_folder(&folder.intent, undone, tell),
            Back::Made(again) => made.push(again),
            Back::Unnamed(new) => unnamed.push(new),
        }
    }
    name(&mut unnamed, (parents, journal, tally), &mut made, tell);
    made
}

/// Records new folders, and then gives them their names.
fn name<'a>(
    unnamed: &mut Vec<Unnamed<'a>>,
    (parents, journal, tally): (&Parents, &mut Journal, &mut UndoTally),
    made: &mut Vec<MadeAgain<'a>>,
    tell: &mut dyn FnMut(&Undo),
) {
    if unnamed.is_empty() {
        return;
    }
    let records: Vec<_> = unnamed.iter().map(Unnamed::record).collect();
    let written = journal.write(&records);
    let is_written = written.is_ok();
    tally.note(written);
    for new in unnamed.drain(..) {
        let intent = new.intent();
        let named = match is_written {
            true => new.name(),
            false => Err(new.discard()),
        };
        match named {
            Ok(again) => {
                parents.note(&intent.folder.0, again.identity);
                made.push(again);
            }
            Err(why) => tally.count_folder(intent, Undone::Refused(why), tell),
        }
    }
}

fn depth(path: &[u8]) -> usize {
    path.iter().filter(|&&byte| byte == b'/').count()
}
