//! Where a sidecar file goes that has no copy: beside the kept copy of the photo or film that it is about, under the
//! name of this copy. Nothing is ever replaced there.

use std::collections::{HashMap, HashSet};

use super::groups::Groups;
use super::name::{Group, PlannedName};
use super::set::{Carried, Fate, PlannedFile, SetPlan};
use crate::action::reason::{Code, Reason};
use crate::action::ways::folder_entry::{NameInFolder, join, parent};
use crate::file::stem;

/// A name of a photo or film that goes, and one of a copy of it that stays.
struct Twin<'a> {
    name: &'a [u8],
    kept: (&'a PlannedFile, &'a PlannedName),
    /// The group of the copy.
    group: &'a Group,
}

/// Finds the places of sidecars, one after the other.
pub struct Carrying<'a> {
    groups: &'a Groups,
    /// For each group of such a sidecar: groups that stay and have copies of all its photos and films, the best first.
    copies: HashMap<u64, &'a Vec<u64>>,
    /// The photos and films of these groups.
    twins: HashMap<u64, Vec<Twin<'a>>>,
    /// The places of sidecars that are carried, in lower case.
    taken: HashSet<Vec<u8>>,
}

impl<'a> Carrying<'a> {
    /// For sidecars of groups that have these copies.
    pub fn new(groups: &'a Groups, copies: HashMap<u64, &'a Vec<u64>>) -> Self {
        Self {
            groups,
            copies,
            twins: HashMap::new(),
            taken: HashSet::new(),
        }
    }

    /// Notes the photos and films of a set that go, and those that stay for them.
    pub fn note_twins(&mut self, set: &'a SetPlan) {
        let names = |goes: bool| {
            let files = set.files.iter().filter(move |file| match &file.fate {
                Fate::Act { .. } => goes,
                // Nothing can be put into a catalog.
                Fate::Keep(_) => !goes && file.recorded.is_none(),
                Fate::Leave(_) | Fate::Carry(_) => false,
            });
            let names = files.flat_map(|file| file.names.iter().map(move |name| (file, name)));
            let mains = names.filter_map(|(file, name)| Some((file, name, name.group.as_deref()?)));
            mains.filter(|(.., group)| !group.is_sidecar)
        };
        for (_, going, of) in names(true) {
            let Some(copies) = self.copies.get(&of.key) else {
                continue;
            };
            for (file, name, group) in names(false) {
                if copies.contains(&group.key) && name.is_relied_on() {
                    self.twins.entry(of.key).or_default().push(Twin {
                        name: going.bare(),
                        kept: (file, name),
                        group,
                    });
                }
            }
        }
    }

    /// The place for a sidecar of this group.
    ///
    /// # Errors
    /// If there is none.
    pub fn place(&mut self, sidecar: &PlannedFile, of: &Group) -> Result<Carried, Reason> {
        let no_place = |why: &str| Code::NoPlace.about(why);
        let name = sidecar.names[0].bare();
        let twins = self.twins.get(&of.key).map_or(&[][..], Vec::as_slice);
        let mut copies = self.copies.get(&of.key).into_iter().copied().flatten();
        let chosen = copies.find(|key| twins.iter().any(|twin| twin.group.key == **key));
        let twins = twins.iter().filter(|twin| Some(&twin.group.key) == chosen);
        let twins: Vec<&Twin> = twins.collect();
        let Some(first) = twins.first() else {
            return Err(Code::NoPair.into());
        };
        let pairs = twins.iter().map(|twin| (twin.name, twin.kept.1.bare()));
        let folder = parent(first.kept.1.path());
        let place = name_beside(name, &pairs.collect::<Vec<_>>());
        let place = place.filter(|name| self.groups.takes(first.group.key, folder, name));
        let Some(place) = place else {
            return Err(no_place(
                "its name does not say which photo or film it is about",
            ));
        };
        let path = join(folder, &place);
        let mut names = self.groups.sidecars(first.group.key);
        if let Some(there) = names.find(|it| it.eq_ignore_ascii_case(&place)) {
            return Err(Code::PlaceTaken.of_other(&join(folder, there)));
        }
        // Whatever has the name: a folder, too.
        let is_there = NameInFolder::of(&path).is_ok_and(|there| there.stat().is_ok());
        if is_there || !self.taken.insert(path.to_ascii_lowercase()) {
            return Err(Code::PlaceTaken.of_other(&path));
        }
        if !first.group.lets_file_come {
            return Err(no_place("nothing may be put into that folder"));
        }
        Ok(Carried {
            to: path,
            beside: first.kept.0.target(first.kept.1),
        })
    }
}

/// The name of a sidecar beside copies of photos and films, which are given by their names and those of the copies.
fn name_beside(sidecar: &[u8], twins: &[(&[u8], &[u8])]) -> Option<Vec<u8>> {
    if twins.iter().all(|(name, copy)| name == copy) {
        return Some(sidecar.to_vec());
    }
    let behind = |start: &[u8]| {
        let (before, rest) = sidecar.split_at_checked(start.len())?;
        (before.eq_ignore_ascii_case(start) && rest.starts_with(b".")).then_some(rest)
    };
    // IMG_1.CR2.xmp is about IMG_1.CR2.
    let whole = twins
        .iter()
        .find_map(|(name, copy)| Some((*copy, behind(name)?)));
    let of_stem = || {
        let mut stems = twins.iter().map(|(name, copy)| (stem(name), stem(copy)));
        stems.find_map(|(name, copy)| Some((copy, behind(name)?)))
    };
    let (start, rest) = whole.or_else(of_stem)?;
    Some([start, rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sidecar_keeps_what_it_adds_to_the_name_of_its_photo() {
        let named = |sidecar: &str, twins: &[(&str, &str)]| {
            let twins = twins
                .iter()
                .map(|(name, copy)| (name.as_bytes(), copy.as_bytes()));
            let name = name_beside(sidecar.as_bytes(), &twins.collect::<Vec<_>>());
            name.map(|name| String::from_utf8(name).expect("text"))
        };
        let both = [("a.NEF", "b.nef"), ("a.JPG", "B.jpg")];
        for (sidecar, twins, expected) in [
            ("a.xmp", &both[..1], Some("b.xmp")),
            ("a.nef.xmp", &both, Some("b.nef.xmp")),
            ("a.jpg.json", &both, Some("B.jpg.json")),
            ("A.Xmp", &both, Some("b.Xmp")),
            ("film.en.srt", &[("film.mkv", "f.mkv")], Some("f.en.srt")),
            ("a.jpg(1).json", &[("a(1).jpg", "b.jpg")], None),
            (
                "a.jpg(1).json",
                &[("a(1).jpg", "a(1).jpg")],
                Some("a.jpg(1).json"),
            ),
            ("IMG_O1.AAE", &[("IMG_1.HEIC", "b.HEIC")], None),
        ] {
            assert_eq!(named(sidecar, twins).as_deref(), expected, "{sidecar}");
        }
    }
}
