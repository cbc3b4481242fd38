//! Distinguishes several names of a file from one name that is reached in several ways (bind mounts).

use std::collections::HashMap;
use std::ffi::CString;

use super::set::LeftName;
use super::set::SetPlan;
use crate::action::reason::Code;
use crate::sys::open::CWD;
use crate::sys::stat;

/// Keeps each entry of a folder in a set once: the same name in the same folder is one entry, whatever path leads
/// there. A protection of one of the paths applies to the entry.
pub fn once_each(set: &mut SetPlan) {
    let mut folders: HashMap<Vec<u8>, Option<(u64, u64)>> = HashMap::new();
    let left = &mut set.left;
    for file in &mut set.files {
        if file.names.len() < 2 {
            continue;
        }
        let mut known: HashMap<((u64, u64), Vec<u8>), usize> = HashMap::new();
        let mut names = Vec::with_capacity(file.names.len());
        for name in std::mem::take(&mut file.names) {
            let bare = name.bare().to_vec();
            let folder = &name.path[..name.path.len() - bare.len()];
            let identity = *folders.entry(folder.to_vec()).or_insert_with(|| {
                let folder = CString::new([folder, b"."].concat()).ok()?;
                let stat = stat::entry(CWD, &folder).ok()?;
                Some((stat.dev, stat.ino))
            });
            let Some(identity) = identity else {
                left.push(LeftName {
                    path: name.path,
                    why: Code::Gone.into(),
                });
                continue;
            };
            match known.get(&(identity, bare.clone())) {
                None => {
                    known.insert((identity, bare), names.len());
                    names.push(name);
                }
                Some(&place) => {
                    let entry = &mut names[place];
                    entry.hold = [entry.hold, name.hold]
                        .into_iter()
                        .flatten()
                        .min_by_key(|hold| *hold as u8);
                    entry.marked |= name.marked;
                    left.push(LeftName {
                        path: name.path,
                        why: Code::SameName.into(),
                    });
                }
            }
        }
        file.names = names;
    }
    set.files.retain(|file| !file.names.is_empty());
}
