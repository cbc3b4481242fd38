//! Folders that are empty when a plan has been carried out.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use crate::action::bounds::Bounds;
use crate::action::folder_entry::{Place, parent};
use crate::sys::attributes::{self, Time};
use crate::sys::dirent::{Buffer, Entries};
use crate::sys::{open, stat};

/// A folder that goes when its files are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmptyFolder {
    /// Real absolute path.
    pub path: Vec<u8>,
    /// Device and inode number.
    pub(in crate::action) identity: (u64, u64),
    /// Last access and last modification before the run.
    pub(in crate::action) times: [Time; 2],
}

/// Counts names that go.
#[derive(Debug, Default)]
pub struct Search {
    /// How many names of a folder go. Each name is in one step at most.
    going: HashMap<Vec<u8>, u64>,
}

impl Search {
    /// Takes note of a file that goes.
    pub fn note(&mut self, path: &[u8]) {
        let folder = parent(path);
        match self.going.get_mut(folder) {
            Some(going) => *going += 1,
            None => {
                self.going.insert(folder.to_vec(), 1);
            }
        }
    }

    /// Folders in which nothing remains, a folder after those in it.
    pub fn folders(mut self, bounds: &Bounds) -> Vec<EmptyFolder> {
        let depth = |path: &[u8]| Reverse(path.iter().filter(|&&byte| byte == b'/').count());
        let mut waiting: BTreeSet<_> = self
            .going
            .keys()
            .map(|path| (depth(path), path.clone()))
            .collect();
        let mut buffer = Buffer::default();
        let mut empty = Vec::new();
        while let Some((_, path)) = waiting.pop_first() {
            let going = self.going.get(&path).copied().unwrap_or(0);
            if !bounds.lets_folder_go(&path) {
                continue;
            }
            let Some(folder) = look(&path, going, &mut buffer) else {
                continue;
            };
            let above = parent(&path).to_vec();
            waiting.insert((depth(&above), above.clone()));
            *self.going.entry(above).or_default() += 1;
            empty.push(folder);
        }
        empty
    }
}

/// The folder, if it has no more names than go, and nothing is mounted there.
fn look(path: &[u8], going: u64, buffer: &mut Buffer) -> Option<EmptyFolder> {
    let place = Place::of(path).ok()?;
    let folder = open::folder(&place.folder, &place.name).ok()?;
    let (now, was) = attributes::both(&folder).ok()?;
    // A subvolume is no folder that undo could make again.
    let above = stat::descriptor(&place.folder).ok()?;
    if now.mount_root || now.dev != above.dev {
        return None;
    }
    let mut names = 0;
    let listed = Entries::of(&folder, buffer).each(|_, _, _| {
        names += 1;
        names <= going
    });
    (listed.ok()? && names == going).then(|| EmptyFolder {
        path: path.to_vec(),
        identity: (now.dev, now.ino),
        times: [was.accessed, was.modified],
    })
}
