//! Removes the folders that a run emptied, after the files of the run: upwards, and only if they are empty.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use super::Actor;
use crate::action::access::ActionKind;
use crate::action::failure::{self, failed};
use crate::action::journal::record::{FolderIntent, Metadata, Raw, Record};
use crate::action::plan::EmptyFolder;
use crate::action::reason::{Code, Reason};
use crate::action::step::check::gone;
use crate::action::step::metadata;
use crate::action::ways::folder_entry::{Identity, NameInFolder};
use crate::action::ways::folder_identity::FolderIdentity;
use crate::heartbeat::current;
use crate::sys::sync::{self, Wait};
use crate::sys::{attributes, names, open, stat};

/// Maximum number of folders that are recorded together. Each needs two descriptors until then.
const FOLDERS: usize = 256;

/// The results for folders that were to be removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderTally {
    /// Folders that are gone.
    pub removed: u64,
    /// Folders that stay because something is in them.
    pub not_empty: u64,
    /// Folders that stay for another reason: the absolute path, and why.
    pub left: Vec<(Vec<u8>, String)>,
    /// The journal could not be written: the remaining folders stay.
    pub unwritten: Option<String>,
}

/// A folder that is about to be removed.
struct OpenedFolder<'a> {
    of: &'a EmptyFolder,
    place: NameInFolder,
    step: u64,
}

impl Actor {
    /// Removes folders if they are empty, each after the folders in it.
    pub fn remove_folders(&mut self, action: ActionKind, folders: &[&EmptyFolder]) -> FolderTally {
        let mut tally = FolderTally::default();
        for some in folders.chunks(self.portion.min(FOLDERS)) {
            let mut found = Vec::new();
            let mut records = Vec::new();
            for &of in some {
                current::ask_about(&of.path);
                match look(of) {
                    Ok((place, above, metadata)) => {
                        let step = self.journal.next_step();
                        records.push(Record::Folder(Box::new(FolderIntent {
                            step,
                            action,
                            folder: Raw(of.path.clone()),
                            ino: of.identity.1,
                            metadata,
                            parent: above,
                        })));
                        found.push(OpenedFolder { of, place, step });
                    }
                    Err(why) => tally.note(of, Err(why)),
                }
            }
            if let Err(error) = self.journal.write(&records) {
                tally.unwritten = Some(error.to_string());
                break;
            }
            let gone = found.iter().filter(|found| self.remove(found, &mut tally));
            let gone: Vec<Identity> = gone.map(|found| found.of.identity).collect();
            sync_all(&found, &gone);
        }
        current::rest();
        tally
    }

    /// True if the folder is gone.
    fn remove(&mut self, found: &OpenedFolder<'_>, tally: &mut FolderTally) -> bool {
        let OpenedFolder { of, place, step } = found;
        current::ask_about(&of.path);
        let removed = take_away(&place.folder, &place.name, of.identity);
        let step = *step;
        let record = match &removed {
            Ok(()) => Some(Record::Done {
                step,
                now: None,
                digest: None,
            }),
            // It may be gone, and only the answer was lost.
            Err(why) if why.errno().is_some_and(|error| !failure::is_refusal(error)) => None,
            Err(why) => Some(Record::NotDone {
                step,
                why: why.to_string(),
            }),
        };
        self.has_open_steps |= record.is_none();
        // What it says can be seen from the folders.
        let _ = self.journal.note(record.as_slice());
        let is_gone = removed.is_ok();
        tally.note(of, removed);
        is_gone
    }
}

impl FolderTally {
    /// True if every folder is gone, or has something in it.
    pub fn is_whole(&self) -> bool {
        self.left.is_empty() && self.unwritten.is_none()
    }

    fn note(&mut self, of: &EmptyFolder, removed: Result<(), Reason>) {
        match removed {
            Ok(()) => self.removed += 1,
            Err(why) if why.code == Code::NotEmpty => self.not_empty += 1,
            Err(why) => self
                .left
                .push((of.path.clone(), format!("{why}; left alone"))),
        }
    }
}

/// The place of a folder, the folder above it, and the metadata that undo has to restore.
fn look(of: &EmptyFolder) -> Result<(NameInFolder, FolderIdentity, Metadata), Reason> {
    let place = NameInFolder::of(&of.path)?;
    let folder = open::folder(&place.folder, &place.name).map_err(failed("open the folder"))?;
    let examined = attributes::both(&folder);
    let (now, attributes) = examined.map_err(failed("examine the folder"))?;
    if (now.dev, now.ino) != of.identity {
        return Err(Code::NameTaken.into());
    }
    let metadata = metadata::with(&folder, attributes);
    let mut metadata = metadata.map_err(failed("read the metadata of the folder"))?;
    metadata.times = of.times;
    let above = FolderIdentity::of(&place.folder).map_err(failed("examine the folder above"))?;
    Ok((place, above, metadata))
}

/// Removes a folder if it is this one, and empty. Only an empty folder that gets its name between the two calls could
/// be removed in its place.
fn take_away(folder: &OwnedFd, name: &CStr, identity: Identity) -> Result<(), Reason> {
    let now = stat::fresh_entry(folder, name).map_err(gone)?;
    if (now.dev, now.ino) != identity {
        return Err(Code::NameTaken.into());
    }
    names::remove_folder(folder, name).map_err(|error| match error {
        Errno::NOTEMPTY | Errno::EXIST => Code::NotEmpty.into(),
        error => failed("remove the folder")(error),
    })
}

/// Waits until the names are gone from the disk. If the power fails before, an empty folder remains.
fn sync_all(found: &[OpenedFolder<'_>], gone: &[Identity]) {
    let remains = |found: &&OpenedFolder<'_>| {
        let above = stat::descriptor(&found.place.folder);
        above.is_ok_and(|above| !gone.contains(&(above.dev, above.ino)))
    };
    let remaining = found.iter().filter(remains);
    let waits: Vec<_> = remaining
        .map(|found| Wait::Folder(found.place.folder.as_fd()))
        .collect();
    for error in sync::all(&waits).into_iter().filter_map(Result::err) {
        tracing::info!("an empty folder may be back after a loss of power: {error}");
    }
}
