//! Files that belong together by their names: a photo and the files that programs put beside it.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::hash::{BuildHasher, RandomState};

use rustix::fs::FileType;

use super::left::Left;
use super::set::{Fate, SetPlan};
use crate::sys::open::CWD;
use crate::sys::stat;

/// The role of a file among its companions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Settings, edits, or a small picture.
    Sidecar,
    /// A raw photo.
    Raw,
    /// A picture that anybody can open.
    Still,
    /// A film, or the moving part of a live photo.
    Film,
}

/// Extensions in lower case. A new one is one row.
const EXTENSIONS: &[(&str, Role)] = &[
    ("xmp", Role::Sidecar),
    ("aae", Role::Sidecar),
    ("thm", Role::Sidecar),
    ("jpg", Role::Still),
    ("jpeg", Role::Still),
    ("heic", Role::Still),
    ("heif", Role::Still),
    ("arw", Role::Raw),
    ("cr2", Role::Raw),
    ("cr3", Role::Raw),
    ("crw", Role::Raw),
    ("dng", Role::Raw),
    ("nef", Role::Raw),
    ("nrw", Role::Raw),
    ("orf", Role::Raw),
    ("pef", Role::Raw),
    ("raf", Role::Raw),
    ("raw", Role::Raw),
    ("rw2", Role::Raw),
    ("srw", Role::Raw),
    ("x3f", Role::Raw),
    ("mov", Role::Film),
    ("mp4", Role::Film),
    ("avi", Role::Film),
];

/// The parts of a path that identify companions.
#[derive(Debug, PartialEq, Eq)]
struct NameParts<'a> {
    /// Path without extensions: the common part of companions.
    stem: &'a [u8],
    role: Role,
}

impl<'a> NameParts<'a> {
    fn of(path: &'a [u8]) -> Option<Self> {
        let (stem, role) = without_extension(path)?;
        // IMG_1.CR2.xmp belongs to IMG_1.CR2 as IMG_1.xmp does.
        let stem = match (role, without_extension(stem)) {
            (Role::Sidecar, Some((stem, _))) => stem,
            _ => stem,
        };
        Some(Self { stem, role })
    }
}

fn without_extension(path: &[u8]) -> Option<(&[u8], Role)> {
    let dot = path.iter().rposition(|&byte| byte == b'.')?;
    let (stem, extension) = (&path[..dot], &path[dot + 1..]);
    if stem.last().is_none_or(|&byte| byte == b'/') {
        return None;
    }
    let known = EXTENSIONS
        .iter()
        .find(|(name, _)| extension.eq_ignore_ascii_case(name.as_bytes()))?;
    Some((stem, known.1))
}

/// A companion that stays although the file beside it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parted {
    /// The file that is removed.
    pub goes: Vec<u8>,
    /// Its companion, which stays.
    pub stays: Vec<u8>,
}

/// The names that the plan removes, and the units that must not be separated.
#[derive(Debug, Default)]
pub struct Companions {
    /// Hashes of removed names that may have companions: 8 bytes each. A clash of hashes hides a companion or keeps a
    /// file; it loses nothing.
    going: HashSet<u64>,
    /// Stems of units of which a part stays.
    held: HashSet<u64>,
    /// Number of removed names of each unit that is removed as a whole; empty where units may be separated.
    sizes: HashMap<u64, usize>,
    hasher: RandomState,
}

/// The groups of names that must be removed together.
#[derive(Debug, Default)]
pub struct Groups {
    sizes: HashMap<u64, usize>,
    hasher: RandomState,
}

impl Groups {
    /// The group of a name and its number of names, if the group has more than one.
    pub fn of(&self, path: &[u8]) -> Option<(u64, usize)> {
        let group = key(&self.hasher, NameParts::of(path)?.stem);
        let size = *self.sizes.get(&group)?;
        (size > 1).then_some((group, size))
    }
}

/// A hash of a path that ignores case: where the file system ignores case, a file has both names.
fn key(hasher: &RandomState, path: &[u8]) -> u64 {
    hasher.hash_one(path.to_ascii_lowercase())
}

impl Companions {
    /// Records the removed names of a set.
    pub fn note(&mut self, set: &SetPlan) {
        for path in going(set) {
            if NameParts::of(path).is_some() {
                self.going.insert(self.key(path));
            }
        }
    }

    fn key(&self, path: &[u8]) -> u64 {
        key(&self.hasher, path)
    }

    /// True if no removed name can have a companion.
    pub fn is_empty(&self) -> bool {
        self.going.is_empty()
    }

    /// Finds companions that would be separated in a set, once all sets were [noted](Self::note).
    pub fn parted(&self, set: &SetPlan) -> Vec<Parted> {
        let mut parted = Vec::new();
        for path in going(set) {
            let Some(part) = NameParts::of(path) else {
                continue;
            };
            for stays in companions(path, &part) {
                if !self.going.contains(&self.key(&stays)) {
                    parted.push(Parted {
                        goes: path.to_vec(),
                        stays,
                    });
                }
            }
        }
        parted
    }

    /// Makes sure that a unit stays as a whole.
    pub fn hold(&mut self, parted: &Parted) {
        if let Some(part) = NameParts::of(&parted.goes) {
            self.held.insert(self.key(part.stem));
        }
    }

    /// Holds all units of a file if one of them is held; returns whether that changed anything.
    pub fn spread(&mut self, set: &SetPlan) -> bool {
        let before = self.held.len();
        for file in &set.files {
            let parts = file
                .names
                .iter()
                .filter_map(|name| NameParts::of(&name.path));
            let units: Vec<u64> = parts.map(|part| self.key(part.stem)).collect();
            let acts = matches!(file.fate, Fate::Act { .. });
            if acts && units.iter().any(|unit| self.held.contains(unit)) {
                self.held.extend(units);
            }
        }
        self.held.len() > before
    }

    /// Counts the removed names of a set, after the [held units](Self::apply) were taken out of it.
    pub fn count(&mut self, set: &SetPlan) {
        for part in going(set).filter_map(NameParts::of) {
            let unit = key(&self.hasher, part.stem);
            *self.sizes.entry(unit).or_default() += 1;
        }
    }

    /// The groups that must be removed together, once all sets were [counted](Self::count).
    pub fn groups(&self) -> Groups {
        let several = self.sizes.iter().filter(|&(_, &size)| size > 1);
        Groups {
            sizes: several.map(|(&unit, &size)| (unit, size)).collect(),
            hasher: self.hasher.clone(),
        }
    }

    /// Takes the held units out of a set; returns whether there were any.
    pub fn apply(&self, set: &mut SetPlan) -> bool {
        let mut any = false;
        for file in &mut set.files {
            let is_held = |path: &[u8]| {
                NameParts::of(path).is_some_and(|part| self.held.contains(&self.key(part.stem)))
            };
            if matches!(file.fate, Fate::Act { .. })
                && file.names.iter().any(|name| is_held(&name.path))
            {
                file.fate = Fate::Leave(Left::Companion);
                any = true;
            }
            for name in file.names.iter_mut().filter(|name| name.goes) {
                if is_held(&name.path) {
                    name.goes = false;
                    any = true;
                }
            }
        }
        any
    }
}

/// The names that a set's plan acts on.
fn going(set: &SetPlan) -> impl Iterator<Item = &[u8]> {
    let files = set.files.iter();
    files.flat_map(|file| {
        let all = matches!(file.fate, Fate::Act { .. });
        let further = file.going();
        let names = file.names.iter().filter(move |_| all).chain(further);
        names.map(|name| &name.path[..])
    })
}

/// The existing companions of a file. They are looked up by name: listing a folder of a hundred thousand photos for
/// each of them would take longer.
fn companions(path: &[u8], part: &NameParts<'_>) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for &(extension, role) in EXTENSIONS {
        if role == part.role {
            continue;
        }
        let stems: &[&[u8]] = match role {
            Role::Sidecar => &[part.stem, path],
            _ => &[part.stem],
        };
        for stem in stems {
            let spelled = [extension.to_owned(), extension.to_uppercase()];
            let mut paths = spelled.map(|end| [stem, &b"."[..], end.as_bytes()].concat());
            found.extend(
                paths
                    .iter_mut()
                    .find(|path| is_file(path))
                    .map(std::mem::take),
            );
        }
    }
    found
}

fn is_file(path: &[u8]) -> bool {
    let Ok(name) = CString::new(path) else {
        return false;
    };
    stat::entry(CWD, &name).is_ok_and(|stat| stat.kind == FileType::RegularFile)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stem(path: &str) -> Option<(&str, Role)> {
        let part = NameParts::of(path.as_bytes())?;
        Some((str::from_utf8(part.stem).expect("UTF-8"), part.role))
    }

    #[test]
    fn names_tell_what_belongs_together() {
        for (path, expected) in [
            ("/p/IMG_1.JPG", Some(("/p/IMG_1", Role::Still))),
            ("/p/IMG_1.xmp", Some(("/p/IMG_1", Role::Sidecar))),
            ("/p/IMG_1.CR2.xmp", Some(("/p/IMG_1", Role::Sidecar))),
            ("/p/IMG_1.CR2", Some(("/p/IMG_1", Role::Raw))),
            ("/p/IMG_1.MOV", Some(("/p/IMG_1", Role::Film))),
            ("/p/IMG_1.v2.jpg", Some(("/p/IMG_1.v2", Role::Still))),
            ("/p/notes.txt", None),
            ("/p/.jpg", None),
            ("/p.jpg/x", None),
            ("/p/jpg", None),
        ] {
            assert_eq!(stem(path), expected, "{path}");
        }
    }
}
