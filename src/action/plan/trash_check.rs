//! Finds out which trash takes each file, before the user is asked.

use std::collections::HashMap;

use super::set::{Fate, LeftName, SetPlan};
use crate::action::coherence::Location;
use crate::action::reason::{Code, Reason};
use crate::action::step::trash_folder::{self, RefusedTrash, TrashChoice};
use crate::file::Untrusted;

/// The user's own trash.
#[derive(Clone, Debug, Default)]
pub enum HomeTrash {
    /// There is none.
    #[default]
    Missing,
    /// The absolute path of one that can be used.
    At(Vec<u8>),
    /// The absolute path of one that cannot be used, because another user could change it.
    Refused(Vec<u8>, Untrusted),
}

impl HomeTrash {
    /// The path of one that can be used.
    pub fn usable(&self) -> Option<&[u8]> {
        match self {
            Self::At(path) => Some(path),
            Self::Missing | Self::Refused(..) => None,
        }
    }
}

impl From<Option<Vec<u8>>> for HomeTrash {
    fn from(path: Option<Vec<u8>>) -> Self {
        path.map_or(Self::Missing, Self::At)
    }
}

/// A trash folder that would come first for files of the plan, but cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedTrash {
    /// The folder, the reason, and a way out.
    pub why: String,
    /// The trash that takes these files instead.
    pub used: Vec<u8>,
}

/// A result for the files at one location below a folder.
#[derive(Debug)]
struct Checked {
    /// The folder, with a slash at its end; empty for all files.
    top: Vec<u8>,
    /// The reason why no trash takes them.
    why: Option<Reason>,
}

/// Checks sets, one after the other.
#[derive(Debug, Default)]
pub(super) struct TrashCheck {
    /// The results for the files at each location.
    known: HashMap<Location, Vec<Checked>>,
    /// Trash folders that cannot be used although another one can.
    pub skipped: Vec<SkippedTrash>,
}

impl TrashCheck {
    /// Leaves alone what no trash takes.
    pub fn set(&mut self, set: &mut SetPlan, home: &HomeTrash) {
        for file in &mut set.files {
            match file.fate {
                Fate::Act { .. } => {
                    let first = file.names.first();
                    let why = first.and_then(|name| self.why_not(&name.path, file.volume, home));
                    if let Some(why) = why {
                        file.fate = Fate::Leave(why);
                    }
                }
                Fate::Keep(_) => file.names.retain_mut(|name| {
                    let why = name
                        .goes
                        .then(|| self.why_not(&name.path, file.volume, home));
                    let Some(why) = why.flatten() else {
                        return true;
                    };
                    let path = std::mem::take(&mut name.path);
                    set.left.push(LeftName { path, why });
                    false
                }),
                Fate::Leave(_) => {}
            }
        }
    }

    fn why_not(&mut self, path: &[u8], volume: Location, home: &HomeTrash) -> Option<Reason> {
        // Where another file system is mounted below, and this one again below that, the step chooses by itself.
        let known = self.known.entry(volume).or_default();
        if let Some(checked) = known.iter().find(|known| path.starts_with(&known.top)) {
            return checked.why.clone();
        }
        // If a folder cannot be examined, the step says so.
        let choice = trash_folder::choose(path, volume, home.usable()).ok()?;
        let TrashChoice {
            mut top,
            trash,
            mut refused,
        } = choice;
        if !top.is_empty() {
            top.push(b'/');
        }
        if let HomeTrash::Refused(home, untrusted) = home
            && trash_folder::nearest_location(home).is_ok_and(|there| there == Some(volume))
        {
            refused.insert(0, RefusedTrash::of_home(untrusted));
        }
        let reasons = trash_folder::in_words(&refused);
        let why = match trash {
            None => Some(Code::NoTrash.about(reasons)),
            Some(_) if refused.is_empty() => None,
            Some(used) => {
                self.skipped.push(SkippedTrash { why: reasons, used });
                None
            }
        };
        known.push(Checked {
            top,
            why: why.clone(),
        });
        why
    }
}
